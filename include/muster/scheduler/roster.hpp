#pragma once

/// \file
/// Who takes part in a session, and who comes first among equals.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/cluster/cluster.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/ids.hpp>

namespace muster {

/// The live nodes and queues, the jobs with a queue, and their tasks by uid, as they stand when a session opens.
///
/// Cost: sorts the names of jobs and queues, and the uids within each job, so that no later comparison reads a text.
class roster {
public:
    explicit roster(cluster const& c) {
        auto const& t = c.tables();
        list(nodes_, t.nodes.size(), [&](node_id n) { return c.live(n); });
        list(queues_, t.queues.size(), [&](queue_id q) { return c.live(q); });
        list(jobs_, t.jobs.size(), [&](job_id j) { return c.live(j) && t.jobs[j.index()].queue; });
        rank(
            queue_rank_, queues_,
            t.queues.size(), [&](queue_id q) -> auto const& { return t.text(t.queues[q.index()].name); });
        rank(
            job_rank_, jobs_, t.jobs.size(), [&](job_id j) -> auto const& { return t.text(t.jobs[j.index()].key); });
        tasks_.resize(t.jobs.size());
        task_rank_.resize(t.tasks.size());
        for (auto const j : jobs_) {
            auto const first = by_uid_.size();
            auto const& tasks = t.jobs[j.index()].tasks;
            by_uid_.insert(by_uid_.end(), tasks.begin(), tasks.end());
            std::sort(by_uid_.begin() + static_cast<std::ptrdiff_t>(first), by_uid_.end(), [&](task_id a, task_id b) {
                auto const order = t.tasks[a.index()].uid.compare(t.tasks[b.index()].uid);
                return order != 0 ? order < 0 : a < b;
            });
            tasks_[j.index()] = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(tasks.size())};
            for (auto i = first; i != by_uid_.size(); ++i)
                task_rank_[by_uid_[i].index()] = static_cast<std::uint32_t>(i);
        }
    }

    [[nodiscard]] std::span<node_id const> nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::span<queue_id const> queues() const noexcept { return queues_; }
    [[nodiscard]] std::span<job_id const> jobs() const noexcept { return jobs_; }
    /// A job's tasks, by uid in byte order.
    [[nodiscard]] std::span<task_id const> tasks(job_id j) const noexcept {
        return std::span{by_uid_}.subspan(tasks_[j.index()].first, tasks_[j.index()].count);
    }

    /// The jobs' phases, `[job]`.
    [[nodiscard]] static std::vector<job_phase> phases(tables const& t) {
        std::vector<job_phase> phases;
        phases.reserve(t.jobs.size());
        for (auto const& j : t.jobs) phases.push_back(j.phase);
        return phases;
    }

    [[nodiscard]] bool older(tables const& t, queue_id a, queue_id b) const noexcept {
        return earlier(t.queues[a.index()].created, queue_rank_[a.index()], t.queues[b.index()].created,
                       queue_rank_[b.index()]);
    }
    [[nodiscard]] bool older(tables const& t, job_id a, job_id b) const noexcept {
        return earlier(t.jobs[a.index()].created, job_rank_[a.index()], t.jobs[b.index()].created,
                       job_rank_[b.index()]);
    }

    /// Tasks of one job: by the number that ends their names if both have one, else by age, then uid.
    [[nodiscard]] bool older(tables const& t, task_id a, task_id b) const noexcept {
        auto const& x = t.tasks[a.index()];
        auto const& y = t.tasks[b.index()];
        if (x.number && y.number && *x.number != *y.number) return *x.number < *y.number;
        return earlier(x.created, task_rank_[a.index()], y.created, task_rank_[b.index()]);
    }

private:
    template <class Id, class Takes>
    static void list(std::vector<Id>& into, std::size_t rows, Takes takes) {
        for (Id id{std::size_t{0}}; id.index() != rows; ++id.value)
            if (takes(id)) into.push_back(id);
    }

    template <class Id, class Name>
    static void rank(std::vector<std::uint32_t>& ranks, std::vector<Id> ids, std::size_t rows, Name name) {
        std::sort(ids.begin(), ids.end(), [&](Id a, Id b) { return name(a) < name(b); });
        ranks.resize(rows);
        for (std::size_t i = 0; i != ids.size(); ++i) ranks[ids[i].index()] = static_cast<std::uint32_t>(i);
    }

    [[nodiscard]] static bool earlier(std::int64_t a, std::uint32_t rank_a, std::int64_t b,
                                      std::uint32_t rank_b) noexcept {
        return a != b ? a < b : rank_a < rank_b;
    }

    std::vector<node_id> nodes_;
    std::vector<queue_id> queues_;
    std::vector<job_id> jobs_;
    std::vector<std::uint32_t> queue_rank_;
    std::vector<std::uint32_t> job_rank_;
    std::vector<task_id> by_uid_;
    std::vector<range> tasks_; ///< a job: its part of `by_uid_`
    std::vector<std::uint32_t> task_rank_;
};

} // namespace muster
