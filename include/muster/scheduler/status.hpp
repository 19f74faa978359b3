#pragma once

/// \file
/// The phase of a job when a session closes.

#include <algorithm>
#include <cstdint>
#include <span>

#include <muster/cluster/status.hpp>
#include <muster/cluster/view.hpp>
#include <muster/policy/hooks.hpp>

namespace muster {

/// Source: volcano, pkg/scheduler/framework/session.go, getPodGroupPhase, at ed72c7c8 (spec/volcano-core.md 5.1).
[[nodiscard]] inline job_phase phase_at_close(job_view job, std::span<condition const> conditions) noexcept {
    auto const& counts = job.counts();
    bool const unschedulable = std::any_of(conditions.begin(), conditions.end(),
                                           [&](condition const& c) { return c.job == job.id() && !c.scheduled; });
    if (status_set{task_status::running}.of(counts) > 0 && unschedulable) return job_phase::unknown;
    std::int64_t leaving = 0;
    for (auto const t : job.row().tasks) {
        auto const& where = job.now().tasks[t.index()];
        if (where.status == task_status::releasing && where.node) ++leaving;
    }
    auto const completed = std::int64_t{statuses::completed.of(counts)};
    auto const scheduled = std::int64_t{statuses::scheduled.of(counts)} + leaving;
    if (scheduled >= job.row().min_available) return scheduled == completed ? job_phase::completed : job_phase::running;
    return job.phase() == job_phase::inqueue ? job_phase::inqueue : job_phase::pending;
}

} // namespace muster
