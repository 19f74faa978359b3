#pragma once

/// \file
/// Policy gang: a job starts with its minimum of tasks, or not at all.

#include <cstdint>
#include <span>

#include <muster/cluster/status.hpp>
#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>

namespace muster::policy {

/// Holds a job back until `min_available` of its tasks, and the minimum of each role, have a place.
///
/// Source: volcano, pkg/scheduler/plugins/gang/gang.go, at ed72c7c8 (spec/volcano-core.md 4).
struct gang {
    /// Enough tasks that are not failed or leaving.
    [[nodiscard]] bool job_valid(job_view job) const noexcept {
        auto const counts = job.gang();
        return counts.valid >= counts.min_available &&
               job.each_role([&](role_id r) { return std::int64_t{statuses::valid.of(job.counts(r))}; });
    }

    [[nodiscard]] bool job_ready(job_view job) const noexcept {
        return job.gang().is_ready() && job.each_role([&](role_id r) { return placed(job, r); });
    }

    [[nodiscard]] vote job_pipelined(job_view job) const noexcept {
        bool const yes = job.gang().is_pipelined() && job.each_role([&](role_id r) {
            return placed(job, r) + std::int64_t{status_set{task_status::pipelined}.of(job.counts(r))};
        });
        return yes ? vote::permit : vote::reject;
    }

    [[nodiscard]] bool job_starving(job_view job) const noexcept { return job.gang().is_starving(); }

    /// Jobs that are not ready first.
    [[nodiscard]] int job_order(job_view a, job_view b) const noexcept {
        bool const ready_a = a.gang().is_ready();
        bool const ready_b = b.gang().is_ready();
        return ready_a == ready_b ? 0 : (ready_a ? 1 : -1);
    }

    /// Tasks above their job's minimum.
    vote preemptable(session_view view, task_view, std::span<task_id const> candidates,
                     column<task_id>& victims) const {
        return surplus(view, candidates, victims);
    }

    vote reclaimable(session_view view, task_view, std::span<task_id const> candidates,
                     column<task_id>& victims) const {
        return surplus(view, candidates, victims);
    }

    /// Says of each job with tasks whether its gang is complete.
    ///
    /// Silent on a job that would be whole but for tasks on their way out.
    void close(session_view view, std::span<task_facts const> facts, column<condition>& out) const {
        for (auto const id : view.jobs()) {
            auto const job = view.view(id);
            if (job.row().tasks.empty()) continue;
            auto const counts = job.gang();
            if (counts.is_ready()) {
                out.push_back({id, true, 0});
                continue;
            }
            std::int64_t leaving = 0;
            std::int64_t schedulable = counts.ready;
            for (auto const t : job.row().tasks) {
                auto const& where = view.view(t).where();
                auto const& known = facts[t.index()];
                if (where.status == task_status::releasing && where.node) ++leaving;
                if (where.status == task_status::pending && known.tried && statuses::held.has(known.last.status))
                    ++schedulable;
            }
            auto const waiting = status_set{task_status::pending, task_status::pipelined}.of(job.counts());
            bool const whole_but_for_leaving =
                leaving > 0 && waiting == 0 &&
                std::int64_t{statuses::scheduled.of(job.counts())} + leaving >= counts.min_available;
            if (!whole_but_for_leaving) out.push_back({id, false, counts.min_available - schedulable});
        }
    }

private:
    /// Tasks of a role with a place, or that need none.
    [[nodiscard]] static std::int64_t placed(job_view job, role_id r) noexcept {
        return std::int64_t{statuses::ready.of(job.counts(r))} +
               std::int64_t{job.now().pending_best_effort_of_role[r.index()]};
    }

    static vote surplus(session_view view, std::span<task_id const> candidates, column<task_id>& victims) {
        for (auto const t : candidates) {
            auto const id = view.view(t).row().job;
            if (!id) continue;
            auto const job = view.view(id).gang();
            std::int64_t taken = 0;
            for (auto const v : victims) taken += view.view(v).row().job == id ? 1 : 0;
            if (job.ready - taken > job.min_available) victims.push_back(t);
        }
        return vote::permit;
    }
};

} // namespace muster::policy
