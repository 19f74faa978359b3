#pragma once

/// \file
/// Codes in words: the original's texts to the letter, and plain sentences of ours.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/cluster/tables.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/reason.hpp>
#include <muster/resource/dimension.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {

/// A node's reason as Volcano's messages give it.
[[nodiscard]] inline std::string words_of(reason const& why, tables const& t) {
    switch (why.code) {
    case reason_code::insufficient:
        return "Insufficient " + t.dimensions.name(why.dimension);
    case reason_code::pod_count:
        return "node(s) pod number exceeded";
    case reason_code::unschedulable:
        return "node(s) were unschedulable";
    case reason_code::node_affinity:
        return "node(s) didn't match Pod's node affinity/selector";
    case reason_code::untolerated:
        return "node(s) had untolerated taint(s)";
    case reason_code::port_taken:
        return "node(s) didn't have free ports for the requested pod ports";
    case reason_code::card_mode:
    case reason_code::card_count:
    case reason_code::card_filter:
    case reason_code::card_fit:
        return "hami-vgpuDeviceSharing error";
    case reason_code::queue_closed:
    case reason_code::queue_quota:
    case reason_code::role_failed:
        break;
    }
    return {};
}

/// An amount as a person counts it: 6000 of a scalar, 2 or 500m of cpu, 4Gi of memory.
[[nodiscard]] inline std::string print_amount(std::int64_t amount, dimension_id d, tables const& t) {
    if (d == dimension::memory) return to_string(quantity::from_units(amount, quantity_format::binary_si));
    if (counting_of(t.dimensions.name(d)) == counting::whole) return std::to_string(amount);
    if (d == dimension::cpu || amount % 1000 != 0) return to_string(quantity::from_milli(amount));
    return std::to_string(amount / 1000);
}

/// The same of a derived amount, rounded down to the dimension's smallest part.
[[nodiscard]] inline std::string print_amount(double amount, dimension_id d, tables const& t) {
    constexpr double bound = 9.2e18;
    if (!(amount < bound)) return "unlimited";
    return print_amount(static_cast<std::int64_t>(std::floor(std::max(amount, -bound))), d, t);
}

/// A reason in a plain sentence with the numbers compared, without a final period. `whose` names the node or queue.
[[nodiscard]] inline std::string explain(reason const& why, std::string_view whose, tables const& t) {
    std::string const place{whose};
    auto const amount = [&](auto value) { return print_amount(value, why.dimension, t); };
    auto const of = [&] { return t.dimensions.name(why.dimension); };
    switch (why.code) {
    case reason_code::insufficient:
        return "node " + place + " has too little " + of() + ": " + amount(why.asked) + " asked, " + amount(why.held) +
               " of " + amount(why.limit) + " in use";
    case reason_code::pod_count:
        return "node " + place + " is full of pods: " + std::to_string(why.held) + " of " + amount(why.limit);
    case reason_code::unschedulable:
        return "node " + place + " is cordoned";
    case reason_code::node_affinity:
        return "node " + place + " does not match the pod's selector or affinity";
    case reason_code::untolerated:
        return "node " + place + " has a taint that the pod does not tolerate";
    case reason_code::port_taken:
        return "host port " + std::to_string(why.asked) + " of node " + place + " is taken";
    case reason_code::card_mode:
        return "node " + place + " shares its cards in another mode than the pod asks for";
    case reason_code::card_count:
        return "node " + place + " has too few cards: " + std::to_string(why.asked) + " asked, " +
               std::to_string(static_cast<std::int64_t>(why.limit)) + " there";
    case reason_code::card_filter:
        return "no card of node " + place + " passes the pod's uuid lists";
    case reason_code::card_fit:
        return "too few cards of node " + place + " have room for the share: " + std::to_string(why.asked) + " needed";
    case reason_code::queue_closed:
        return "queue " + place + " is not open";
    case reason_code::queue_quota:
        return "queue " + place + " would pass its " +
               (why.kind == limit_kind::capability ? std::string{"limit"} : std::string{"deserved share"}) + " of " +
               of() + ": " + amount(why.held + why.asked) + " asked in all, " + amount(why.held) + " held, " +
               amount(why.limit) + " allowed";
    case reason_code::role_failed:
        return "a task of the same role found no node";
    }
    return {};
}

} // namespace muster
