#pragma once

/// \file
/// Tiers as types: policies composed at compile time, walked by a fold.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/hana/length.hpp>
#include <boost/hana/set.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include <muster/cluster/view.hpp>
#include <muster/policy/hooks.hpp>

namespace muster {

/// Policies that are asked together; the order is theirs.
template <class... Policies>
struct tier {};

namespace policy {

/// A policy with some of its hooks switched off.
template <class Policy, class... Hooks>
struct without : Policy {
    static constexpr hook_mask mask = every_hook & ~(hook_mask{0} | ... | hook_bit<Hooks>);
};

} // namespace policy

namespace detail {

/// Whether no type stands twice in a list.
template <class... Ts>
inline constexpr bool
    are_distinct = decltype(boost::hana::length(boost::hana::to_set(boost::hana::tuple_t<Ts...>)))::value ==
                   sizeof...(Ts);

template <class P>
inline constexpr bool has_well_formed_hooks =
    all_hooks::all_well_formed<state_of_t<P>>&& all_hooks::any_in<state_of_t<P>>;

template <class Tier>
inline constexpr bool is_sound = false;
template <class... Ps>
inline constexpr bool is_sound<tier<Ps...>> = are_distinct<Ps...> && (has_well_formed_hooks<Ps> && ...);

// The sentences. What is built on them asks `is_sound` instead, so that no errors of errors follow.

template <class State, class Hook>
struct hook_sentence {
    static_assert(!Hook::template named<State> || Hook::template in<State>,
                  "muster: this hook is not as policy/hooks.hpp states it; take views by value, return the exact type, "
                  "mark it noexcept and, unless it is an event, const");
};

template <class State, class Hooks>
struct hook_sentences;
template <class State, class... Hooks>
struct hook_sentences<State, hook_list<Hooks...>> : hook_sentence<State, Hooks>... {};

template <class P, bool WellFormed = all_hooks::all_well_formed<state_of_t<P>>>
struct policy_sentence {
    static_assert(all_hooks::any_in<state_of_t<P>>,
                  "muster: this policy has no hook of policy/hooks.hpp; give one to it, or to what its open() returns");
};
template <class P>
struct policy_sentence<P, false> : hook_sentences<state_of_t<P>, all_hooks> {};

template <bool Distinct, class... Ps>
struct tier_sentences : policy_sentence<Ps>... {};
template <class... Ps>
struct tier_sentences<false, Ps...> {
    static_assert(are_distinct<Ps...>, "muster: a policy is listed twice in a tier; list it once, or in another tier");
};

/// Says in a sentence what is wrong with a tier.
template <class Tier>
struct explain_tier {
    static_assert(is_sound<Tier>, "muster: policies are listed in tiers; write muster::tier<...> around them");
};
template <class... Ps>
struct explain_tier<tier<Ps...>> : tier_sentences<are_distinct<Ps...>, Ps...> {};

/// Position, tier and value of one policy or state; empty ones weigh nothing.
template <std::size_t I, std::size_t Tier, class P, class T>
struct slot {
    [[no_unique_address]] T value;
};

template <std::size_t I, std::size_t Tier, class P>
struct place {};

/// Numbers the policies of all tiers from left to right.
template <std::size_t Next, std::size_t Tier, class Done, class... Tiers>
struct number;

template <class... Done>
struct places {
    using type = places;
};

template <std::size_t Next, std::size_t Tier, class... Done>
struct number<Next, Tier, places<Done...>> : places<Done...> {};

template <std::size_t Next, std::size_t Tier, class... Done, class... Ps, class... Rest>
struct number<Next, Tier, places<Done...>, tier<Ps...>, Rest...> {
    template <std::size_t... I>
    static auto numbered(std::index_sequence<I...>) -> places<Done..., place<Next + I, Tier, Ps>...>;

    using here = decltype(numbered(std::index_sequence_for<Ps...>{}));
    using type = typename number<Next + sizeof...(Ps), Tier + 1, here, Rest...>::type;
};

template <class Places>
class static_states;

/// The states of one session.
template <std::size_t... I, std::size_t... Tier, class... Ps>
class static_states<places<place<I, Tier, Ps>...>> : slot<I, Tier, Ps, state_of_t<Ps>>... {
public:
    template <class Policies>
    static_states(Policies const& policies, session_view view)
        : slot<I, Tier, Ps, state_of_t<Ps>>{open_policy(policies.template get<I, Tier, Ps>(), view)}... {}

    template <class Hook, class F>
    void walk(F&& f) const {
        (void)(visit<Hook, I, Tier, Ps>(*this, f) && ...);
    }

    template <class Hook, class F>
    void walk(F&& f) {
        (void)(visit<Hook, I, Tier, Ps>(*this, f) && ...);
    }

private:
    template <class Hook, std::size_t At, std::size_t In, class P, class Self, class F>
    static bool visit(Self& self, F& f) {
        using state = state_of_t<P>;
        if constexpr (Hook::template in<state> && (mask_of<P> & hook_bit<Hook>) != 0) {
            using base =
                std::conditional_t<std::is_const_v<Self>, slot<At, In, P, state> const, slot<At, In, P, state>>;
            return f(static_cast<base&>(self).value, In);
        } else {
            return true;
        }
    }
};

template <class Places>
class static_policies;

/// The parameters of all policies.
template <std::size_t... I, std::size_t... Tier, class... Ps>
class static_policies<places<place<I, Tier, Ps>...>> : slot<I, Tier, Ps, Ps>... {
public:
    using states = static_states<places<place<I, Tier, Ps>...>>;

    template <class P>
    static constexpr bool has = (std::is_same_v<P, Ps> || ...);

    static_policies() = default;

    /// Takes any of the policies, in any order; a policy in two tiers gets the same parameters in both.
    template <class... Given>
    explicit static_policies([[maybe_unused]] Given const&... given) : slot<I, Tier, Ps, Ps>{pick<Ps>(given...)}... {}

    template <std::size_t At, std::size_t In, class P>
    [[nodiscard]] P const& get() const noexcept {
        return static_cast<slot<At, In, P, P> const&>(*this).value;
    }

    [[nodiscard]] states open(session_view view) const { return states{*this, view}; }

private:
    template <class P, class First, class... Rest>
    static P pick(First const& first, Rest const&... rest) {
        if constexpr (std::is_same_v<P, First>)
            return first;
        else
            return pick<P>(rest...);
    }
    template <class P>
    static P pick() {
        return P{};
    }
};

} // namespace detail

/// The policies of a list of tiers, with their parameters; `open` makes their states for a session.
template <class... Tiers>
using static_tiers = detail::static_policies<typename detail::number<0, 0, detail::places<>, Tiers...>::type>;

namespace detail {

/// The tiers, or none where one was refused.
template <bool Sound, class... Tiers>
struct sound_tiers {
    using type = static_tiers<Tiers...>;
};

template <class... Tiers>
struct sound_tiers<false, Tiers...> {
    using type = static_tiers<>;
};

template <class... Tiers>
using checked_tiers = typename sound_tiers<(is_sound<Tiers> && ...), Tiers...>::type;

} // namespace detail

} // namespace muster
