#pragma once

/// \file
/// What a session changes: where each task is, and every sum that follows from it, kept by one function.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/cluster/status.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/device/card.hpp>

namespace muster {

/// Where a task is and what it holds there.
struct placement {
    task_status status = task_status::pending;
    node_id node;
    range shares{}; ///< in `state::shares`

    friend constexpr bool operator==(placement const&, placement const&) noexcept = default;
};

/// The columns that follow from the placements of all tasks.
///
/// Invariant: every column is what `enter` of each live task makes of zeros; `audit` checks it.
/// Shape:     `[dimension][node]` and `[dimension][job]` for amounts, in the dimension's counting; one entry a card,
///            task, job or role for the rest.
/// Source:    volcano, pkg/scheduler/api/node_info.go and job_info.go, at ed72c7c8 (spec/volcano-core.md 1.6).
struct state {
    grid<std::int64_t> idle{}; ///< allocatable less used
    grid<std::int64_t> used{};
    grid<std::int64_t> releasing{};   ///< part of used, on its way out
    grid<std::int64_t> pipelined{};   ///< promised out of what is released
    column<card_usage> cards{};       ///< held now, also by who is on the way out
    column<card_usage> cards_later{}; ///< once the releasing are gone and the pipelined there
    std::size_t cards_in_motion = 0;  ///< tasks that tell the two apart; none: they are equal
    column<placement> tasks{};
    column<std::uint32_t> tasks_on_node{};
    column<task_id> first_on_node{}; ///< heads of lists through `next_on_node`
    column<task_id> next_on_node{};
    column<task_id> previous_on_node{};
    column<status_counts> jobs{};
    column<status_counts> roles{};
    column<std::uint32_t> pending_best_effort{}; ///< a job
    column<std::uint32_t> pending_best_effort_of_role{};
    grid<std::int64_t> held{}; ///< a job
    column<share> shares{};    ///< grows only; placements point into it

    /// Makes room for every row of the tables; new nodes are idle.
    void fit_to(tables const& t) {
        for (auto* const of : {&idle, &used, &releasing, &pipelined}) of->resize(t.dimensions.size(), t.nodes.size());
        held.resize(t.dimensions.size(), t.jobs.size());
        cards.resize(t.cards.size());
        cards_later.resize(t.cards.size());
        tasks.resize(t.tasks.size());
        next_on_node.resize(t.tasks.size());
        previous_on_node.resize(t.tasks.size());
        first_on_node.resize(t.nodes.size());
        tasks_on_node.resize(t.nodes.size());
        jobs.resize(t.jobs.size());
        pending_best_effort.resize(t.jobs.size());
        roles.resize(t.roles.size());
        pending_best_effort_of_role.resize(t.roles.size());
    }

    /// Counts a task at a place.
    void enter(tables const& t, task_id id, placement const& where) noexcept {
        tasks[id.index()] = where;
        count(t, id, +1);
        if (where.node) link(id, where.node);
    }

    /// Takes a task out of all sums.
    void leave(tables const& t, task_id id) noexcept {
        count(t, id, -1);
        if (tasks[id.index()].node) unlink(id, tasks[id.index()].node);
    }

    /// Moves a task; what the session does is nothing but this.
    void move(tables const& t, task_id id, placement const& to) noexcept {
        leave(t, id);
        enter(t, id, to);
    }

    /// What a node will have once the releasing are gone and the pipelined there; may be negative.
    [[nodiscard]] std::int64_t future_idle(dimension_id d, node_id n) const noexcept {
        return idle[d.index()][n.index()] + releasing[d.index()][n.index()] - pipelined[d.index()][n.index()];
    }

    [[nodiscard]] std::span<share const> shares_of(task_id id) const noexcept {
        auto const& held_here = tasks[id.index()].shares;
        return std::span{shares}.subspan(held_here.first, held_here.count);
    }

private:
    void count(tables const& t, task_id id, std::int64_t sign) noexcept {
        auto const& task = t.tasks[id.index()];
        auto const& where = tasks[id.index()];
        auto const step = static_cast<std::uint32_t>(sign);
        auto const slot = static_cast<std::size_t>(where.status);
        auto const& request = t.shape_of(task).request;
        if (task.job) {
            auto const job = task.job.index();
            jobs[job][slot] += step;
            roles[task.role.index()][slot] += step;
            if (where.status == task_status::pending && task.best_effort) {
                pending_best_effort[job] += step;
                pending_best_effort_of_role[task.role.index()] += step;
            }
            if (statuses::held.has(where.status))
                for (auto const& [d, amount] : request) held[d.index()][job] += sign * amount;
        }
        if (!where.node || !statuses::on_node.has(where.status)) return;
        auto const node = where.node.index();
        for (auto const& [d, amount] : request) {
            auto const change = sign * amount;
            if (where.status == task_status::pipelined) {
                pipelined[d.index()][node] += change;
                continue;
            }
            idle[d.index()][node] -= change;
            used[d.index()][node] += change;
            if (where.status == task_status::releasing) releasing[d.index()][node] += change;
        }
        auto const held_here = shares_of(id);
        if (held_here.empty()) return;
        bool const leaves = where.status == task_status::releasing;
        bool const comes = where.status == task_status::pipelined;
        if (leaves || comes) cards_in_motion += static_cast<std::size_t>(sign);
        for (auto const& s : held_here) {
            if (!comes) cards[s.card.index()].add(s, sign);
            if (!leaves) cards_later[s.card.index()].add(s, sign);
        }
    }

    void link(task_id id, node_id node) noexcept {
        ++tasks_on_node[node.index()];
        auto& head = first_on_node[node.index()];
        next_on_node[id.index()] = head;
        previous_on_node[id.index()] = task_id{};
        if (head) previous_on_node[head.index()] = id;
        head = id;
    }

    void unlink(task_id id, node_id node) noexcept {
        --tasks_on_node[node.index()];
        auto const next = next_on_node[id.index()];
        auto const previous = previous_on_node[id.index()];
        if (next) previous_on_node[next.index()] = previous;
        if (previous)
            next_on_node[previous.index()] = next;
        else
            first_on_node[node.index()] = next;
    }
};

} // namespace muster
