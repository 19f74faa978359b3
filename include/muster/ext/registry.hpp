#pragma once

/// \file
/// From the text of a volcano-scheduler.conf to a scheduler: names to policies and actions, arguments to parameters.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/hana/for_each.hpp>
#include <range/v3/action/sort.hpp>

#include <muster/ext/conf.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/text.hpp>
#include <muster/ext/vgpu.hpp>
#include <muster/policy.hpp>
#include <muster/policy/argument.hpp>
#include <muster/policy/dynamic_tiers.hpp>
#include <muster/scheduler/dynamic_scheduler.hpp>

namespace muster::ext {

/// Volcano's own defaults are other: this is the configuration of the article.
inline constexpr std::string_view default_conf = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: drf
  - name: deviceshare
    arguments:
      deviceshare.VGPUEnable: true
      deviceshare.SchedulePolicy: binpack
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
)";

/// The name of a policy in configurations.
template <class P>
inline constexpr std::string_view policy_name{};
template <>
inline constexpr std::string_view policy_name<policy::binpack> = "binpack";
template <>
inline constexpr std::string_view policy_name<policy::conformance> = "conformance";
template <>
inline constexpr std::string_view policy_name<policy::deviceshare<device::slices>> = "deviceshare";
template <>
inline constexpr std::string_view policy_name<policy::drf> = "drf";
template <>
inline constexpr std::string_view policy_name<policy::gang> = "gang";
template <>
inline constexpr std::string_view policy_name<policy::nodeorder> = "nodeorder";
template <>
inline constexpr std::string_view policy_name<policy::predicates> = "predicates";
template <>
inline constexpr std::string_view policy_name<policy::priority> = "priority";
template <>
inline constexpr std::string_view policy_name<policy::proportion> = "proportion";

namespace detail {

/// Where a configuration stands, for messages.
struct conf_diagnosis {
    conf_place const* place;
    std::vector<warning>* warnings;

    [[noreturn]] void fail(std::size_t line, std::string const& text) const {
        throw bad_input{place->file, line, place->object, text};
    }
    void warn(std::size_t line, std::string const& text) const {
        warnings->push_back({place->file, line, place->object, text});
    }
};

[[nodiscard]] inline std::string listed(std::vector<std::string> names) {
    return joined(std::move(names) | ranges::actions::sort, ", ");
}

/// A value of the wanted type, as Volcano reads it: whole numbers are numbers only, booleans may be words.
template <class T>
[[nodiscard]] std::optional<T> value_of(nlohmann::json const& v) {
    if constexpr (std::is_same_v<T, bool>) {
        if (v.is_boolean()) return v.get<bool>();
        if (!v.is_string()) return std::nullopt;
        auto const& text = v.get_ref<std::string const&>();
        for (auto const* yes : {"1", "t", "T", "TRUE", "true", "True"})
            if (text == yes) return true;
        for (auto const* no : {"0", "f", "F", "FALSE", "false", "False"})
            if (text == no) return false;
        return std::nullopt;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return v.is_number_integer() ? std::optional{v.get<std::int64_t>()} : std::nullopt;
    } else {
        return v.is_string() ? std::optional{v.get<std::string>()} : std::nullopt;
    }
}

template <class T>
[[nodiscard]] constexpr std::string_view type_name() noexcept {
    if constexpr (std::is_same_v<T, bool>)
        return "true or false";
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return "a whole number";
    else
        return "a string";
}

/// Gives arguments to one policy or action.
template <class P>
class argument_reader {
public:
    argument_reader(P& target, conf_diagnosis say) : target_(&target), say_(say) {
        boost::hana::for_each(arguments<P>, [&](auto const& a) {
            if constexpr (requires { a.absent; })
                if (a.absent) target.*a.member = *a.absent;
        });
    }

    void read(std::string_view owner, std::vector<conf_argument> const& given) {
        for (auto const& g : given) {
            bool known = false;
            boost::hana::for_each(arguments<P>, [&](auto const& a) { known = known || take(a, g, given); });
            if (!known)
                say_.fail(g.line, std::string{owner} + " has no argument \"" + g.key + "\"; known are: " + names());
        }
    }

private:
    template <class T>
    bool take(argument<P, T> const& a, conf_argument const& g, std::vector<conf_argument> const&) {
        if (g.key != a.name) return false;
        auto const value = value_of<T>(g.value);
        if (!value) {
            say_.warn(g.line, g.key + ": expected " + std::string{type_name<T>()} + ", found " + in_words(g.value) +
                                  "; the default is kept");
        } else if (a.least && *value < *a.least) {
            say_.warn(g.line, g.key + ": " + g.value.dump() + " is below what is allowed; the default is kept");
        } else {
            target_->*a.member = *value;
        }
        return true;
    }

    /// The list names resources, each with weight 1 unless an argument of its own says another.
    bool take(weights_argument<P> const& a, conf_argument const& g, std::vector<conf_argument> const& given) {
        if (g.key.starts_with(a.prefix)) return true;
        if (g.key != a.list) return false;
        auto const text = value_of<std::string>(g.value);
        if (!text) {
            say_.warn(g.line,
                      g.key + ": expected a comma list of resources, found " + in_words(g.value) + "; it is left out");
            return true;
        }
        auto& weights = target_->*a.member;
        for (auto const& name : items_of(*text)) {
            if (std::any_of(weights.begin(), weights.end(), [&](auto const& w) { return w.first == name; })) continue;
            std::int64_t weight = 1;
            for (auto const& other : given) {
                if (other.key != std::string{a.prefix} + name) continue;
                auto const own = value_of<std::int64_t>(other.value);
                if (own && *own >= 0)
                    weight = *own;
                else
                    say_.warn(other.line, other.key + ": expected a whole number of zero or more, found " +
                                              in_words(other.value) + "; 1 is taken");
            }
            weights.emplace_back(name, weight);
        }
        return true;
    }

    bool take(label_sets_argument<P> const& a, conf_argument const& g, std::vector<conf_argument> const&) {
        if (g.key != a.name) return false;
        if (!g.value.is_array()) {
            say_.warn(g.line, g.key + ": expected a list of maps, found " + in_words(g.value) + "; it is left out");
            return true;
        }
        for (auto const& item : g.value) {
            label_set labels;
            if (item.is_object())
                for (auto const& [key, value] : item.items())
                    if (value.is_string()) labels.emplace_back(key, value.template get<std::string>());
            if (!labels.empty()) (target_->*a.member).push_back(std::move(labels));
        }
        return true;
    }

    bool take(inert_argument const& a, conf_argument const& g, std::vector<conf_argument> const&) {
        if (g.key != a.name) return false;
        auto const on = value_of<bool>(g.value);
        if (a.warns && (!on || *on)) say_.warn(g.line, g.key + ": not supported yet; it is taken as false");
        return true;
    }

    [[nodiscard]] static std::string names() {
        std::vector<std::string> all;
        boost::hana::for_each(arguments<P>, [&](auto const& a) {
            if constexpr (requires { a.prefix; }) {
                all.emplace_back(a.list);
                all.push_back(std::string{a.prefix} + "NAME");
            } else {
                all.emplace_back(a.name);
            }
        });
        return all.empty() ? "none" : listed(std::move(all));
    }

    P* target_;
    conf_diagnosis say_;
};

/// The hooks that a plugin's switches leave on.
[[nodiscard]] inline hook_mask mask_of_switches(conf_plugin const& plugin, conf_diagnosis say) {
    hook_mask mask = every_hook;
    for (auto const& given : plugin.switches) { // no structured binding: clang 14 captures none
        if (given.first == "enableHierarchy" && given.second.on)
            say.fail(given.second.line, "enableHierarchy: hierarchical fairness is not supported yet; leave it off");
        muster::detail::all_hooks::each([&]<class Hook>(Hook) {
            if (Hook::flag == given.first && !given.second.on) mask &= ~hook_bit<Hook>;
        });
    }
    return mask;
}

/// A policy's parameters as a plugin's entry sets them.
template <class P>
[[nodiscard]] P read_policy(conf_plugin const& plugin, conf_diagnosis say) {
    P policy{};
    argument_reader<P>{policy, say}.read("plugin " + plugin.name, plugin.arguments);
    return policy;
}

template <class P>
[[nodiscard]] erased_policy make_policy(conf_plugin const& plugin, conf_diagnosis say) {
    return erased_policy{read_policy<P>(plugin, say), mask_of_switches(plugin, say)};
}

/// A policy's name in configurations, and how to make it.
struct registered_policy {
    std::string_view name;
    erased_policy (*make)(conf_plugin const&, conf_diagnosis);
};

template <class P>
inline constexpr registered_policy registered{policy_name<P>, &make_policy<P>};

inline constexpr registered_policy registered_policies[] = {
    registered<policy::binpack>,    registered<policy::conformance>, registered<policy::deviceshare<device::slices>>,
    registered<policy::drf>,        registered<policy::gang>,        registered<policy::nodeorder>,
    registered<policy::predicates>, registered<policy::priority>,    registered<policy::proportion>,
};

template <class A>
[[nodiscard]] action_list::any_action make_action(scheduler_conf const& conf, std::string_view name,
                                                  conf_diagnosis say) {
    A action{};
    argument_reader<A> reader{action, say};
    for (auto const& c : conf.configurations)
        if (c.name == name) reader.read("action " + std::string{name}, c.arguments);
    return action;
}

struct registered_action {
    std::string_view name;
    action_list::any_action (*make)(scheduler_conf const&, std::string_view, conf_diagnosis);
};

inline constexpr registered_action registered_actions[] = {
    {"allocate", &make_action<action::allocate>},
    {"backfill", &make_action<action::backfill>},
    {"enqueue", &make_action<action::enqueue>},
};

/// The entry of that name; a name that is not there is told, with those that are.
template <class Entry, std::size_t N>
[[nodiscard]] Entry const& entry_of(Entry const (&entries)[N], std::string_view what, std::string const& name,
                                    std::size_t line, conf_diagnosis say) {
    std::vector<std::string> known;
    for (auto const& e : entries) {
        if (e.name == name) return e;
        known.emplace_back(e.name);
    }
    say.fail(line, "unknown " + std::string{what} + " \"" + name + "\"; known are: " + listed(std::move(known)));
}

} // namespace detail

/// The scheduler that a configuration describes.
///
/// Errors: `bad_input` with the line for an unknown plugin, action or argument, listing the known ones. Warnings for an
///         argument of the wrong type or out of bounds (the default is kept) and for a plugin that is listed twice in a
///         tier (the first counts).
[[nodiscard]] inline dynamic_scheduler make_scheduler(scheduler_conf const& conf, conf_place const& place,
                                                      std::vector<warning>& warnings) {
    detail::conf_diagnosis const say{&place, &warnings};
    action_list actions;
    for (auto const& a : conf.actions) {
        auto const& entry = detail::entry_of(detail::registered_actions, "action", a.name, a.line, say);
        actions.add(entry.make(conf, a.name, say));
    }
    for (auto const& c : conf.configurations)
        (void)detail::entry_of(detail::registered_actions, "action", c.name, c.line, say);
    dynamic_tiers tiers;
    for (std::size_t t = 0; t != conf.tiers.size(); ++t) {
        std::vector<std::string> seen;
        for (auto const& plugin : conf.tiers[t]) {
            auto const& entry = detail::entry_of(detail::registered_policies, "plugin", plugin.name, plugin.line, say);
            if (std::find(seen.begin(), seen.end(), plugin.name) != seen.end()) {
                say.warn(plugin.line, "plugin " + plugin.name + " is listed twice in a tier; the first counts");
                continue;
            }
            seen.push_back(plugin.name);
            tiers.add(t, entry.make(plugin, say));
        }
    }
    return dynamic_scheduler{std::move(actions), std::move(tiers)};
}

} // namespace muster::ext
