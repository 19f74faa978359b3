#pragma once

/// \file
/// What a YAML scalar means, as kubectl reads it.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

namespace muster::ext::detail {

/// What becomes of a float without a fraction, such as `1.0` or `1e3`.
enum class whole_float : std::uint8_t {
    integer, ///< as kubectl: it passes through JSON, which writes 1000
    number,  ///< stays a float, as Volcano reads its configuration
};

/// Reads digits to the base that Go's `ParseInt(text, 0, 64)` finds: 0x, 0o, 0b, or 0 for octal.
[[nodiscard]] inline std::optional<nlohmann::json> yaml_integer(std::string_view text) {
    bool const negative = text.starts_with('-');
    bool const sign = negative || text.starts_with('+');
    if (sign) text.remove_prefix(1);
    int base = 10;
    if (text.size() > 1 && text[0] == '0') {
        char const mark = static_cast<char>(text[1] | 0x20);
        base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
        text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
    }
    std::uint64_t magnitude = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    constexpr std::uint64_t top = std::uint64_t{1} << 63U;
    if (negative) {
        if (magnitude > top) return std::nullopt;
        return static_cast<std::int64_t>(~magnitude + 1);
    }
    if (magnitude < top) return static_cast<std::int64_t>(magnitude);
    if (sign) return std::nullopt;
    return magnitude;
}

/// Whether `text` is `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
[[nodiscard]] constexpr bool looks_like_float(std::string_view text) noexcept {
    auto const digits = [&] {
        std::size_t const count = std::min(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(count);
        return count;
    };
    auto const drop = [&](std::string_view any) {
        bool const found = !text.empty() && any.find(text[0]) != std::string_view::npos;
        if (found) text.remove_prefix(1);
        return found;
    };
    drop("+-");
    std::size_t const whole = digits();
    std::size_t const fraction = drop(".") ? digits() : 0;
    if (whole == 0 && fraction == 0) return false;
    if (drop("eE")) {
        drop("+-");
        if (digits() == 0) return false;
    }
    return text.empty();
}

/// Reads a float; a whole one becomes an integer if `whole` says so.
[[nodiscard]] inline std::optional<nlohmann::json> yaml_float(std::string_view text, whole_float whole) {
    if (!looks_like_float(text)) return std::nullopt;
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    constexpr double top = 9223372036854775808.0;
    if (whole == whole_float::integer && std::trunc(value) == value && value >= -top && value < top) {
        return static_cast<std::int64_t>(value);
    }
    return value;
}

/// The value of a scalar that has no tag and no quotes.
///
/// Source: sigs.k8s.io/yaml v1.4.0, goyaml.v2/resolve.go, `resolve`: YAML 1.1 booleans, Go's integers with underscores
///         dropped, floats; timestamps stay strings. An infinity or NaN is given as a double for the caller to refuse.
[[nodiscard]] inline nlohmann::json plain_scalar(std::string const& text, whole_float whole) {
    constexpr auto one_of = [](std::string_view word, auto const& words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    constexpr std::array<std::string_view, 5> nothing{"", "~", "null", "Null", "NULL"};
    constexpr std::array<std::string_view, 11> yes{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                   "True", "TRUE", "on",  "On",  "ON"};
    constexpr std::array<std::string_view, 11> no{"n",     "N",     "no",  "No",  "NO", "false",
                                                  "False", "FALSE", "off", "Off", "OFF"};
    constexpr std::array<std::string_view, 3> nan{".nan", ".NaN", ".NAN"};
    constexpr std::array<std::string_view, 3> infinity{".inf", ".Inf", ".INF"};
    if (one_of(text, nothing)) return nullptr;
    if (one_of(text, yes)) return true;
    if (one_of(text, no)) return false;
    if (one_of(text, nan)) return std::nan("");
    bool const sign = text.starts_with('-') || text.starts_with('+');
    if (one_of(std::string_view{text}.substr(sign ? 1 : 0), infinity)) return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;

    if (std::string_view{"+-.0123456789"}.find(text[0]) == std::string_view::npos) return text;
    std::string digits = text;
    if (text[0] != '.') digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    if (auto const integer = yaml_integer(digits)) return *integer;
    if (auto const number = yaml_float(digits, whole)) return *number;
    return text;
}

/// The value of a scalar with the tag that yaml-cpp reports: "?" plain, "!" quoted, else the tag's full name.
///
/// Errors: nothing, where the text is no value of its tag or the tag is unknown.
[[nodiscard]] inline std::optional<nlohmann::json> tagged_scalar(std::string const& text, std::string const& tag,
                                                                 whole_float whole) {
    constexpr std::string_view core = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?") return plain_scalar(text, whole);
    if (tag == "!") return text;
    if (!tag.starts_with(core)) return std::nullopt;
    std::string_view const type = std::string_view{tag}.substr(core.size());
    if (type == "str" || type == "timestamp") return text;
    auto value = plain_scalar(text, whole);
    if (type == "null" && value.is_null()) return value;
    if (type == "bool" && value.is_boolean()) return value;
    if (type == "int" && value.is_number_integer()) return value;
    if (type == "float" && value.is_number()) return value;
    return std::nullopt;
}

} // namespace muster::ext::detail
