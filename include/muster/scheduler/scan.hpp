#pragma once

/// \file
/// The plain scan: every node is asked, the best is found. An index may answer instead, with the same choice.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/tiers.hpp>
#include <muster/scheduler/record.hpp>

namespace muster {

/// A chosen node, or none.
struct pick {
    node_id node;
    bool now = false; ///< there is room now; else once others have left

    [[nodiscard]] explicit operator bool() const noexcept { return bool(node); }
};

/// What the policies make of one node for one shape.
struct verdict {
    enum class room : std::uint8_t { none, later, now };

    room has = room::none;
    double score = 0;
};

/// Verdicts and scores of all nodes for one shape at a time.
///
/// A node with room now beats one that will have room, whatever they score; then the higher score wins, then the lower
/// position. A score that is not a number refuses the node.
/// Source: volcano, pkg/scheduler/actions/allocate/allocate.go and util/scheduler_helper.go, at ed72c7c8
///         (spec/volcano-core.md 6.2), with all nodes considered and ties to the lowest position.
class scan {
public:
    /// Makes room for so many nodes.
    void open(std::size_t nodes) {
        alive_.resize(nodes);
        group_.resize(nodes);
        sums_.resize(nodes);
        ranks_.resize(nodes);
    }

    /// Sets which nodes are asked; all are alive.
    void consider(std::span<node_id const> nodes) noexcept {
        nodes_ = nodes;
        std::fill_n(alive_.begin(), nodes.size(), std::uint8_t{1});
    }

    /// Whether each asked node would do; what is cleared before `run` stays refused.
    [[nodiscard]] std::span<std::uint8_t> alive() noexcept { return std::span{alive_}.first(nodes_.size()); }
    [[nodiscard]] bool any() const noexcept { return any_; }

    template <class Tiers>
    [[nodiscard]] pick run(Tiers const& tiers, session_view view, shape_view shape, bool by_amounts) noexcept {
        if (by_amounts) refuse_by_amounts(view.now(), shape.request());
        detail::tiers::fits(tiers, view, nodes_, shape, alive());
        any_ = std::find(alive_.begin(), alive_.begin() + static_cast<std::ptrdiff_t>(nodes_.size()), 1) !=
               alive_.begin() + static_cast<std::ptrdiff_t>(nodes_.size());
        if (!any_) return {};
        auto const room_now = [&](node_id n) {
            return by_amounts ? fits_at_once(tiers, view, shape, n)
                              : detail::tiers::fits_at_once(tiers, view.view(n), shape);
        };
        if (!by_amounts) return {best(tiers, view, shape, room_now), true};
        if (auto const n = best(tiers, view, shape, room_now)) return {n, true};
        return {best(tiers, view, shape, [&](node_id n) { return !room_now(n); }), false};
    }

    /// The score of one node by itself; what is scaled over candidates is scaled over it alone.
    template <class Tiers>
    [[nodiscard]] double score(Tiers const& tiers, session_view view, shape_view shape, node_id node) noexcept {
        group_[0] = node;
        size_ = 1;
        score(tiers, view, shape);
        return sums_[0];
    }

    /// Appends every candidate of the last run with its score.
    template <class Tiers>
    void list(Tiers const& tiers, session_view view, shape_view shape, column<candidate>& out) noexcept {
        for (bool const now : {true, false}) {
            gather([&](node_id n) { return fits_at_once(tiers, view, shape, n) == now; });
            score(tiers, view, shape);
            for (std::size_t i = 0; i != size_; ++i) out.push_back({group_[i], now, sums_[i]});
        }
    }

private:
    void refuse_by_amounts(state const& s, amounts const& request) noexcept {
        for (auto const& [d, amount] : request)
            for (std::size_t i = 0; i != nodes_.size(); ++i)
                if (amount > s.future_idle(d, nodes_[i])) alive_[i] = 0;
    }

    /// Whether the node has the room now: the amounts, and what policies look at.
    template <class Tiers>
    [[nodiscard]] static bool fits_at_once(Tiers const& tiers, session_view view, shape_view shape,
                                           node_id n) noexcept {
        for (auto const& [d, amount] : shape.request())
            if (amount > view.now().idle[d.index()][n.index()]) return false;
        return detail::tiers::fits_at_once(tiers, view.view(n), shape);
    }

    template <class Belongs>
    void gather(Belongs belongs) noexcept {
        size_ = 0;
        for (std::size_t i = 0; i != nodes_.size(); ++i)
            if (alive_[i] != 0 && belongs(nodes_[i])) group_[size_++] = nodes_[i];
    }

    template <class Tiers>
    void score(Tiers const& tiers, session_view view, shape_view shape) noexcept {
        detail::tiers::score(tiers, view, std::span{group_}.first(size_), shape, std::span{sums_}.first(size_),
                             std::span{ranks_}.first(size_));
    }

    /// The best of the candidates that belong; a lone one needs no score.
    template <class Tiers, class Belongs>
    [[nodiscard]] node_id best(Tiers const& tiers, session_view view, shape_view shape, Belongs belongs) noexcept {
        gather(belongs);
        if (size_ <= 1) return size_ == 0 ? node_id{} : group_[0];
        score(tiers, view, shape);
        node_id winner;
        double highest = -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i != size_; ++i)
            if (sums_[i] > highest || (!winner && sums_[i] == highest)) {
                highest = sums_[i];
                winner = group_[i];
            }
        return winner;
    }

    std::span<node_id const> nodes_;
    column<std::uint8_t> alive_;
    column<node_id> group_;
    column<double> sums_;
    column<double> ranks_;
    std::size_t size_ = 0;
    bool any_ = false;
};

} // namespace muster
