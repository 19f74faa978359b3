#pragma once

/// \file
/// The first steps of a VolcanoJob's life: its PodGroup, then, once that is enqueued, its pods.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/core/result.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/context.hpp>
#include <muster/ext/vcjob/go_duration.hpp>
#include <muster/ext/vcjob/lifecycle.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/plugin_objects.hpp>
#include <muster/ext/vcjob/podgroup.hpp>
#include <muster/ext/vcjob/pods.hpp>
#include <muster/ext/vcjob/status.hpp>

namespace muster::ext::vcjob {

/// An event on a job, as the controller records it.
struct job_event {
    std::string type; ///< Normal or Warning
    std::string reason;
    std::string message;

    friend bool operator==(job_event const&, job_event const&) = default;
};

/// An action that a policy has put off.
struct delayed_action {
    std::string pod;
    std::string event;
    policy_action action;
};

/// A job and what the controller has made of it.
struct job_record {
    json job{};
    job_status status{};
    json podgroup{}; ///< null while there is none
    std::map<std::string, json> pods{};
    std::vector<json> objects{}; ///< of its plugins
    std::vector<json> claims{};  ///< PersistentVolumeClaims made for its volumes
    std::vector<job_event> events{};
    std::vector<delayed_action> waiting{};
    std::int64_t retries = 0; ///< failed requests that were tried again
};

/// Runs Volcano's job controller on one job that was admitted.
///
/// `sync` is what the controller does when it looks at a job; call it after every change. Requests that a policy or a
/// command turns into another action than a sync, and what follows from it (kills, restarts, versions), find their
/// place beside `sync`, on the same record.
///
/// Source: Volcano, pkg/controllers/job/job_controller_actions.go, syncJob, at ed72c7c8.
class job_controller {
public:
    /// Shape: borrows `around`.
    job_controller(json job, context const& around, name_source volume_tag = pod_birth{}.volume_tag)
        : around_{&around}, volume_tag_{std::move(volume_tag)} {
        record_.job = std::move(job);
    }

    [[nodiscard]] job_record const& record() const noexcept { return record_; }

    /// Sets `status.phase` of the PodGroup, as the scheduler does; nothing happens without one.
    void set_podgroup_phase(std::string_view phase) {
        if (!record_.podgroup.is_null()) record_.podgroup["status"]["phase"] = phase;
    }

    /// Changes a pod's status, as a kubelet does; nothing happens without the pod.
    void set_pod_status(std::string const& name, json status) {
        if (auto const pod = record_.pods.find(name); pod != record_.pods.end())
            pod->second["status"] = std::move(status);
    }

    /// Brings PodGroup, pods and status up to date.
    ///
    /// Errors: those of `make_podgroup`. What the cluster refuses (a missing claim, a closed queue) is no error: the
    ///         controller tries 15 times more, then terminates the job.
    [[nodiscard]] result<void> sync() {
        // A write of the status brings the job back to the controller; it settles at once.
        for (int round = 0; round != 3; ++round) {
            auto const before = record_.status;
            if (auto const done = sync_once(); !done) return done;
            if (record_.status == before) break;
        }
        return {};
    }

private:
    static constexpr std::int64_t max_retries = 15;

    [[nodiscard]] result<void> sync_once() {
        if (record_.status.phase >= job_phase::completed) return {};
        if (record_.status.phase == job_phase::none) {
            record_.status.phase = job_phase::pending;
            record_.status.min_available = number(at(record_.job, {"spec"}), "minAvailable");
            record_.status.note();
        }
        note_forwarding();
        record_.objects = plugin_objects(record_.job);
        if (auto const missing = claim_volumes(); !missing.empty()) {
            give_up("PVCError", "Failed to create PVC, err: " + missing);
            return {};
        }
        if (record_.podgroup.is_null()) {
            auto group = make_podgroup(record_.job, *around_);
            if (!group) return tl::unexpected{group.error()};
            if (auto const fault = podgroup_fault(*group, *around_); !fault.empty()) {
                give_up("PodGroupError", "Failed to create PodGroup, err: admission webhook "
                                         "\"validatepodgroup.volcano.sh\" denied the request: " +
                                             fault);
                return {};
            }
            record_.podgroup = std::move(*group);
        }
        auto const phase = text(at(record_.podgroup, {"status"}), "phase");
        auto status = record_.status;
        bool const open = !phase.empty() && phase != "Pending";
        if (open) {
            make_pods();
            status.counts = count_pods();
            status.min_available = number(at(record_.job, {"spec"}), "minAvailable");
        }
        status.phase = next_phase(record_.job, status.phase, status.counts);
        if (open || status != record_.status) status.resources = controlled_resources();
        if (status != record_.status) {
            record_.status = std::move(status);
            record_.status.note();
        }
        return {};
    }

    void note_forwarding() {
        auto const* queue = around_->queue(text(at(record_.job, {"spec"}), "queue"));
        forwarded_ = queue != nullptr && queue->forwards;
        if (forwarded_) record_.job["metadata"]["annotations"][key::job_forwarding] = "true";
    }

    /// Makes the claims that the job describes; says which of those that it only names is missing.
    [[nodiscard]] std::string claim_volumes() {
        if (list(record_.job, {"spec", "volumes"}).empty()) return {};
        for (auto& volume : record_.job["spec"]["volumes"]) {
            auto const name = text(volume, "volumeClaimName");
            auto const is_ours = [&](json const& claim) { return name_of(claim) == name; };
            if (!name.empty()) {
                bool const exists = around_->claims.contains(namespace_of(record_.job) + "/" + name) ||
                                    std::any_of(record_.claims.begin(), record_.claims.end(), is_ours);
                if (exists) continue;
                return "pvc " + name + " is not found, the job will be in the Pending state until the PVC is created";
            }
            auto made = name_of(record_.job) + "-pvc-" + volume_tag_(record_.claims.size());
            auto claim = detail::owned_object(record_.job, "v1", "PersistentVolumeClaim", made);
            claim["spec"] = map(volume, {"volumeClaim"});
            record_.claims.push_back(std::move(claim));
            volume["volumeClaimName"] = std::move(made);
        }
        return {};
    }

    void make_pods() {
        pod_birth const birth{record_.status.version, record_.status.retry_count, forwarded_, volume_tag_};
        std::vector<std::pair<json const*, std::int64_t>> missing; // decided before any pod is made
        for (auto const& task : list(record_.job, {"spec", "tasks"})) {
            if (!dependencies_met(record_.job, task, [&](std::string const& name) { return count_up(name); })) continue;
            for (std::int64_t i = 0; i < number(task, "replicas"); ++i)
                if (!record_.pods.contains(pod_name(name_of(record_.job), text(task, "name"), i)))
                    missing.emplace_back(&task, i);
        }
        for (auto const& [task, index] : missing) {
            auto pod = make_pod(record_.job, *task, index, birth);
            auto const name = name_of(pod);
            if (auto action = action_for(record_.job, *task, "PodPending")) {
                record_.events.push_back(
                    {"Normal", "ExecuteAction",
                     "Execute action " + action->action + " after " + print_go_duration(action->delay.value_or(0))});
                record_.waiting.push_back({name, "PodPending", std::move(*action)});
            }
            record_.pods.emplace(name, std::move(pod));
        }
    }

    [[nodiscard]] static std::string task_of(json const& pod) {
        return text(at(pod, {"metadata", "annotations"}), key::task_spec);
    }

    /// Pods of a task that are up, with every container ready.
    [[nodiscard]] std::int64_t count_up(std::string const& task) const {
        std::int64_t count = 0;
        for (auto const& [name, pod] : record_.pods) {
            auto const phase = text(at(pod, {"status"}), "phase");
            if (task_of(pod) != task || (phase != "Running" && phase != "Succeeded")) continue;
            auto const& containers = list(pod, {"status", "containerStatuses"});
            bool const ready = std::all_of(containers.begin(), containers.end(),
                                           [](json const& container) { return flag(container, "ready"); });
            count += ready ? 1 : 0;
        }
        return count;
    }

    [[nodiscard]] pod_counts count_pods() const {
        pod_counts counts;
        for (auto const& [name, pod] : record_.pods) counts.add(task_of(pod), text(at(pod, {"status"}), "phase"));
        return counts;
    }

    [[nodiscard]] std::map<std::string, std::string> controlled_resources() const {
        std::map<std::string, std::string> out;
        for (auto const& [name, arguments] : map(record_.job, {"spec", "plugins"}).items())
            if (name != "hcclrank") out["plugin-" + name] = name; // which keeps no record of itself
        for (auto const& volume : list(record_.job, {"spec", "volumes"}))
            out["volume-pvc-" + text(volume, "volumeClaimName")] = text(volume, "volumeClaimName");
        return out;
    }

    /// A request that fails each time it is tried ends the job, and its plugins' objects with it.
    void give_up(char const* reason, std::string const& message) {
        for (std::int64_t i = 0; i <= max_retries; ++i) record_.events.push_back({"Warning", reason, message});
        record_.events.push_back({"Normal", "ExecuteAction", "Job failed on action SyncJob for retry limit reached"});
        record_.retries = max_retries;
        record_.objects.clear();
        record_.podgroup = nullptr;
        for (auto const phase : {job_phase::terminating, job_phase::terminated}) {
            record_.status.phase = phase;
            record_.status.note();
        }
        record_.status.version = 3; // the kill, and one a write of the status that it causes
    }

    context const* around_;
    name_source volume_tag_;
    bool forwarded_ = false;
    job_record record_{};
};

} // namespace muster::ext::vcjob
