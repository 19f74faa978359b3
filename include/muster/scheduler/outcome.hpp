#pragma once

/// \file
/// What one cycle decided.

#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/cluster/status.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/scheduler/record.hpp>

namespace muster {

/// What one cycle decided, and the state that it left; everything that messages are made of.
struct outcome {
    column<task_id> bound{};           ///< in the order decided; `state.tasks` says where and with which cards
    column<task_id> evicted{};         ///< in the order decided
    column<task_id> pipelined{};       ///< by id: wait on a node for what others release
    column<job_id> jobs{};             ///< those that took part
    column<job_phase> phases{};        ///< `[job]`
    column<condition> conditions{};    ///< in job order
    column<task_facts> facts{};        ///< `[task]`
    std::vector<queue_facts> queues{}; ///< `[queue]`; empty without a sink
    muster::state state{};
    muster::record record{}; ///< empty without a sink
};

} // namespace muster
