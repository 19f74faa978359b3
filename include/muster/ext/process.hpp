#pragma once

/// \file
/// Which process this is, and whether another still runs, as Linux's /proc tells.

#include <sys/types.h>
#include <unistd.h>

#include <fcntl.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include <muster/account/ledger.hpp>

namespace muster::ext {

namespace detail {

/// State and start time from the text of /proc/PID/stat; the program's name, in brackets, may hold anything.
struct process_stat {
    char state = 0;
    std::uint64_t started = 0;
};

[[nodiscard]] inline std::optional<process_stat> parse_stat(std::string_view text) noexcept {
    constexpr int state_field = 3;
    constexpr int started_field = 22;
    auto const bracket = text.rfind(')');
    if (bracket == std::string_view::npos || bracket + 2 >= text.size()) return std::nullopt;
    text.remove_prefix(bracket + 2);
    process_stat out{text.front(), 0};
    for (int field = state_field; field != started_field; ++field) {
        auto const blank = text.find(' ');
        if (blank == std::string_view::npos) return std::nullopt;
        text.remove_prefix(blank + 1);
    }
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out.started);
    if (failure != std::errc{} || (end != text.data() + text.size() && *end != ' ')) return std::nullopt;
    return out;
}

/// What /proc says of a process; nothing if it is gone. Allocates nothing.
[[nodiscard]] inline std::optional<process_stat> stat_of(std::uint32_t pid) noexcept {
    std::array<char, 32> path{"/proc/"};
    auto* const end = std::to_chars(path.data() + 6, path.data() + 17, pid).ptr;
    std::string_view{"/stat"}.copy(end, 5);
    int const file = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return std::nullopt;
    std::array<char, 1024> text; // NOLINT(cppcoreguidelines-pro-type-member-init)
    auto const length = read(file, text.data(), text.size());
    close(file);
    return length <= 0 ? std::nullopt : parse_stat({text.data(), static_cast<std::size_t>(length)});
}

} // namespace detail

/// The process that has a number now. Its start is zero where /proc can't be read.
[[nodiscard]] inline account::process process_of(std::uint32_t pid) noexcept {
    auto const stat = detail::stat_of(pid);
    return {pid, stat ? stat->started : 0};
}

[[nodiscard]] inline account::process this_process() noexcept {
    return process_of(static_cast<std::uint32_t>(getpid()));
}

/// Whether a process of this container still runs: one of its number does, it started when this one did, and it is more
/// than a corpse that nobody has buried.
[[nodiscard]] inline bool is_alive(account::process p) noexcept {
    auto const stat = detail::stat_of(p.pid);
    return stat && stat->state != 'Z' && stat->state != 'X' && (p.started == 0 || stat->started == p.started);
}

} // namespace muster::ext
