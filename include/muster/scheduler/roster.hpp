#pragma once

/// \file
/// Who takes part in a session, and who comes first among equals.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <muster/cluster/cluster.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>

namespace muster {

/// The live nodes and queues, the jobs with a queue, and their tasks by uid, as they stand when a session opens.
///
/// Cost: sorts the names of jobs and queues, and the uids within each job, so that no later comparison reads a text.
class roster {
public:
    roster() = default;
    explicit roster(cluster const& c) { open(c); }

    /// Starts over with those of a cluster.
    void open(cluster const& c) {
        auto const& t = c.tables();
        nodes_.clear();
        queues_.clear();
        jobs_.clear();
        by_uid_.clear();
        for (node_id n{0}; n.index() != t.nodes.size(); ++n.value)
            if (c.live(n)) nodes_.push_back(n);
        column<named> names;
        for (queue_id q{0}; q.index() != t.queues.size(); ++q.value)
            if (c.live(q)) {
                queues_.push_back(q);
                names.push_back({t.text(t.queues[q.index()].name), q.value});
            }
        rank(names, queue_rank_, t.queues.size());
        for (job_id j{0}; j.index() != t.jobs.size(); ++j.value)
            if (c.live(j) && t.jobs[j.index()].queue) {
                jobs_.push_back(j);
                names.push_back({t.text(t.jobs[j.index()].key), j.value});
            }
        rank(names, job_rank_, t.jobs.size());
        tasks_.resize(t.jobs.size());
        task_rank_.resize(t.tasks.size());
        for (auto const j : jobs_) {
            for (auto const task : t.jobs[j.index()].tasks) names.push_back({t.tasks[task.index()].uid, task.value});
            sort(names);
            tasks_[j.index()] = {static_cast<std::uint32_t>(by_uid_.size()), static_cast<std::uint32_t>(names.size())};
            for (auto const& [uid, task] : names) {
                task_rank_[task] = static_cast<std::uint32_t>(by_uid_.size());
                by_uid_.push_back(task_id{task});
            }
            names.clear();
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
    [[nodiscard]] static column<job_phase> phases(tables const& t) {
        column<job_phase> phases;
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
    /// A text to sort by, and whose it is.
    struct named {
        std::string_view text;
        std::uint32_t position;
    };

    static void sort(column<named>& names) {
        std::sort(names.begin(), names.end(), [](named const& a, named const& b) {
            auto const order = a.text.compare(b.text);
            return order != 0 ? order < 0 : a.position < b.position;
        });
    }

    /// Numbers the rows of a table by their names, which are used up.
    static void rank(column<named>& names, column<std::uint32_t>& ranks, std::size_t rows) {
        sort(names);
        ranks.resize(rows);
        for (std::size_t i = 0; i != names.size(); ++i) ranks[names[i].position] = static_cast<std::uint32_t>(i);
        names.clear();
    }

    [[nodiscard]] static bool earlier(std::int64_t a, std::uint32_t rank_a, std::int64_t b,
                                      std::uint32_t rank_b) noexcept {
        return a != b ? a < b : rank_a < rank_b;
    }

    column<node_id> nodes_;
    column<queue_id> queues_;
    column<job_id> jobs_;
    column<std::uint32_t> queue_rank_;
    column<std::uint32_t> job_rank_;
    column<task_id> by_uid_;
    column<range> tasks_; ///< a job: its part of `by_uid_`
    column<std::uint32_t> task_rank_;
};

} // namespace muster
