#pragma once

/// \file
/// Other programs, run to their end.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <sys/wait.h>

#include "support/scratch.hpp"

namespace support {

[[nodiscard]] inline std::string contents(std::string const& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
}

/// What a command left behind.
struct finished {
    int status = -1; ///< as the shell has it: more than 128 after a signal
    std::string out{};
    std::string err{};
};

/// Runs a command of the shell with `input` as its standard input.
[[nodiscard]] inline finished run(std::string const& command, std::string_view input = {}) {
    scratch const here{"process"};
    auto const in = here.write("in", input);
    auto const out = here.write("out", "");
    auto const err = here.write("err", "");
    auto const ended = std::system(("{ " + command + "\n} <" + in + " >" + out + " 2>" + err).c_str());
    return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, contents(out), contents(err)};
}

} // namespace support
