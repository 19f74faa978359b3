#pragma once

/// \file
/// Policy priority: the more important job and task first.

#include <cstdint>
#include <span>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/policy/hooks.hpp>

namespace muster::policy {

/// Orders jobs and tasks by priority, higher first, and lets higher ones preempt lower ones.
///
/// Source: volcano, pkg/scheduler/plugins/priority/priority.go, at ed72c7c8.
struct priority {
    [[nodiscard]] int job_order(job_view a, job_view b) const noexcept {
        return compare(b.row().priority, a.row().priority);
    }

    [[nodiscard]] int task_order(task_view a, task_view b) const noexcept {
        return compare(b.row().priority, a.row().priority);
    }

    /// A job with tasks still to place is starving.
    [[nodiscard]] bool job_starving(job_view job) const noexcept {
        auto const gang = job.gang();
        return gang.ready + gang.waiting < static_cast<std::int64_t>(job.row().tasks.size());
    }

    /// Jobs of lower priority, and tasks of lower priority within the preemptor's own job.
    vote preemptable(session_view view, task_view preemptor, std::span<task_id const> candidates,
                     column<task_id>& victims) const {
        auto const job = preemptor.row().job;
        if (!job) return vote::permit;
        for (auto const t : candidates) {
            auto const& other = view.view(t).row();
            bool const lower = other.job == job
                                   ? other.priority < preemptor.row().priority
                                   : other.job && view.view(other.job).row().priority < view.view(job).row().priority;
            if (lower) victims.push_back(t);
        }
        return vote::permit;
    }

private:
    [[nodiscard]] static int compare(std::int32_t a, std::int32_t b) noexcept { return a < b ? -1 : (a > b ? 1 : 0); }
};

} // namespace muster::policy
