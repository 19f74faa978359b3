#pragma once

/// \file
/// What a block or an array takes of a card's memory, which is more than it asks for.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace muster::account {

/// A card gives its memory out in pages of so many bytes; what is smaller than half of one shares pages.
inline constexpr std::uint64_t page_size = std::uint64_t{2} << 20U;

/// Stands for every size that can't be counted; no card has it.
inline constexpr std::uint64_t beyond_all = std::numeric_limits<std::uint64_t>::max();

/// The product, or `beyond_all`.
[[nodiscard]] constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? beyond_all : product;
}

/// The next multiple, or `beyond_all`.
[[nodiscard]] constexpr std::uint64_t rounded_up(std::uint64_t n, std::uint64_t to) noexcept {
    return n > beyond_all - to ? beyond_all : (n + to - 1) / to * to;
}

/// What a block of `n` bytes takes.
[[nodiscard]] constexpr std::uint64_t footprint(std::uint64_t n) noexcept {
    constexpr std::uint64_t least = 512;
    return rounded_up(n, n > page_size / 2 ? page_size : least);
}

/// A stream-ordered pool keeps whole chunks of so many bytes.
inline constexpr std::uint64_t pool_chunk = std::uint64_t{32} << 20U;

/// By how much a pool grows that keeps so much, of which so much is out, for a block of `n` bytes.
///
/// Source: the attributes of pools on an H200, driver 580.159.04.
[[nodiscard]] constexpr std::uint64_t pool_growth(std::uint64_t kept, std::uint64_t out, std::uint64_t n) noexcept {
    auto const wanted = n > beyond_all - out ? beyond_all : rounded_up(out + n, pool_chunk);
    return wanted > kept ? wanted - kept : 0;
}

/// The elements of an array; a side of zero is one that it doesn't have.
struct array_shape {
    std::uint64_t width = 0, height = 0, depth = 0;
    std::uint64_t element_bits = 0;
    bool layered = false; ///< `depth` counts layers, which don't get fewer from level to level
    unsigned levels = 1;  ///< each with half the sides of the one before
};

/// What an array takes: its rows come in tiles of 64 bytes by 8 rows.
///
/// Source: cuMemGetInfo around arrays of many shapes on an H200, driver 580.159.04; true to a page there.
[[nodiscard]] constexpr std::uint64_t footprint(array_shape a) noexcept {
    constexpr std::uint64_t tile_width = 64;
    constexpr std::uint64_t tile_height = 8;
    std::uint64_t sum = 0;
    for (unsigned level = 0; level < std::max(a.levels, 1U); ++level) {
        auto const row = rounded_up(times(a.width, a.element_bits) / 8, tile_width);
        auto const rows = rounded_up(std::max<std::uint64_t>(a.height, 1), tile_height);
        auto const size = times(times(row, rows), std::max<std::uint64_t>(a.depth, 1));
        if (__builtin_add_overflow(sum, size, &sum)) return beyond_all;
        a.width = std::max<std::uint64_t>(a.width / 2, 1);
        a.height /= 2;
        if (!a.layered) a.depth /= 2;
    }
    return footprint(sum);
}

} // namespace muster::account
