#pragma once

/// \file
/// Shapes: everything that fits, score and assign may read of a task. Tasks of one shape are interchangeable there.

#include <cstdint>

#include <muster/cluster/rules.hpp>
#include <muster/core/ids.hpp>
#include <muster/device/request.hpp>
#include <muster/resource/amounts.hpp>

namespace muster {

struct shape {
    amounts request{};
    std::int64_t scoring_cpu = 0;    ///< thousandths; something even for pods that ask for none
    std::int64_t scoring_memory = 0; ///< bytes, likewise
    device_request devices{};
    rules placement{};

    /// Asks for nothing but a place among the pods: neither amounts nor cards.
    [[nodiscard]] bool best_effort() const noexcept { return request.is_empty() && devices.empty(); }
    friend bool operator==(shape const&, shape const&) = default;
};

/// Hashes what tells most shapes apart; equality decides.
[[nodiscard]] inline std::uint64_t hash_of(shape const& s) noexcept {
    std::uint64_t h = 1469598103934665603ULL;
    auto const mix = [&](std::int64_t v) { h = (h ^ static_cast<std::uint64_t>(v)) * 1099511628211ULL; };
    for (auto const& [d, amount] : s.request) mix(static_cast<std::int64_t>(d.value)), mix(amount);
    for (auto const& c : s.devices.containers) mix(c.cards), mix(c.memory.value), mix(c.cores.value);
    for (auto const& [key, value] : s.placement.selector) mix(key.value), mix(value.value);
    mix(static_cast<std::int64_t>(s.placement.tolerations.size()));
    mix(static_cast<std::int64_t>(s.placement.ports.size()));
    return h;
}

} // namespace muster
