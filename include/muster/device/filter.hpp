#pragma once

/// \file
/// The text rules of card filters, asked once a distinct card type when a session opens.
///
/// Source: volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go, at ed72c7c8 (spec/device-fitting.md 3.1).

#include <algorithm>
#include <string_view>

#include <muster/core/ascii.hpp>
#include <muster/device/request.hpp>

namespace muster::device {

namespace detail {

/// Whether `text` contains `part`, capitals and small letters alike.
[[nodiscard]] constexpr bool contains_folded(std::string_view text, std::string_view part) noexcept {
    auto const found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                   [](char a, char b) { return lower(a) == lower(b); });
    return found != text.end() || part.empty();
}

} // namespace detail

/// Whether some item of a comma list is part of `type`. Items are not trimmed; an empty item is part of everything.
[[nodiscard]] constexpr bool any_item_in(std::string_view list, std::string_view type) noexcept {
    for (std::size_t at = 0; at <= list.size();) {
        auto const item = list.substr(at, list.find(',', at) - at);
        if (detail::contains_folded(type, item)) return true;
        at += item.size() + 1;
    }
    return false;
}

/// Whether a filter accepts cards of a type. The type must name NVIDIA; `use_type` hides `avoid_type`.
[[nodiscard]] inline bool accepts_type(card_filter const& filter, std::string_view type) noexcept {
    if (type.find("NVIDIA") == std::string_view::npos) return false;
    if (filter.use_type) return any_item_in(*filter.use_type, type);
    return !filter.avoid_type || !any_item_in(*filter.avoid_type, type);
}

/// Whether a filter accepts a card by its uuid; with any list given, a card without uuid is refused.
[[nodiscard]] inline bool accepts_uuid(card_filter const& filter, std::string_view uuid) noexcept {
    auto const listed = [&](auto const& list) { return std::find(list.begin(), list.end(), uuid) != list.end(); };
    if (filter.use_uuid.empty() && filter.avoid_uuid.empty()) return true;
    if (uuid.empty() || listed(filter.avoid_uuid)) return false;
    return filter.use_uuid.empty() || listed(filter.use_uuid);
}

} // namespace muster::device
