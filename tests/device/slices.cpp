#include <muster/device/slices.hpp>

#include <optional>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/law.hpp"

using muster::card;
using muster::card_usage;
using muster::container_request;
using muster::mib;
using muster::percent;
using muster::device::slices;

namespace {

constexpr container_request ask(std::int64_t memory, std::int64_t cores) noexcept {
    return {.memory = mib{memory}, .cores = percent{cores}};
}

std::optional<percent> any_part() {
    if (*rc::gen::inRange(0, 3) != 0) return std::nullopt;
    return percent{*rc::gen::inRange<std::int64_t>(0, 120)};
}

} // namespace

TEST_CASE("slices: a share fits if its amounts do, and whole cards are alone") {
    static constexpr card plain{.slots = 3, .memory = mib{1000}};
    static constexpr card broken{.slots = 3, .memory = mib{1000}, .faulty = true};
    static constexpr card ill{.slots = 3, .memory = mib{1000}, .healthy = false};
    struct row {
        char const* name;
        card c;
        card_usage taken;
        container_request want;
        bool fits;
    };
    static constexpr row rows[] = {
        {"idle", plain, {}, ask(1000, 100), true},
        {"a MiB too much", plain, {1, mib{500}, percent{10}}, ask(501, 10), false},
        {"to the last MiB", plain, {1, mib{500}, percent{10}}, ask(500, 90), true},
        {"a hundredth too much", plain, {1, mib{0}, percent{10}}, ask(1, 91), false},
        {"no slot", plain, {3, mib{0}, percent{0}}, ask(0, 0), false},
        {"the whole card wants to be alone", plain, {1, mib{0}, percent{0}}, ask(1, 100), false},
        {"beside a whole card", plain, {1, mib{0}, percent{100}}, ask(1, 0), false},
        {"more than a card", plain, {}, ask(1, 101), false}, // X8
        {"nothing", plain, {1, mib{1000}, percent{50}}, ask(0, 0), true},
        {"oversold", plain, {1, mib{1200}, percent{0}}, ask(0, 0), false},
        {"broken registration", broken, {}, ask(0, 0), false},
        {"health is not asked", ill, {}, ask(1000, 0), true}, // X3
    };
    for (row const& r : rows) {
        CAPTURE(r.name);
        CHECK(slices::fits(r.c, r.taken, r.want) == r.fits);
    }
}

TEST_CASE("slices: a percentage of memory is rounded down (X11, V40)") {
    struct row {
        std::int64_t card, part, expected;
    };
    for (row const& r : {row{32767, 33, 10813}, row{32767, 50, 16383}, row{32767, 0, 0}, row{30000, 100, 30000},
                         row{32767, 150, 49150}})
        CHECK(slices::memory_of({.memory = mib{r.card}}, {.memory = mib{100}, .memory_percent = percent{r.part}}) ==
              mib{r.expected});
}

TEST_CASE("slices: whatever fits, a card is never oversold") {
    CHECK(test::holds([] {
        card const c{.slots = *rc::gen::inRange<std::int64_t>(0, 5),
                     .memory = mib{*rc::gen::inRange<std::int64_t>(0, 99)}};
        card_usage taken;
        for (int i = 0; i != 20; ++i) {
            container_request const want{.memory = mib{*rc::gen::inRange<std::int64_t>(0, 99)},
                                         .memory_percent = any_part(),
                                         .cores = percent{*rc::gen::inRange<std::int64_t>(0, 102)}};
            if (!slices::fits(c, taken, want)) continue;
            taken.slots += 1;
            taken.memory += slices::memory_of(c, want);
            taken.cores += want.cores;
            RC_ASSERT(taken.slots <= c.slots);
            RC_ASSERT(taken.memory <= c.memory);
            RC_ASSERT(taken.cores <= percent{100});
        }
    }));
}
