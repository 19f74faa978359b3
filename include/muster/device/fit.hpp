#pragma once

/// \file
/// The fit: which cards of one node a pod would get, or why none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/device/card.hpp>
#include <muster/device/order.hpp>
#include <muster/device/request.hpp>

namespace muster::device {

/// Room for one fit at a time; sized once for the node with the most cards.
class fit_scratch {
public:
    explicit fit_scratch(std::size_t cards = 0) : usage_(cards), order_(cards) {}

    [[nodiscard]] std::span<card_usage> usage() noexcept { return usage_; }
    [[nodiscard]] std::span<std::uint32_t> order() noexcept { return order_; }

private:
    column<card_usage> usage_;
    column<std::uint32_t> order_;
};

/// What a fit found.
struct fit_result {
    bool fits = false;
    double score = 0; ///< summed over all chosen cards
};

namespace detail {

/// A share of one card: the first in the order that has room. The same answer as the general way, without a copy.
template <class Mode, class Usable>
[[nodiscard]] fit_result fit_one(container_request const& request, std::span<card const> cards,
                                 std::span<card_usage const> taken, card_id first, card_order order, Usable usable,
                                 column<share>* chosen) {
    auto const none = static_cast<std::uint32_t>(cards.size());
    auto best = none;
    for (std::uint32_t i = 0; i != none; ++i) {
        if (cards[i].mode != Mode::mode || !Mode::fits(cards[i], taken[i], request) || !usable(i)) continue;
        if (best == none || before(order, taken[i], i, taken[best], best)) best = i;
    }
    if (best == none) return {};
    share const got{card_id{first.index() + best}, request.container, Mode::memory_of(cards[best], request),
                    request.cores};
    auto const& was = taken[best];
    if (chosen != nullptr) chosen->push_back(got);
    return {true, score_of(order, cards[best], {was.slots + 1, was.memory + got.memory, was.cores + got.cores})};
}

} // namespace detail

/// Tries a pod's containers in turn on one node's cards, each against what the earlier ones would take.
///
/// Shape:  `cards` and `taken` are the node's, in its order; `first` is the id of cards[0].
/// `usable(position)` says whether the pod may use the card at all. The shares are appended to `chosen`, if there is
/// such a column, also those of a pod that does not fit in the end.
/// Cost:   cards x containers, no allocation where `chosen` has room.
template <class Mode, class Usable>
[[nodiscard]] fit_result fit(device_request const& want, std::span<card const> cards, std::span<card_usage const> taken,
                             card_id first, card_order order, fit_scratch& scratch, Usable usable,
                             column<share>* chosen) {
    if (want.containers.size() == 1 && want.containers.front().cards == 1)
        return detail::fit_one<Mode>(want.containers.front(), cards, taken, first, order, usable, chosen);
    auto const usage = scratch.usage().first(cards.size());
    auto const sequence = scratch.order().first(cards.size());
    std::copy(taken.begin(), taken.end(), usage.begin());
    fit_result found;
    for (container_request const& request : want.containers) {
        if (request.cards > static_cast<std::int64_t>(cards.size())) return {};
        for (std::uint32_t i = 0; i != cards.size(); ++i) {
            std::uint32_t at = i; // an insertion sort: a node has a handful of cards
            for (; at != 0 && before(order, usage[i], i, usage[sequence[at - 1]], sequence[at - 1]); --at)
                sequence[at] = sequence[at - 1];
            sequence[at] = i;
        }
        auto missing = request.cards;
        for (auto const position : sequence) {
            if (missing == 0) break;
            card const& c = cards[position];
            if (c.mode != Mode::mode || !usable(position) || !Mode::fits(c, usage[position], request)) continue;
            share const got{card_id{first.index() + position}, request.container, Mode::memory_of(c, request),
                            request.cores};
            usage[position].slots += 1;
            usage[position].memory += got.memory;
            usage[position].cores += got.cores;
            found.score += score_of(order, c, usage[position]);
            if (chosen != nullptr) chosen->push_back(got);
            --missing;
        }
        if (missing != 0) return {};
    }
    found.fits = true;
    return found;
}

} // namespace muster::device
