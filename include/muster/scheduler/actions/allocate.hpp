#pragma once

/// \file
/// Action allocate: gives the tasks of jobs their nodes, a gang at a time.

#include <muster/cluster/status.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/argument.hpp>

namespace muster::action {

/// Serves queues in order, each one job a turn: a gang that is not ready gets as many tasks as make it ready or none,
/// one that is gets a single task.
///
/// A gang that can be complete only once others have left keeps what it took for the session, and starts nothing.
/// Source: volcano, pkg/scheduler/actions/allocate/allocate.go, at ed72c7c8 (spec/volcano-core.md 6.2); without
///         network topology and sub-groups.
struct allocate {
    bool error_cache = true; ///< tasks of one role share what nodes refused to the first of them

    template <class Session>
    void run(Session& s) const {
        auto& work = s.work();
        for (auto const job : s.roster().jobs()) {
            if (s.phase(job) == job_phase::pending) {
                if (s.enqueues()) continue;
                s.set_phase(job, job_phase::inqueue);
            }
            if (!s.valid(job) || !list_tasks(s, job)) continue;
            auto const queue = s.view().view(job).row().queue;
            work.list(queue);
            work.push(queue, job);
        }
        while (work.has_queue()) {
            auto const queue = work.pop_queue();
            if (s.overused(queue) || !work.has_job(queue)) continue; // gone for this session
            auto const job = work.pop_job(queue);
            if (serve(s, job) && work.has_task(job)) work.push(queue, job);
            work.push(queue);
        }
    }

private:
    /// Lists the job's tasks to place; false if there are none.
    template <class Session>
    static bool list_tasks(Session& s, job_id job) {
        for (auto const t : s.roster().tasks(job)) {
            auto const task = s.view().view(t);
            if (task.status() != task_status::pending || task.row().best_effort) continue;
            if (task.row().gate != scheduling_gate::held) s.work().push(job, t);
        }
        return s.work().has_task(job);
    }

    /// Places what the job needs; whether it is ready.
    template <class Session>
    bool serve(Session& s, job_id job) const {
        if (s.roster().nodes().empty()) return false;
        auto const start = s.journal().position();
        s.begin(job, error_cache);
        while (s.work().has_task(job)) {
            auto const task = s.work().pop_task(job);
            if (!s.allocatable(job, task)) continue;
            if (s.view().view(task).row().gate != scheduling_gate::none || s.skip_by_role(task)) continue;
            auto const best = s.find(task);
            if (!best && !s.found_any() && !s.may_go_on(job)) break;
            if (!best || !s.place(task, best.node, best.now)) continue;
            if (s.ready(job)) break;
        }
        if (s.ready(job)) {
            s.commit(start);
            return true;
        }
        if (!s.pipelined(job)) s.discard(start);
        return false;
    }
};

} // namespace muster::action

namespace muster {

template <>
inline constexpr auto arguments<action::allocate> = boost::hana::make_tuple(argument<action::allocate, bool>{
    "predicateErrorCacheEnable", &action::allocate::error_cache, {}, {}});

} // namespace muster
