#pragma once

/// \file
/// Times of objects: RFC 3339 in UTC, as seconds since 1970.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <muster/ext/field.hpp>

namespace muster::ext {

namespace detail {

/// Days since 1970-01-01 of a date in the Gregorian calendar.
[[nodiscard]] constexpr std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) noexcept {
    year -= month <= 2 ? 1 : 0;
    auto const era = (year >= 0 ? year : year - 399) / 400;
    auto const year_of_era = year - era * 400;
    auto const day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    auto const day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

[[nodiscard]] constexpr std::int64_t days_of(std::int64_t year, std::int64_t month) noexcept {
    return days_from_civil(year + month / 12, month % 12 + 1, 1) - days_from_civil(year, month, 1);
}

[[nodiscard]] constexpr std::optional<std::int64_t> digits(std::string_view text) noexcept {
    std::int64_t value = 0;
    for (char const c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

} // namespace detail

/// Reads `2024-01-01T00:00:01Z`, with a fraction or an offset if it must be; nothing for other text.
[[nodiscard]] constexpr std::optional<std::int64_t> parse_time(std::string_view text) noexcept {
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') ||
        text[13] != ':' || text[16] != ':')
        return std::nullopt;
    auto const part = [&](std::size_t at, std::size_t length) { return detail::digits(text.substr(at, length)); };
    auto const year = part(0, 4), month = part(5, 2), day = part(8, 2), hour = part(11, 2), minute = part(14, 2),
               second = part(17, 2);
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    if (*month < 1 || *month > 12 || *day < 1 || *day > detail::days_of(*year, *month) || *hour > 23 || *minute > 59 ||
        *second > 60)
        return std::nullopt;
    std::size_t at = 19;
    if (text[at] == '.')
        for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9';) ++at;
    std::int64_t offset = 0;
    auto const zone = text.substr(at);
    if (zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':') {
        auto const hours = detail::digits(zone.substr(1, 2));
        auto const minutes = detail::digits(zone.substr(4, 2));
        if (!hours || !minutes) return std::nullopt;
        offset = (*hours * 3600 + *minutes * 60) * (zone[0] == '+' ? 1 : -1);
    } else if (zone != "Z" && zone != "z") {
        return std::nullopt;
    }
    return detail::days_from_civil(*year, *month, *day) * 86400 + *hour * 3600 + *minute * 60 + *second - offset;
}

/// Writes `2024-01-01T00:00:01Z`.
[[nodiscard]] inline std::string print_time(std::int64_t seconds) {
    auto const days = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
    auto const rest = seconds - days * 86400;
    auto const shifted = days + 719468;
    auto const era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    auto const day_of_era = shifted - era * 146097;
    auto const year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    auto const day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    auto const month_part = (5 * day_of_year + 2) / 153;
    auto const day = day_of_year - (153 * month_part + 2) / 5 + 1;
    auto const month = month_part < 10 ? month_part + 3 : month_part - 9;
    auto const year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", year, month, day, rest / 3600, rest / 60 % 60,
                       rest % 60);
}

/// A time, if there is one. Errors: `bad_input` for what is none.
[[nodiscard]] inline std::optional<std::int64_t> read_time(field const& f) {
    if (!f) return std::nullopt;
    auto const time = parse_time(f.as_string());
    if (!time) f.fail("expected a time such as 2024-01-01T00:00:00Z, found \"" + f.as_string() + "\"");
    return time;
}

/// An object's creation time; `otherwise` if it has none. Errors: `bad_input` for a text that is no time.
[[nodiscard]] inline std::int64_t read_created(field const& root, std::int64_t otherwise = 0) {
    return read_time(root["metadata"]["creationTimestamp"]).value_or(otherwise);
}

/// A uid in the usual form, made of what names the object: the same each time.
[[nodiscard]] inline std::string derived_uid(std::string_view kind, std::string_view ns, std::string_view name) {
    auto const hash = [&](std::uint64_t h) {
        for (auto const text : {kind, ns, name}) {
            for (char const c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
            h = (h ^ 0xffU) * 1099511628211ULL;
        }
        return h ^ (h >> 29U);
    };
    auto const a = hash(1469598103934665603ULL);
    auto const b = hash(1099511628211ULL * 31U);
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32U, (a >> 16U) & 0xffffU, (a & 0x0fffU) | 0x5000U,
                       ((b >> 48U) & 0x3fffU) | 0x8000U, b & 0xffffffffffffULL);
}

} // namespace muster::ext
