#pragma once

/// \file
/// Which process this is, and whether another still runs, as Linux's /proc tells.

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
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

/// The beginning of a file of /proc; empty if it can't be read. Allocates nothing.
template <std::size_t Size>
[[nodiscard]] std::string_view read_start(char const* path, std::array<char, Size>& into) noexcept {
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    auto const length = read(file, into.data(), into.size());
    close(file);
    return {into.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
}

/// What a file like /proc/PID/stat says; nothing if the process is gone, or can't be seen.
[[nodiscard]] inline std::optional<process_stat> stat_in(char const* path) noexcept {
    std::array<char, 1024> text; // NOLINT(cppcoreguidelines-pro-type-member-init)
    return parse_stat(read_start(path, text));
}
[[nodiscard]] inline std::optional<process_stat> stat_of(std::uint32_t pid) noexcept {
    std::array<char, 32> path{"/proc/"};
    auto* const end = std::to_chars(path.data() + 6, path.data() + 17, pid).ptr;
    std::string_view{"/stat"}.copy(end, 5);
    return stat_in(path.data());
}

/// The number that alone fills the rest of a line; nothing if the line isn't there.
[[nodiscard]] inline std::optional<std::uint32_t> number_after(std::string_view name, std::string_view text) noexcept {
    auto const at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + name.size());
    std::uint32_t number = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc{} || end == text.data() + text.size() || *end != '\n') return std::nullopt;
    return number;
}

/// Whether a text like /proc/self/status gives the process one number, this one: NSpid has one for each pid namespace
/// from that of /proc to that of the process. Where there is no such line (gVisor), the number must do.
[[nodiscard]] inline bool numbers_as(std::string_view status, std::uint32_t pid) noexcept {
    constexpr std::string_view all = "\nNSpid:\t";
    return number_after(status.find(all) != std::string_view::npos ? all : "\nPid:\t", status) == pid;
}

[[nodiscard]] inline bool is_of(account::process p, process_stat const& seen) noexcept {
    return seen.state != 'Z' && seen.state != 'X' && (p.started == 0 || seen.started == p.started);
}

/// Whether a process of this pid namespace still runs, whatever number /proc has for it: a pidfd tells, and knows it.
[[nodiscard]] inline bool runs(account::process p) noexcept {
    int const file = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(p.pid), 0));
    if (file < 0) return kill(static_cast<pid_t>(p.pid), 0) == 0 || errno != ESRCH;
    pollfd end{file, POLLIN, 0};
    bool alive = poll(&end, 1, 0) != 1;
    std::array<char, 48> path{"/proc/self/fdinfo/"};
    std::to_chars(path.data() + 18, path.data() + path.size() - 1, file);
    std::array<char, 1024> text; // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (auto const number = number_after("\nPid:\t", read_start(path.data(), text)); alive && number)
        if (auto const stat = stat_of(*number)) alive = is_of(p, *stat);
    close(file);
    return alive;
}

} // namespace detail

/// The process that has a number now. Its start is zero where /proc can't be read.
[[nodiscard]] inline account::process process_of(std::uint32_t pid) noexcept {
    auto const stat = detail::stat_of(pid);
    return {pid, stat ? stat->started : 0};
}

[[nodiscard]] inline account::process this_process() noexcept {
    auto const stat = detail::stat_in("/proc/self/stat"); // not by number: /proc may be another namespace's
    return {static_cast<std::uint32_t>(getpid()), stat ? stat->started : 0};
}

/// The pid namespace of this process; zero where /proc doesn't tell. A namespace's number may come again after its end.
[[nodiscard]] inline std::uint64_t this_namespace() noexcept {
    struct stat about {};
    return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/// Whether /proc is that of this process's pid namespace: in a new one it isn't until somebody mounts it.
[[nodiscard]] inline bool proc_is_ours() noexcept {
    std::array<char, 4096> text; // NOLINT(cppcoreguidelines-pro-type-member-init)
    return detail::numbers_as(detail::read_start("/proc/self/status", text), static_cast<std::uint32_t>(getpid()));
}

/// Whether a process of this one's pid namespace still runs: one of its number does, it started when this one did, and
/// it is more than a corpse that nobody has buried. Whoever has the number counts as alive where no more can be seen:
/// no descriptor is left, or /proc hides the processes of others.
[[nodiscard]] inline bool is_alive(account::process p) noexcept {
    auto const stat = detail::stat_of(p.pid);
    if (stat && detail::is_of(p, *stat)) return true;
    if (stat && proc_is_ours()) return false;
    return detail::runs(p);
}

} // namespace muster::ext
