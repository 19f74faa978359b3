#pragma once

/// \file
/// Letters of ASCII, whatever the locale.

namespace muster {

/// A capital made small; any other byte as it is.
[[nodiscard]] constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

} // namespace muster
