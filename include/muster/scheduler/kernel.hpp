#pragma once

/// \file
/// One cycle: what every scheduler does, whether it was composed as a type or read from text.

#include <utility>

#include <muster/cluster/cluster.hpp>
#include <muster/scheduler/memory.hpp>
#include <muster/scheduler/outcome.hpp>
#include <muster/scheduler/record.hpp>
#include <muster/scheduler/session.hpp>

namespace muster::detail {

/// Actions over policies, however they were composed.
///
/// `run` is a pure function of the cluster; kernels share nothing.
template <class Actions, class Policies>
class kernel {
public:
    using session_type = session<typename Policies::states>;

    kernel(Actions actions, Policies policies) : actions_(std::move(actions)), policies_(std::move(policies)) {}

    /// A session on the cluster, which must outlive it. With a sink, why-nots are recorded.
    [[nodiscard]] session_type open(cluster const& c, record* sink = nullptr) const {
        return session_type{c, policies_, actions_.enqueues(), sink, nullptr};
    }

    /// The same in the tables of an earlier session.
    [[nodiscard]] session_type open(cluster const& c, memory& carried, record* sink = nullptr) const {
        return session_type{c, policies_, actions_.enqueues(), sink, &carried};
    }

    /// One cycle.
    [[nodiscard]] outcome run(cluster const& c, record* sink = nullptr) const { return finish(open(c, sink)); }

    /// The same cycle in the tables of an earlier one; the outcome is the same.
    [[nodiscard]] outcome run(cluster const& c, memory& carried, record* sink = nullptr) const {
        return finish(open(c, carried, sink));
    }

private:
    [[nodiscard]] outcome finish(session_type&& s) const {
        actions_.run(s);
        return s.close();
    }

    [[no_unique_address]] Actions actions_;
    [[no_unique_address]] Policies policies_;
};

} // namespace muster::detail
