#include <muster/policy/drf.hpp>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::policy::drf;
using test::world;

static_assert(muster::has_job_order<drf::state> && muster::has_allocated<drf::state> &&
              muster::has_deallocated<drf::state> && muster::has_preemptable<drf::state>);
static_assert(!muster::has_reclaimable<drf::state> && !muster::has_queue_order<drf::state>);

namespace {

/// A cluster of 10 cpu, 100 Gi, 100 pods; jobs a (2 cpu), b (30 Gi), c (nothing).
struct bench {
    world w{};
    muster::job_id a, b, c;
    muster::task_id ta, tb, waits;

    bench() {
        w.node("n", "10/100Gi pods=100");
        w.queue("q");
        a = w.job("a", "q", 1);
        b = w.job("b", "q", 1);
        c = w.job("c", "q", 1);
        ta = w.pod("ta", "a", "2/1Gi", test::running("n"));
        tb = w.pod("tb", "b", "1/30Gi", test::running("n"));
        waits = w.pod("waits", "c", "2500m/1Gi");
    }
};

} // namespace

TEST_CASE("drf: the job whose largest share is smallest goes first") {
    bench const b;
    test::lens const lens{b.w};
    auto const s = drf{}.open(lens.view());
    CHECK(s.share(b.a) == 0.2);
    CHECK(s.share(b.b) == 0.3);
    CHECK(s.share(b.c) == 0.0);
    CHECK(s.job_order(lens[b.a], lens[b.b]) < 0);
    CHECK(s.job_order(lens[b.b], lens[b.c]) > 0);
    CHECK(s.job_order(lens[b.a], lens[b.a]) == 0);
}

TEST_CASE("drf: shares follow what is placed and taken back") {
    bench const b;
    test::lens const lens{b.w};
    auto s = drf{}.open(lens.view());
    s.allocated(lens[b.waits]);
    CHECK(s.share(b.c) == 0.25);
    s.deallocated(lens[b.waits]);
    CHECK(s.share(b.c) == 0.0);
}

TEST_CASE("drf: pods are a resource like others, and one that the cluster lacks is none") {
    world w;
    w.node("n", "1000/1000Gi pods=4");
    w.queue("q");
    auto const j = w.job("j", "q", 1);
    w.pod("t", "j", "1/1Gi example.com/x=7", test::running("n"));
    CHECK(drf{}.open(test::lens{w}.view()).share(j) == 0.25);
}

TEST_CASE("drf: a victim's job keeps at least the share that the preemptor's job gets") {
    world w;
    w.node("n", "10/100Gi pods=100");
    w.queue("q");
    w.job("rich", "q", 1);
    w.job("poor", "q", 1);
    w.job("mine", "q", 1);
    muster::column<muster::task_id> candidates;
    for (auto const* name : {"r1", "r2", "r3", "r4"})
        candidates.push_back(w.pod(name, "rich", "1/1Gi", test::running("n")));
    candidates.push_back(w.pod("p1", "poor", "1/1Gi", test::running("n")));
    candidates.push_back(w.pod("none", "", "1/1Gi", test::running("n")));
    auto const preemptor = w.pod("p", "mine", "2/1Gi");
    auto const loner = w.pod("loner", "", "2/1Gi");
    test::lens const lens{w};
    auto const s = drf{}.open(lens.view());
    muster::column<muster::task_id> victims;
    CHECK(s.preemptable(lens.view(), lens[preemptor], candidates, victims) == muster::vote::permit);
    CHECK(w.names(victims) == std::vector<std::string>{"default/r1", "default/r2"}); // 0.3 and 0.2, against 0.2
    victims.clear();
    CHECK(s.preemptable(lens.view(), lens[loner], candidates, victims) == muster::vote::permit);
    CHECK(victims.empty());
}
