#pragma once

/// \file
/// A library's word to whoever runs the program: a line on standard error, and what the environment says.

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace muster::ext {

/// A variable of the environment; nothing if it isn't set.
[[nodiscard]] inline std::optional<std::string_view> environment(std::string const& name) {
    auto const* const text = std::getenv(name.c_str());
    return text == nullptr ? std::nullopt : std::optional<std::string_view>{text};
}

/// One line, if MUSTER_LOG_LEVEL asks for it: 0 nothing, 1 what stops a program (unless set), 2 what is odd too.
///
/// Shape: a format as printf's; what is longer than 500 bytes is cut. Says it without allocating.
[[gnu::format(printf, 2, 3)]] inline void say(int level, char const* format, ...) noexcept {
    static int const asked = [] {
        auto const* const text = std::getenv("MUSTER_LOG_LEVEL");
        return text == nullptr ? 1 : std::atoi(text);
    }();
    if (level > asked) return;
    std::array<char, 500> line{};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line.data(), line.size(), format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "muster: %s\n", line.data());
}

} // namespace muster::ext
