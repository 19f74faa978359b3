#pragma once

/// \file
/// The sharing mode "hami-core": memory and compute by amount, a slot a container.
///
/// Source: volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go, checkNodeGPUSharingPredicateAndScore, at ed72c7c8.

#include <cmath>
#include <cstdint>

#include <muster/device/card.hpp>
#include <muster/device/request.hpp>

namespace muster::device {

/// Shares a card by amounts.
struct slices {
    static constexpr sharing mode = sharing::slices;
    static constexpr percent whole{100};

    /// The memory of this card that the request means.
    [[nodiscard]] static mib memory_of(card const& c, container_request const& want) noexcept {
        if (!want.memory_percent) return want.memory;
        auto const part = static_cast<double>(c.memory.value) * static_cast<double>(want.memory_percent->value) / 100.0;
        return mib{static_cast<std::int64_t>(std::floor(part))};
    }

    /// Whether one more share fits beside what is taken.
    ///
    /// A request for all cores wants the card alone, and a card given whole takes nobody without a share of cores.
    [[nodiscard]] static bool fits(card const& c, card_usage const& taken, container_request const& want) noexcept {
        if (c.faulty || taken.slots >= c.slots) return false;
        if (c.memory - taken.memory < memory_of(c, want)) return false;
        if (taken.cores + want.cores > whole) return false;
        if (want.cores == whole && taken.slots > 0) return false;
        return taken.cores != whole || want.cores != percent{0};
    }
};

} // namespace muster::device
