#pragma once

/// \file
/// Cards, the shares of them that containers hold, and what of a card is taken.

#include <cstdint>
#include <string>

#include <muster/core/ids.hpp>
#include <muster/resource/units.hpp>

namespace muster {

/// How a card is shared; a node's cards share the same way.
enum class sharing : std::uint8_t {
    slices,   ///< memory and compute by amount, enforced at the driver ("hami-core")
    instances ///< partitions of the hardware ("mig")
};

/// A card as its node registers it.
struct card_spec {
    std::string uuid{};
    std::string type{};
    std::int64_t slots = 0; ///< how many containers may share it
    mib memory{};
    sharing mode = sharing::slices;
    bool healthy = true;
    bool faulty = false; ///< its registration can't be trusted: it takes no new share
};

/// The part of one card that one container holds.
struct share {
    card_id card;
    std::uint32_t container = 0; ///< position among the pod's containers
    mib memory;
    percent cores;

    friend constexpr bool operator==(share const&, share const&) noexcept = default;
};

/// What of a card is taken.
struct card_usage {
    std::int64_t slots = 0;
    mib memory;
    percent cores;

    /// Counts a share in, or with sign -1 out.
    constexpr void add(share const& s, std::int64_t sign) noexcept {
        slots += sign;
        memory += mib{sign * s.memory.value};
        cores += percent{sign * s.cores.value};
    }

    friend constexpr bool operator==(card_usage const&, card_usage const&) noexcept = default;
};

/// A card as decisions read it.
struct card {
    symbol uuid{};
    symbol type{};
    std::int64_t slots = 0;
    mib memory{};
    sharing mode = sharing::slices;
    bool healthy = true;
    bool faulty = false;
};

} // namespace muster
