#pragma once

/// \file
/// Durations as Go writes them: `30s`, `1m30s`, `1h0m0s`.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::ext::vcjob {

namespace detail {

struct duration_unit {
    std::string_view name;
    std::int64_t nanoseconds;
};
inline constexpr std::array<duration_unit, 7> duration_units{{{"h", 3'600'000'000'000},
                                                              {"ms", 1'000'000},
                                                              {"m", 60'000'000'000},
                                                              {"s", 1'000'000'000},
                                                              {"us", 1'000},
                                                              {"\u00b5s", 1'000},
                                                              {"ns", 1}}};

/// A number below one unit, in its largest unit, without zeros at the end: `1.5`.
[[nodiscard]] inline std::string decimal(std::int64_t amount, std::int64_t unit) {
    auto out = std::to_string(amount / unit);
    auto rest = amount % unit;
    if (rest == 0) return out;
    out += '.';
    for (auto place = unit / 10; rest != 0; place /= 10) {
        out += static_cast<char>('0' + rest / place);
        rest %= place;
    }
    return out;
}

} // namespace detail

/// Nanoseconds of a duration's text; no value for what Go refuses and past about 292 years.
///
/// Source: Go, time.ParseDuration.
[[nodiscard]] inline std::optional<std::int64_t> parse_go_duration(std::string_view text) {
    bool const negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text == "0") return 0;
    if (text.empty()) return std::nullopt;
    std::int64_t total = 0;
    while (!text.empty()) {
        auto const length = text.find_first_not_of("0123456789.");
        if (length == 0 || length == std::string_view::npos) return std::nullopt;
        auto const digits = text.substr(0, length);
        text.remove_prefix(length);
        detail::duration_unit const* unit = nullptr;
        for (auto const& one : detail::duration_units)
            if (unit == nullptr && text.starts_with(one.name)) unit = &one;
        if (unit == nullptr || digits == ".") return std::nullopt;
        text.remove_prefix(unit->name.size());

        auto const point = std::min(digits.find('.'), digits.size());
        std::int64_t count = 0;
        for (char const c : digits.substr(0, point))
            if (__builtin_mul_overflow(count, std::int64_t{10}, &count) ||
                __builtin_add_overflow(count, std::int64_t{c - '0'}, &count))
                return std::nullopt;
        std::int64_t part = 0;
        if (__builtin_mul_overflow(count, unit->nanoseconds, &part) || __builtin_add_overflow(total, part, &total))
            return std::nullopt;

        auto place = unit->nanoseconds;
        for (auto i = point + 1; i < digits.size(); ++i) {
            if (digits[i] == '.') return std::nullopt;
            place /= 10;
            if (__builtin_add_overflow(total, (digits[i] - '0') * place, &total)) return std::nullopt;
        }
    }
    return negative ? -total : total;
}

/// A duration as Go prints it.
///
/// Source: Go, time.Duration.String.
[[nodiscard]] inline std::string print_go_duration(std::int64_t nanoseconds) {
    if (nanoseconds == 0) return "0s";
    if (nanoseconds < 0) return "-" + print_go_duration(-nanoseconds);
    if (nanoseconds < 1'000) return std::to_string(nanoseconds) + "ns";
    if (nanoseconds < 1'000'000) return detail::decimal(nanoseconds, 1'000) + "\u00b5s";
    if (nanoseconds < 1'000'000'000) return detail::decimal(nanoseconds, 1'000'000) + "ms";
    auto const minutes = nanoseconds / 60'000'000'000;
    std::string out;
    if (minutes >= 60) out = std::to_string(minutes / 60) + "h";
    if (minutes > 0) out += std::to_string(minutes % 60) + "m";
    return out + detail::decimal(nanoseconds % 60'000'000'000, 1'000'000'000) + "s";
}

} // namespace muster::ext::vcjob
