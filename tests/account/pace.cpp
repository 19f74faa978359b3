#include <muster/account/pace.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using muster::percent;
using muster::account::nanoseconds;
using muster::account::pace;

namespace {

constexpr nanoseconds ms = 1'000'000;

struct use {
    double share = 0;     ///< of the whole time, in percent
    double variation = 0; ///< of windows of 100 ms: standard deviation by mean
};

/// Runs work of the given lengths, one after the other, as fast as the pace lets it.
use run(percent share, std::vector<nanoseconds> const& lengths, nanoseconds seconds = 8) {
    pace const p{share};
    muster::account::detail::word paid{0};
    std::vector<double> windows(seconds * 10);
    nanoseconds now = 1000 * ms; // no clock begins at zero
    auto const begin = now;
    for (std::size_t i = 0; now - begin < seconds * 1000 * ms; ++i) {
        now = std::max(now, p.ready_at(paid));
        auto const busy = lengths[i % lengths.size()];
        p.pay(paid, now, busy);
        for (nanoseconds t = 0; t != busy; t += 10'000)
            if (auto const window = (now - begin + t) / (100 * ms); window < windows.size()) windows[window] += 0.01;
        now += busy;
    }
    double sum = 0;
    double squares = 0;
    for (auto const w : windows) {
        sum += w;
        squares += w * w;
    }
    auto const mean = sum / static_cast<double>(windows.size());
    return {mean, std::sqrt(squares / static_cast<double>(windows.size()) - mean * mean) / mean};
}

} // namespace

TEST_CASE("pace: the share is kept for long work and short, and evenly within 100 ms") {
    for (int const share : {10, 30, 50, 70, 99})
        for (auto const& lengths : {std::vector<nanoseconds>{50'000}, std::vector<nanoseconds>{2 * ms},
                                    std::vector<nanoseconds>{5 * ms}, std::vector<nanoseconds>{50'000, 5 * ms, ms}}) {
            CAPTURE(share);
            CAPTURE(lengths.front());
            auto const got = run(percent{share}, lengths);
            CHECK(got.share > share - 1);
            CHECK(got.share < share + 1);
            if (share >= 30) CHECK(got.variation < 0.15);
        }
}

TEST_CASE("pace: a hundred, and what is no share, holds nobody back") {
    CHECK(!pace{percent{100}}.limits());
    CHECK(!pace{percent{250}}.limits());
    CHECK(pace{percent{0}}.limits()); // never more than a hundredth by mistake
    CHECK(run(percent{100}, {ms}).share > 99.9);
}

TEST_CASE("pace: time not asked for can be made up for, but not more than the burst") {
    pace const p{percent{50}, 4 * ms};
    muster::account::detail::word paid{0};
    p.pay(paid, 100 * ms, 2 * ms);
    CHECK(p.ready_at(paid) == 100 * ms); // the burst pays for it
    p.pay(paid, 102 * ms, 2 * ms);
    CHECK(p.ready_at(paid) == 104 * ms);
    p.pay(paid, 900 * ms, 2 * ms); // after a long rest: one burst, not eighty
    CHECK(p.ready_at(paid) == 900 * ms);
    p.pay(paid, 902 * ms, 20 * ms);
    CHECK(p.ready_at(paid) == 940 * ms);
}

TEST_CASE("pace: all who share a word share the time") {
    pace const p{percent{30}};
    muster::account::detail::word paid{0};
    std::vector<nanoseconds> used(4);
    nanoseconds now = 1000 * ms;
    for (int i = 0; now < 9000 * ms; ++i) { // whoever comes next takes the next slot
        now = std::max(now, p.ready_at(paid));
        p.pay(paid, now, ms);
        used[static_cast<std::size_t>(i) % used.size()] += ms;
        now += ms;
    }
    nanoseconds sum = 0;
    for (auto const u : used) sum += u;
    CHECK(sum > 2350 * ms);
    CHECK(sum < 2450 * ms);
}

TEST_CASE("pace: no length of work overflows") {
    pace const p{percent{1}};
    muster::account::detail::word paid{0};
    constexpr nanoseconds year = 365ULL * 24 * 3600 * 1000 * ms;
    p.pay(paid, 10 * ms, year);
    CHECK(p.ready_at(paid) == 100 * year + 6 * ms);
}
