#pragma once

/// \file
/// What Volcano's validating webhook says of a new VolcanoJob.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/ext/text.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/context.hpp>
#include <muster/ext/vcjob/kube_names.hpp>
#include <muster/ext/vcjob/lifecycle.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/plugin.hpp>
#include <muster/ext/vcjob/pod_template.hpp>
#include <muster/ext/vcjob/resource_name.hpp>

namespace muster::ext::vcjob {

namespace detail {

/// Whether the tasks' `dependsOn` can be followed from the start to every task.
///
/// Source: Volcano, pkg/webhooks/admission/jobs/validate/util.go, topoSort: a task that depends on an unknown one, or
///         on one twice, never starts.
[[nodiscard]] inline bool is_acyclic(json const& tasks) {
    std::map<std::string, std::set<std::string>> followers;
    std::map<std::string, std::size_t> waits;
    for (auto const& task : tasks) {
        auto const name = text(task, "name");
        auto& count = waits[name] = 0;
        for (auto const& on : list(task, {"dependsOn", "name"})) {
            followers[on.get<std::string>()].insert(name);
            ++count;
        }
    }
    std::vector<std::string> ready;
    for (auto const& [name, count] : waits)
        if (count == 0) ready.push_back(name);
    std::size_t started = 0;
    while (!ready.empty()) {
        auto const name = std::move(ready.back());
        ready.pop_back();
        ++started;
        for (auto const& follower : followers[name])
            if (--waits[follower] == 0) ready.push_back(follower);
    }
    return started == tasks.size();
}

[[nodiscard]] inline std::string of_task(json const& job, json const& task) {
    return " in task: " + text(task, "name") + ", job: " + name_of(job);
}

[[nodiscard]] inline std::string counts_fault(json const& job, json const& task) {
    std::string out;
    auto const replicas = number(task, "replicas");
    auto const least = integer(at(task, {"minAvailable"}));
    if (replicas < 0) out += " 'replicas' < 0" + of_task(job, task) + ";";
    if (least && *least < 0) {
        out += " 'minAvailable' < 0" + of_task(job, task) + ";";
    } else if (least && *least > replicas) {
        out += " 'minAvailable' is greater than 'replicas'" + of_task(job, task) + ";";
    }
    return out;
}

[[nodiscard]] inline std::string topology_fault(json const& owner) {
    auto const& topology = at(owner, {"networkTopology"});
    if (at(topology, {"highestTierAllowed"}).is_null() || text(topology, "highestTierName").empty()) return {};
    return " must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously";
}

/// The first fault of a partition policy.
[[nodiscard]] inline std::string partition_fault(json const& job, json const& task) {
    auto const& policy = at(task, {"partitionPolicy"});
    if (!policy.is_object()) return {};
    auto const total = number(policy, "totalPartitions");
    auto const size = number(policy, "partitionSize");
    auto const least = number(policy, "minPartitions");
    if (total <= 0) return " 'TotalPartitions' must be greater than 0" + of_task(job, task);
    if (size <= 0) return " 'PartitionSize' must be greater than 0" + of_task(job, task);
    if (total * size != number(task, "replicas"))
        return " 'Replicas' are not equal to TotalPartitions*PartitionSize" + of_task(job, task);
    if (auto const available = integer(at(task, {"minAvailable"}));
        least > 0 && available && *available != least * size)
        return " 'MinAvailable' is not equal to MinPartitions*PartitionSize" + of_task(job, task);
    return topology_fault(policy);
}

/// Under a NUMA policy every container asks for whole processors.
[[nodiscard]] inline std::string numa_fault(json const& task, std::size_t index) {
    auto const policy = text(task, "topologyPolicy");
    if (policy.empty() || policy == "none") return {};
    std::size_t position = 0;
    for (auto const* kind : {"containers", "initContainers"}) {
        for (auto const& container : list(task, {"template", "spec", kind})) {
            auto const& resources = at(container, {"resources"});
            bool const asks = !map(resources, {"requests"}).empty();
            auto const cpu = read_quantity(at(resources, {asks ? "requests" : "limits", "cpu"}));
            if (!cpu || cpu->is_zero() || !cpu->as_int64())
                return "the cpu request isn't an integer in spec.task[" + std::to_string(index) + "] container[" +
                       std::to_string(position) + "].";
            ++position;
        }
    }
    return {};
}

[[nodiscard]] inline std::string template_fault(json const& task, std::size_t index) {
    auto const found = template_faults(task);
    if (found.empty()) return numa_fault(task, index);
    std::string out = "spec.task[" + std::to_string(index) + "].";
    for (auto const& fault : found) out += fault + ". ";
    return out;
}

[[nodiscard]] inline std::string task_name_fault(std::string const& name) {
    auto const bad = dns_label_faults(name);
    return bad.empty() ? "" : " " + go_list(bad) + ";";
}

/// The task's position stands where the pod's would: the longest pod name is not looked at.
[[nodiscard]] inline std::string pod_name_fault(json const& job, json const& task, std::size_t index) {
    auto const pod = pod_name(name_of(job), text(task, "name"), static_cast<std::int64_t>(index));
    auto const bad = qualified_name_faults(pod);
    return bad.empty() ? "" : "create pod with name " + pod + " validate failed " + go_list(bad) + ";";
}

[[nodiscard]] inline std::string tasks_fault(json const& job, json const& tasks) {
    std::string out;
    std::set<std::string> names;
    for (std::size_t i = 0; i != tasks.size(); ++i) {
        auto const& task = tasks[i];
        auto const name = text(task, "name");
        out += counts_fault(job, task);
        out += partition_fault(job, task);
        out += task_name_fault(name);
        if (!names.insert(name).second) {
            out.append(" duplicated task name ").append(name).append(";");
            break;
        }
        out += policy_faults(list(task, {"policies"}), "spec.tasks.policies");
        out += pod_name_fault(job, task, i);
        out += template_fault(task, i);
    }
    return out;
}

[[nodiscard]] inline std::string volumes_fault(json const& volumes) {
    std::set<std::string> paths;
    for (auto const& volume : volumes) {
        auto const path = text(volume, "mountPath");
        auto const claim_name = text(volume, "volumeClaimName");
        bool const claims = !at(volume, {"volumeClaim"}).is_null();
        if (path.empty()) return " mountPath is required;";
        if (!paths.insert(path).second) return " duplicated mountPath: " + path + ";";
        if (!claims && claim_name.empty()) return " either VolumeClaim or VolumeClaimName must be specified;";
        if (claim_name.empty()) continue;
        if (claims)
            return "conflict: If you want to use an existing PVC, just specify VolumeClaimName."
                   "If you want to create a new PVC, you do not need to specify VolumeClaimName";
        if (auto const bad = dns_subdomain_faults(claim_name); !bad.empty())
            return "invalid VolumeClaimName " + claim_name + " : " + go_list(bad);
    }
    return {};
}

[[nodiscard]] inline std::string queue_fault(std::string const& name, context const& around) {
    auto const* queue = around.queue(name);
    if (queue == nullptr) return " unable to find job queue: queue.scheduling.volcano.sh \"" + name + "\" not found;";
    std::string out;
    if (queue->state != "Open")
        out +=
            " can only submit job to queue with state `Open`, queue `" + name + "` status is `" + queue->state + "`;";
    if (name == root_queue) return out + " can not submit job to root queue;";
    if (auto const children = around.children_of(name); children > 0)
        out += " can only submit job to leaf queue, queue `" + name + "` has " + std::to_string(children) +
               " child queues;";
    return out;
}

[[nodiscard]] inline std::string trimmed(std::string const& text) {
    static constexpr char blanks[] = " \t\r\n";
    auto const first = text.find_first_not_of(blanks);
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

} // namespace detail

/// The webhook's text against a job that has its defaults; empty if it has none.
///
/// Source: Volcano, pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate, at ed72c7c8.
[[nodiscard]] inline std::string webhook_fault(json const& job, context const& around) {
    auto const& spec = at(job, {"spec"});
    auto const& tasks = list(spec, {"tasks"});
    if (tasks.empty()) return "No task specified in job spec";
    auto const& plugins = map(spec, {"plugins"});
    if (plugins.contains("mpi") && find_task(tasks, plugin_flags{plugins, "mpi"}.word("master", "master")) == nullptr)
        return "The specified mpi master task was not found";

    std::string out = detail::topology_fault(spec) + detail::tasks_fault(job, tasks);
    if (auto const bad = qualified_name_faults(name_of(job)); !bad.empty())
        out += "create job with name " + name_of(job) + " validate failed " + go_list(bad);
    std::int64_t replicas = 0;
    bool ordered = false;
    for (auto const& task : tasks) {
        replicas += number(task, "replicas");
        ordered = ordered || !at(task, {"dependsOn"}).is_null();
    }
    if (replicas < number(spec, "minAvailable"))
        out += " job 'minAvailable' should not be greater than total replicas in tasks;";
    out += policy_faults(list(spec, {"policies"}), "spec.policies");
    for (auto const& [name, arguments] : plugins.items())
        if (!is_plugin(name)) out += " unable to find job plugin: " + name + ";";
    out += detail::volumes_fault(list(spec, {"volumes"}));
    out += detail::queue_fault(text(spec, "queue"), around);
    if (ordered && !detail::is_acyclic(tasks))
        out += " job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);";
    return detail::trimmed(out);
}

} // namespace muster::ext::vcjob
