#pragma once

/// \file
/// In which order a node's cards are tried.
///
/// Source: volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go, sortedDeviceIndicesByPolicy, at ed72c7c8.

#include <cstdint>
#include <string_view>

#include <muster/device/card.hpp>

namespace muster::device {

/// The orders; `last_first` is Volcano's when no policy is named.
enum class card_order : std::uint8_t { last_first, binpack, spread };

[[nodiscard]] constexpr card_order order_of(std::string_view policy) noexcept {
    if (policy == "binpack") return card_order::binpack;
    return policy == "spread" ? card_order::spread : card_order::last_first;
}

/// Whether the card at position `a` is tried before the one at `b`.
[[nodiscard]] constexpr bool before(card_order order, card_usage const& ua, std::uint32_t a, card_usage const& ub,
                                    std::uint32_t b) noexcept {
    if (order == card_order::binpack && ua.memory != ub.memory) return ua.memory > ub.memory;
    if (order == card_order::spread && ua.slots != ub.slots) return ua.slots < ub.slots;
    return order == card_order::last_first ? a > b : a < b;
}

/// What one chosen card adds to its node's score, from its usage after the choice.
///
/// Spreading scores nothing here: the original asks for an idle card after it has taken a slot of it.
/// Differs: a card without memory scores nothing, not a number that is none.
[[nodiscard]] constexpr double score_of(card_order order, card const& c, card_usage const& taken) noexcept {
    if (order != card_order::binpack || c.memory == mib{0}) return 0;
    return 100.0 * static_cast<double>(taken.memory.value) / static_cast<double>(c.memory.value);
}

} // namespace muster::device
