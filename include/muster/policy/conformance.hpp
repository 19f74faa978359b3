#pragma once

/// \file
/// Policy conformance: what keeps the cluster alive is never evicted.

#include <span>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/policy/hooks.hpp>

namespace muster::policy {

/// Spares critical tasks: the system's priority classes and the namespace kube-system.
///
/// Source: volcano, pkg/scheduler/plugins/conformance/conformance.go, at ed72c7c8.
struct conformance {
    vote preemptable(session_view view, task_view, std::span<task_id const> candidates,
                     column<task_id>& victims) const {
        return spare(view, candidates, victims);
    }

    vote reclaimable(session_view view, task_view, std::span<task_id const> candidates,
                     column<task_id>& victims) const {
        return spare(view, candidates, victims);
    }

private:
    static vote spare(session_view view, std::span<task_id const> candidates, column<task_id>& victims) {
        for (auto const t : candidates) {
            auto const task = view.view(t);
            if (!task.row().critical && task.text(task.row().ns) != "kube-system") victims.push_back(t);
        }
        return vote::permit;
    }
};

} // namespace muster::policy
