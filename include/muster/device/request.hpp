#pragma once

/// \file
/// What a pod asks of a node's cards.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/core/column.hpp>
#include <muster/resource/units.hpp>

namespace muster {

/// One container's request: `cards` cards with the same share of each.
struct container_request {
    std::uint32_t container = 0;             ///< position among the pod's containers
    std::int64_t cards = 1;                  ///< how many different cards
    mib memory{};                            ///< of each card; ignored where `memory_percent` is given
    std::optional<percent> memory_percent{}; ///< of each card's memory
    percent cores{};                         ///< of each card; 100 is the whole card, alone

    friend bool operator==(container_request const&, container_request const&) noexcept = default;
};

/// Which cards a pod accepts. An absent list accepts all.
struct card_filter {
    std::optional<std::string> use_type{};     ///< comma list; a card fits one item, case and position aside
    std::optional<std::string> avoid_type{};   ///< comma list; asked only without `use_type`
    std::vector<std::string> use_uuid{};       ///< empty: all
    std::vector<std::string> avoid_uuid{};     ///< wins over `use_uuid`
    std::optional<std::string> mode{};         ///< must equal the node's sharing mode
    std::optional<std::string> spread_group{}; ///< no two pods of this group on one card

    friend bool operator==(card_filter const&, card_filter const&) noexcept = default;
};

/// A pod's whole request; containers without cards have no entry.
struct device_request {
    column<container_request> containers{};
    card_filter filter{};

    [[nodiscard]] bool empty() const noexcept { return containers.empty(); }
    friend bool operator==(device_request const&, device_request const&) noexcept = default;
};

} // namespace muster
