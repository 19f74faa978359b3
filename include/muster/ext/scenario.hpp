#pragma once

/// \file
/// A scenario: objects, a configuration and a number of cycles, as one JSON object a line.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/answer.hpp>
#include <muster/ext/conf.hpp>
#include <muster/ext/detail/json_text.hpp>
#include <muster/ext/detail/text_guard.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/object.hpp>
#include <muster/ext/registry.hpp>
#include <muster/ext/simulation.hpp>
#include <muster/ext/time.hpp>

namespace muster::ext {

/// What `--batch` reads and `--save` writes.
struct scenario {
    std::string name{};
    std::string conf{}; ///< empty: the default
    std::optional<std::size_t> cycles = 1;
    std::optional<std::int64_t> now{}; ///< absent: the latest creation time read
    std::vector<object> objects{};
};

/// The JSON object in a line, which is the `number`-th of its file. Errors: `bad_input` for text that is none.
[[nodiscard]] inline object read_line(std::string const& line, std::string const& file, std::size_t number) {
    std::vector<detail::built> values;
    try {
        values = detail::json_documents(detail::guarded(line, file), file, 0);
    } catch (bad_input const& broken) {
        throw bad_input{file, number, "", broken.message};
    }
    if (values.size() != 1) throw bad_input{file, number, "", "expected one JSON object in the line"};
    return object{std::move(values.front().value), file, number};
}

/// Reads a scenario from its JSON object. Errors: `bad_input` for members of the wrong type, and for no object at all;
/// members that are not known are ignored.
[[nodiscard]] inline scenario read_scenario(object const& line) {
    field const root{line};
    scenario s;
    s.name = root["name"].string_or("");
    s.conf = root["conf"].string_or("");
    auto const cycles = root["cycles"].int_or(1);
    if (cycles < 1 || cycles > 100000) root["cycles"].fail("expected a number of cycles from 1 to 100000");
    s.cycles = static_cast<std::size_t>(cycles);
    s.now = read_time(root["now"]);
    for (auto const& o : root["objects"].items()) {
        if (!o.value().is_object()) o.fail("expected a Kubernetes object");
        s.objects.emplace_back(o.value(), line.file(), line.line());
        if (s.objects.back().kind().empty()) o.fail("expected an object with a kind");
    }
    if (s.objects.empty()) root["objects"].fail("found no object; expected Nodes, Queues, PodGroups, Pods or Jobs");
    return s;
}

/// Reads a scenario from a line. Errors: as the two above.
[[nodiscard]] inline scenario parse_scenario(std::string const& line, std::string const& file, std::size_t number) {
    return read_scenario(read_line(line, file, number));
}

/// A scenario as a line, without the line's end.
[[nodiscard]] inline std::string print_scenario(scenario const& s) {
    nlohmann::json out{{"name", s.name}, {"conf", s.conf}, {"objects", nlohmann::json::array()}};
    if (s.cycles) out["cycles"] = *s.cycles;
    if (s.now) out["now"] = print_time(*s.now);
    for (auto const& o : s.objects) out["objects"].push_back(o.value);
    return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The text of the volcano-scheduler.conf among objects: of the ConfigMaps that have one, that of the first by name.
[[nodiscard]] inline std::optional<field> find_conf(std::vector<object> const& objects) {
    std::optional<field> found;
    for (auto const& o : objects) {
        if (o.kind() != "ConfigMap") continue;
        auto const text = field{o}["data"]["volcano-scheduler.conf"];
        if (text && (!found || o.key() < found->root().key())) found = text;
    }
    return found;
}

} // namespace muster::ext
