#include <muster/scheduler/memory.hpp>

#include <utility>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/any_cluster.hpp"
#include "support/same_outcome.hpp"
#include "support/volcano_like.hpp"
#include "support/world.hpp"

namespace {

test::volcano_like const scheduler{};

} // namespace

TEST_CASE("memory: carried from cluster to cluster, it changes no answer") {
    CHECK(test::holds(
        [] {
            muster::memory carried;
            auto const cycles = test::up_to(4) + 2;
            for (int i = 0; i != cycles; ++i) {
                auto const w = test::any_world();
                muster::record with{.keep_candidates = true};
                muster::record without{.keep_candidates = true};
                test::demand_same(scheduler.run(w.cluster, carried, &with), scheduler.run(w.cluster, &without));
            }
        },
        100));
}

TEST_CASE("memory: two sessions at once share nothing") {
    CHECK(test::holds(
        [] {
            auto const w = test::any_world();
            auto const v = test::any_world();
            muster::memory carried;
            (void)scheduler.run(v.cluster, carried);
            auto first = scheduler.open(w.cluster, carried);
            auto const second = scheduler.run(v.cluster, carried);
            first.run(muster::action::enqueue{});
            first.run(muster::action::allocate{});
            first.run(muster::action::backfill{});
            test::demand_same(second, scheduler.run(v.cluster));
            test::demand_same(first.close(), scheduler.run(w.cluster));
        },
        100));
}

TEST_CASE("memory: a session that ends unfinished gives its tables back") {
    auto const w = [] {
        test::world made;
        made.queue("q");
        made.node("n", "1/1Gi");
        made.job("j", "q", 1);
        made.pod("p", "j", "1/1Gi");
        return made;
    }();
    muster::memory carried;
    (void)scheduler.run(w.cluster, carried);
    { auto const left = scheduler.open(w.cluster, carried); }
    CHECK(scheduler.run(w.cluster, carried).bound.size() == 1);
}
