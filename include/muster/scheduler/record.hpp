#pragma once

/// \file
/// The record of a session: why each question was answered no, kept as codes and numbers.

#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/cluster/tables.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/policy/reason.hpp>

namespace muster {

/// One node's verdict on a shape. Stretches here and below are of the record's columns.
struct node_refusal {
    node_id node;
    range why{};
};

/// What all nodes said of a shape at one moment.
struct explanation {
    shape_id shape;
    std::size_t position = 0; ///< of the journal
    range nodes{};
};

/// A task that found no node.
struct failure {
    task_id task;
    bool by_role = false;      ///< not tried: a task of its role had failed before
    std::size_t explained = 0; ///< else the position of the explanation
};

/// A job that was not let in, or a task that its queue had no room for.
struct queue_refusal {
    job_id job;
    task_id task{}; ///< none: the job as a whole
    range why{};
};

/// A node with what it scored for a task.
struct candidate {
    node_id node;
    bool now = false; ///< has room now, else once others leave
    double score = 0;
};

/// A node that a task was given, with what it competed against.
struct decision {
    task_id task;
    node_id node;
    bool now = false;
    range candidates{}; ///< empty unless asked for
};

/// A sink for explanations. A session without one keeps none and allocates nothing for them.
struct record {
    bool keep_candidates = false;

    column<explanation> explanations{};
    column<failure> failures{};
    column<queue_refusal> refusals{}; ///< in the order met
    column<decision> decisions{};     ///< in the order made

    column<node_refusal> nodes{};
    column<candidate> candidates{};
    column<reason> reasons{};

    [[nodiscard]] std::span<node_refusal const> nodes_of(explanation const& e) const noexcept {
        return {nodes.data() + e.nodes.first, e.nodes.count};
    }
    [[nodiscard]] std::span<reason const> why(node_refusal const& n) const noexcept {
        return {reasons.data() + n.why.first, n.why.count};
    }
    [[nodiscard]] std::span<reason const> why(queue_refusal const& q) const noexcept {
        return {reasons.data() + q.why.first, q.why.count};
    }
    [[nodiscard]] std::span<candidate const> candidates_of(decision const& d) const noexcept {
        return {candidates.data() + d.candidates.first, d.candidates.count};
    }
};

} // namespace muster
