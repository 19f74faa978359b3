#pragma once

/// \file
/// A card's UUID as text.

#include <cstddef>
#include <span>
#include <string>

namespace muster::account {

/// As NVML writes it: GPU-, then the bytes in hexadecimal, in groups of 8, 4, 4, 4 and 12 digits.
[[nodiscard]] inline std::string uuid_text(std::span<std::byte const, 16> bytes) {
    constexpr char const* digits = "0123456789abcdef";
    std::string text = "GPU";
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        if (i == 0 || (i >= 4 && i <= 10 && i % 2 == 0)) text += '-';
        text += digits[std::to_integer<unsigned>(bytes[i] >> 4U)];
        text += digits[std::to_integer<unsigned>(bytes[i] & std::byte{15})];
    }
    return text;
}

} // namespace muster::account
