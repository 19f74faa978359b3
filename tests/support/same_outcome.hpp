#pragma once

/// \file
/// Whether two cycles decided the same, and for the same reasons.

#include <algorithm>
#include <cstddef>

#include <rapidcheck.h>

#include <muster/scheduler/outcome.hpp>

namespace test {

/// Ends the rapidcheck case at the first difference.
inline void demand_same(muster::outcome const& a, muster::outcome const& b) {
    RC_ASSERT(a.bound == b.bound);
    RC_ASSERT(a.pipelined == b.pipelined);
    RC_ASSERT(a.jobs == b.jobs);
    RC_ASSERT(a.phases == b.phases);
    RC_ASSERT(a.conditions == b.conditions);
    RC_ASSERT(a.state.tasks == b.state.tasks);
    RC_ASSERT(a.state.shares == b.state.shares);
    RC_ASSERT(a.state.cards == b.state.cards);
    RC_ASSERT(a.record.failures.size() == b.record.failures.size());
    RC_ASSERT(a.record.decisions.size() == b.record.decisions.size());
    for (std::size_t i = 0; i != a.record.decisions.size(); ++i) {
        auto const x = a.record.candidates_of(a.record.decisions[i]);
        auto const y = b.record.candidates_of(b.record.decisions[i]);
        RC_ASSERT(std::equal(x.begin(), x.end(), y.begin(), y.end(), [](auto const& p, auto const& q) {
            return p.node == q.node && p.now == q.now && p.score == q.score;
        }));
    }
    RC_ASSERT(a.record.reasons == b.record.reasons);
    RC_ASSERT(a.record.explanations.size() == b.record.explanations.size());
    for (std::size_t i = 0; i != a.record.explanations.size(); ++i) {
        auto const x = a.record.nodes_of(a.record.explanations[i]);
        auto const y = b.record.nodes_of(b.record.explanations[i]);
        RC_ASSERT(a.record.explanations[i].shape == b.record.explanations[i].shape);
        RC_ASSERT(std::equal(x.begin(), x.end(), y.begin(), y.end(),
                             [](auto const& p, auto const& q) { return p.node == q.node && p.why == q.why; }));
    }
}

} // namespace test
