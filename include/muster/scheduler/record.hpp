#pragma once

/// \file
/// The record of a session: why each question was answered no, kept as codes and numbers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/policy/reason.hpp>

namespace muster {

/// One node's verdict on a shape.
struct node_refusal {
    node_id node;
    reasons why{};
};

/// What all nodes said of a shape at one moment.
struct explanation {
    shape_id shape;
    std::size_t position = 0; ///< of the journal
    std::vector<node_refusal> nodes{};
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
    reasons why{};
};

/// A node that a task was given, with what it competed against.
struct decision {
    struct candidate {
        node_id node;
        bool now = false; ///< has room now, else once others leave
        double score = 0;
    };
    task_id task;
    node_id node;
    bool now = false;
    std::vector<candidate> candidates{}; ///< empty unless asked for
};

/// A sink for explanations. A session without one keeps none and allocates nothing for them.
struct record {
    bool keep_candidates = false;

    std::vector<explanation> explanations{};
    std::vector<failure> failures{};
    std::vector<queue_refusal> refusals{}; ///< in the order met
    std::vector<decision> decisions{};     ///< in the order made
};

} // namespace muster
