#pragma once

/// \file
/// Action enqueue: lets jobs into their queues, as far as the queues will have room for them.

#include <muster/cluster/status.hpp>
#include <muster/core/ids.hpp>

namespace muster::action {

/// Offers pending jobs to the policies, the first queue's first job first.
///
/// A job without minimum resources is let in unasked; one that is refused does not hold up the next.
/// Source: volcano, pkg/scheduler/actions/enqueue/enqueue.go, at ed72c7c8 (spec/volcano-core.md 6.1).
struct enqueue {
    template <class Session>
    void run(Session& s) const {
        auto& work = s.work();
        for (auto const job : s.roster().jobs()) {
            auto const queue = s.view().view(job).row().queue;
            work.list(queue);
            if (s.phase(job) == job_phase::pending) work.push(queue, job);
        }
        while (work.has_queue()) {
            auto const queue = work.pop_queue();
            if (!work.has_job(queue)) continue;
            (void)s.enqueue(work.pop_job(queue));
            work.push(queue);
        }
    }
};

} // namespace muster::action
