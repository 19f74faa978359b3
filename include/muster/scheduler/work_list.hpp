#pragma once

/// \file
/// What an action has to do: queues by order, each with its jobs by order, each with its tasks by order.

#include <cstdint>

#include <muster/cluster/tables.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/scheduler/heap.hpp>
#include <muster/scheduler/roster.hpp>

namespace muster {

/// Three levels of heaps, each in the session's order.
///
/// Cost: `open` allocates, nothing else does.
class work_list {
public:
    struct orders {
        precedence queues, jobs, tasks;
    };

    void open(tables const& t, roster const& r, orders const& by) {
        column<std::uint32_t> jobs(t.queues.size());
        column<std::uint32_t> tasks(t.jobs.size());
        for (auto const j : r.jobs()) {
            ++jobs[t.jobs[j.index()].queue.index()];
            tasks[j.index()] = static_cast<std::uint32_t>(r.tasks(j).size());
        }
        queues_.open({static_cast<std::uint32_t>(t.queues.size())}, by.queues);
        jobs_.open(jobs, by.jobs);
        tasks_.open(tasks, by.tasks);
        listed_.resize(t.queues.size());
        batch_.reserve(t.tasks.size());
    }

    void clear() noexcept {
        queues_.clear();
        jobs_.clear();
        tasks_.clear();
        listed_.fill(0);
        batch_.clear();
    }

    /// Adds a queue, but once.
    void list(queue_id q) noexcept {
        if (listed_[q.index()] == 0) push(q);
        listed_[q.index()] = 1;
    }

    void push(queue_id q) noexcept { queues_.push(0, q.value); }
    void push(queue_id q, job_id j) noexcept { jobs_.push(q.index(), j.value); }
    void push(job_id j, task_id t) noexcept { tasks_.push(j.index(), t.value); }

    [[nodiscard]] bool has_queue() const noexcept { return !queues_.empty(0); }
    [[nodiscard]] bool has_job(queue_id q) const noexcept { return !jobs_.empty(q.index()); }
    [[nodiscard]] bool has_task(job_id j) const noexcept { return !tasks_.empty(j.index()); }

    [[nodiscard]] queue_id pop_queue() noexcept { return queue_id{queues_.pop(0)}; }
    [[nodiscard]] job_id pop_job(queue_id q) noexcept { return job_id{jobs_.pop(q.index())}; }
    [[nodiscard]] task_id pop_task(job_id j) noexcept { return task_id{tasks_.pop(j.index())}; }

    /// Room for all tasks of the session in one list.
    [[nodiscard]] column<task_id>& batch() noexcept { return batch_; }

private:
    heap_set queues_;
    heap_set jobs_;
    heap_set tasks_;
    column<std::uint8_t> listed_;
    column<task_id> batch_;
};

} // namespace muster
