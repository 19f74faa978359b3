#pragma once

/// \file
/// The Pods that Volcano's controller makes for a VolcanoJob, as the API server stores them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/plugin.hpp>
#include <muster/ext/vcjob/plugin_pods.hpp>
#include <muster/ext/vcjob/pod_defaults.hpp>
#include <muster/ext/vcjob/status.hpp>

namespace muster::ext::vcjob {

/// Makes the ends of names that Volcano draws at random, of volumes and claims: different ones for different numbers.
using name_source = std::function<std::string(std::size_t)>;

/// What of a pod depends on the job's life.
struct pod_birth {
    std::int64_t version = 0;     ///< of the job's status
    std::int64_t retry_count = 0; ///< of the job's status
    bool forwarded = false;       ///< the queue hands its jobs to other clusters
    name_source volume_tag = [](std::size_t i) { return std::to_string(i); };
};

namespace detail {

/// Annotations and labels that a pod takes over from its job.
inline void inherit(json& to, json const& from, std::initializer_list<char const*> keys) {
    for (auto const* name : keys)
        if (auto const& value = at(from, {name}); value.is_string()) to[name] = value;
}

[[nodiscard]] inline json pod_annotations(json const& job, json const& task, std::int64_t index,
                                          pod_birth const& birth) {
    auto out = map(task, {"template", "metadata", "annotations"});
    auto const name = text(task, "name");
    out[key::task_index] = std::to_string(index);
    out[key::task_spec] = name;
    out[key::group_name] = podgroup_name(job);
    out[key::job_name] = name_of(job);
    out[key::queue_name] = text(at(job, {"spec"}), "queue");
    out[key::job_version] = std::to_string(birth.version);
    out[key::template_uid] = name_of(job) + "-" + name;
    out[key::job_retry_count] = std::to_string(birth.retry_count);
    if (auto const policy = text(task, "topologyPolicy"); !policy.empty()) out[key::numa_policy] = policy;
    auto const& own = map(job, {"metadata", "annotations"});
    inherit(out, own, {key::preemptable, key::cooldown_time, key::revocable_zone});
    inherit(out, own, {own.contains(key::jdb_min_available) ? key::jdb_min_available : key::jdb_max_unavailable});
    if (birth.forwarded) out[key::job_forwarding] = "true";
    return out;
}

[[nodiscard]] inline json pod_labels(json const& job, json const& task, std::int64_t index, pod_birth const& birth) {
    auto out = map(task, {"template", "metadata", "labels"});
    out[key::task_index] = std::to_string(index);
    out[key::job_name] = name_of(job);
    out[key::task_spec] = text(task, "name");
    out[key::job_namespace] = namespace_of(job);
    out[key::queue_name] = text(at(job, {"spec"}), "queue");
    inherit(out, map(job, {"metadata", "labels"}), {key::preemptable, key::cooldown_time});
    if (birth.forwarded) out[key::job_forwarding] = "true";
    if (auto const& policy = at(task, {"partitionPolicy"}); policy.is_object()) {
        auto const size = number(policy, "partitionSize");
        out[key::partition_id] = std::to_string(size > 0 ? index / size : 0);
    }
    return out;
}

/// Mounts the job's claims into every container; a claim that is listed twice is mounted once.
inline void mount_volumes(json& spec, json const& job, name_source const& tag) {
    std::set<std::string> claims;
    for (auto const& volume : list(job, {"spec", "volumes"})) {
        auto const claim = text(volume, "volumeClaimName");
        auto const name = name_of(job) + "-" + tag(claims.size());
        if (!claims.insert(claim).second) continue;
        append(spec, "volumes", {{"name", name}, {"persistentVolumeClaim", {{"claimName", claim}}}});
        for_each_container(spec, {"containers"}, [&](json& container) {
            append(container, "volumeMounts", {{"name", name}, {"mountPath", text(volume, "mountPath")}});
        });
    }
}

} // namespace detail

/// One pod of a job that was admitted: a complete object in phase Pending.
///
/// Source: Volcano, pkg/controllers/job/job_controller_util.go, createJobPod, and the plugins' OnPodCreate, at
///         ed72c7c8; then the API server's defaults.
[[nodiscard]] inline json make_pod(json const& job, json const& task, std::int64_t index, pod_birth const& birth = {}) {
    json pod{{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata",
              {{"name", pod_name(name_of(job), text(task, "name"), index)},
               {"namespace", namespace_of(job)},
               {"labels", detail::pod_labels(job, task, index, birth)},
               {"annotations", detail::pod_annotations(job, task, index, birth)},
               {"ownerReferences", json::array({controlled_by(job)})}}},
             {"spec", map(task, {"template", "spec"})},
             {"status", {{"phase", "Pending"}}}};
    auto& spec = pod["spec"];
    for (auto const* member : {"schedulerName", "priorityClassName"})
        if (auto const given = text(at(job, {"spec"}), member); text(spec, member).empty() && !given.empty())
            spec[member] = given;
    detail::mount_volumes(spec, job, birth.volume_tag);
    apply_plugins(pod, job, task, index);
    return with_pod_defaults(std::move(pod));
}

/// Whether what a task depends on has come up: all tasks it names, or with iteration `any` one of several.
///
/// Shape:  `up(task)` is how many pods of a task are Running or Succeeded with all containers ready.
/// Source: Volcano, pkg/controllers/job/job_controller_actions.go, waitDependsOnTaskMeetCondition, at ed72c7c8.
template <class Up>
[[nodiscard]] bool dependencies_met(json const& job, json const& task, Up up) {
    auto const& names = list(task, {"dependsOn", "name"});
    auto const met = [&](json const& name) {
        auto const* other = find_task(list(job, {"spec", "tasks"}), name.get_ref<std::string const&>());
        auto const least = other == nullptr ? std::nullopt : integer(at(*other, {"minAvailable"}));
        return !least || up(name.get_ref<std::string const&>()) >= *least;
    };
    if (names.size() > 1 && text(at(task, {"dependsOn"}), "iteration") == "any")
        return std::any_of(names.begin(), names.end(), met);
    return std::all_of(names.begin(), names.end(), met);
}

} // namespace muster::ext::vcjob
