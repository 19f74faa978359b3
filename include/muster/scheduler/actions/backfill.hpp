#pragma once

/// \file
/// Action backfill: gives a place to tasks that ask for nothing.

#include <muster/cluster/status.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/ids.hpp>

namespace muster::action {

/// Places best-effort tasks by the policies' fits alone; neither queues' limits nor amounts are looked at.
///
/// A job that is ready then has all its placed tasks decided; else the place holds for the session and starts nothing.
/// Source: volcano, pkg/scheduler/actions/backfill/backfill.go, at ed72c7c8 (spec/volcano-core.md 6.3).
struct backfill {
    template <class Session>
    void run(Session& s) const {
        auto& work = s.work();
        for (auto const job : s.roster().jobs()) {
            if (s.phase(job) == job_phase::pending || !s.valid(job)) continue;
            for (auto const t : s.roster().tasks(job)) {
                auto const task = s.view().view(t);
                if (!task.row().best_effort || task.row().gate != scheduling_gate::none) continue;
                if (task.status() == task_status::pipelined) s.unplace(t);
                if (task.status() == task_status::pending) work.push(job, t);
            }
            if (!work.has_task(job)) continue;
            auto const queue = s.view().view(job).row().queue;
            work.list(queue);
            work.push(queue, job);
        }
        auto& batch = work.batch();
        while (work.has_queue()) {
            auto const queue = work.pop_queue();
            while (work.has_job(queue)) {
                auto const job = work.pop_job(queue);
                while (work.has_task(job)) batch.push_back(work.pop_task(job));
            }
        }
        for (auto const task : batch) {
            auto const best = s.find(task, false);
            if (!best || !s.place(task, best.node, true)) continue;
            auto const job = s.view().view(task).row().job;
            if (s.ready(job)) s.dispatch(job);
        }
    }
};

} // namespace muster::action
