#pragma once

/// \file
/// 64-bit arithmetic whose overflow is an error value.

#include <cstdint>

#include <muster/core/result.hpp>

namespace muster {

/// `a + b`, or `overflow`.
[[nodiscard]] constexpr result<std::int64_t> checked_add(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return fail(errc::overflow);
    return sum;
}

/// `a - b`, or `overflow`.
[[nodiscard]] constexpr result<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) return fail(errc::overflow);
    return difference;
}

/// `a * b`, or `overflow`.
[[nodiscard]] constexpr result<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return fail(errc::overflow);
    return product;
}

} // namespace muster
