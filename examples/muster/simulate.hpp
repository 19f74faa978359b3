#pragma once

/// \file
/// `muster simulate`: what would start, what would wait, and why.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::tool {

struct simulate_options {
    std::vector<std::string> files{};
    std::string conf{};
    std::optional<std::int64_t> cycles{};
    std::string output = "table";
    std::string batch{};
    std::string save{};
    std::string now{};
    bool strict = false;
    bool fail_on_pending = false;
};

/// Runs the command. Returns the exit status; bad input is thrown as `ext::bad_input`.
int simulate(simulate_options const& options);

} // namespace muster::tool
