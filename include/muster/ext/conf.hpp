#pragma once

/// \file
/// The text of a volcano-scheduler.conf as plain data; which names exist is the registry's question.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/detail/conf_cursor.hpp>
#include <muster/ext/detail/document.hpp>
#include <muster/ext/detail/text_guard.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>

namespace muster::ext {

/// The switches of a plugin as the YAML spells them, in byte order.
///
/// Source: volcano, pkg/scheduler/conf/scheduler_conf.go, PluginOption, at ed72c7c8; spec/volcano-queues.md 0.4.
inline constexpr std::array<std::string_view, 25> conf_switches{
    "enableBestNode",     "enableHierarchy",     "enableJobEnqueued",        "enableJobOrder",
    "enableJobPipelined", "enableJobReady",      "enableJobStarving",        "enableNodeOrder",
    "enablePredicate",    "enablePreemptable",   "enablePreemptive",         "enableQueueOrder",
    "enableReclaimable",  "enableReservedNodes", "enableTargetJob",          "enableTaskOrder",
    "enabledAllocatable", "enabledClusterOrder", "enabledHyperNodeGradient", "enabledHyperNodeOrder",
    "enabledOverused",    "enabledSubJobOrder",  "enabledSubJobPipelined",   "enabledSubJobReady",
    "enabledVictim",
};
static_assert(std::is_sorted(conf_switches.begin(), conf_switches.end()));

/// A name and the line that it stands at.
struct conf_name {
    std::string name;
    std::size_t line = 0;
};

/// A switch that is written; what an unwritten one means is the plugin's default.
struct conf_switch {
    bool on = false;
    std::size_t line = 0;
};

/// An argument with its value as YAML typed it: `1` is an integer, `1.0` a float, `"1"` a string.
struct conf_argument {
    std::string key;
    nlohmann::json value;
    std::size_t line = 0;
};

/// A plugin of a tier.
struct conf_plugin {
    std::string name;
    std::size_t line = 0;
    std::map<std::string, conf_switch, std::less<>> switches{}; ///< by the names of `conf_switches`
    std::vector<conf_argument> arguments{};                     ///< by line, then by key
};

/// The arguments of an action.
struct conf_action {
    std::string name;
    std::size_t line = 0;
    std::vector<conf_argument> arguments{}; ///< by line, then by key
};

/// A volcano-scheduler.conf as it is written.
struct scheduler_conf {
    std::vector<conf_name> actions{};
    std::vector<std::vector<conf_plugin>> tiers{};
    std::vector<conf_action> configurations{};
    std::vector<conf_argument> metrics{}; ///< read, as Volcano has them; no policy asks
};

namespace detail {

[[nodiscard]] inline std::vector<conf_argument> conf_arguments(conf_cursor const& map) {
    std::vector<conf_argument> arguments;
    for (auto const& [key, argument] : map.members()) {
        arguments.push_back({std::string{key}, argument.value(), argument.line()});
    }
    std::stable_sort(arguments.begin(), arguments.end(), [](auto const& a, auto const& b) { return a.line < b.line; });
    return arguments;
}

/// `enqueue, allocate, backfill`, split at commas.
[[nodiscard]] inline std::vector<conf_name> conf_actions(conf_cursor const& list) {
    std::vector<conf_name> actions;
    std::string_view rest = list.text("a list such as \"enqueue, allocate, backfill\"");
    for (bool more = true; more;) {
        auto const comma = rest.find(',');
        auto name = rest.substr(0, comma);
        more = comma != std::string_view::npos;
        if (more) rest.remove_prefix(comma + 1);
        constexpr std::string_view blanks = " \t\n";
        auto const first = std::min(name.find_first_not_of(blanks), name.size());
        name = name.substr(first, name.find_last_not_of(blanks) + 1 - first);
        if (name.empty()) list.fail("a name is missing; expected a list such as \"enqueue, allocate, backfill\"");
        actions.push_back({std::string{name}, list.line()});
    }
    return actions;
}

[[nodiscard]] inline conf_plugin read_plugin(conf_cursor const& map) {
    conf_plugin plugin{std::string{map["name"].text("the plugin's name")}, map.line()};
    for (auto const& [key, member] : map.members()) {
        if (key == "name") continue;
        if (key == "arguments") {
            plugin.arguments = conf_arguments(member);
        } else if (std::binary_search(conf_switches.begin(), conf_switches.end(), key)) {
            plugin.switches.emplace(key, conf_switch{member.flag(), member.line()});
        } else {
            std::string known = "name, arguments";
            for (auto const name : conf_switches) known.append(", ").append(name);
            member.fail("no such member of a plugin; expected one of " + known);
        }
    }
    return plugin;
}

[[nodiscard]] inline std::vector<conf_plugin> read_tier(conf_cursor const& map) {
    std::vector<conf_plugin> plugins;
    map.only({"plugins"}, "a tier");
    for (auto const& plugin : map["plugins"].items()) plugins.push_back(read_plugin(plugin));
    return plugins;
}

[[nodiscard]] inline scheduler_conf read_conf(conf_cursor const& root) {
    scheduler_conf conf;
    root.only({"actions", "tiers", "configurations", "metrics"}, "a scheduler configuration");
    conf.actions = conf_actions(root["actions"]);
    for (auto const& tier : root["tiers"].items()) conf.tiers.push_back(read_tier(tier));
    for (auto const& entry : root["configurations"].items()) {
        entry.only({"name", "arguments"}, "an action's configuration");
        conf.configurations.push_back(
            {std::string{entry["name"].text("the action's name")}, entry.line(), conf_arguments(entry["arguments"])});
    }
    conf.metrics = conf_arguments(root["metrics"]);
    return conf;
}

} // namespace detail

/// Reads the text of a volcano-scheduler.conf.
///
/// Errors: `bad_input` with the line in the file: broken YAML, an unknown member or switch (listing the known), a
///         switch that is no boolean, no actions, a plugin without a name.
/// Source: volcano, pkg/scheduler/util.go, UnmarshalSchedulerConf, at ed72c7c8. Stricter: it ignores unknown members.
[[nodiscard]] inline scheduler_conf parse_conf(std::string text, conf_place const& place = {}) {
    std::vector<detail::built> documents;
    try {
        text = detail::guarded(std::move(text), place.file);
        documents = detail::yaml_documents(text, place.file, detail::whole_float::number, detail::all_lines);
    } catch (bad_input const& broken) {
        throw bad_input{place.file, detail::line_in_file(place, broken.line), place.object, broken.message};
    }
    if (documents.empty()) {
        throw bad_input{place.file, place.first_line, place.object,
                        "the configuration is empty; expected actions and tiers"};
    }
    if (documents.size() > 1) {
        throw bad_input{place.file, detail::line_in_file(place, documents[1].lines.line), place.object,
                        "a second document begins; expected one configuration"};
    }
    return detail::read_conf({documents[0].value, documents[0].lines, place});
}

/// Reads the configuration that a field holds, such as a ConfigMap's `data["volcano-scheduler.conf"]`.
///
/// Errors: as above; a field that is no string. Lines are the file's where the text is written as a block (`|`).
[[nodiscard]] inline scheduler_conf parse_conf(field const& text) {
    bool const block = text.is_block();
    auto const& from = text.root();
    return parse_conf(text.as_string(), {from.file(), from.label(), text.line() + (block ? 1U : 0U), block});
}

} // namespace muster::ext
