#pragma once

/// \file
/// The tool as a user runs it.

#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/scratch.hpp"

namespace tool {

using nlohmann::json;

inline std::string const binary = MUSTER_TOOL;
inline std::string const source = MUSTER_SOURCE_DIR;

/// `muster simulate ARGUMENTS`, in a directory.
[[nodiscard]] inline support::finished simulate_in(std::string const& directory, std::string const& arguments,
                                                   std::string_view input = {}) {
    return support::run("cd '" + directory + "' && '" + binary + "' simulate " + arguments, input);
}

/// The same on objects that come by standard input.
[[nodiscard]] inline support::finished simulate(std::string_view objects, std::string const& arguments = {}) {
    return simulate_in("/", "-f - " + arguments, objects);
}

/// What a run with JSON output answers; a run that fails fails the test.
[[nodiscard]] inline json answer_of(support::finished const& done) {
    CAPTURE(done.err);
    REQUIRE(done.status == 0);
    return json::parse(done.out);
}
[[nodiscard]] inline json answer(std::string_view objects, std::string const& arguments = {}) {
    return answer_of(simulate(objects, "-o json " + arguments));
}

[[nodiscard]] inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

} // namespace tool
