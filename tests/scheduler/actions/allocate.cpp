#include <muster/scheduler/actions/allocate.hpp>

#include <algorithm>
#include <type_traits>

#include <doctest/doctest.h>

#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/world.hpp"

using muster::job_phase;
using muster::task_status;
using test::binds;
using test::inqueue;
using test::running;
using test::world;

// Scenarios A and F: volcano, pkg/scheduler/actions/allocate/allocate_test.go, at ed72c7c8 (spec/volcano-core.md 9).

namespace {

namespace hook = muster::hook;
using namespace muster::policy;

/// Flags of TestAllocate.
using with_quota =
    muster::scheduler<muster::actions<muster::action::allocate>,
                      muster::tier<without<gang, hook::preemptable, hook::reclaimable>, drf,
                                   without<proportion, hook::overused, hook::job_enqueueable, hook::job_enqueued>,
                                   predicates, nodeorder>>;

/// Flags of TestFareShareAllocate.
using fair_share = muster::scheduler<
    muster::actions<muster::action::allocate>,
    muster::tier<drf, without<proportion, hook::overused, hook::allocatable, hook::job_enqueueable, hook::job_enqueued>,
                 predicates, nodeorder>>;

using gangs = muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<gang, predicates>>;

/// Runs one cycle and audits it.
template <class Scheduler>
muster::outcome run(world const& w, Scheduler const& scheduler) {
    auto out = scheduler.run(w.cluster);
    CHECK(test::flaws_of_cycle(w, out.state, !std::is_same_v<Scheduler, fair_share>).empty());
    return out;
}

/// Two queues before one node of two CPUs.
world two_queues() {
    world w;
    w.queue("c1");
    w.queue("c2");
    w.node("n1", "2/4G");
    return w;
}

muster::task_spec role(char const* name) { return {.role = name, .rules = {.selector = {{"nodeRole", name}}}}; }
muster::node_spec labelled(char const* name) { return {.labels = {{"nodeRole", name}}}; }

} // namespace

TEST_CASE("allocate: a role without a node does not hold up another (A1)") {
    world w;
    w.queue("c1");
    w.node("n1", "2/4Gi", labelled("worker"));
    w.job("c1/pg1", "c1", 1, inqueue());
    w.pod("c1/p1", "c1/pg1", "1/1G", role("master"));
    w.pod("c1/p2", "c1/pg1", "1/1G", role("worker"));
    CHECK(w.binds(run(w, with_quota{})) == binds{{"c1/p2", "n1"}});
}

TEST_CASE("allocate: a gang goes on until each role has its minimum, or starts nothing (A2, A3)") {
    struct row {
        std::vector<std::pair<std::string, std::int32_t>> roles;
        char const* n2;
        binds expected;
    };
    for (row const& r : {row{{{"master", 1}, {"worker", 1}}, "1/2Gi", {{"c1/p0", "n1"}, {"c1/p2", "n2"}}},
                         row{{{"master", 2}, {"worker", 0}}, "2/2Gi", {}}}) {
        world w;
        w.queue("c1");
        w.node("n1", "1/2Gi", labelled("master"));
        w.node("n2", r.n2, labelled("worker"));
        w.job("c1/pg1", "c1", 2, inqueue({.min_of_role = r.roles}));
        w.pod("c1/p0", "c1/pg1", "1/1G", role("master"));
        w.pod("c1/p1", "c1/pg1", "1/1G", role("master"));
        w.pod("c1/p2", "c1/pg1", "1/1G", role("worker"));
        w.pod("c1/p3", "c1/pg1", "1/1G", role("worker"));
        CHECK(w.binds(run(w, with_quota{})) == r.expected);
    }
}

TEST_CASE("allocate: a job without minimum fills a node (A4)") {
    world w;
    w.queue("c1");
    w.node("n1", "2/4Gi");
    w.job("c1/pg1", "c1", 0, inqueue());
    w.pod("c1/p1", "c1/pg1", "1/1G");
    w.pod("c1/p2", "c1/pg1", "1/1G");
    CHECK(w.binds(run(w, with_quota{})) == binds{{"c1/p1", "n1"}, {"c1/p2", "n1"}});
}

TEST_CASE("allocate: queues take turns, a task each (A5)") {
    auto w = two_queues();
    w.job("c1/pg1", "c1", 0, inqueue());
    w.job("c2/pg2", "c2", 0, inqueue());
    for (auto const* name : {"c1/pg1-p-1", "c1/pg1-p-2"}) w.pod(name, "c1/pg1", "1/1G");
    for (auto const* name : {"c2/pg2-p-1", "c2/pg2-p-2"}) w.pod(name, "c2/pg2", "1/1G");
    CHECK(w.binds(run(w, with_quota{})) == binds{{"c1/pg1-p-1", "n1"}, {"c2/pg2-p-1", "n1"}});
}

TEST_CASE("allocate: a queue whose task fits nowhere holds up nobody (A6)") {
    auto w = two_queues();
    w.job("c1/pg1", "c1", 0, inqueue());
    w.job("c1/pg2", "c2", 0, inqueue());
    w.pod("c1/p1", "c1/pg1", "3/1G");
    w.pod("c1/p2", "c1/pg2", "1/1G");
    CHECK(w.binds(run(w, with_quota{})) == binds{{"c1/p2", "n1"}});
}

TEST_CASE("allocate: the queue with the smaller share goes first (F1, F2)") {
    world w;
    w.queue("q-1");
    w.queue("q-2");
    w.node("node-1", "5/5G");
    w.job("ns-1/pg-small-1", "q-1", 0, {.phase = job_phase::running});
    w.job("ns-1/pg-large-1", "q-1", 0, inqueue());
    w.job("ns-1/pg-large-2", "q-2", 0, inqueue());
    w.pod("ns-1/pod-small-1", "ns-1/pg-small-1", "1/1G", running("node-1"));
    w.pod("ns-1/pod-large-1", "ns-1/pg-large-1", "2/2G");
    SUBCASE("F1: one queue runs something already") {
        w.pod("ns-1/pod-large-2", "ns-1/pg-large-2", "3/2G");
        CHECK(w.binds(run(w, fair_share{})) == binds{{"ns-1/pod-large-2", "node-1"}});
    }
    SUBCASE("F2: both large ones fit") {
        w.job("ns-1/pg-small-2", "q-2", 0, inqueue());
        w.pod("ns-1/pod-large-2", "ns-1/pg-large-2", "2/2G");
        w.pod("ns-1/pod-small-2", "ns-1/pg-small-2", "1/1G");
        CHECK(w.binds(run(w, fair_share{})) == binds{{"ns-1/pod-large-1", "node-1"}, {"ns-1/pod-large-2", "node-1"}});
    }
}

TEST_CASE("allocate: a job with nothing to place does not drop its queue (F3)") {
    world w;
    w.queue("q-1");
    w.node("node-1", "5/5G");
    w.job("ns-1/pg-1", "q-1", 0, {.phase = job_phase::running});
    w.job("ns-1/pg-2", "q-1", 0, inqueue());
    w.pod("ns-1/pod-1", "ns-1/pg-1", "1/1G", running("node-1"));
    w.pod("ns-1/pod-2", "ns-1/pg-2", "2/2G");
    CHECK(w.binds(run(w, fair_share{})) == binds{{"ns-1/pod-2", "node-1"}});
}

TEST_CASE("allocate: a gang that does not fit gives everything back to the next") {
    world w;
    w.queue("q");
    w.node("n", "2/2Gi", {.cards = {test::card("gpu-0", 1000)}});
    w.job("a", "q", 3, inqueue({.created = 1}));
    w.job("b", "q", 1, inqueue({.created = 2}));
    for (auto const* name : {"a-1", "a-2", "a-3"}) w.pod(name, "a", "1/500Mi", {.devices = test::share(400)});
    w.pod("b-1", "b", "1/500Mi", {.devices = test::share(900)});
    auto const out = run(w, muster::scheduler<muster::actions<muster::action::allocate>,
                                              muster::tier<gang, predicates, deviceshare<muster::device::slices>>>{});
    CHECK(w.binds(out) == binds{{"default/b-1", "n"}});
    CHECK(out.state.shares_of(w.cluster.task("default/b-1")).size() == 1);
    CHECK(out.state.cards[0].memory == muster::mib{900});
    CHECK(out.facts[w.cluster.task("default/a-1").index()].tried);
}

TEST_CASE("allocate: a gang that waits for others keeps its places, and starts nothing") {
    world w;
    w.queue("q");
    w.node("n1", "1/1Gi");
    w.node("n2", "1/1Gi");
    w.pod("leaving", "", "1/1Gi", {.status = task_status::releasing, .node = "n2"});
    w.job("a", "q", 2, inqueue({.created = 1}));
    w.job("b", "q", 1, inqueue({.created = 2}));
    w.pod("a-1", "a", "1/1Gi");
    w.pod("a-2", "a", "1/1Gi");
    w.pod("b-1", "b", "1/1Gi");
    auto const out = run(w, gangs{});
    CHECK(out.bound.empty());
    CHECK(w.names(out.pipelined) == std::vector<std::string>{"default/a-2"});
    CHECK(out.state.tasks[w.cluster.task("default/a-1").index()].status == task_status::allocated);
    CHECK(out.state.tasks[w.cluster.task("default/b-1").index()].status == task_status::pending);
}

TEST_CASE("allocate: pending, invalid and gated jobs are passed over") {
    world w;
    w.queue("q");
    w.node("n", "9/9Gi");
    w.job("pending", "q", 1);
    w.pod("p", "pending", "1/1Gi");
    w.job("short", "q", 2, inqueue());
    w.pod("s", "short", "1/1Gi");
    w.job("gated", "q", 1, inqueue());
    w.pod("g", "gated", "1/1Gi", {.gate = muster::scheduling_gate::held});
    w.job("own-gate", "q", 1, inqueue());
    w.pod("o", "own-gate", "1/1Gi", {.gate = muster::scheduling_gate::queue});
    w.job("best-effort", "q", 1, inqueue());
    w.pod("e", "best-effort", "");
    using waits = muster::scheduler<muster::actions<muster::action::enqueue, muster::action::allocate>,
                                    muster::tier<gang, predicates>>;
    w.job("claims", "q", 1, {.min_resources = test::amounts("1/1Gi")});
    CHECK(w.binds(run(w, gangs{})) == binds{{"default/p", "n"}}); // without enqueue, allocate lets jobs in
    auto s = waits{}.open(w.cluster);
    s.run(muster::action::allocate{});
    CHECK(w.binds(s.close()).empty());
    CHECK(w.binds(run(w, waits{})) == binds{{"default/p", "n"}});
}

TEST_CASE("allocate: one failure of a role spares the others of that role, but not of no role") {
    struct row {
        char const* role;
        std::size_t by_role;
    };
    for (row const& r : {row{"worker", 2}, row{"", 0}}) {
        CAPTURE(r.role);
        world w;
        w.queue("q");
        w.node("n", "1/1Gi");
        w.job("j", "q", 1, inqueue());
        for (auto const* name : {"a", "b", "c"}) w.pod(name, "j", "2/1Gi", {.role = r.role});
        muster::record record;
        auto const out = gangs{}.run(w.cluster, &record);
        CHECK(out.bound.empty());
        REQUIRE(out.record.failures.size() == 3);
        CHECK(std::count_if(out.record.failures.begin(), out.record.failures.end(),
                            [](auto const& f) { return f.by_role; }) == static_cast<std::ptrdiff_t>(r.by_role));
    }
}
