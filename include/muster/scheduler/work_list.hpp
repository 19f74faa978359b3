#pragma once

/// \file
/// What an action has to do: queues by order, each with its jobs by order, each with its tasks by order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/cluster/tables.hpp>
#include <muster/core/ids.hpp>
#include <muster/scheduler/heap.hpp>
#include <muster/scheduler/roster.hpp>

namespace muster {

/// Three levels of heaps. `before(a, b)` of queues, jobs and tasks is the session's, given with each call.
///
/// Cost: `open` allocates, nothing else does.
class work_list {
public:
    void open(tables const& t, roster const& r) {
        std::vector<std::size_t> jobs(t.queues.size());
        std::size_t tasks = 0;
        for (auto const j : r.jobs()) {
            ++jobs[t.jobs[j.index()].queue.index()];
            tasks += r.tasks(j).size();
        }
        queues_.open(1, [&](std::size_t) { return t.queues.size(); });
        jobs_.open(t.queues.size(), [&](std::size_t q) { return jobs[q]; });
        tasks_.open(t.jobs.size(), [&](std::size_t j) { return r.tasks(job_id{j}).size(); });
        listed_.resize(t.queues.size());
        batch_.reserve(tasks);
    }

    void clear() noexcept {
        queues_.clear();
        jobs_.clear();
        tasks_.clear();
        std::fill(listed_.begin(), listed_.end(), std::uint8_t{0});
        batch_.clear();
    }

    /// Adds a queue, but once.
    template <class Before>
    void list(queue_id q, Before before) noexcept {
        if (listed_[q.index()] == 0) push(q, before);
        listed_[q.index()] = 1;
    }

    template <class Before>
    void push(queue_id q, Before before) noexcept {
        queues_.push(0, q, before);
    }
    template <class Before>
    void push(queue_id q, job_id j, Before before) noexcept {
        jobs_.push(q.index(), j, before);
    }
    template <class Before>
    void push(job_id j, task_id t, Before before) noexcept {
        tasks_.push(j.index(), t, before);
    }

    [[nodiscard]] bool has_queue() const noexcept { return !queues_.empty(0); }
    [[nodiscard]] bool has_job(queue_id q) const noexcept { return !jobs_.empty(q.index()); }
    [[nodiscard]] bool has_task(job_id j) const noexcept { return !tasks_.empty(j.index()); }

    template <class Before>
    [[nodiscard]] queue_id pop_queue(Before before) noexcept {
        return queues_.pop(0, before);
    }
    template <class Before>
    [[nodiscard]] job_id pop_job(queue_id q, Before before) noexcept {
        return jobs_.pop(q.index(), before);
    }
    template <class Before>
    [[nodiscard]] task_id pop_task(job_id j, Before before) noexcept {
        return tasks_.pop(j.index(), before);
    }

    /// Room for all tasks of the session in one list.
    [[nodiscard]] std::vector<task_id>& batch() noexcept { return batch_; }

private:
    heap_set<queue_id> queues_;
    heap_set<job_id> jobs_;
    heap_set<task_id> tasks_;
    std::vector<std::uint8_t> listed_;
    std::vector<task_id> batch_;
};

} // namespace muster
