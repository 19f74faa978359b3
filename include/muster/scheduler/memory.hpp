#pragma once

/// \file
/// What one session leaves to the next.

#include <cstdint>

#include <muster/cluster/journal.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/key_table.hpp>
#include <muster/scheduler/explain.hpp>
#include <muster/scheduler/roster.hpp>
#include <muster/scheduler/scan.hpp>
#include <muster/scheduler/work_list.hpp>

namespace muster {

/// The tables that a session works with and no outcome carries away. A session that is given those of an earlier one
/// uses their room again.
///
/// A memory never changes an answer, whatever it was used on before: a session reads nothing that it hasn't written.
/// It belongs to no cluster and to one thread at a time. One session at a time uses it, and must not outlive it; a
/// second one meanwhile does without.
struct memory {
    bool in_use = false;
    muster::roster roster{};
    muster::scan scan{};
    role_cache refused{};
    work_list work{};
    muster::journal journal{};
    key_table keys{};
    column<shape_id> shapes{};           ///< a task: as the policies tell them apart
    column<std::uint8_t> roles_failed{}; ///< a role
};

} // namespace muster
