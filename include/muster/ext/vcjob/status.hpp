#pragma once

/// \file
/// A VolcanoJob's status: its counts and its phase.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/ext/vcjob/access.hpp>

namespace muster::ext::vcjob {

/// The phases of a job that are met so far; Restarting, Completing, Aborting, Aborted belong to policies and commands.
enum class job_phase : std::uint8_t { none, pending, running, completed, failed, terminating, terminated };

[[nodiscard]] constexpr std::string_view to_string(job_phase phase) noexcept {
    switch (phase) {
    case job_phase::none:
        return "";
    case job_phase::pending:
        return "Pending";
    case job_phase::running:
        return "Running";
    case job_phase::completed:
        return "Completed";
    case job_phase::failed:
        return "Failed";
    case job_phase::terminating:
        return "Terminating";
    case job_phase::terminated:
        return "Terminated";
    }
    return "";
}

/// A job's pods by phase; those that are being deleted count as terminating alone.
struct pod_counts {
    std::int64_t pending = 0;
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::int64_t unknown = 0;
    std::int64_t terminating = 0;
    std::map<std::string, std::map<std::string, std::int64_t>> by_task{}; ///< task to pod phase to count

    /// Counts one pod that is not being deleted.
    void add(std::string const& task, std::string const& phase) {
        ++by_task[task][phase];
        if (phase == "Pending") {
            ++pending;
        } else if (phase == "Running") {
            ++running;
        } else if (phase == "Succeeded") {
            ++succeeded;
        } else if (phase == "Failed") {
            ++failed;
        } else {
            ++unknown;
        }
    }

    friend bool operator==(pod_counts const&, pod_counts const&) = default;
};

/// What the controller keeps of a job.
struct job_status {
    job_phase phase = job_phase::none;
    pod_counts counts{};
    std::int64_t min_available = 0;
    std::int64_t version = 0;
    std::int64_t retry_count = 0;
    std::vector<job_phase> conditions{};            ///< one entry a phase; the last written stands last
    std::map<std::string, std::string> resources{}; ///< controlledResources

    /// Notes that the status was written in its phase.
    void note() {
        std::erase(conditions, phase);
        conditions.push_back(phase);
    }

    friend bool operator==(job_status const&, job_status const&) = default;
};

namespace detail {

/// Whether some task that finished has fewer successes than its gang needs.
[[nodiscard]] inline bool task_fell_short(json const& tasks, pod_counts const& counts) {
    return std::any_of(tasks.begin(), tasks.end(), [&](json const& task) {
        auto const least = integer(at(task, {"minAvailable"}));
        auto const seen = counts.by_task.find(text(task, "name"));
        if (!least || seen == counts.by_task.end()) return false;
        auto const done = seen->second.find("Succeeded");
        return (done == seen->second.end() ? 0 : done->second) < *least;
    });
}

[[nodiscard]] inline job_phase finished_phase(json const& spec, pod_counts const& counts) {
    auto const& tasks = list(spec, {"tasks"});
    auto const least = number(spec, "minAvailable");
    std::int64_t of_tasks = 0;
    for (auto const& task : tasks) of_tasks += integer(at(task, {"minAvailable"})).value_or(0);
    if (least >= of_tasks && task_fell_short(tasks, counts)) return job_phase::failed;
    auto const wanted = integer(at(spec, {"minSuccess"}));
    if (wanted && counts.succeeded < *wanted) return job_phase::failed;
    return counts.succeeded >= least ? job_phase::completed : job_phase::failed;
}

} // namespace detail

/// The phase of a job after its pods were counted, when no policy or command asks for another.
///
/// Source: Volcano, pkg/controllers/job/state/pending.go and running.go, at ed72c7c8. The restarts, aborts and
///         completions that policies bring about are transitions of their own, from the same counts.
[[nodiscard]] inline job_phase next_phase(json const& job, job_phase phase, pod_counts const& counts) {
    auto const& spec = at(job, {"spec"});
    auto const least = number(spec, "minAvailable");
    auto const ended = counts.succeeded + counts.failed;
    if (phase == job_phase::pending) return least <= counts.running + ended ? job_phase::running : phase;
    if (phase != job_phase::running) return phase;

    std::int64_t replicas = 0;
    for (auto const& task : list(spec, {"tasks"})) replicas += number(task, "replicas");
    if (replicas == 0) return phase;
    auto const wanted = integer(at(spec, {"minSuccess"}));
    if (wanted && counts.succeeded >= *wanted) return job_phase::completed;
    if (ended == replicas) return detail::finished_phase(spec, counts);
    return counts.pending > replicas - least ? job_phase::pending : phase;
}

} // namespace muster::ext::vcjob
