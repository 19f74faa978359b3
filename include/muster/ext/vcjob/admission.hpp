#pragma once

/// \file
/// Whether the API server takes a VolcanoJob: defaults, the CRD's rules, the validating webhook.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/context.hpp>
#include <muster/ext/vcjob/defaults.hpp>
#include <muster/ext/vcjob/kube_names.hpp>
#include <muster/ext/vcjob/schema.hpp>
#include <muster/ext/vcjob/validate.hpp>

namespace muster::ext::vcjob {

/// Who turned a job away.
enum class refusal : std::uint8_t { none, schema, webhook };

[[nodiscard]] constexpr std::string_view to_string(refusal by) noexcept {
    switch (by) {
    case refusal::none:
        return "none";
    case refusal::schema:
        return "schema";
    case refusal::webhook:
        return "webhook";
    }
    return "none";
}

/// What admission made of a job.
struct admission {
    refusal refused_by = refusal::none;
    faults schema{};       ///< the API server's texts, one a fault
    std::string webhook{}; ///< the webhook's text; empty if it agrees or could not read the job
    json job{};            ///< the job with its defaults, also when it was refused

    [[nodiscard]] bool allowed() const noexcept { return refused_by == refusal::none; }
};

/// Runs a new job through admission. Both checks are run, so that a user sees all that is wrong at once.
[[nodiscard]] inline admission admit(json job, context const& around) {
    admission out;
    out.job = with_defaults(std::move(job));
    auto verdict = check_schema(out.job);
    out.schema = std::move(verdict.texts);
    if (verdict.readable) out.webhook = webhook_fault(out.job, around);
    out.refused_by = !out.schema.empty() ? refusal::schema : !out.webhook.empty() ? refusal::webhook : refusal::none;
    return out;
}

/// The members of a job that admission fills in, as Volcano's Go types write them: 0 is left out where it is the same
/// as nothing.
[[nodiscard]] inline json defaulted_members(json const& job) {
    auto const& spec = at(job, {"spec"});
    json out{{"queue", text(spec, "queue")},
             {"schedulerName", text(spec, "schedulerName")},
             {"maxRetry", number(spec, "maxRetry")},
             {"minAvailable", number(spec, "minAvailable")},
             {"tasks", json::array()}};
    for (auto const* key : {"plugins", "networkTopology"})
        if (at(spec, {key}).is_object()) out[key] = spec.at(key);
    for (auto const& task : list(spec, {"tasks"})) {
        json entry{{"name", text(task, "name")}, {"maxRetry", number(task, "maxRetry")}};
        if (auto const replicas = number(task, "replicas"); replicas != 0) entry["replicas"] = replicas;
        if (auto const least = integer(at(task, {"minAvailable"}))) entry["minAvailable"] = *least;
        if (auto const policy = text(at(task, {"template", "spec"}), "dnsPolicy"); !policy.empty())
            entry["dnsPolicy"] = policy;
        if (auto const& policy = at(task, {"partitionPolicy"}); policy.is_object()) {
            entry["partitionPolicy"] = policy;
            if (number(policy, "minPartitions") == 0) entry["partitionPolicy"].erase("minPartitions");
        }
        out["tasks"].push_back(std::move(entry));
    }
    return out;
}

} // namespace muster::ext::vcjob
