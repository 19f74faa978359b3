#pragma once

/// \file
/// Positions as types: a node's id can't stand where a task's is wanted.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace muster {

/// A position in one of the cluster's tables; `none` by default.
template <class Tag>
struct id {
    static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t value = nothing;

    constexpr id() noexcept = default;
    constexpr explicit id(std::size_t position) noexcept : value(static_cast<std::uint32_t>(position)) {}

    [[nodiscard]] constexpr std::size_t index() const noexcept { return value; }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return value != nothing; }
    friend constexpr auto operator<=>(id, id) noexcept = default;
};

using node_id = id<struct node_tag>;
using task_id = id<struct task_tag>;
using job_id = id<struct job_tag>;
using queue_id = id<struct queue_tag>;
using shape_id = id<struct shape_tag>;
using card_id = id<struct card_tag>;
using role_id = id<struct role_tag>; ///< a role of one job; roles of a job stand side by side
using dimension_id = id<struct dimension_tag>;
using device_request_id = id<struct device_request_tag>;
using constraint_id = id<struct constraint_tag>;

/// A text interned by a `symbol_table`; equal texts have equal symbols.
using symbol = id<struct symbol_tag>;

} // namespace muster
