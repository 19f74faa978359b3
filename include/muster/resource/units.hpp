#pragma once

/// \file
/// The units of a card: nobody guesses MiB against bytes, or percent against cards.

#include <compare>
#include <cstdint>

namespace muster {

namespace detail {

/// A whole number of one unit; sums and comparisons stay inside the unit.
template <class Tag>
struct unit {
    std::int64_t value = 0;

    constexpr unit() noexcept = default;
    constexpr explicit unit(std::int64_t v) noexcept : value(v) {}

    friend constexpr auto operator<=>(unit, unit) noexcept = default;
    friend constexpr unit operator+(unit a, unit b) noexcept { return unit{a.value + b.value}; }
    friend constexpr unit operator-(unit a, unit b) noexcept { return unit{a.value - b.value}; }
    constexpr unit& operator+=(unit b) noexcept { return *this = *this + b; }
    constexpr unit& operator-=(unit b) noexcept { return *this = *this - b; }
};

} // namespace detail

/// Card memory in MiB.
using mib = detail::unit<struct mib_tag>;

/// Card memory in bytes, as the driver counts it.
using bytes = detail::unit<struct bytes_tag>;

/// Compute of one card, in hundredths of it.
using percent = detail::unit<struct percent_tag>;

/// Exact: a MiB amount that passed `card_memory_limit` times 2^20 stays inside 64 bits.
[[nodiscard]] constexpr bytes to_bytes(mib m) noexcept { return bytes{m.value * (std::int64_t{1} << 20)}; }

/// The most that a card's memory may be: sums over a cluster's cards then stay far inside 64 bits.
inline constexpr mib card_memory_limit{std::int64_t{1} << 40};

/// The most hundredths of a card that may be asked for, likewise; more than 100 fit no card.
inline constexpr percent card_percent_limit{std::int64_t{1} << 31};

} // namespace muster
