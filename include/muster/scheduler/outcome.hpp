#pragma once

/// \file
/// What one cycle decided.

#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/cluster/status.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/scheduler/record.hpp>

namespace muster {

/// What one cycle decided, and the state that it left; everything that messages are made of.
struct outcome {
    std::vector<task_id> bound{};        ///< in the order decided; `state.tasks` says where and with which cards
    std::vector<task_id> evicted{};      ///< in the order decided
    std::vector<task_id> pipelined{};    ///< by id: wait on a node for what others release
    std::vector<job_id> jobs{};          ///< those that took part
    std::vector<job_phase> phases{};     ///< `[job]`
    std::vector<condition> conditions{}; ///< in job order
    std::vector<task_facts> facts{};     ///< `[task]`
    std::vector<queue_facts> queues{};   ///< `[queue]`; empty without a sink
    muster::state state{};
    muster::record record{}; ///< empty without a sink
};

} // namespace muster
