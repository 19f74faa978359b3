#pragma once

/// \file
/// Other processes that a test drives step by step, in pid namespaces of their own too.

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace support {

/// Where a process is born.
enum class birth {
    here,
    in_namespace,      ///< a new pid namespace; /proc stays that of the one outside
    in_namespace_proc, ///< with a /proc of its own
};

/// A line between a process and the test: a byte is a step.
class line {
public:
    line() {
        if (pipe(there_.data()) != 0 || pipe(back_.data()) != 0) std::abort();
    }
    line(line const&) = delete;
    line& operator=(line const&) = delete;
    ~line() {
        for (int const end : ends()) close(end);
    }
    [[nodiscard]] std::array<int, 4> ends() const { return {there_[0], there_[1], back_[0], back_[1]}; }
    // The test's end.
    void go() const { put(there_[1], '.'); }
    [[nodiscard]] char answer() const { return get(back_[0]); }
    [[nodiscard]] pid_t number() const {
        pid_t out = 0;
        for (int shift = 0; shift != 32; shift += 8) out |= static_cast<unsigned char>(answer()) << shift;
        return out;
    }
    // The process's end.
    void wait() const { (void)get(there_[0]); }
    void say(char what) const { put(back_[1], what); }
    void say_number(pid_t what) const {
        for (int shift = 0; shift != 32; shift += 8) say(static_cast<char>(what >> shift));
    }

private:
    static void put(int end, char what) {
        if (write(end, &what, 1) != 1) _exit(9);
    }
    /// Zero after half a minute: the other one died.
    static char get(int end) {
        char what = 0;
        pollfd ready{end, POLLIN, 0};
        return poll(&ready, 1, 30'000) == 1 && read(end, &what, 1) == 1 ? what : '\0';
    }
    std::array<int, 2> there_{};
    std::array<int, 2> back_{};
};

/// A process that runs `f(line&)`, killed at the end of the object at the latest.
class actor {
public:
    template <class F>
    actor(birth where, F f) {
        pid_ = born(where);
        if (pid_ != 0) return;
        if (where == birth::in_namespace_proc &&
            (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
             mount("proc", "/proc", "proc", 0, nullptr) != 0))
            _exit(8);
        f(line_);
        _exit(0);
    }
    actor(actor const&) = delete;
    actor& operator=(actor const&) = delete;
    ~actor() { end(); }

    [[nodiscard]] explicit operator bool() const { return pid_ > 0; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    void go() const { line_.go(); }
    [[nodiscard]] char answer() const { return line_.answer(); }
    [[nodiscard]] pid_t number() const { return line_.number(); }
    void end() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

    /// Whether this system lets a test make pid namespaces.
    [[nodiscard]] static bool may(birth where) {
        actor tried{where, [](line const& to) { to.say('y'); }};
        int status = -1;
        if (tried) waitpid(std::exchange(tried.pid_, -1), &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

private:
    static pid_t born(birth where) {
        if (where == birth::here) return fork();
        auto const made = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
        if (made >= 0 || errno != EPERM) return static_cast<pid_t>(made);
        return static_cast<pid_t>(
            syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    }
    line line_{};
    pid_t pid_ = -1;
};

} // namespace support
