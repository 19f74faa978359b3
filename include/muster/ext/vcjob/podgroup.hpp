#pragma once

/// \file
/// The PodGroup that Volcano's controller makes for a VolcanoJob, as the API server stores it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/core/result.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/context.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/usage.hpp>

namespace muster::ext::vcjob {

/// How many pods of a task the gang needs.
[[nodiscard]] inline std::int64_t min_member_of(json const& task) {
    if (auto const least = integer(at(task, {"minAvailable"}))) return *least;
    auto const& partitions = at(task, {"partitionPolicy"});
    auto const whole = number(partitions, "minPartitions") * number(partitions, "partitionSize");
    return whole != 0 ? whole : number(task, "replicas");
}

namespace detail {

/// Tasks with the count of pods that goes into minResources.
///
/// Source: Volcano, pkg/controllers/job/job_controller_util.go, CalcFirstCountResources and CalcPGMinResources.
class gang_counts {
public:
    gang_counts(json const& job, context const& around) {
        for (auto const& task : list(job, {"spec", "tasks"})) tasks_.push_back({&task, 0});
        auto const priority = [&](entry const& e) {
            return around.priority(text(at(*e.task, {"template", "spec"}), "priorityClassName"));
        };
        std::stable_sort(tasks_.begin(), tasks_.end(),
                         [&](entry const& a, entry const& b) { return priority(a) > priority(b); });
        std::int64_t least = 0;
        for (auto const& e : tasks_) least += gang_of(e);
        auto const wanted = number(at(job, {"spec"}), "minAvailable");
        if (wanted < least) {
            take(wanted, [](entry const& e) { return number(*e.task, "replicas"); });
        } else {
            auto const left = take(wanted, gang_of);
            take(left, [](entry const& e) { return number(*e.task, "replicas") - gang_of(e); });
        }
    }

    [[nodiscard]] result<amount_map> resources() const {
        amount_map total;
        for (auto const& [task, count] : tasks_) {
            auto const usage = quota_usage(at(*task, {"template", "spec"}), count);
            if (!usage) return tl::unexpected{usage.error()};
            if (auto const done = add_to(total, *usage); !done) return tl::unexpected{done.error()};
        }
        return total;
    }

private:
    struct entry {
        json const* task;
        std::int64_t count;
    };

    [[nodiscard]] static std::int64_t gang_of(entry const& e) {
        return integer(at(*e.task, {"minAvailable"})).value_or(number(*e.task, "replicas"));
    }

    /// Takes pods from the first tasks on, at most `most(task)` each; returns how many are still wanted.
    template <class Most>
    std::int64_t take(std::int64_t wanted, Most most) {
        for (auto& e : tasks_) {
            auto const some = std::max(std::int64_t{0}, std::min(wanted, most(e)));
            e.count += some;
            wanted -= some;
        }
        return wanted;
    }

    std::vector<entry> tasks_{};
};

/// The network topology of a job or a partition policy, as a PodGroup has it.
[[nodiscard]] inline json group_topology(json const& written) {
    json out{{"mode", text(written, "mode").empty() ? "hard" : text(written, "mode")}};
    if (auto const tier = integer(at(written, {"highestTierAllowed"}))) {
        out["highestTierAllowed"] = *tier;
    } else if (auto const name = text(written, "highestTierName"); !name.empty()) {
        out["highestTierName"] = name;
    }
    return out;
}

/// The sub-groups of a task with partitions: pods with the same partition id go together.
[[nodiscard]] inline json sub_group(json const& task) {
    auto const& policy = at(task, {"partitionPolicy"});
    json out{{"name", text(task, "name")},
             {"labelSelector", {{"matchLabels", {{key::task_spec, text(task, "name")}}}}},
             {"matchLabelKeys", json::array({key::partition_id})},
             {"subGroupSize", number(policy, "partitionSize")},
             {"minSubGroups", number(policy, "minPartitions")}};
    if (auto const& topology = at(policy, {"networkTopology"}); topology.is_object())
        out["networkTopology"] = group_topology(topology);
    return out;
}

} // namespace detail

/// The resources that a job's gang needs: of its first minAvailable pods by task priority, if its tasks need more in
/// all, else of every task's gang and then of what is left.
///
/// Errors: those of `quota_usage`.
[[nodiscard]] inline result<amount_map> min_resources(json const& job, context const& around) {
    return detail::gang_counts{job, around}.resources();
}

/// The queue of a new PodGroup: a namespace may have another default.
///
/// Source: Volcano, pkg/webhooks/admission/podgroups/mutate/mutate_podgroup.go, createPodGroupPatch.
[[nodiscard]] inline std::string group_queue(std::string queue, std::string const& space, context const& around) {
    if (!queue.empty() && queue != default_queue) return queue;
    auto const other = around.namespace_queues.find(space);
    return other == around.namespace_queues.end() ? default_queue : other->second;
}

/// What the PodGroup webhook says against a new PodGroup; empty if it has nothing.
///
/// Source: Volcano, pkg/webhooks/admission/podgroups/validate/validate_podgroup.go, checkQueueState.
[[nodiscard]] inline std::string podgroup_fault(json const& group, context const& around) {
    auto const name = text(at(group, {"spec"}), "queue");
    auto const* queue = around.queue(name);
    if (queue == nullptr) return "unable to find queue: queue.scheduling.volcano.sh \"" + name + "\" not found";
    if (queue->state == "Open") return {};
    return "can only submit PodGroup to queue with state `Open`, queue `" + name + "` status is `" + queue->state +
           "`.";
}

/// The PodGroup of a job that was admitted: a complete object, without status.
///
/// Errors: those of `quota_usage`.
/// Source: Volcano, pkg/controllers/job/job_controller_actions.go, createOrUpdatePodGroup, at ed72c7c8.
[[nodiscard]] inline result<json> make_podgroup(json const& job, context const& around) {
    auto const& job_spec = at(job, {"spec"});
    auto const resources = min_resources(job, around);
    if (!resources) return tl::unexpected{resources.error()};

    json spec{{"queue", group_queue(text(job_spec, "queue"), namespace_of(job), around)},
              {"minResources", to_json(*resources)},
              {"minTaskMember", json::object()}};
    if (auto const least = number(job_spec, "minAvailable"); least != 0) spec["minMember"] = least;
    if (auto const priority = text(job_spec, "priorityClassName"); !priority.empty())
        spec["priorityClassName"] = priority;
    if (auto const& topology = at(job_spec, {"networkTopology"}); topology.is_object())
        spec["networkTopology"] = detail::group_topology(topology);
    for (auto const& task : list(job_spec, {"tasks"})) {
        spec["minTaskMember"][text(task, "name")] = min_member_of(task);
        if (at(task, {"partitionPolicy"}).is_object()) append(spec, "subGroupPolicy", detail::sub_group(task));
    }

    json metadata{{"name", podgroup_name(job)},
                  {"namespace", namespace_of(job)},
                  {"ownerReferences", json::array({controlled_by(job)})}};
    for (auto const* member : {"labels", "annotations"})
        if (auto const& own = map(job, {"metadata", member}); !own.empty()) metadata[member] = own;
    return json{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                {"kind", "PodGroup"},
                {"metadata", std::move(metadata)},
                {"spec", std::move(spec)}};
}

} // namespace muster::ext::vcjob
