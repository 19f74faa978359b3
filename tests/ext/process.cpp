#include <muster/ext/process.hpp>

#include <sys/wait.h>

#include <csignal>
#include <string>

#include <doctest/doctest.h>

using muster::ext::is_alive;
using muster::ext::process_of;
using muster::ext::this_process;

TEST_CASE("process: the start time is the 22nd field, whatever the program is called") {
    std::string const rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
    for (auto const* name : {"(a)", "(a b)", "(a) S 1 (b)", "()"}) {
        CAPTURE(name);
        auto const stat = muster::ext::detail::parse_stat("7 " + std::string{name} + rest);
        REQUIRE(stat.has_value());
        CHECK(stat->state == 'S');
        CHECK(stat->started == 4711);
    }
    for (auto const* text :
         {"", "7", "7 (a)", "7 (a) ", "7 (a) S 1 2", "7 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"}) {
        CAPTURE(text);
        CHECK(!muster::ext::detail::parse_stat(text).has_value());
    }
}

TEST_CASE("process: this one lives; one of its number that started at another time does not") {
    auto const self = this_process();
    CHECK(self.pid == static_cast<std::uint32_t>(getpid()));
    CHECK(self.started != 0);
    CHECK(is_alive(self));
    CHECK(!is_alive({self.pid, self.started + 1}));
    CHECK(is_alive({self.pid, 0})); // not known when it started
    CHECK(!is_alive({(1U << 22U) - 1, 0}));
}

TEST_CASE("process: a corpse is dead, buried or not") {
    auto const child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    auto const process = process_of(static_cast<std::uint32_t>(child));
    CHECK(is_alive(process));
    kill(child, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    CHECK(!is_alive(process));
    waitpid(child, nullptr, 0);
    CHECK(!is_alive(process));
}
