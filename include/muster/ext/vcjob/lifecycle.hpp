#pragma once

/// \file
/// Lifecycle policies: which action an event or exit code of a pod brings about, and after how long.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/ext/text.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/field.hpp>
#include <muster/ext/vcjob/go_duration.hpp>
#include <muster/ext/vcjob/kube_names.hpp>

namespace muster::ext::vcjob {

/// The events that users may write a policy for, by name.
inline constexpr std::array<std::string_view, 8> policy_events{"*",          "JobUpdated",    "PodEvicted", "PodFailed",
                                                               "PodPending", "TaskCompleted", "TaskFailed", "Unknown"};

/// The actions that users may ask for, by name.
inline constexpr std::array<std::string_view, 8> policy_actions{"AbortJob",         "CompleteJob", "RestartJob",
                                                                "RestartPartition", "RestartPod",  "RestartTask",
                                                                "ResumeJob",        "TerminateJob"};

/// The events of a policy, each once: `events`, then `event`.
[[nodiscard]] inline std::vector<std::string> events_of(json const& policy) {
    std::vector<std::string> events;
    auto const add = [&](std::string name) {
        if (std::find(events.begin(), events.end(), name) == events.end()) events.push_back(std::move(name));
    };
    for (auto const& event : list(policy, {"events"}))
        if (event.is_string()) add(event.get<std::string>());
    if (auto event = text(policy, "event"); !event.empty()) add(std::move(event));
    return events;
}

namespace detail {

template <class Names>
[[nodiscard]] bool is_one_of(Names const& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The first fault of a policy, given what the ones before it claim; empty if it has none.
class policy_check {
public:
    [[nodiscard]] std::string check(json const& policy, std::string_view path) {
        auto const events = events_of(policy);
        auto const exit_code = integer(at(policy, {"exitCode"}));
        if (!events.empty() && exit_code) return "must not specify event and exitCode simultaneously";
        if (events.empty() && !exit_code) return "either event and exitCode should be specified";
        if (!events.empty()) return check_events(events, text(policy, "action"), path);
        if (*exit_code == 0) return "0 is not a valid error code";
        if (!codes_.insert(*exit_code).second) return "duplicate exitCode " + std::to_string(*exit_code);
        return {};
    }

    [[nodiscard]] bool mixes_any() const { return events_.contains("*") && events_.size() > 1; }

private:
    [[nodiscard]] std::string check_events(std::vector<std::string> const& events, std::string const& action,
                                           std::string_view path) {
        for (auto const& event : events) {
            if (!is_one_of(policy_events, event)) return field::invalid_text(path, event, "invalid policy event");
            if (!is_one_of(policy_actions, action)) return field::invalid_text(path, action, "invalid policy action");
            if (!events_.insert(event).second) return "duplicate event " + event + "  across different policy";
        }
        return {};
    }

    std::set<std::string> events_{};
    std::set<std::int64_t> codes_{};
};

} // namespace detail

/// What the webhook says of a list of policies, or nothing.
///
/// Source: Volcano, pkg/webhooks/admission/jobs/validate/util.go, validatePolicies, at ed72c7c8: the first policy
///         with a fault ends the walk, and the action beside an exit code is not looked at.
[[nodiscard]] inline std::string policy_faults(json const& policies, std::string_view path) {
    faults found;
    detail::policy_check check;
    for (auto const& policy : policies) {
        auto fault = check.check(policy, path);
        if (fault.empty()) continue;
        found.push_back(std::move(fault));
        break;
    }
    if (check.mixes_any()) found.emplace_back("if there's * here, no other policy should be here");
    if (found.empty()) return {};
    std::string out = std::to_string(found.size()) + (found.size() == 1 ? " error" : " errors") + " occurred:\n";
    for (auto const& fault : found) out += "\t* " + fault + "\n";
    return out + "\n valid events are " + go_list(policy_events) + ", valid actions are " + go_list(policy_actions) +
           ";";
}

/// What a policy asks for.
struct policy_action {
    std::string action;
    std::optional<std::int64_t> delay{}; ///< in nanoseconds; none: at once
};

/// The action that the policies have for an event of a pod of `task`, the task's own before the job's.
///
/// Errors: no value where no policy matches: the controller then only syncs.
/// Source: Volcano, pkg/controllers/job/job_controller_util.go, applyPolicies, at ed72c7c8: PodPending needs a timeout.
[[nodiscard]] inline std::optional<policy_action> action_for(json const& job, json const& task,
                                                             std::string_view event) {
    for (auto const* policies : {&list(task, {"policies"}), &list(job, {"spec", "policies"})}) {
        for (auto const& policy : *policies) {
            auto const events = events_of(policy);
            if (!detail::is_one_of(events, event) && !detail::is_one_of(events, "*")) continue;
            auto const delay = parse_go_duration(text(policy, "timeout"));
            if (event == "PodPending" && !delay) continue;
            return policy_action{text(policy, "action"), delay};
        }
    }
    return std::nullopt;
}

} // namespace muster::ext::vcjob
