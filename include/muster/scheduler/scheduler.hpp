#pragma once

/// \file
/// The kernel: actions over tiers of policies, composed at compile time or read from text.

#include <utility>
#include <variant>
#include <vector>

#include <muster/cluster/cluster.hpp>
#include <muster/policy/dynamic_tiers.hpp>
#include <muster/policy/static_tiers.hpp>
#include <muster/scheduler/actions/allocate.hpp>
#include <muster/scheduler/actions/backfill.hpp>
#include <muster/scheduler/actions/enqueue.hpp>
#include <muster/scheduler/outcome.hpp>
#include <muster/scheduler/record.hpp>
#include <muster/scheduler/session.hpp>

namespace muster {

/// Actions, in the order they run.
template <class... Actions>
struct actions {
    static constexpr bool enqueues = (std::is_same_v<Actions, action::enqueue> || ...);

    template <class Session>
    void run(Session& s) const {
        (s.run(Actions{}), ...);
    }
};

/// Actions chosen at run time.
class action_list {
public:
    using any_action = std::variant<action::enqueue, action::allocate, action::backfill>;

    void add(any_action a) { list_.push_back(std::move(a)); }

    [[nodiscard]] bool enqueues() const noexcept {
        for (auto const& a : list_)
            if (std::holds_alternative<action::enqueue>(a)) return true;
        return false;
    }

    template <class Session>
    void run(Session& s) const {
        for (auto const& a : list_) std::visit([&](auto const& which) { s.run(which); }, a);
    }

private:
    std::vector<any_action> list_;
};

/// A scheduler whose configuration is its type.
///
/// `run` is a pure function of the cluster; schedulers share nothing.
template <class Actions, class... Tiers>
class scheduler;

template <class... Actions, class... Tiers>
class scheduler<actions<Actions...>, Tiers...> {
    template <class... Ps>
    static constexpr bool check(tier<Ps...>) noexcept {
        return detail::check_tier<Ps...>::value;
    }
    static_assert((check(Tiers{}) && ...));

    using policies = static_tiers<Tiers...>;

public:
    using session_type = session<typename policies::states>;

    /// Takes any of the policies with their parameters, in any order; the rest default.
    template <class... Given>
    explicit scheduler(Given const&... given) : policies_(given...) {
        static_assert((policies::template has<Given> && ...), "a policy is given that no tier lists");
    }

    /// A session on the cluster, which must outlive it. With a sink, why-nots are recorded.
    [[nodiscard]] session_type open(cluster const& c, record* sink = nullptr) const {
        return session_type{c, policies_, actions<Actions...>::enqueues, sink};
    }

    /// One cycle.
    [[nodiscard]] outcome run(cluster const& c, record* sink = nullptr) const {
        auto s = open(c, sink);
        actions<Actions...>{}.run(s);
        return s.close();
    }

private:
    policies policies_;
};

/// A scheduler whose configuration is a value.
class dynamic_scheduler {
public:
    using session_type = session<dynamic_states>;

    dynamic_scheduler(action_list list, dynamic_tiers tiers) : actions_(std::move(list)), tiers_(std::move(tiers)) {}

    [[nodiscard]] session_type open(cluster const& c, record* sink = nullptr) const {
        return session_type{c, tiers_, actions_.enqueues(), sink};
    }

    [[nodiscard]] outcome run(cluster const& c, record* sink = nullptr) const {
        auto s = open(c, sink);
        actions_.run(s);
        return s.close();
    }

private:
    action_list actions_;
    dynamic_tiers tiers_;
};

} // namespace muster
