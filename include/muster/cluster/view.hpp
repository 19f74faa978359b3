#pragma once

/// \file
/// What policies see: light handles on a node, task, job, queue or shape of a session.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <muster/cluster/state.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/ids.hpp>

namespace muster {

/// What a job demands and has, in the original's words.
///
/// Source: volcano, pkg/scheduler/api/job_info.go, at ed72c7c8 (spec/volcano-core.md 1.3).
struct gang_counts {
    std::int64_t min_available = 0;
    std::int64_t ready = 0;   ///< tasks placed or done
    std::int64_t waiting = 0; ///< tasks pipelined
    std::int64_t pending_best_effort = 0;
    std::int64_t valid = 0;

    [[nodiscard]] constexpr bool is_ready() const noexcept { return ready + pending_best_effort >= min_available; }
    [[nodiscard]] constexpr bool is_pipelined() const noexcept {
        return waiting + ready + pending_best_effort >= min_available;
    }
    [[nodiscard]] constexpr bool is_starving() const noexcept { return waiting + ready < min_available; }
};

namespace detail {

/// An id with the tables and the state that it points into.
template <class Id>
class handle {
public:
    handle(tables const& t, state const& s, Id which) noexcept : tables_(&t), state_(&s), id_(which) {}

    [[nodiscard]] Id id() const noexcept { return id_; }
    [[nodiscard]] tables const& in() const noexcept { return *tables_; }
    [[nodiscard]] state const& now() const noexcept { return *state_; }
    [[nodiscard]] std::string const& text(symbol s) const noexcept { return tables_->text(s); }

private:
    tables const* tables_;
    state const* state_;
    Id id_;
};

} // namespace detail

class task_view : public detail::handle<task_id> {
public:
    using handle::handle;

    [[nodiscard]] task_row const& row() const noexcept { return in().tasks[id().index()]; }
    [[nodiscard]] muster::shape const& shape() const noexcept { return in().shape_of(row()); }
    [[nodiscard]] placement const& where() const noexcept { return now().tasks[id().index()]; }
    [[nodiscard]] task_status status() const noexcept { return where().status; }
    [[nodiscard]] std::span<share const> shares() const noexcept { return now().shares_of(id()); }
};

class node_view : public detail::handle<node_id> {
public:
    using handle::handle;

    [[nodiscard]] node_row const& row() const noexcept { return in().nodes[id().index()]; }
    [[nodiscard]] std::string const& name() const noexcept { return text(row().name); }
    /// Zero for a dimension that the node doesn't name. Read beside idle and used, which scores read anyway.
    [[nodiscard]] std::int64_t allocatable(dimension_id d) const noexcept { return idle(d) + used(d); }
    [[nodiscard]] std::int64_t idle(dimension_id d) const noexcept { return now().idle[d.index()][id().index()]; }
    [[nodiscard]] std::int64_t used(dimension_id d) const noexcept { return now().used[d.index()][id().index()]; }
    [[nodiscard]] std::int64_t future_idle(dimension_id d) const noexcept { return now().future_idle(d, id()); }

    [[nodiscard]] std::span<card const> cards() const noexcept {
        return std::span{in().cards}.subspan(row().cards.first, row().cards.count);
    }
    [[nodiscard]] std::span<card_usage const> taken() const noexcept {
        return std::span{now().cards}.subspan(row().cards.first, row().cards.count);
    }
    /// The same once the releasing are gone and the pipelined there.
    [[nodiscard]] std::span<card_usage const> taken_later() const noexcept {
        return std::span{now().cards_later}.subspan(row().cards.first, row().cards.count);
    }
    [[nodiscard]] card_id first_card() const noexcept { return card_id{row().cards.first}; }

    /// Calls `f(task_view)` for every task on the node, in no order that may matter.
    template <class F>
    void each_task(F f) const {
        for (auto t = now().first_on_node[id().index()]; t; t = now().next_on_node[t.index()])
            f(task_view{in(), now(), t});
    }
};

class queue_view : public detail::handle<queue_id> {
public:
    using handle::handle;

    [[nodiscard]] queue_row const& row() const noexcept { return in().queues[id().index()]; }
    [[nodiscard]] std::string const& name() const noexcept { return text(row().name); }
};

class job_view : public detail::handle<job_id> {
public:
    job_view(tables const& t, state const& s, job_id which, job_phase phase) noexcept
        : handle(t, s, which), phase_(phase) {}

    [[nodiscard]] job_row const& row() const noexcept { return in().jobs[id().index()]; }
    [[nodiscard]] std::string const& key() const noexcept { return text(row().key); }
    [[nodiscard]] job_phase phase() const noexcept { return phase_; }
    [[nodiscard]] queue_view queue() const noexcept { return {in(), now(), row().queue}; }
    [[nodiscard]] status_counts const& counts() const noexcept { return now().jobs[id().index()]; }
    /// What its placed tasks take, in the dimension's counting.
    [[nodiscard]] std::int64_t held(dimension_id d) const noexcept { return now().held[d.index()][id().index()]; }

    [[nodiscard]] gang_counts gang() const noexcept {
        return {row().min_available, statuses::ready.of(counts()), status_set{task_status::pipelined}.of(counts()),
                now().pending_best_effort[id().index()], statuses::valid.of(counts())};
    }

    /// Whether each demanded role has as many tasks as it must, counted by `count(role_counts)`.
    ///
    /// Always true where the job's own minimum is below the sum of its roles' minima: then only that one counts.
    template <class Count>
    [[nodiscard]] bool each_role(Count count) const noexcept {
        if (row().min_available < row().min_of_roles) return true;
        for (auto const r : row().roles) {
            auto const& role = in().roles[r.index()];
            if (role.demanded && count(r) < static_cast<std::int64_t>(role.min)) return false;
        }
        return true;
    }

    [[nodiscard]] status_counts const& counts(role_id r) const noexcept { return now().roles[r.index()]; }

private:
    job_phase phase_;
};

/// A shape as hooks see it, with one task that has it.
class shape_view : public detail::handle<shape_id> {
public:
    shape_view(tables const& t, state const& s, shape_id which, task_id example) noexcept
        : handle(t, s, which), example_(example) {}

    [[nodiscard]] task_view example() const noexcept { return {in(), now(), example_}; }
    [[nodiscard]] muster::shape const& shape() const noexcept { return example().shape(); }
    [[nodiscard]] amounts const& request() const noexcept { return shape().request; }

private:
    task_id example_;
};

/// What `open` and `close` see: the whole session.
class session_view {
public:
    session_view(tables const& t, state const& s, std::span<node_id const> nodes, std::span<queue_id const> queues,
                 std::span<job_id const> jobs, std::span<job_phase const> phases) noexcept
        : tables_(&t), state_(&s), nodes_(nodes), queues_(queues), jobs_(jobs), phases_(phases) {}

    [[nodiscard]] tables const& in() const noexcept { return *tables_; }
    [[nodiscard]] state const& now() const noexcept { return *state_; }
    [[nodiscard]] std::size_t dimensions() const noexcept { return tables_->dimensions.size(); }

    /// Live nodes, queues, and jobs that have a queue, by position.
    [[nodiscard]] std::span<node_id const> nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::span<queue_id const> queues() const noexcept { return queues_; }
    [[nodiscard]] std::span<job_id const> jobs() const noexcept { return jobs_; }

    [[nodiscard]] node_view view(node_id n) const noexcept { return {*tables_, *state_, n}; }
    [[nodiscard]] queue_view view(queue_id q) const noexcept { return {*tables_, *state_, q}; }
    [[nodiscard]] task_view view(task_id t) const noexcept { return {*tables_, *state_, t}; }
    [[nodiscard]] job_view view(job_id j) const noexcept { return {*tables_, *state_, j, phases_[j.index()]}; }

    /// The nodes' allocatable amount of one dimension.
    [[nodiscard]] std::int64_t total(dimension_id d) const noexcept {
        std::int64_t sum = 0;
        for (auto const n : nodes_) sum += tables_->nodes[n.index()].allocatable[d];
        return sum;
    }

private:
    tables const* tables_;
    state const* state_;
    std::span<node_id const> nodes_;
    std::span<queue_id const> queues_;
    std::span<job_id const> jobs_;
    std::span<job_phase const> phases_;
};

} // namespace muster
