#pragma once

/// \file
/// Why a question was answered no: a code and the numbers compared. Words are made of them in `report/`.

#include <cstdint>

#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>

namespace muster {

enum class reason_code : std::uint8_t {
    insufficient,  ///< a node lacks an amount: asked, available
    pod_count,     ///< a node holds as many pods as it may: asked (one more), available
    unschedulable, ///< a node is cordoned
    node_affinity, ///< a node does not match selector or affinity
    untolerated,   ///< a node has a taint that is not tolerated
    port_taken,    ///< a host port is taken: asked (the port)
    card_mode,     ///< the node shares its cards another way than asked
    card_count,    ///< the node has too few cards: asked, available
    card_filter,   ///< no card passes the uuid lists
    card_fit,      ///< too few cards have room: asked (cards)
    queue_closed,  ///< the queue takes no work
    queue_quota,   ///< the queue's limit would be passed: asked, held, limit
    role_failed,   ///< a task of the same role failed before
};

/// Who compared.
enum class limit_kind : std::uint8_t { none, idle, capability, deserved };

/// One comparison that failed.
///
/// Units: amounts are in the counting of `dimension`; `limit` may be a share and so a fraction.
struct reason {
    reason_code code = reason_code::insufficient;
    limit_kind kind = limit_kind::none;
    dimension_id dimension{};
    std::int64_t asked = 0;
    std::int64_t held = 0; ///< by others, beside what is asked
    double limit = 0;      ///< what may be held in all

    friend bool operator==(reason const&, reason const&) noexcept = default;
};

/// Reasons of one question, in the order found.
using reasons = column<reason>;

} // namespace muster
