#pragma once

/// \file
/// The tiers of the recorded configurations as types: the same policies, composed at compile time.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/ext/registry.hpp>
#include <muster/ext/simulation.hpp>
#include <muster/muster.hpp>

namespace golden {

namespace ext = muster::ext;
namespace policy = muster::policy;

/// Actions and plugins of a configuration as one text; two with equal texts have the same type.
[[nodiscard]] inline std::string signature(ext::scheduler_conf const& conf) {
    std::string text;
    for (auto const& a : conf.actions) text += a.name + ' ';
    for (auto const& tier : conf.tiers) {
        text += '|';
        for (auto const& plugin : tier) {
            text += plugin.name + ' ';
            for (auto const& [name, what] : plugin.switches)
                if (!what.on) text += '-' + name + ' ';
        }
    }
    return text;
}

/// One composition: its signature, and how to fill its parameters from a configuration.
struct composition {
    std::string text;
    ext::scheduling (*make)(ext::scheduler_conf const&, ext::conf_place const&, std::vector<ext::warning>&);
};

template <class... Ps>
[[nodiscard]] std::string tier_text(muster::tier<Ps...>) {
    std::string text{'|'};
    ((text += std::string{ext::policy_name<Ps>} + ' '), ...);
    return text;
}

template <class P>
[[nodiscard]] P read_from(ext::scheduler_conf const& conf, ext::detail::conf_diagnosis say) {
    for (auto const& tier : conf.tiers)
        for (auto const& plugin : tier)
            if (plugin.name == ext::policy_name<P>) return ext::detail::read_policy<P>(plugin, say);
    return P{};
}

template <class Actions, class First, class Second>
struct compose;

template <class Actions, class... First, class... Second>
struct compose<Actions, muster::tier<First...>, muster::tier<Second...>> {
    static ext::scheduling make(ext::scheduler_conf const& conf, ext::conf_place const& place,
                                std::vector<ext::warning>& warnings) {
        ext::detail::conf_diagnosis const say{&place, &warnings};
        using scheduler = muster::scheduler<Actions, muster::tier<First...>, muster::tier<Second...>>;
        return ext::cycles_of(scheduler{read_from<First>(conf, say)..., read_from<Second>(conf, say)...});
    }

    [[nodiscard]] static composition entry() {
        return {"enqueue allocate backfill " + tier_text(muster::tier<First...>{}) +
                    tier_text(muster::tier<Second...>{}),
                &make};
    }
};

using all_actions = muster::actions<muster::action::enqueue, muster::action::allocate, muster::action::backfill>;
using usual = muster::tier<policy::priority, policy::gang, policy::conformance>;
using cards = policy::deviceshare<muster::device::slices>;

template <class... Second>
[[nodiscard]] composition usual_with() {
    return compose<all_actions, usual, muster::tier<Second...>>::entry();
}

/// The compositions that most recorded lines use.
[[nodiscard]] inline std::vector<composition> compositions() {
    using policy::binpack, policy::drf, policy::nodeorder, policy::predicates, policy::proportion;
    return {
        usual_with<drf, cards, predicates, proportion, nodeorder, binpack>(),
        usual_with<drf, predicates, proportion, nodeorder, binpack>(),
        usual_with<drf, predicates, nodeorder, cards, binpack>(),
        usual_with<drf, predicates, nodeorder, cards>(),
        usual_with<drf, predicates, proportion, nodeorder, cards>(),
        usual_with<drf, predicates, proportion, nodeorder, cards, binpack>(),
        usual_with<drf, predicates, nodeorder, binpack>(),
        usual_with<drf, predicates, proportion, nodeorder>(),
        usual_with<drf, predicates, nodeorder>(),
        compose<all_actions, muster::tier<policy::priority>,
                muster::tier<predicates, proportion, nodeorder, binpack>>::entry(),
    };
}

} // namespace golden
