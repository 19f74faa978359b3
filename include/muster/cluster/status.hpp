#pragma once

/// \file
/// The states of a task, and which of them count as what.
///
/// Source: volcano, pkg/scheduler/api/types.go and helpers.go, at ed72c7c8 (spec/volcano-core.md 1.1).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

/// A task's state, in the original's order.
enum class task_status : std::uint8_t {
    pending,
    allocated, ///< placed in this session, not yet decided
    pipelined, ///< waits in this session for what another task releases
    binding,   ///< decided in this session
    bound,
    running,
    releasing, ///< on its way out
    succeeded,
    failed,
    unknown,
};

inline constexpr std::size_t task_statuses = 10;

/// How many tasks are in each state.
using status_counts = std::array<std::uint32_t, task_statuses>;

[[nodiscard]] constexpr std::string_view name_of(task_status s) noexcept {
    constexpr std::array<std::string_view, task_statuses> names{"Pending", "Allocated", "Pipelined", "Binding",
                                                                "Bound",   "Running",   "Releasing", "Succeeded",
                                                                "Failed",  "Unknown"};
    return names[static_cast<std::size_t>(s)];
}

/// A set of states.
class status_set {
public:
    template <class... S>
    constexpr explicit status_set(S... states) noexcept
        : bits_(static_cast<std::uint16_t>((0U | ... | (1U << static_cast<unsigned>(states))))) {}

    [[nodiscard]] constexpr bool has(task_status s) const noexcept {
        return ((bits_ >> static_cast<unsigned>(s)) & 1U) != 0;
    }

    /// How many of the counted tasks are in the set.
    [[nodiscard]] constexpr std::uint32_t of(status_counts const& counts) const noexcept {
        std::uint32_t sum = 0;
        for (std::size_t s = 0; s != task_statuses; ++s)
            if (has(static_cast<task_status>(s))) sum += counts[s];
        return sum;
    }

private:
    std::uint16_t bits_;
};

namespace statuses {
using enum task_status;
/// What a job holds.
inline constexpr status_set held{allocated, binding, bound, running};
/// What makes a gang ready.
inline constexpr status_set ready{allocated, binding, bound, running, succeeded};
/// What may still make a gang ready.
inline constexpr status_set valid{pending, allocated, pipelined, binding, bound, running, succeeded};
/// What has been handed to a node.
inline constexpr status_set scheduled{bound, running, succeeded, failed};
inline constexpr status_set completed{succeeded, failed};
/// What may be evicted.
inline constexpr status_set evictable{bound, running};
/// What takes room on a node.
inline constexpr status_set on_node{allocated, pipelined, binding, bound, running, releasing, unknown};
/// What takes room on a node now; the pipelined will.
inline constexpr status_set present{allocated, binding, bound, running, releasing, unknown};
} // namespace statuses

/// The phase of a job's PodGroup.
enum class job_phase : std::uint8_t { pending, inqueue, running, unknown, completed };

[[nodiscard]] constexpr std::string_view name_of(job_phase p) noexcept {
    constexpr std::array<std::string_view, 5> names{"Pending", "Inqueue", "Running", "Unknown", "Completed"};
    return names[static_cast<std::size_t>(p)];
}

} // namespace muster
