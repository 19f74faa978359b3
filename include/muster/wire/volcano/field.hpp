#pragma once

/// \file
/// Taking separated text apart without losing the offsets.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include <muster/core/result.hpp>

namespace muster::wire::volcano::detail {

/// A part of a text, and where in it the part starts.
struct piece {
    std::string_view text;
    std::size_t at = 0;

    [[nodiscard]] std::size_t end() const noexcept { return at + text.size(); }
};

/// Takes the front of `rest` up to the next separator; `rest` is empty after the last piece.
[[nodiscard]] inline piece take(std::optional<piece>& rest, char separator) noexcept {
    auto const whole = *rest;
    auto const length = whole.text.find(separator);
    if (length == std::string_view::npos) {
        rest.reset();
        return whole;
    }
    rest = piece{whole.text.substr(length + 1), whole.at + length + 1};
    return {whole.text.substr(0, length), whole.at};
}

/// The first N comma-separated fields of a record; more are ignored.
///
/// Errors: `missing_field` at the record's end.
template <std::size_t N>
[[nodiscard]] result<std::array<piece, N>> fields(piece record) noexcept {
    std::array<piece, N> found;
    std::optional rest{record};
    for (auto& field : found) {
        if (!rest) return fail(errc::missing_field, record.end());
        field = take(rest, ',');
    }
    return found;
}

/// A decimal number in [0, most].
///
/// Errors: at the field: `bad_field` if it isn't a number, `negative`, `out_of_range`.
[[nodiscard]] inline result<std::int64_t> number(piece field, std::int64_t most) noexcept {
    bool const negative = field.text.starts_with('-');
    auto const digits = field.text.substr(negative ? 1 : 0);
    if (digits.empty() || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }))
        return fail(errc::bad_field, field.at);
    if (negative) return fail(errc::negative, field.at);
    std::int64_t value = 0;
    auto const [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc{} || value > most) return fail(errc::out_of_range, field.at);
    return value;
}

} // namespace muster::wire::volcano::detail
