#include <muster/device/fit.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <muster/device/slices.hpp>

#include "support/law.hpp"

using muster::card;
using muster::card_usage;
using muster::container_request;
using muster::mib;
using muster::percent;
using muster::device::card_order;

namespace {

struct found {
    bool fits = false;
    std::string cards{}; ///< a letter a share
    double score = 0;
};

/// Fits containers to cards of 32000 MiB and ten slots.
found fit(muster::column<container_request> containers, card_order order, muster::column<card_usage> taken = {{}, {}},
          std::vector<std::int64_t> memory = {32000, 32000, 32000, 32000}) {
    muster::column<card> cards;
    for (std::size_t i = 0; i != taken.size(); ++i) cards.push_back({.slots = 10, .memory = mib{memory[i]}});
    muster::device::fit_scratch scratch{cards.size()};
    found f;
    muster::column<muster::share> chosen;
    auto const result = muster::device::fit<muster::device::slices>(
        {.containers = std::move(containers)}, cards, taken, muster::card_id{5U}, order, scratch,
        [](std::uint32_t) { return true; }, &chosen);
    for (auto const& s : chosen) f.cards += static_cast<char>('a' + s.card.index() - 5);
    f.fits = result.fits;
    f.score = result.score;
    return f;
}

container_request ask(std::int64_t cards, std::int64_t memory, std::int64_t cores = 0) {
    return {.cards = cards, .memory = mib{memory}, .cores = percent{cores}};
}

} // namespace

// Rows V and X: volcano at ed72c7c8 (spec/device-fitting.md 7.1, 7.2).
TEST_CASE("fit: which cards a pod gets, and the score") {
    struct row {
        char const* name;
        muster::column<container_request> containers;
        card_order order;
        bool fits;
        char const* cards;
        double score;
    };
    for (row const& r : {
             row{"X1", {ask(1, 4000)}, card_order::spread, true, "a", 0},
             row{"X1", {ask(2, 4000)}, card_order::spread, true, "ab", 0},
             row{"X2", {ask(2, 4000)}, card_order::binpack, true, "ab", 25},
             row{"X3", {ask(1, 4000, 30)}, card_order::last_first, true, "b", 0},
             row{"X8", {ask(1, 4000, 101)}, card_order::last_first, false, "", 0},
             row{"X8", {ask(3, 4000)}, card_order::last_first, false, "", 0},
             row{"X9", {ask(1, 1000, 10), ask(1, 2000, 20)}, card_order::binpack, true, "aa", 12.5},
             row{"two that fill a card",
                 {ask(1, 1, 60), ask(1, 1, 60)},
                 card_order::binpack,
                 true,
                 "ab",
                 100.0 / 16000},
             row{"no cards asked", {ask(0, 4000)}, card_order::binpack, true, "", 0},
             row{"no container", {}, card_order::binpack, true, "", 0},
         }) {
        CAPTURE(r.name);
        auto const f = fit(r.containers, r.order);
        CHECK(f.fits == r.fits);
        if (f.fits) CHECK(f.cards == r.cards);
        CHECK(f.score == doctest::Approx(r.score));
    }
}

TEST_CASE("fit: more rows of the original's tests") {
    CHECK(!fit({ask(1, 1, 60), ask(1, 1, 60)}, card_order::binpack, {{}}).fits);            // X12: one card
    CHECK(fit({ask(1, 4096)}, card_order::binpack, {{1, mib{4096}, {}}, {}}).cards == "a"); // V18
    CHECK(fit({ask(1, 4096)}, card_order::spread, {{1, mib{4096}, {}}, {}}).cards == "b");  // V18
    CHECK(fit({ask(1, 4096)}, card_order::last_first, {{}, {}, {}}).cards == "c");          // V19
    auto const v39 = fit({ask(1, 1000)}, card_order::binpack, {{1, mib{3000}, {}}}, {30000});
    CHECK(v39.score == doctest::Approx(13.3333333));
    container_request whole{.cards = 3, .memory_percent = percent{100}, .cores = percent{100}};
    CHECK(fit({whole}, card_order::last_first, {{}, {}, {}}, {30000, 20000, 30000}).fits); // V40
}

TEST_CASE("fit: cards that may not be used are passed over") {
    muster::column<card> const cards(3, {.slots = 1, .memory = mib{100}});
    muster::column<card_usage> const taken(3);
    muster::device::fit_scratch scratch{3};
    muster::column<muster::share> chosen;
    auto const result = muster::device::fit<muster::device::slices>(
        {.containers = {ask(1, 100)}}, cards, taken, muster::card_id{0U}, card_order::binpack, scratch,
        [](std::uint32_t position) { return position == 1; }, &chosen);
    CHECK(result.fits);
    REQUIRE(chosen.size() == 1);
    CHECK(chosen[0].card.value == 1);
}

TEST_CASE("fit: whatever fits oversells no card, and gives each container as many cards as it asked for") {
    CHECK(test::holds(
        [] {
            auto const number = [](std::int64_t below) { return *rc::gen::inRange<std::int64_t>(0, below); };
            muster::column<card> cards;
            muster::column<card_usage> taken;
            for (auto i = number(5); i >= 0; --i) {
                cards.push_back({.slots = number(4), .memory = mib{number(100)}});
                auto const slots = std::min<std::int64_t>(number(3), cards.back().slots);
                taken.push_back(
                    {slots, mib{slots != 0 ? number(cards.back().memory.value + 1) : 0}, percent{slots * 10}});
            }
            muster::device_request want;
            for (std::uint32_t c = 0; c != 3; ++c) {
                auto request = ask(number(3), number(60), number(101));
                request.container = c;
                want.containers.push_back(request);
            }
            muster::device::fit_scratch scratch{cards.size()};
            muster::column<muster::share> shares;
            auto const order = *rc::gen::element(card_order::binpack, card_order::spread, card_order::last_first);
            auto const result = muster::device::fit<muster::device::slices>(
                want, cards, taken, muster::card_id{0U}, order, scratch, [](std::uint32_t) { return true; }, &shares);
            if (!result.fits) return;
            auto after = taken;
            for (auto const& s : shares) {
                after[s.card.index()].slots += 1;
                after[s.card.index()].memory += s.memory;
                after[s.card.index()].cores += s.cores;
            }
            for (std::size_t i = 0; i != cards.size(); ++i) {
                if (after[i] == taken[i]) continue;
                RC_ASSERT(after[i].slots <= cards[i].slots);
                RC_ASSERT(after[i].memory <= cards[i].memory);
                RC_ASSERT(after[i].cores <= percent{100});
            }
            for (auto const& request : want.containers) {
                std::set<std::uint32_t> distinct;
                for (auto const& s : shares)
                    if (s.container == request.container) distinct.insert(s.card.value);
                RC_ASSERT(static_cast<std::int64_t>(distinct.size()) == request.cards);
            }
        },
        300));
}
