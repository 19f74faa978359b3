#pragma once

/// \file
/// What Volcano's controllers call things: labels, annotations, names, owners.

#include <cstdint>
#include <string>
#include <string_view>

#include <muster/ext/vcjob/access.hpp>

namespace muster::ext::vcjob {

/// Keys of labels and annotations.
///
/// Source: Volcano, staging/src/volcano.sh/apis/pkg/apis, batch/v1alpha1/labels.go and scheduling/v1beta1/labels.go,
///         at ed72c7c8.
namespace key {

inline constexpr char group_name[] = "scheduling.k8s.io/group-name";
inline constexpr char group_min_member[] = "scheduling.volcano.sh/group-min-member";
inline constexpr char group_queue[] = "scheduling.volcano.sh/queue-name";
inline constexpr char job_name[] = "volcano.sh/job-name";
inline constexpr char job_namespace[] = "volcano.sh/job-namespace";
inline constexpr char job_version[] = "volcano.sh/job-version";
inline constexpr char job_retry_count[] = "volcano.sh/job-retry-count";
inline constexpr char job_forwarding[] = "volcano.sh/job-forwarding";
inline constexpr char queue_name[] = "volcano.sh/queue-name";
inline constexpr char task_spec[] = "volcano.sh/task-spec";
inline constexpr char task_index[] = "volcano.sh/task-index";
inline constexpr char template_uid[] = "volcano.sh/template-uid";
inline constexpr char partition_id[] = "volcano.sh/partition-id";
inline constexpr char numa_policy[] = "volcano.sh/numa-topology-policy";
inline constexpr char preemptable[] = "volcano.sh/preemptable";
inline constexpr char cooldown_time[] = "volcano.sh/cooldown-time";
inline constexpr char revocable_zone[] = "volcano.sh/revocable-zone";
inline constexpr char jdb_min_available[] = "volcano.sh/jdb-min-available";
inline constexpr char jdb_max_unavailable[] = "volcano.sh/jdb-max-unavailable";
inline constexpr char topology_mode[] = "volcano.sh/network-topology-mode";
inline constexpr char topology_highest_tier[] = "volcano.sh/network-topology-highest-tier";

} // namespace key

inline constexpr char default_queue[] = "default";
inline constexpr char root_queue[] = "root";
inline constexpr char scheduler_name[] = "volcano";

/// `JOB-TASK-INDEX`.
[[nodiscard]] inline std::string pod_name(std::string_view job, std::string_view task, std::int64_t index) {
    return std::string{job} + "-" + std::string{task} + "-" + std::to_string(index);
}

/// `JOB-UID`, so that a job of the same name made later gets a PodGroup of its own.
[[nodiscard]] inline std::string podgroup_name(json const& job) { return name_of(job) + "-" + uid_of(job); }

/// The owner reference of what `owner` controls.
[[nodiscard]] inline json controlled_by(json const& owner) {
    return {{"apiVersion", text(owner, "apiVersion")},
            {"kind", text(owner, "kind")},
            {"name", name_of(owner)},
            {"uid", uid_of(owner)},
            {"controller", true},
            {"blockOwnerDeletion", true}};
}

/// The owner reference of an object that is marked as its controller, or null.
[[nodiscard]] inline json const& controller_of(json const& object) {
    static json const none;
    for (auto const& owner : list(object, {"metadata", "ownerReferences"}))
        if (flag(owner, "controller")) return owner;
    return none;
}

/// A pod's host name under the svc plugin: the template's own, or the pod's name.
[[nodiscard]] inline std::string host_name(json const& job, json const& task, std::int64_t index) {
    auto const own = text(at(task, {"template", "spec"}), "hostname");
    return own.empty() ? pod_name(name_of(job), text(task, "name"), index) : own;
}

/// The host name with its domain: the template's own, or the job's name.
[[nodiscard]] inline std::string domain_name(json const& job, json const& task, std::int64_t index) {
    auto const own = text(at(task, {"template", "spec"}), "subdomain");
    return host_name(job, task, index) + "." + (own.empty() ? name_of(job) : own);
}

} // namespace muster::ext::vcjob
