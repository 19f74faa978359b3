#pragma once

/// \file
/// Why a node refused a shape, found out only once the answer was no; and the memory of it by role.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/cluster/state.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/tiers.hpp>
#include <muster/scheduler/roster.hpp>

namespace muster {

/// Appends the first amount that a node lacks, else the reasons of the first policy that refuses it, if one does.
template <class Tiers>
void explain(Tiers const& tiers, node_view node, shape_view shape, bool by_amounts, reasons& why) {
    if (by_amounts) {
        for (auto const d : node.in().dimensions.walk()) {
            auto const asked = shape.request()[d];
            if (!shape.request().has(d) || asked <= node.future_idle(d)) continue;
            why.push_back({reason_code::insufficient, limit_kind::idle, d, asked, node.used(d),
                           static_cast<double>(node.allocatable(d))});
            return;
        }
    }
    detail::tiers::explain_fits(tiers, node, shape, why);
}

/// What the nodes refused to tasks of one role while a gang is being placed.
///
/// A node that refused a role is not asked again until the next gang, and its first reasons stand. It matters only
/// where tasks of one job differ in shape; for others the memory is off, and answers are the same.
/// Source: volcano, pkg/scheduler/util/predicate_helper.go, PredicateNodes, at ed72c7c8.
class role_cache {
public:
    /// Makes room for the job with the most roles to place.
    ///
    /// `shapes` are the tasks', as the policies tell them apart.
    void open(tables const& t, roster const& r, state const& s, std::span<shape_id const> shapes) {
        nodes_ = r.nodes().size();
        on_ = false;
        why_.clear();
        mixed_.assign(t.jobs.size(), 0);
        slots_.resize(t.roles.size());
        std::uint32_t most = 0;
        for (auto const j : r.jobs()) {
            shape_id first;
            for (auto const task : r.tasks(j)) {
                if (s.tasks[task.index()].status != task_status::pending) continue;
                auto const shape = shapes[task.index()];
                if (!first) first = shape;
                if (shape != first) mixed_[j.index()] = 1;
            }
            if (mixed_[j.index()] == 0) continue;
            std::uint32_t slot = 0;
            for (auto const role : t.jobs[j.index()].roles) slots_[role.index()] = slot++;
            most = std::max(most, slot);
        }
        refused_.resize(most * nodes_);
    }

    void begin(job_id job, bool enabled) noexcept {
        on_ = enabled && mixed_[job.index()] != 0;
        if (!on_) return;
        std::fill(refused_.begin(), refused_.end(), std::uint8_t{0});
        why_.clear();
    }

    /// Forgets the gang: what follows is asked afresh.
    void end() noexcept { on_ = false; }

    [[nodiscard]] bool active(tables const& t, task_id task) const noexcept {
        return on_ && !t.text(t.tasks[task.index()].role_name).empty();
    }

    /// Clears the nodes that refused the task's role.
    void mask(tables const& t, task_id task, std::span<std::uint8_t> alive) const noexcept {
        if (!active(t, task)) return;
        auto const row = row_of(t, task);
        for (std::size_t i = 0; i != nodes_; ++i)
            if (refused_[row + i] != 0) alive[i] = 0;
    }

    /// Remembers who refused; `explain(i)`, where its reasons stand, is asked once a node and role, if `keep` says so.
    template <class Explain>
    void note(tables const& t, task_id task, std::span<std::uint8_t const> alive, Explain explain, bool keep) {
        if (!active(t, task)) return;
        auto const row = row_of(t, task);
        if (keep) why_.resize(refused_.size());
        for (std::size_t i = 0; i != nodes_; ++i) {
            if (alive[i] != 0 || refused_[row + i] != 0) continue;
            refused_[row + i] = 1;
            if (keep) why_[row + i] = explain(i);
        }
    }

    [[nodiscard]] range why(tables const& t, task_id task, std::size_t at) const noexcept {
        return why_[row_of(t, task) + at];
    }

private:
    [[nodiscard]] std::size_t row_of(tables const& t, task_id task) const noexcept {
        return slots_[t.tasks[task.index()].role.index()] * nodes_;
    }

    std::size_t nodes_ = 0;
    bool on_ = false;
    column<std::uint8_t> mixed_;   ///< a job: its pending tasks differ in shape
    column<std::uint32_t> slots_;  ///< a role: its row among its job's
    column<std::uint8_t> refused_; ///< `[slot][node]`
    column<range> why_;            ///< likewise, while a record is kept
};

} // namespace muster
