#pragma once

/// \file
/// vGPU requests and cards of Kubernetes objects, in Volcano's dialect.
///
/// Source: volcano, pkg/scheduler/api/devices (spec/device-fitting.md 1.1, 2.1), at ed72c7c8.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/cluster/spec.hpp>
#include <muster/device/card.hpp>
#include <muster/device/request.hpp>
#include <muster/ext/amounts.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/wire/volcano.hpp>

namespace muster::ext {

/// The names that a cluster gives its vGPU resources: those of the ConfigMap volcano-vgpu-device-config.
struct vgpu_names {
    std::string number{wire::volcano::number_resource};
    std::string memory{wire::volcano::memory_resource};
    std::string cores{wire::volcano::cores_resource};
    std::string percentage{}; ///< empty: percentages are not looked at, as in Volcano without the ConfigMap
};

namespace detail {

/// The percentage that stands for none.
inline constexpr std::int64_t not_given = 101;

/// A whole number of a quantity, zero for a fraction, within what fits a card.
[[nodiscard]] inline std::int64_t whole(quantity const* q) noexcept {
    if (q == nullptr) return 0;
    return std::clamp<std::int64_t>(q->as_int64().value_or(0), 0, std::numeric_limits<std::int32_t>::max());
}

/// The items of a comma list, trimmed, without empty ones.
[[nodiscard]] inline std::vector<std::string> items_of(std::string_view list) {
    std::vector<std::string> items;
    for (std::size_t at = 0; at <= list.size();) {
        auto item = list.substr(at, list.find(',', at) - at);
        at += item.size() + 1;
        while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
        while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
        if (!item.empty()) items.emplace_back(item);
    }
    return items;
}

} // namespace detail

/// What a pod asks of cards; empty if no container has a limit of cards or card memory.
///
/// Limits decide that a container asks; amounts come from limits, else requests. Without memory and percentage it asks
/// for all memory of a card. A limit of zero cards asks for none, but makes the pod one of the device plugin's.
[[nodiscard]] inline device_request read_device_request(field const& pod, vgpu_names const& names) {
    device_request want;
    std::uint32_t position = 0;
    for (auto const& container : pod["spec"]["containers"].items()) {
        auto const limits = read_amounts(container["resources"]["limits"]);
        auto const requests = read_amounts(container["resources"]["requests"]);
        auto const either = [&](std::string const& name) {
            auto const* const limit = find(limits, name);
            return limit != nullptr ? limit : find(requests, name);
        };
        container_request ask{.container = position++};
        auto const* const number = find(limits, names.number);
        if (number == nullptr && find(limits, names.memory) == nullptr) continue;
        ask.cards = number != nullptr ? detail::whole(number) : 1;
        ask.memory = mib{detail::whole(either(names.memory))};
        auto const* const part = names.percentage.empty() ? nullptr : either(names.percentage);
        if (part != nullptr && detail::whole(part) != detail::not_given)
            ask.memory_percent = percent{detail::whole(part)};
        else if (ask.memory == mib{0})
            ask.memory_percent = percent{100};
        ask.cores = percent{detail::whole(either(names.cores))};
        want.containers.push_back(ask);
    }
    if (want.empty()) return want;
    namespace key = wire::volcano;
    auto const annotations = pod["metadata"]["annotations"];
    auto const text = [&](std::string_view name) {
        auto const f = annotations[name];
        return f ? std::optional{f.as_string()} : std::nullopt;
    };
    want.filter.use_type = text(key::use_type_key);
    want.filter.avoid_type = text(key::avoid_type_key);
    want.filter.use_uuid = detail::items_of(text(key::use_uuid_key).value_or(""));
    want.filter.avoid_uuid = detail::items_of(text(key::avoid_uuid_key).value_or(""));
    want.filter.mode = text(key::mode_key);
    if (text(key::podgroup_policy_key) == "spread")
        if (auto const group = text("scheduling.k8s.io/group-name"))
            want.filter.spread_group = std::string{pod.root().ns()} + "/" + *group;
    return want;
}

/// The shares that a pod's annotation records; a text that can't be read is told and gives none.
///
/// The text lists the containers that hold cards, in order: they are matched with those that ask for some.
[[nodiscard]] inline std::vector<held_share> read_shares(field const& pod, device_request const& want, bool& broken,
                                                         std::vector<warning>& warnings) {
    std::vector<held_share> shares;
    auto const f = pod["metadata"]["annotations"][wire::volcano::shares_key];
    if (!f) return shares;
    auto const containers = wire::volcano::decode_pod(f.as_string());
    bool const names_none = containers && std::all_of(containers->begin(), containers->end(),
                                                      [](auto const& cards) { return cards.empty(); });
    if (!containers || (names_none && f.as_string().find_first_not_of(";: ") != std::string::npos)) {
        auto const why = containers ? std::string{"it names no card"}
                                    : std::string{message(containers.error().code)} + " at byte " +
                                          std::to_string(containers.error().at);
        broken = true;
        warnings.push_back(f.warn("expected UUID,NVIDIA,MEMORY,CORES: for each card, found \"" + f.as_string() +
                                  "\": " + why + "; the cards of its node take no new share until it is repaired"));
        return shares;
    }
    for (std::size_t i = 0; i != containers->size(); ++i)
        for (auto const& s : (*containers)[i]) {
            auto const container =
                i < want.containers.size() ? want.containers[i].container : static_cast<std::uint32_t>(i);
            auto const uuid = s.uuid.substr(0, s.uuid.find('['));
            shares.push_back({std::string{uuid}, container, mib{s.memory}, percent{s.cores}});
        }
    return shares;
}

/// The cards of a node: as it registers them, or derived from what it offers.
[[nodiscard]] inline std::vector<card_spec> read_cards(field const& node, resource_list const& allocatable,
                                                       std::vector<warning>& warnings) {
    namespace key = wire::volcano;
    std::vector<card_spec> cards;
    auto const number = detail::whole(find(allocatable, key::number_resource));
    auto const memory = detail::whole(find(allocatable, key::memory_resource));
    auto const cores = detail::whole(find(allocatable, key::cores_resource));
    auto const registered = node["metadata"]["annotations"][key::node_register_key];
    if (!registered) {
        if (number == 0 || memory == 0) return cards;
        auto const count = std::clamp<std::int64_t>(cores / 100, 1, 64);
        for (std::int64_t i = 0; i != count; ++i)
            cards.push_back({.uuid = "derived-" + std::string{node.root().name()} + "-" + std::to_string(i),
                             .type = "NVIDIA-derived",
                             .slots = number / count,
                             .memory = mib{memory / count}});
        warnings.push_back(node["status"].warn("no annotation " + std::string{key::node_register_key} + "; " +
                                               std::to_string(count) + (count == 1 ? " card is" : " cards are") +
                                               " derived from the capacity of " + std::to_string(number) +
                                               " shares and " + std::to_string(memory) + " MiB"));
        return cards;
    }
    auto const decoded = wire::volcano::decode_register(registered.as_string());
    if (!decoded) {
        warnings.push_back(registered.warn("expected UUID,COUNT,MEMORY,TYPE,HEALTH,MODE: for each card: " +
                                           std::string{message(decoded.error().code)} + " at byte " +
                                           std::to_string(decoded.error().at) +
                                           "; the node's cards take no share until it is repaired"));
        if (number != 0 || memory != 0) cards.push_back({.type = "NVIDIA-unreadable", .faulty = true});
        return cards;
    }
    auto const mode = key::node_mode(*decoded);
    for (auto const& c : *decoded) {
        if (c.fault)
            warnings.push_back(registered.warn(
                "card " + std::string{c.uuid} + ": " + std::string{message(c.fault->code)} + " at byte " +
                std::to_string(c.fault->at) + "; it takes no share until it is repaired"));
        cards.push_back(
            {std::string{c.uuid}, std::string{c.type}, c.slots, mib{c.memory}, mode, c.healthy, c.fault.has_value()});
    }
    return cards;
}

} // namespace muster::ext
