#include <muster/account/throttle.hpp>

#include <algorithm>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <muster/workload/synthetic.hpp>

using muster::percent;
using muster::account::nanoseconds;
using muster::account::pace;
using muster::account::throttle;

namespace {

constexpr nanoseconds us = 1'000;
constexpr nanoseconds ms = 1'000'000;

/// One kernel: what it is called, and how long the card works for it.
struct kernel {
    std::uint64_t kind = 1;
    nanoseconds length = 0;
};

struct setting {
    bool alone = true;
    double stretch = 1;               ///< how much longer a batch takes than the card works for it
    nanoseconds pause = 0;            ///< of the program, before each launch
    nanoseconds launch_cost = 4 * us; ///< of a launch, for the program
};

/// The part of the time, in percent, that a program gets which launches as fast as it may.
double share_of(percent limit, std::function<kernel()> const& next, setting const& with) {
    muster::account::detail::word paid{0};
    throttle t{pace{limit}, paid};
    nanoseconds now = 1000 * ms;
    nanoseconds card_free = now;
    nanoseconds worked = 0;
    nanoseconds begin = now;
    nanoseconds started = now;
    bool warm = false;
    while (now < begin + 8000 * ms) {
        if (!warm && now > begin + 500 * ms) {
            warm = true;
            begin = now;
            worked = 0;
        }
        now += with.pause;
        (void)t.settled_if_idle(now);
        if (!t.in_batch()) {
            now = std::max(now, t.ready_at(now));
            t.begin(now);
            started = now;
        }
        auto const k = next();
        auto const took = static_cast<nanoseconds>(static_cast<double>(k.length) * with.stretch);
        now += with.launch_cost;
        card_free = std::max(card_free, now) + took;
        worked += k.length;
        if (t.launched(k.kind, now)) {
            now = std::max(now, card_free); // the program waits for the card
            t.settle(now - started, with.alone);
        }
    }
    return 100.0 * static_cast<double>(worked) / static_cast<double>(now - begin);
}

} // namespace

TEST_CASE("throttle: kernels of any length get the share, whether the card is shared or not") {
    for (int const limit : {10, 30, 50, 90})
        for (nanoseconds const length : {50 * us, 300 * us, ms, 5 * ms, 40 * ms})
            for (setting const with : {setting{}, setting{false, 1}, setting{true, 1, 100 * us}}) {
                CAPTURE(limit);
                CAPTURE(length);
                CAPTURE(with.pause);
                auto const got = share_of(
                    percent{limit},
                    [&] {
                        return kernel{1, length};
                    },
                    with);
                CHECK(got < limit + 3);
                auto const most = 100.0 * static_cast<double>(length) / static_cast<double>(length + with.pause);
                CHECK(got > std::min<double>(limit, most) - (length < 100 * us ? 6 : 3));
            }
}

TEST_CASE("throttle: a process alone pays for kernels whose lengths only their arguments tell") {
    for (nanoseconds const shortest : {50 * us, 300 * us, 3 * ms})
        for (nanoseconds const pause : {0 * us, 100 * us}) {
            CAPTURE(shortest);
            CAPTURE(pause);
            muster::workload::random_numbers random{7};
            auto const varied = [&] { return kernel{1, shortest * (1 + random.below(10))}; };
            auto const got = share_of(percent{30}, varied, {true, 1, pause});
            CHECK(got < 34);
            CHECK(got > 26);
        }
}

TEST_CASE("throttle: work of others on the card isn't paid for") {
    // Half of the time the card works for somebody else, but now and then it doesn't.
    int i = 0;
    auto const got = share_of(percent{30}, [&] { return kernel{1, ++i % 50 == 0 ? ms : ms}; }, {false, 1});
    CHECK(got > 28);
    setting slow{false, 2};
    auto const stretched = share_of(
        percent{30},
        [] {
            return kernel{1, ms};
        },
        slow);
    CHECK(stretched >= 14); // never saw the card without the others: takes all for its own
    CHECK(stretched < 31);
}

TEST_CASE("throttle: who wakes late now and then, since the processor is busy, keeps most of its share") {
    setting late{true, 1};
    int launches = 0;
    auto const next = [&] { return late.stretch = ++launches % 40 < 2 ? 30 : 1, kernel{1, ms}; }; // 60 ms instead of 2
    CHECK(share_of(percent{30}, next, late) > 20);
    // But work that gets longer is learnt: here after two seconds.
    nanoseconds length = 100 * us;
    int n = 0;
    auto const growing = [&] { return length = ++n < 6000 ? 100 * us : 3 * ms, kernel{1, length}; };
    auto const got = share_of(percent{30}, growing, {true, 1});
    CHECK(got > 27);
    CHECK(got < 33);
}

TEST_CASE("throttle: kinds of work are priced one by one") {
    muster::workload::random_numbers random{11};
    auto const mixed = [&] {
        auto const kind = random.below(4);
        return kernel{kind, (kind + 1) * (kind + 1) * 200 * us};
    };
    for (bool const alone : {true, false}) {
        auto const got = share_of(percent{40}, mixed, {alone});
        CHECK(got < 43);
        CHECK(got > 35);
    }
}

TEST_CASE("throttle: what went on after its batch was settled is paid for as well") {
    muster::account::detail::word paid{0};
    throttle t{pace{percent{50}}, paid};
    t.begin(1000 * ms);
    CHECK(t.launched(1, 1000 * ms)); // not known: waited for at once
    t.settle(100 * ms, false);
    CHECK(t.ready_at(1200 * ms) == 1200 * ms - 4 * ms); // but for a burst
    t.overrun(1100 * ms, 50 * ms);
    CHECK(t.ready_at(1200 * ms) == 1300 * ms - 4 * ms);
}

TEST_CASE("throttle: a clock that began anew, as at a reboot, makes nobody wait") {
    muster::account::detail::word paid{900'000'000 * ms}; // ten days, of a file that was there before
    throttle t{pace{percent{1}}, paid};
    CHECK(t.ready_at(5 * ms) == 5 * ms);
    CHECK(paid == 5 * ms);
    paid = 2'000'000 * ms; // a debt that work can have made is kept
    CHECK(t.ready_at(5 * ms) == 2'000'000 * ms);
}

TEST_CASE("throttle: kinds of work that come only once don't pile up, and what is forgotten is learnt anew") {
    muster::account::detail::word paid{0};
    throttle t{pace{percent{50}}, paid};
    for (std::uint64_t kind = 0; kind != 50'000; ++kind) {
        t.begin(kind * ms);
        CHECK(t.launched(kind, kind * ms)); // not known: waited for
        t.settle(10 * us, true);
    }
    t.begin(60'000 * ms);
    CHECK_FALSE(t.launched(49'999, 60'000 * ms)); // known
    t.settle(10 * us, true);
    t.forget(49'999);
    t.begin(61'000 * ms);
    CHECK(t.launched(49'999, 61'000 * ms));
}
