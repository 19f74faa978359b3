#pragma once

/// \file
/// The audit: whether a state is what its placements make of it, and whether a cycle kept the promises of all cycles.
///
/// It counts by itself and calls nothing of `cluster/state.hpp` that changes a sum, so that a fault there shows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/cluster/cluster.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cluster/status.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/device/card.hpp>
#include <muster/resource/dimension.hpp>

namespace muster {

/// What an audit can find.
enum class finding_code : std::uint8_t {
    column_size,      ///< a column hasn't one entry a row; nothing else is looked at then
    broken_placement, ///< a task's node or shares point outside the tables; likewise
    wrong_idle,       ///< node, dimension; likewise below
    wrong_used,
    wrong_releasing,
    wrong_pipelined,
    wrong_held,   ///< job, dimension
    wrong_card,   ///< card
    wrong_list,   ///< node: its list of tasks, or its length
    wrong_counts, ///< job, or role
    negative,     ///< what is taken of a node, job or card is below zero
    dead_node,    ///< task: on a node that was removed
    no_place,     ///< task: on a node or card although its status takes no room, or without node
    stray_share,  ///< task, card: the card is not of the task's node
    wrong_job,    ///< task: its job or role doesn't list it, or lists it twice
    wrong_name,   ///< what a name leads to, or a task's placement, differs from the row's

    new_excess,   ///< card, or node and dimension: more is promised than there is, and more than before the cycle
    partial_gang, ///< job: not ready, yet some of it starts, or holds places without waiting for others to leave
    moved_task,   ///< task: was not pending, and is neither where it was nor on its way out
    over_limit,   ///< queue, dimension: holds more than its limit, and more than before
};

/// One thing found, with the ids that tell where; the others are none.
struct finding {
    finding_code code{};
    node_id node{};
    card_id card{};
    job_id job{};
    role_id role{};
    task_id task{};
    queue_id queue{};
    dimension_id dimension{};

    friend bool operator==(finding const&, finding const&) noexcept = default;
};

/// Everything found; empty: all is sound.
using findings = std::vector<finding>;

namespace detail {

/// One audit of one state: what the placements make of it, counted afresh.
class auditor {
public:
    auditor(tables const& t, state const& s) : t_(t), s_(s) {}

    [[nodiscard]] findings run() && {
        if (!well_sized() || !well_placed()) return std::move(found_);
        count();
        compare_nodes();
        compare_jobs();
        compare_cards();
        check_lists();
        check_tasks();
        return std::move(found_);
    }

private:
    using columns = grid<std::int64_t>;

    [[nodiscard]] bool well_sized() {
        auto const sized = [&](auto const& column, std::size_t rows) {
            if (column.size() != rows) found_.push_back({.code = finding_code::column_size});
        };
        auto const nodes = t_.nodes.size();
        for (auto const* of : {&s_.idle, &s_.used, &s_.releasing, &s_.pipelined}) {
            sized(*of, t_.dimensions.size());
            if (of->width() != nodes) found_.push_back({.code = finding_code::column_size});
        }
        sized(s_.held, t_.dimensions.size());
        if (s_.held.width() != t_.jobs.size()) found_.push_back({.code = finding_code::column_size});
        for (auto const* of : {&s_.next_on_node, &s_.previous_on_node}) sized(*of, t_.tasks.size());
        sized(s_.first_on_node, nodes);
        sized(s_.tasks_on_node, nodes);
        for (auto const* of : {&s_.cards, &s_.cards_later}) sized(*of, t_.cards.size());
        sized(s_.tasks, t_.tasks.size());
        sized(s_.jobs, t_.jobs.size());
        sized(s_.pending_best_effort, t_.jobs.size());
        sized(s_.roles, t_.roles.size());
        sized(s_.pending_best_effort_of_role, t_.roles.size());
        return found_.empty();
    }

    [[nodiscard]] bool well_placed() {
        each_task([&](task_id id, task_row const& row, placement const& where) {
            bool broken = (where.node && where.node.index() >= t_.nodes.size()) ||
                          where.shares.end() > s_.shares.size() || row.shape.index() >= t_.shapes.size() ||
                          (row.job && (row.job.index() >= t_.jobs.size() || row.role.index() >= t_.roles.size()));
            if (!broken)
                for (auto const& s : s_.shares_of(id)) broken = broken || s.card.index() >= t_.cards.size();
            if (broken) found_.push_back({.code = finding_code::broken_placement, .task = id});
        });
        return found_.empty();
    }

    void count() {
        for (auto* const of : {&used_, &releasing_, &pipelined_}) of->resize(t_.dimensions.size(), t_.nodes.size());
        held_.resize(t_.dimensions.size(), t_.jobs.size());
        for (auto* const of : {&cards_, &cards_later_}) of->resize(t_.cards.size());
        jobs_.resize(t_.jobs.size());
        roles_.resize(t_.roles.size());
        best_effort_.resize(t_.jobs.size());
        best_effort_of_role_.resize(t_.roles.size());
        each_task([&](task_id id, task_row const& row, placement const& where) {
            auto const& request = t_.shape_of(row).request;
            auto const add = [&](columns& to, std::size_t at) {
                for (auto const& [d, amount] : request) to[d.index()][at] += amount;
            };
            if (row.job) {
                bool const unplaced = where.status == task_status::pending && row.best_effort;
                ++jobs_[row.job.index()][static_cast<std::size_t>(where.status)];
                ++roles_[row.role.index()][static_cast<std::size_t>(where.status)];
                best_effort_[row.job.index()] += unplaced ? 1U : 0U;
                best_effort_of_role_[row.role.index()] += unplaced ? 1U : 0U;
                if (statuses::held.has(where.status)) add(held_, row.job.index());
            }
            if (!where.node) return;
            auto const node = where.node.index();
            if (where.status == task_status::pipelined) add(pipelined_, node);
            if (statuses::present.has(where.status)) add(used_, node);
            bool const leaves = where.status == task_status::releasing;
            bool const comes = where.status == task_status::pipelined;
            if (leaves) add(releasing_, node);
            if ((leaves || comes) && where.shares.count != 0) ++in_motion_;
            for (auto const& s : s_.shares_of(id)) {
                if (!comes) cards_[s.card.index()].add(s, 1);
                if (!leaves) cards_later_[s.card.index()].add(s, 1);
            }
        });
    }

    void compare_nodes() {
        for (dimension_id d{0}; d.index() != t_.dimensions.size(); ++d.value)
            for (node_id n{0}; n.index() != t_.nodes.size(); ++n.value) {
                auto const note = [&](finding_code code, bool bad) {
                    if (bad) found_.push_back({.code = code, .node = n, .dimension = d});
                };
                auto const at = [&](columns const& of) { return of[d.index()][n.index()]; };
                note(finding_code::wrong_idle, at(s_.idle) != t_.nodes[n.index()].allocatable[d] - at(used_));
                note(finding_code::wrong_used, at(s_.used) != at(used_));
                note(finding_code::wrong_releasing, at(s_.releasing) != at(releasing_));
                note(finding_code::wrong_pipelined, at(s_.pipelined) != at(pipelined_));
                note(finding_code::negative, at(s_.used) < 0 || at(s_.releasing) < 0 || at(s_.pipelined) < 0);
            }
    }

    void compare_jobs() {
        for (job_id j{0}; j.index() != t_.jobs.size(); ++j.value) {
            for (dimension_id d{0}; d.index() != t_.dimensions.size(); ++d.value) {
                auto const held = s_.held[d.index()][j.index()];
                if (held != held_[d.index()][j.index()])
                    found_.push_back({.code = finding_code::wrong_held, .job = j, .dimension = d});
                if (held < 0) found_.push_back({.code = finding_code::negative, .job = j, .dimension = d});
            }
            if (s_.jobs[j.index()] != jobs_[j.index()] || s_.pending_best_effort[j.index()] != best_effort_[j.index()])
                found_.push_back({.code = finding_code::wrong_counts, .job = j});
        }
        for (role_id r{0}; r.index() != t_.roles.size(); ++r.value)
            if (s_.roles[r.index()] != roles_[r.index()] ||
                s_.pending_best_effort_of_role[r.index()] != best_effort_of_role_[r.index()])
                found_.push_back({.code = finding_code::wrong_counts, .role = r});
    }

    void compare_cards() {
        for (card_id c{0}; c.index() != t_.cards.size(); ++c.value) {
            auto const& now = s_.cards[c.index()];
            auto const& later = s_.cards_later[c.index()];
            if (now != cards_[c.index()] || later != cards_later_[c.index()] || s_.cards_in_motion != in_motion_)
                found_.push_back({.code = finding_code::wrong_card, .card = c});
            for (auto const* taken : {&now, &later})
                if (taken->slots < 0 || taken->memory < mib{0} || taken->cores < percent{0})
                    found_.push_back({.code = finding_code::negative, .card = c});
        }
    }

    /// Each node's list holds its tasks, each once, and goes back the way it came.
    void check_lists() {
        column<std::uint32_t> wanted(t_.nodes.size());
        each_task([&](task_id, task_row const&, placement const& where) { wanted[where.node.index()] += 1; }, true);
        for (node_id n{0}; n.index() != t_.nodes.size(); ++n.value) {
            std::uint32_t met = 0;
            bool sound = s_.tasks_on_node[n.index()] == wanted[n.index()];
            task_id previous;
            for (auto t = s_.first_on_node[n.index()]; sound && t; t = s_.next_on_node[t.index()]) {
                sound = t.index() < t_.tasks.size() && t_.tasks[t.index()].live && s_.tasks[t.index()].node == n &&
                        s_.previous_on_node[t.index()] == previous && ++met <= wanted[n.index()];
                previous = t;
            }
            if (!sound || met != wanted[n.index()]) found_.push_back({.code = finding_code::wrong_list, .node = n});
        }
    }

    void check_tasks() {
        column<std::uint32_t> listed(t_.tasks.size());
        for (auto const& job : t_.jobs)
            for (auto const t : job.tasks)
                if (job.live && t.index() < listed.size()) ++listed[t.index()];
        each_task([&](task_id id, task_row const& row, placement const& where) {
            auto const note = [&](finding_code code, bool bad) {
                if (bad) found_.push_back({.code = code, .task = id});
            };
            note(finding_code::wrong_job, listed[id.index()] != (row.job ? 1U : 0U) || (row.job && !belongs(id, row)));
            note(finding_code::dead_node, where.node && !t_.nodes[where.node.index()].live);
            note(finding_code::no_place, where.node ? !statuses::on_node.has(where.status) : where.shares.count != 0);
            if (!where.node) return;
            auto const cards = t_.nodes[where.node.index()].cards;
            for (auto const& s : s_.shares_of(id))
                if (s.card.index() < cards.first || s.card.index() >= cards.end())
                    found_.push_back({.code = finding_code::stray_share, .card = s.card, .task = id});
        });
    }

    [[nodiscard]] bool belongs(task_id id, task_row const& row) const {
        auto const& job = t_.jobs[row.job.index()];
        return job.live && std::count(job.tasks.begin(), job.tasks.end(), id) == 1 &&
               std::count(job.roles.begin(), job.roles.end(), row.role) == 1 &&
               t_.roles[row.role.index()].name == row.role_name;
    }

    template <class F>
    void each_task(F f, bool on_nodes = false) const {
        for (task_id id{0}; id.index() != t_.tasks.size(); ++id.value)
            if (t_.tasks[id.index()].live && (!on_nodes || s_.tasks[id.index()].node))
                f(id, t_.tasks[id.index()], s_.tasks[id.index()]);
    }

    tables const& t_;
    state const& s_;
    findings found_;
    columns used_, releasing_, pipelined_, held_;
    column<card_usage> cards_, cards_later_;
    std::size_t in_motion_ = 0;
    column<status_counts> jobs_, roles_;
    column<std::uint32_t> best_effort_, best_effort_of_role_;
};

} // namespace detail

/// Whether every column of the state is what the placements make of it.
///
/// Cost: one pass over rows and columns, and a job's tasks squared.
[[nodiscard]] inline findings audit(tables const& t, state const& s) { return detail::auditor{t, s}.run(); }

/// The same, and that names, rows and placements agree.
[[nodiscard]] inline findings audit(cluster const& c) {
    auto const& t = c.tables();
    auto found = audit(t, c.state());
    auto const note = [&](bool good, finding const& f) {
        if (!good) found.push_back(f);
    };
    for (node_id n{0}; n.index() != t.nodes.size(); ++n.value)
        note(!c.live(n) || c.node(t.text(t.nodes[n.index()].name)) == n, {.code = finding_code::wrong_name, .node = n});
    for (queue_id q{0}; q.index() != t.queues.size(); ++q.value)
        note(!c.live(q) || c.queue(t.text(t.queues[q.index()].name)) == q,
             {.code = finding_code::wrong_name, .queue = q});
    for (job_id j{0}; j.index() != t.jobs.size(); ++j.value) {
        auto const& row = t.jobs[j.index()];
        bool const good = c.job(t.text(row.key)) == j && row.queue == c.queue(t.text(row.queue_name));
        note(!c.live(j) || good, {.code = finding_code::wrong_name, .job = j});
    }
    for (task_id id{0}; id.index() != t.tasks.size(); ++id.value) {
        auto const& row = t.tasks[id.index()];
        if (!row.live) continue;
        auto const& where = c.state().tasks[id.index()];
        bool const placed = row.node_name && statuses::on_node.has(row.status);
        bool const good = c.task(t.text(row.ns) + '/' + t.text(row.name)) == id && where.status == row.status &&
                          where.node == (placed ? c.node(t.text(row.node_name)) : node_id{}) &&
                          row.job == (row.group ? c.job(t.text(row.group)) : job_id{});
        note(good, {.code = finding_code::wrong_name, .task = id});
    }
    return found;
}

/// Whether a cycle that began at `before` and ended at `after` kept what every cycle promises; and `audit(t, after)`.
///
/// A snapshot may start oversold: only what is new or larger counts. Best-effort tasks are placed without a look at
/// amounts or gangs, so their count of pods is left out. `gangs`: whether the composition has policy gang.
[[nodiscard]] inline findings audit_cycle(tables const& t, state const& before, state const& after, bool gangs = true) {
    auto found = audit(t, after);
    if (!found.empty()) return found;
    auto const grew = [](std::int64_t was, std::int64_t is) { return is > 0 && is > was; };
    for (card_id c{0}; c.index() != t.cards.size(); ++c.value) {
        auto const& card = t.cards[c.index()];
        auto const worse = [&](card_usage const& was, card_usage const& is) {
            return grew(was.memory.value - card.memory.value, is.memory.value - card.memory.value) ||
                   grew(was.cores.value - 100, is.cores.value - 100) ||
                   grew(was.slots - card.slots, is.slots - card.slots);
        };
        if (worse(before.cards[c.index()], after.cards[c.index()]) ||
            worse(before.cards_later[c.index()], after.cards_later[c.index()]))
            found.push_back({.code = finding_code::new_excess, .card = c});
    }
    column<std::int64_t> best_effort(t.nodes.size());
    column<std::uint8_t> starts(t.jobs.size());
    column<std::uint8_t> holds(t.jobs.size());
    for (task_id id{0}; id.index() != t.tasks.size(); ++id.value) {
        auto const& row = t.tasks[id.index()];
        if (!row.live) continue;
        auto const& was = before.tasks[id.index()];
        auto const& is = after.tasks[id.index()];
        bool const evicted = statuses::evictable.has(was.status) && is.status == task_status::releasing;
        if (was.status != task_status::pending && (is.node != was.node || (is.status != was.status && !evicted)))
            found.push_back({.code = finding_code::moved_task, .task = id});
        if (was.status != task_status::pending || is.status == task_status::pending) continue;
        if (!is.node) found.push_back({.code = finding_code::no_place, .task = id});
        if (is.node && row.best_effort) ++best_effort[is.node.index()];
        if (!row.job) continue;
        if (is.status == task_status::binding) starts[row.job.index()] = 1;
        if (!row.best_effort) holds[row.job.index()] = 1;
    }
    for (dimension_id d{0}; d.index() != t.dimensions.size(); ++d.value)
        for (node_id n{0}; n.index() != t.nodes.size(); ++n.value) {
            auto const aside = d == dimension::pods ? best_effort[n.index()] : 0;
            if (grew(-before.idle[d.index()][n.index()], -after.idle[d.index()][n.index()] - aside) ||
                grew(-before.future_idle(d, n), -after.future_idle(d, n) - aside))
                found.push_back({.code = finding_code::new_excess, .node = n, .dimension = d});
        }
    for (job_id j{0}; gangs && j.index() != t.jobs.size(); ++j.value) {
        auto const gang = job_view{t, after, j, t.jobs[j.index()].phase}.gang();
        if ((starts[j.index()] != 0 && !gang.is_ready()) || (holds[j.index()] != 0 && !gang.is_pipelined()))
            found.push_back({.code = finding_code::partial_gang, .job = j});
    }
    return found;
}

/// Whether no queue holds more than `limit(queue, dimension)`, a number that may be infinite, unless it did before.
template <class Limit>
[[nodiscard]] findings audit_limits(tables const& t, state const& before, state const& after, Limit limit) {
    findings found;
    auto const held = [&](state const& s, queue_id q, dimension_id d) {
        std::int64_t sum = 0;
        for (std::size_t j = 0; j != t.jobs.size(); ++j)
            if (t.jobs[j].queue == q) sum += s.held[d.index()][j];
        return sum;
    };
    for (queue_id q{0}; q.index() != t.queues.size(); ++q.value)
        for (dimension_id d{0}; d.index() != t.dimensions.size(); ++d.value) {
            auto const is = held(after, q, d);
            if (d != dimension::pods && static_cast<double>(is) > limit(q, d) && is > held(before, q, d))
                found.push_back({.code = finding_code::over_limit, .queue = q, .dimension = d});
        }
    return found;
}

} // namespace muster
