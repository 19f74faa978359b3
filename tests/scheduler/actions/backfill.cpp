#include <muster/scheduler/actions/backfill.hpp>

#include <doctest/doctest.h>

#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/world.hpp"

using muster::task_status;
using test::inqueue;
using test::world;

namespace {

namespace hook = muster::hook;
using namespace muster::policy;

using fills = muster::scheduler<muster::actions<muster::action::backfill>, muster::tier<priority>>;
using both = muster::scheduler<muster::actions<muster::action::allocate, muster::action::backfill>,
                               muster::tier<priority, gang, predicates>>;

} // namespace

// Source: volcano, pkg/scheduler/actions/backfill/backfill_test.go, at ed72c7c8.
TEST_CASE("backfill: the tasks that ask for nothing, by job and task (B1)") {
    world w;
    w.node("n", "9/9Gi pods=20");
    w.queue("q1");
    for (int j : {1, 2}) {
        auto const job = "pg" + std::to_string(j);
        w.job(job, "q1", 1, inqueue({.min_of_role = {{"", 3}}, .priority = j}));
        for (int p : {1, 2, 3, 4}) {
            w.pod(job + "-besteffort-task-" + std::to_string(p), job, "", {.priority = p});
            w.pod(job + "-task-" + std::to_string(p), job, "500m/0", {.priority = p});
        }
    }
    std::vector<std::string> order;
    for (auto const* job : {"pg2", "pg1"})
        for (auto const* p : {"4", "3", "2", "1"})
            order.push_back(std::string{"default/"} + job + "-besteffort-task-" + p);
    auto const out = fills{}.run(w.cluster);
    CHECK(w.names(out.bound) == order);
}

// Source: volcano, pkg/scheduler/plugins/predicates/predicates_test.go, TestNodeNum, at ed72c7c8.
TEST_CASE("backfill: no more pods than a node takes (PR1)") {
    world w;
    w.node("node1", "4/4k pods=2", {.labels = {{"selector", "worker"}}});
    w.queue("q1");
    w.job("pg1", "q1", 2, inqueue({.priority = 2}));
    w.job("pg2", "q1", 1, inqueue({.priority = 1}));
    w.pod("worker-1", "pg1", "", {.rules = {.selector = {{"selector", "worker"}}}});
    w.pod("worker-2", "pg1", "");
    w.pod("worker-3", "pg2", "");
    using scheduler = muster::scheduler<muster::actions<muster::action::allocate, muster::action::backfill>,
                                        muster::tier<priority, predicates>>;
    auto const out = scheduler{}.run(w.cluster);
    CHECK(w.binds(out) == test::binds{{"default/worker-1", "node1"}, {"default/worker-2", "node1"}});
    CHECK(test::flaws_of_cycle(w, out.state, false).empty());
}

TEST_CASE("backfill: a gang is decided as a whole once it is ready") {
    struct row {
        std::int32_t min;
        std::size_t bound;
    };
    // Pending best-effort tasks count as ready, so a minimum of three is met by two of them and one placed.
    for (row const& r : {row{3, 3}, row{4, 0}}) {
        CAPTURE(r.min);
        world w;
        w.node("n", "1/9Gi");
        w.queue("q");
        w.job("j", "q", r.min, inqueue());
        w.pod("a", "j", "1/1Gi");
        w.pod("b", "j", "1/1Gi");
        w.pod("c", "j", "");
        w.pod("d", "j", "");
        auto const out = both{}.run(w.cluster);
        CHECK(out.bound.size() == r.bound);
        CHECK(test::flaws_of_cycle(w, out.state).empty());
    }
}

TEST_CASE("backfill: full nodes and closed queues do not matter, pending jobs and gates do") {
    world w;
    w.node("n", "1/1Gi");
    w.pod("there", "", "2/2Gi", test::running("n"));
    w.queue("closed", {.open = false});
    w.job("in", "closed", 1, inqueue());
    w.pod("a", "in", "");
    w.job("out", "closed", 1);
    w.pod("b", "out", "");
    w.job("gated", "closed", 1, inqueue());
    w.pod("c", "gated", "", {.gate = muster::scheduling_gate::queue});
    using scheduler = muster::scheduler<muster::actions<muster::action::enqueue, muster::action::backfill>,
                                        muster::tier<proportion, gang>>;
    auto s = scheduler{}.open(w.cluster);
    s.run(muster::action::backfill{});
    CHECK(w.binds(s.close()) == test::binds{{"default/a", "n"}});
}

// A fault once: what nodes had refused to the last gang's roles was held against best-effort tasks of other jobs.
TEST_CASE("backfill: what nodes refused to another gang is forgotten") {
    world w;
    w.node("n", "1/1Gi");
    w.queue("q");
    w.job("large", "q", 1, inqueue());
    w.pod("x", "large", "2/1Gi", {.role = "worker"});
    w.pod("y", "large", "3/1Gi", {.role = "worker"});
    w.job("small", "q", 1, inqueue());
    w.pod("z", "small", "", {.role = "worker"});
    CHECK(w.binds(both{}.run(w.cluster)) == test::binds{{"default/z", "n"}});
}
