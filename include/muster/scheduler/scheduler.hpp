#pragma once

/// \file
/// The kernel over tiers and actions that are types.

#include <cstddef>
#include <type_traits>

#include <muster/policy/static_tiers.hpp>
#include <muster/scheduler/actions/allocate.hpp>
#include <muster/scheduler/actions/backfill.hpp>
#include <muster/scheduler/actions/enqueue.hpp>
#include <muster/scheduler/kernel.hpp>

namespace muster {

/// Actions, in the order they run.
template <class... Actions>
struct actions {
    [[nodiscard]] static constexpr bool enqueues() noexcept {
        return (std::is_same_v<Actions, action::enqueue> || ...);
    }

    template <class Session>
    void run(Session& s) const {
        (s.run(Actions{}), ...);
    }
};

/// A scheduler whose configuration is its type.
template <class Actions, class... Tiers>
class scheduler;

template <class... Actions, class... Tiers>
class scheduler<actions<Actions...>, Tiers...>
    : public detail::kernel<actions<Actions...>, detail::checked_tiers<Tiers...>> {
    using policies = detail::checked_tiers<Tiers...>;
    static constexpr bool is_sound = (detail::is_sound<Tiers> && ...);
    static_assert(is_sound || (std::size_t{1} + ... + sizeof(detail::explain_tier<Tiers>)) != 0);

public:
    /// Takes any of the policies with their parameters, in any order; the rest default.
    template <class... Given>
    explicit scheduler(Given const&... given) : scheduler::kernel({}, policies{given...}) {
        if constexpr (is_sound) {
            static_assert((policies::template has<Given> && ...),
                          "muster: parameters are given for a policy that no tier lists; list it, or leave them out");
            static_assert(detail::are_distinct<Given...>,
                          "muster: parameters are given twice for one policy; leave one of them out");
        }
    }
};

} // namespace muster
