#pragma once

/// \file
/// Lists of texts as one, for messages and tables.

#include <string>
#include <string_view>
#include <utility>

#include <range/v3/action/transform.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>

#include <muster/core/ascii.hpp>

namespace muster::ext {

/// The texts of a range in one, a separator between each two.
template <class Texts>
[[nodiscard]] std::string joined(Texts const& texts, std::string_view separator) {
    return ranges::views::join(texts, separator) | ranges::to<std::string>();
}

/// A list as Go prints one: `[a b]`.
template <class Texts>
[[nodiscard]] std::string go_list(Texts const& texts) {
    return '[' + joined(texts, " ") + ']';
}

/// Capitals of ASCII made small, other bytes as they are.
[[nodiscard]] inline std::string lower_case(std::string text) {
    return std::move(text) | ranges::actions::transform([](char c) { return lower(c); });
}

} // namespace muster::ext
