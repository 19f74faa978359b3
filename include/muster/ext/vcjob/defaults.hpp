#pragma once

/// \file
/// What a VolcanoJob gets before anybody looks at it: defaults of its CRD, then of the mutating webhook.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <muster/core/checked.hpp>
#include <muster/core/result.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/names.hpp>

namespace muster::ext::vcjob {

namespace detail {

inline constexpr std::int64_t default_max_retry = 3;

[[nodiscard]] inline bool is_absent(json const& from, char const* key) { return at(from, {key}).is_null(); }

/// Absent or 0, which Go does not tell apart; a value of another type is neither.
[[nodiscard]] inline bool is_zero(json const& from, char const* key) {
    return is_absent(from, key) || integer(at(from, {key})) == 0;
}

[[nodiscard]] inline bool is_blank(json const& from, char const* key) {
    auto const& value = at(from, {key});
    return value.is_null() || (value.is_string() && value.get_ref<std::string const&>().empty());
}

inline void default_topology(json& owner) {
    if (auto const topology = owner.find("networkTopology"); topology != owner.end() && topology->is_object())
        if (is_absent(*topology, "mode")) (*topology)["mode"] = "hard";
}

inline void crd_defaults(json& spec) {
    if (is_absent(spec, "maxRetry")) spec["maxRetry"] = default_max_retry;
    default_topology(spec);
    if (!at(spec, {"tasks"}).is_array()) return;
    for (auto& task : spec["tasks"])
        if (at(task, {"partitionPolicy"}).is_object()) default_topology(task["partitionPolicy"]);
}

/// The gang of a task that does not say how many: whole partitions if it asks for some, else all.
[[nodiscard]] inline std::optional<std::int64_t> default_min_available(json const& task) {
    auto const& partitions = at(task, {"partitionPolicy"});
    if (auto const least = number(partitions, "minPartitions"); least > 0) {
        auto const pods = checked_mul(least, number(partitions, "partitionSize"));
        return pods ? std::optional{*pods} : std::nullopt;
    }
    auto const& replicas = at(task, {"replicas"});
    return replicas.is_null() ? 0 : integer(replicas);
}

/// Fills in one task; whether anything was missing.
inline bool default_task(json& task, std::size_t index) {
    bool changed = false;
    auto const set = [&](json& to, char const* key, json value) {
        to[key] = std::move(value);
        changed = true;
    };
    if (is_blank(task, "name")) set(task, "name", "default" + std::to_string(index));
    auto const& pod = at(task, {"template", "spec"});
    if (flag(pod, "hostNetwork") && is_blank(pod, "dnsPolicy"))
        set(task["template"]["spec"], "dnsPolicy", "ClusterFirstWithHostNet");
    if (is_absent(task, "minAvailable"))
        if (auto const least = default_min_available(task)) set(task, "minAvailable", *least);
    if (is_zero(task, "maxRetry")) set(task, "maxRetry", default_max_retry);
    return changed;
}

/// A task as the webhook writes it back from Go: required numbers are there, even when they are 0.
inline void write_back(json& task) {
    if (!at(task, {"partitionPolicy"}).is_object()) return;
    auto& policy = task["partitionPolicy"];
    for (auto const* key : {"totalPartitions", "partitionSize"})
        if (is_absent(policy, key)) policy[key] = 0;
}

inline void default_tasks(json& tasks) {
    bool changed = false;
    for (std::size_t i = 0; i != tasks.size(); ++i)
        if (tasks[i].is_object()) changed = default_task(tasks[i], i) || changed;
    if (!changed) return;
    for (auto& task : tasks) write_back(task);
}

/// Plugins that need others bring them along.
inline void default_plugins(json& plugins) {
    bool const networked = plugins.contains("tensorflow") || plugins.contains("mpi") || plugins.contains("pytorch") ||
                           plugins.contains("ray");
    if (networked && !plugins.contains("svc")) plugins["svc"] = json::array();
    if (plugins.contains("mpi") && !plugins.contains("ssh")) plugins["ssh"] = json::array();
}

} // namespace detail

/// A job with its defaults; what is of a wrong type stays as it is, for the schema to refuse.
///
/// Source: Volcano, config/crd/volcano/bases/batch.volcano.sh_jobs.yaml and
///         pkg/webhooks/admission/jobs/mutate/mutate_job.go, createPatch, at ed72c7c8.
[[nodiscard]] inline json with_defaults(json job) {
    if (!job.is_object()) return job;
    if (job.contains("metadata") && job["metadata"].is_object() && detail::is_blank(job["metadata"], "namespace"))
        job["metadata"]["namespace"] = "default";
    if (detail::is_absent(job, "spec")) job["spec"] = json::object();
    auto& spec = job["spec"];
    if (!spec.is_object()) return job;

    detail::crd_defaults(spec);
    if (detail::is_blank(spec, "queue")) spec["queue"] = default_queue;
    if (detail::is_blank(spec, "schedulerName")) spec["schedulerName"] = scheduler_name;
    if (detail::is_zero(spec, "maxRetry")) spec["maxRetry"] = detail::default_max_retry;
    if (at(spec, {"tasks"}).is_array()) detail::default_tasks(spec["tasks"]);
    if (detail::is_zero(spec, "minAvailable")) {
        result<std::int64_t> total{0};
        for (auto const& task : list(spec, {"tasks"}))
            total = total.and_then([&](std::int64_t sum) { return checked_add(sum, number(task, "minAvailable")); });
        if (total) spec["minAvailable"] = *total;
    }
    if (at(spec, {"plugins"}).is_object()) detail::default_plugins(spec["plugins"]);
    return job;
}

} // namespace muster::ext::vcjob
