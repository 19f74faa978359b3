#include <muster/account/gate.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using muster::percent;
using muster::account::gate;
using muster::account::nanoseconds;
using muster::account::pace;
using muster::account::throttle;

namespace {

constexpr nanoseconds ms = 1'000'000;
constexpr nanoseconds never = ~nanoseconds{0};

/// A card in simulated time that does one thing after the other.
struct simulation {
    nanoseconds now = 1000 * ms;
    nanoseconds busy_until = 0;
    nanoseconds worked = 0;
    std::vector<nanoseconds> waits{};

    void work(nanoseconds length) {
        worked += length == never ? 0 : length;
        busy_until = length == never ? never : std::max(busy_until == never ? 0 : busy_until, now) + length;
        now += 4000; // the launch itself
    }
};

struct simulated_card {
    simulation* s;
    nanoseconds waiting = 0;

    [[nodiscard]] nanoseconds now() const { return ++s->now; } // a clock goes on between two looks
    void sleep_until(nanoseconds moment) const { s->now = std::max(s->now, moment); }
    [[nodiscard]] bool alone() const { return true; }
    [[nodiscard]] bool note() const { return true; }
    [[nodiscard]] bool close() const { return s->waits.push_back(0), true; }
    void drop() const {}
    [[nodiscard]] static int undisturbed() { return 0; }
    [[nodiscard]] bool poll() const { return s->busy_until <= s->now; }
    void rest(nanoseconds waited) const {
        s->now += std::min<nanoseconds>(s->busy_until == never ? ms : s->busy_until - s->now, ms);
        s->waits.back() = std::max(s->waits.back(), waited);
    }
};

bool yes(int) { return true; }

/// The share of the time that launches of a length get, in percent, over so many of them.
double share(int limit, nanoseconds length, int launches) {
    simulation s;
    muster::account::detail::word paid{0};
    gate<simulated_card> g{throttle{pace{percent{limit}}, paid}, simulated_card{&s}};
    auto const begin = s.now;
    for (int i = 0; i != launches; ++i)
        (void)g.launch(
            1, [&] { return s.work(length), 0; }, yes);
    return 100.0 * static_cast<double>(s.worked) / static_cast<double>(s.now - begin);
}

} // namespace

TEST_CASE("gate: the share is kept for work of any length, as long as it takes") {
    CHECK(share(30, ms / 20, 20'000) == doctest::Approx(30).epsilon(0.1));
    CHECK(share(30, ms, 2'000) == doctest::Approx(30).epsilon(0.05));
    CHECK(share(50, 60 * ms, 200) == doctest::Approx(50).epsilon(0.05));
    CHECK(share(30, 250 * ms, 100) == doctest::Approx(30).epsilon(0.1)); // longer than a batch is waited for
    CHECK(share(30, 2000 * ms, 60) == doctest::Approx(30).epsilon(0.15));
}

TEST_CASE("gate: work that waits for the next launch is given up on, and no launch waits without end") {
    simulation s;
    muster::account::detail::word paid{0};
    gate<simulated_card> g{throttle{pace{percent{50}}, paid}, simulated_card{&s}};
    for (int i = 0; i != 50; ++i) {
        auto const before = s.now;
        (void)g.launch(
            1, [&] { return s.work(never), 0; }, yes);
        CHECK(s.now - before < 30'000 * ms);
    }
    // A pair of which the second ends both: soon as ever.
    for (int i = 0; i != 100; ++i)
        (void)g.launch(
            1, [&] { return s.work(ms), 0; }, yes);
    auto const before = s.now;
    for (int i = 0; i != 100; ++i)
        (void)g.launch(
            1, [&] { return s.work(ms), 0; }, yes);
    CHECK(s.now - before < 300 * ms);
}

TEST_CASE("gate: what fails is not work") {
    simulation s;
    muster::account::detail::word paid{0};
    gate<simulated_card> g{throttle{pace{percent{10}}, paid}, simulated_card{&s}};
    for (int i = 0; i != 100; ++i)
        CHECK(g.launch(
                  1, [] { return 7; }, [](int) { return false; }) == 7);
    CHECK(paid == 0);
    CHECK(s.waits.empty());
}

namespace {

/// A card that is done at once; knows who is at it.
struct instant_card {
    std::atomic<int>* inside;
    [[nodiscard]] static nanoseconds now() {
        return static_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch().count());
    }
    static void sleep_until(nanoseconds moment) {
        std::this_thread::sleep_for(std::chrono::nanoseconds{moment > now() ? moment - now() : 0});
    }
    static void rest(nanoseconds) {}
    [[nodiscard]] static bool alone() { return false; }
    [[nodiscard]] static bool note(int) { return true; }
    [[nodiscard]] bool close() const {
        CHECK(*inside == 0); // every launch of the batch has come back from the driver
        return true;
    }
    static void drop() {}
    [[nodiscard]] static int undisturbed() { return 0; }
    [[nodiscard]] static bool poll() { return true; }
};

} // namespace

TEST_CASE("gate: threads launch at once, none while the card is waited for, and none is left behind") {
    std::atomic<int> inside{0};
    std::atomic<int> launched{0};
    muster::account::detail::word paid{0};
    gate<instant_card> g{throttle{pace{percent{90}}, paid}, instant_card{&inside}};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t != 8; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i != 2000; ++i)
                (void)g.launch(
                    t,
                    [&] {
                        ++inside;
                        ++launched;
                        --inside;
                        return 0;
                    },
                    yes, 1);
        });
    for (auto& t : threads) t.join();
    CHECK(launched == 16'000);
}

TEST_CASE("gate: a launch that doesn't come back from the driver holds up no other, and a visit waits for nobody") {
    std::atomic<int> inside{0};
    muster::account::detail::word paid{0};
    gate<instant_card> g{throttle{pace{percent{90}}, paid}, instant_card{&inside}};
    std::atomic<bool> stuck{false};
    std::atomic<bool> released{false};
    std::thread first{[&] {
        (void)g.launch(
            1,
            [&] {
                stuck = true;
                while (!released) std::this_thread::yield(); // as a queue that is full, behind what waits for the third
                return 0;
            },
            yes, 1);
    }};
    while (!stuck) std::this_thread::yield();
    (void)g.launch(
        2, [] { return 0; }, yes, 1); // not known: closes the batch
    (void)g.launch(
        3, [&] { return released = true, 0; }, yes, 1);
    first.join();
    CHECK(released);

    paid = instant_card::now() + 1000 * ms;
    std::thread second{[&] {
        (void)g.launch(
            4, [] { return 0; }, yes, 1);
    }};
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    auto const before = instant_card::now();
    g.visit([](instant_card&) {});
    CHECK(instant_card::now() - before < 900 * ms);
    second.join();
}

TEST_CASE("gate: a program that waits for each kernel pays for what they take, also when they grow") {
    simulation s;
    muster::account::detail::word paid{0};
    gate<simulated_card> g{throttle{pace{percent{30}}, paid}, simulated_card{&s}};
    auto const run = [&](nanoseconds length, int times) {
        for (int i = 0; i != times; ++i) {
            (void)g.launch(
                1, [&] { return s.work(length), 0; }, yes);
            s.now = std::max(s.now, s.busy_until) + ms / 2; // done, and something else
        }
    };
    run(ms * 3 / 10, 200);
    auto const begin = s.now;
    auto const worked = s.worked;
    run(10 * ms, 200);
    CHECK(100.0 * static_cast<double>(s.worked - worked) / static_cast<double>(s.now - begin) < 40);
}

TEST_CASE("gate: time in which the card has nothing to do is nobody's") {
    simulation s;
    muster::account::detail::word paid{0};
    gate<simulated_card> g{throttle{pace{percent{30}}, paid}, simulated_card{&s}};
    (void)g.launch(
        1, [] { return 7; }, [](int) { return false; }); // fails,
    s.now += 2000 * ms;                                  // and much later
    (void)g.launch(
        1, [&] { return s.work(ms), 0; }, yes);
    (void)g.launch(
        2, [&] { return s.now += 10'000 * ms, s.work(ms), 0; }, yes); // code is loaded first
    auto const before = s.now;
    (void)g.launch(
        1, [&] { return s.work(ms), 0; }, yes);
    CHECK(s.now - before < 100 * ms);
}

TEST_CASE("gate: what unwinds through a launch closes it for nobody") {
    simulation s;
    muster::account::detail::word paid{0};
    gate<simulated_card> g{throttle{pace{percent{90}}, paid}, simulated_card{&s}};
    for (int i = 0; i != 10; ++i) {
        CHECK_THROWS((void)g.launch(
            1, []() -> int { throw 1; }, yes));
        auto const before = s.now;
        (void)g.launch(
            1, [&] { return s.work(ms), 0; }, yes);
        CHECK(s.now - before < 20 * ms);
    }
}
