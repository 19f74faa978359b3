#pragma once

/// \file
/// The scheduler's recorded lines: cycles over objects with a configuration.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/ext/answer.hpp>
#include <muster/ext/scenario.hpp>

#include "conformance/family.hpp"

namespace conformance::cycles {

namespace ext = muster::ext;

[[nodiscard]] inline json podgroup_shape(ext::podgroup_status const& status) {
    json conditions = json::array();
    for (auto const& c : status.conditions)
        conditions.push_back({{"type", c.type}, {"status", "True"}, {"reason", c.reason}, {"message", c.message}});
    return {{"phase", status.phase},
            {"running", status.running},
            {"succeeded", status.succeeded},
            {"failed", status.failed},
            {"conditions", std::move(conditions)}};
}

[[nodiscard]] inline json cycle_shape(ext::cycle_result const& cycle) {
    json podgroups = json::object();
    for (auto const& [key, status] : cycle.podgroups) podgroups[key] = podgroup_shape(status);
    return {{"binds", cycle.binds},
            {"evicted", cycle.evicted},
            {"pipelined", cycle.pipelined},
            {"podgroups", std::move(podgroups)}};
}

/// A simulation that has run, in the recorded shape: times left out, notes of the last cycle alone.
[[nodiscard]] inline json recorded_shape(ext::simulation const& s) {
    auto const full = ext::answer(s);
    auto out = cycle_shape(s.cycles().back());
    for (auto const* part : {"binds", "evicted", "events"}) out[part] = full.at(part);
    out["annotations"] = json::object();
    out["pods"] = json::object();
    for (auto const& [key, pod] : full.at("pods").items()) {
        auto annotations = pod.at("annotations");
        for (auto const* time : {"volcano.sh/vgpu-time", "volcano.sh/bind-time"}) annotations.erase(time);
        if (out["binds"].contains(key) && !annotations.empty()) out["annotations"][key] = std::move(annotations);
    }
    for (auto const& [key, note] : s.notes()) {
        if (note.cycle != s.cycles().size()) continue;
        out["pods"][key] = {{"reason", note.reason}, {"message", note.message}};
        if (!note.nominated.empty()) out["pods"][key]["nominated"] = note.nominated;
    }
    if (s.cycles().size() > 1)
        for (auto const& cycle : s.cycles()) out["per_cycle"].push_back(cycle_shape(cycle));
    return out;
}

/// Runs a recorded line with a scheduler made of its configuration by `compose(conf, place, warnings)`.
template <class Compose>
[[nodiscard]] json answer_with(json const& line, Compose compose) {
    auto scenario = ext::parse_scenario(line.dump(), line.value("name", ""), 1);
    std::vector<ext::warning> warnings;
    ext::conf_place const place{"conf of " + scenario.name, "", 1, true};
    auto scheduling = compose(ext::parse_conf(scenario.conf, place), place, warnings);
    ext::simulation_options options;
    options.cycles = scenario.cycles;
    ext::simulation s{ext::world{std::move(scenario.objects), warnings}, std::move(scheduling), options, warnings};
    s.run();
    return recorded_shape(s);
}

/// The scheduler read from the line's text.
[[nodiscard]] inline ext::scheduling from_text(ext::scheduler_conf const& conf, ext::conf_place const& place,
                                               std::vector<ext::warning>& warnings) {
    return ext::cycles_of(ext::make_scheduler(conf, place, warnings));
}

[[nodiscard]] inline bool takes(json const& line) { return line.contains("conf") && line.contains("objects"); }

/// A line that muster can't take is answered by the error.
[[nodiscard]] inline json answer(json const& line) {
    try {
        return answer_with(line, from_text);
    } catch (ext::bad_input const& problem) {
        return {{"error", problem.what()}};
    }
}

[[nodiscard]] inline json asked(json const& line) { return line.at("expect"); }

inline constexpr family volcano_scheduler{"volcano-scheduler", takes, answer, asked};

} // namespace conformance::cycles
