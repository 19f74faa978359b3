#pragma once

/// \file
/// How the answers of many policies become one: every rule of combination, written once over `walk`.
///
/// Tiers are whatever has `walk<Hook>(f)`: it calls `f(state, tier)` for each policy that answers the hook, in order,
/// until `f` returns false. `policy/static_tiers.hpp` walks types, `policy/dynamic_tiers.hpp` a list read from text.
///
/// Source: volcano, pkg/scheduler/framework/session_plugins.go, at ed72c7c8 (spec/volcano-core.md 2.3 to 2.5).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>

namespace muster::detail::tiers {

namespace detail {

/// The first answer that is not zero, or zero.
template <class Hook, class Tiers, class Ask>
[[nodiscard]] int first_difference(Tiers const& tiers, Ask ask) noexcept {
    int order = 0;
    tiers.template walk<Hook>([&](auto const& state, std::size_t) {
        order = ask(state);
        return order == 0;
    });
    return order;
}

/// Whether all who are asked say yes.
template <class Hook, class Tiers, class Ask>
[[nodiscard]] bool all_agree(Tiers const& tiers, Ask ask) noexcept {
    bool yes = true;
    tiers.template walk<Hook>([&](auto const& state, std::size_t) { return yes = ask(state); });
    return yes;
}

/// A reject ends the vote; a permit ends it after its tier; silence is consent.
template <class Hook, class Tiers, class Ask>
[[nodiscard]] bool no_veto(Tiers const& tiers, Ask ask) noexcept {
    bool yes = true;
    bool permitted = false;
    std::size_t tier_of_permit = 0;
    tiers.template walk<Hook>([&](auto const& state, std::size_t tier) {
        if (permitted && tier != tier_of_permit) return false;
        auto const said = ask(state);
        yes = said != vote::reject;
        if (said == vote::permit && !permitted) {
            permitted = true;
            tier_of_permit = tier;
        }
        return yes;
    });
    return yes;
}

/// Those whom every voter of a tier would let go; the first tier that has some decides.
///
/// As in the original, a voter without candidates ends its tier, and one that meets an empty intersection starts
/// afresh with its own.
template <class Hook, class Tiers, class Ask>
[[nodiscard]] column<task_id> victims(Tiers const& tiers, Ask ask) {
    column<task_id> chosen;
    column<task_id> offered;
    bool ended = false;
    std::size_t current = 0;
    tiers.template walk<Hook>([&](auto const& state, std::size_t tier) {
        if (tier != current) {
            if (!chosen.empty()) return false;
            ended = false;
            current = tier;
        }
        if (ended) return true;
        offered.clear();
        if (ask(state, offered) == vote::abstain) return true;
        if (offered.empty()) {
            chosen.clear();
            ended = true;
        } else if (chosen.empty()) {
            chosen = offered;
        } else {
            erase_if(chosen, [&](task_id t) { return std::find(offered.begin(), offered.end(), t) == offered.end(); });
        }
        return true;
    });
    return chosen;
}

} // namespace detail

/// Ties of age: the older first, then by name in byte order.
template <class Text>
[[nodiscard]] bool older(std::int64_t a, Text const& name_a, std::int64_t b, Text const& name_b) noexcept {
    return a != b ? a < b : name_a < name_b;
}

template <class Tiers>
[[nodiscard]] int compare(Tiers const& tiers, queue_view a, queue_view b) noexcept {
    return detail::first_difference<hook::queue_order>(tiers, [&](auto const& s) { return s.queue_order(a, b); });
}

template <class Tiers>
[[nodiscard]] int compare(Tiers const& tiers, job_view a, job_view b) noexcept {
    return detail::first_difference<hook::job_order>(tiers, [&](auto const& s) { return s.job_order(a, b); });
}

template <class Tiers>
[[nodiscard]] int compare(Tiers const& tiers, task_view a, task_view b) noexcept {
    return detail::first_difference<hook::task_order>(tiers, [&](auto const& s) { return s.task_order(a, b); });
}

template <class Tiers>
[[nodiscard]] bool job_valid(Tiers const& tiers, job_view job) noexcept {
    return detail::all_agree<hook::job_valid>(tiers, [&](auto const& s) { return s.job_valid(job); });
}

template <class Tiers>
[[nodiscard]] bool job_ready(Tiers const& tiers, job_view job) noexcept {
    return detail::all_agree<hook::job_ready>(tiers, [&](auto const& s) { return s.job_ready(job); });
}

template <class Tiers>
[[nodiscard]] bool job_pipelined(Tiers const& tiers, job_view job) noexcept {
    return detail::no_veto<hook::job_pipelined>(tiers, [&](auto const& s) { return s.job_pipelined(job); });
}

template <class Tiers>
[[nodiscard]] bool job_enqueueable(Tiers const& tiers, job_view job) noexcept {
    return detail::no_veto<hook::job_enqueueable>(tiers, [&](auto const& s) { return s.job_enqueueable(job); });
}

/// All of the first tier that has such a policy; nobody starves where none has.
template <class Tiers>
[[nodiscard]] bool job_starving(Tiers const& tiers, job_view job) noexcept {
    bool asked = false;
    bool yes = false;
    std::size_t first = 0;
    tiers.template walk<hook::job_starving>([&](auto const& state, std::size_t tier) {
        if (asked && tier != first) return false;
        first = tier;
        asked = true;
        return yes = state.job_starving(job);
    });
    return yes;
}

template <class Tiers>
[[nodiscard]] bool overused(Tiers const& tiers, queue_view queue) noexcept {
    return !detail::all_agree<hook::overused>(tiers, [&](auto const& s) { return !s.overused(queue); });
}

template <class Tiers>
[[nodiscard]] bool allocatable(Tiers const& tiers, queue_view queue, task_view task) noexcept {
    return detail::all_agree<hook::allocatable>(tiers, [&](auto const& s) { return s.allocatable(queue, task); });
}

/// Clears `alive[i]` where some policy refuses `nodes[i]`; a node already cleared is not asked about.
template <class Tiers>
void fits(Tiers const& tiers, session_view view, std::span<node_id const> nodes, shape_view shape,
          std::span<std::uint8_t> alive) noexcept {
    tiers.template walk<hook::fits>([&](auto const& state, std::size_t) {
        if constexpr (requires { state.fits_block(view, nodes, shape, alive); }) {
            state.fits_block(view, nodes, shape, alive);
        } else {
            for (std::size_t i = 0; i != nodes.size(); ++i)
                if (alive[i] != 0 && !state.fits(view.view(nodes[i]), shape)) alive[i] = 0;
        }
        return true;
    });
}

/// Whether a node that every `fits` lets pass has the room now, and not only once others have left.
template <class Tiers>
[[nodiscard]] bool fits_at_once(Tiers const& tiers, node_view node, shape_view shape) noexcept {
    return detail::all_agree<hook::fits>(tiers, [&](auto const& s) {
        if constexpr (has_fits_at_once<std::remove_cvref_t<decltype(s)>>)
            return s.fits_at_once(node, shape);
        else
            return true;
    });
}

/// Sets `sums[i]` to the score of `nodes[i]`: scores first, then ranks, each left to right in tier order.
///
/// `ranks` is room for as many numbers.
template <class Tiers>
void score(Tiers const& tiers, session_view view, std::span<node_id const> nodes, shape_view shape,
           std::span<double> sums, std::span<double> ranks) noexcept {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(ranks.begin(), ranks.end(), 0.0);
    tiers.template walk<hook::score>([&](auto const& state, std::size_t) {
        if constexpr (requires { state.score_block(view, nodes, shape, sums); }) {
            state.score_block(view, nodes, shape, sums);
        } else {
            for (std::size_t i = 0; i != nodes.size(); ++i) sums[i] += state.score(view.view(nodes[i]), shape);
        }
        return true;
    });
    tiers.template walk<hook::rank>([&](auto const& state, std::size_t) {
        state.rank(view, nodes, shape, ranks);
        return true;
    });
    for (std::size_t i = 0; i != nodes.size(); ++i) sums[i] += ranks[i] + 0.0;
}

/// The tasks among `candidates` that may go so that `task` can have their place, in its own queue.
template <class Tiers>
[[nodiscard]] column<task_id> preemptable(Tiers const& tiers, session_view view, task_view task,
                                          std::span<task_id const> candidates) {
    return detail::victims<hook::preemptable>(
        tiers, [&](auto const& s, auto& out) { return s.preemptable(view, task, candidates, out); });
}

/// The same from other queues.
template <class Tiers>
[[nodiscard]] column<task_id> reclaimable(Tiers const& tiers, session_view view, task_view task,
                                          std::span<task_id const> candidates) {
    return detail::victims<hook::reclaimable>(
        tiers, [&](auto const& s, auto& out) { return s.reclaimable(view, task, candidates, out); });
}

/// Lets the policy that owns the request's device kind choose the cards.
template <class Tiers>
[[nodiscard]] assignment assign(Tiers& tiers, node_view node, shape_view shape, column<share>& out) {
    auto done = assignment::none;
    tiers.template walk<hook::assign>([&](auto& state, std::size_t) {
        done = state.assign(node, shape, out);
        return done == assignment::none;
    });
    return done;
}

template <class Tiers>
void job_enqueued(Tiers& tiers, job_view job) noexcept {
    tiers.template walk<hook::job_enqueued>([&](auto& s, std::size_t) { return s.job_enqueued(job), true; });
}

template <class Tiers>
void allocated(Tiers& tiers, task_view task) noexcept {
    tiers.template walk<hook::allocated>([&](auto& s, std::size_t) { return s.allocated(task), true; });
}

template <class Tiers>
void deallocated(Tiers& tiers, task_view task) noexcept {
    tiers.template walk<hook::deallocated>([&](auto& s, std::size_t) { return s.deallocated(task), true; });
}

/// Appends what tells the task from others of its shape.
template <class Tiers>
void shape_key(Tiers const& tiers, task_view task, column<std::uint64_t>& key) {
    tiers.template walk<hook::shape_key>([&](auto const& s, std::size_t) {
        key.push_back(s.shape_key(task));
        return true;
    });
}

template <class Tiers>
void close(Tiers const& tiers, session_view view, std::span<task_facts const> facts, column<condition>& out) {
    tiers.template walk<hook::close>([&](auto const& s, std::size_t) { return s.close(view, facts, out), true; });
}

/// How far the answers about nodes reach for a shape.
template <class Tiers>
[[nodiscard]] locality reads(Tiers const& tiers, shape_view shape) noexcept {
    auto farthest = locality::node;
    auto const ask = [&](auto const& s, std::size_t) {
        farthest = std::max(farthest, locality_of(s, shape));
        return farthest != locality::cluster;
    };
    tiers.template walk<hook::fits>(ask);
    tiers.template walk<hook::score>(ask);
    tiers.template walk<hook::rank>(ask);
    return farthest;
}

template <class Tiers>
[[nodiscard]] queue_facts describe(Tiers const& tiers, queue_view queue) {
    queue_facts facts;
    tiers.template walk<hook::describe>([&](auto const& s, std::size_t) { return s.describe(queue, facts), true; });
    return facts;
}

/// The reasons of the first policy that refuses the node.
template <class Tiers>
void explain_fits(Tiers const& tiers, node_view node, shape_view shape, reasons& out) {
    tiers.template walk<hook::fits>([&](auto const& s, std::size_t) {
        if (s.fits(node, shape)) return true;
        if constexpr (requires { s.explain_fits(node, shape, out); }) s.explain_fits(node, shape, out);
        return false;
    });
}

/// The reasons of the policies that refuse the task its queue.
template <class Tiers>
void explain_allocatable(Tiers const& tiers, queue_view queue, task_view task, reasons& out) {
    tiers.template walk<hook::allocatable>([&](auto const& s, std::size_t) {
        if constexpr (requires { s.explain_allocatable(queue, task, out); })
            if (!s.allocatable(queue, task)) s.explain_allocatable(queue, task, out);
        return true;
    });
}

/// The reasons of the policies that keep the job from its queue.
template <class Tiers>
void explain_job_enqueueable(Tiers const& tiers, job_view job, reasons& out) {
    tiers.template walk<hook::job_enqueueable>([&](auto const& s, std::size_t) {
        if constexpr (requires { s.explain_job_enqueueable(job, out); })
            if (s.job_enqueueable(job) == vote::reject) s.explain_job_enqueueable(job, out);
        return true;
    });
}

} // namespace muster::detail::tiers
