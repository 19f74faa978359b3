#include <muster/ext/process.hpp>

#include <sys/wait.h>

#include <csignal>
#include <string>

#include <doctest/doctest.h>

#include "support/actor.hpp"

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

TEST_CASE("process: a /proc is of this pid namespace if it has one number for a process, the right one") {
    using muster::ext::detail::numbers_as;
    CHECK(numbers_as("Name:\ta\nPid:\t70\nNStgid:\t7\nNSpid:\t7\nNSpgid:\t7\n", 7));
    CHECK(!numbers_as("Name:\ta\nPid:\t7\nNSpid:\t70\t7\nNSpgid:\t7\n", 7));
    CHECK(!numbers_as("Name:\ta\nPid:\t70\nNSpid:\t70\nNSpgid:\t7\n", 7));
    CHECK(numbers_as("Name:\ta\nPid:\t7\nPPid:\t1\n", 7));
    CHECK(!numbers_as("Name:\ta\nPid:\t70\nPPid:\t1\n", 7));
    for (auto const* text : {"", "7", "\nNSpid:\t", "\nNSpid:\t7", "\nPid:\t7", "\nNSpid:\tx\n"})
        CHECK(!numbers_as(text, 7));
    CHECK(muster::ext::proc_is_ours());
    CHECK(muster::ext::this_namespace() != 0);
}

TEST_CASE("process: in a new pid namespace the /proc of the one outside fools nobody") {
    using support::actor;
    using support::birth;
    for (auto const where : {birth::in_namespace, birth::in_namespace_proc}) {
        if (!actor::may(where)) {
            MESSAGE("no pid namespace may be made here, or no /proc mounted in it");
            continue;
        }
        auto const outside = muster::ext::this_namespace();
        auto const first = process_of(1);
        actor const init{where, [&](support::line const& to) {
                             auto const self = this_process();
                             auto const self_lives = is_alive(self) && !is_alive({1, self.started + 1});
                             if (self.pid != 1 || self.started == first.started || !self_lives) to.say('1');
                             if (muster::ext::this_namespace() == outside) to.say('2');
                             if (muster::ext::proc_is_ours() != (where == birth::in_namespace_proc)) to.say('3');
                             actor child{birth::here, [](support::line const& up) {
                                             auto const started = this_process().started;
                                             for (int shift = 0; shift != 64; shift += 8)
                                                 up.say(static_cast<char>(started >> shift));
                                             pause();
                                         }};
                             muster::account::process other{static_cast<std::uint32_t>(child.pid()), 0};
                             for (int shift = 0; shift != 64; shift += 8)
                                 other.started |= std::uint64_t{static_cast<unsigned char>(child.answer())} << shift;
                             if (!is_alive(other) || is_alive({other.pid, other.started + 1})) to.say('4');
                             kill(child.pid(), SIGKILL);
                             siginfo_t corpse{};
                             waitid(P_PID, static_cast<id_t>(child.pid()), &corpse, WEXITED | WNOWAIT);
                             if (is_alive(other)) to.say('5');
                             child.end();
                             to.say(is_alive(other) ? '6' : 'y');
                         }};
        CHECK(init.answer() == 'y');
    }
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
