#pragma once

/// \file
/// Which recorded lines are asked of muster so far, and which of them it answers otherwise on purpose.

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <muster/ext/conf.hpp>
#include <muster/ext/registry.hpp>

namespace golden {

/// Why a line is left out: what it needs and muster does not have yet; empty for a line that counts.
[[nodiscard]] inline std::string left_out(nlohmann::json const& line) {
    auto const conf = muster::ext::parse_conf(line.at("conf").get<std::string>());
    auto const known = [](auto const& entries, std::string const& name) {
        return std::any_of(std::begin(entries), std::end(entries), [&](auto const& e) { return e.name == name; });
    };
    for (auto const& tier : conf.tiers)
        for (auto const& plugin : tier)
            if (!known(muster::ext::detail::registered_policies, plugin.name)) return "plugin " + plugin.name;
    for (auto const& action : conf.actions)
        if (!known(muster::ext::detail::registered_actions, action.name)) return "action " + action.name;
    auto const text = line.at("objects").dump() + line.at("conf").get<std::string>();
    auto const has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    if (has("knownMigGeometries") || has(",mig:")) return "MIG cards";
    if (has("volcano.sh/gpu-memory") || has("GPUSharingEnable: true") || has("GPUNumberEnable: true"))
        return "gpu-memory shares";
    if (has("\"HyperNode\"") || has("networkTopology")) return "HyperNodes";
    if (has("subGroupPolicy")) return "sub-groups";
    return {};
}

/// The lines that DIVERGENCES.md lists.
[[nodiscard]] inline std::set<std::string> divergences(std::string const& folder) {
    std::ifstream in{folder + "/DIVERGENCES.md"};
    std::set<std::string> names;
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("- `") && line.ends_with("`")) names.insert(line.substr(3, line.size() - 4));
    return names;
}

} // namespace golden
