#include <muster/policy/proportion.hpp>

#include <optional>

#include <doctest/doctest.h>

#include <muster/scheduler/scheduler.hpp>

#include "support/world.hpp"

using muster::job_phase;
using muster::policy::proportion;
using test::amounts;
using test::inqueue;
using test::running;
using test::world;

static_assert(muster::has_queue_order<proportion::state> && muster::has_overused<proportion::state> &&
              muster::has_allocatable<proportion::state> && muster::has_job_enqueueable<proportion::state> &&
              muster::has_job_enqueued<proportion::state> && muster::has_reclaimable<proportion::state> &&
              muster::has_allocated<proportion::state> && muster::has_deallocated<proportion::state>);
static_assert(!muster::has_job_order<proportion::state> && !muster::has_fits<proportion::state>);

namespace {

namespace hook = muster::hook;

/// What a queue deserves of cpu and memory, and of GPUs where the cluster has some.
struct worth {
    double cpu, memory, gpu = 0;
};

void check_deserved(world const& w, char const* queue, worth const& expected) {
    CAPTURE(queue);
    test::lens const lens{w};
    proportion::state const s{lens.view()};
    auto const& got = s.deserved(w.cluster.queue(queue));
    CHECK(got[muster::dimension::cpu] == doctest::Approx(expected.cpu).epsilon(1e-9));
    CHECK(got[muster::dimension::memory] == doctest::Approx(expected.memory).epsilon(1e-9));
    if (auto const gpu = w.cluster.tables().dimensions.find("nvidia.com/gpu"))
        CHECK(got[gpu] == doctest::Approx(expected.gpu).epsilon(1e-9));
}

/// A queue with one pending job of one pod.
void asking(world& w, std::string const& queue, std::string_view what, muster::queue_spec spec = {}) {
    w.queue(queue, std::move(spec));
    w.job("job-" + queue, queue, 1, inqueue());
    w.pod("pod-" + queue, "job-" + queue, what);
}

muster::job_spec pending(std::string_view min_resources) { return {.min_resources = amounts(min_resources)}; }

} // namespace

// The model's values: spec/volcano-queues.md 9.1, "Extra model values".
TEST_CASE("proportion: what queues leave is poured to the others, by weight") {
    SUBCASE("by request") {
        world w;
        w.node("n", "12/12G");
        asking(w, "a", "1/1G", {.weight = 1});
        asking(w, "b", "12/2G", {.weight = 2});
        asking(w, "c", "12/12G", {.weight = 3});
        check_deserved(w, "a", {1000, 1e9});
        check_deserved(w, "b", {4400, 2e9});
        check_deserved(w, "c", {6600, 9e9});
    }
    SUBCASE("a guarantee beyond the request") {
        world w;
        w.node("n", "10/10G");
        asking(w, "q1", "2/2G", {.guarantee = amounts("6/6G")});
        asking(w, "q2", "10/10G");
        check_deserved(w, "q1", {6000, 6e9});
        check_deserved(w, "q2", {4000, 4e9});
    }
    SUBCASE("a capability that says nothing of a resource") {
        world w;
        w.node("n", "10/10G nvidia.com/gpu=8");
        asking(w, "q1", "1/1G nvidia.com/gpu=8", {.weight = 1, .capability = amounts("2/2G")});
        asking(w, "q2", "10/10G nvidia.com/gpu=8", {.weight = 3});
        check_deserved(w, "q1", {1000, 1e9, 2000});
        check_deserved(w, "q2", {9000, 9e9, 6000});
    }
    SUBCASE("a capability below the request") {
        world w;
        w.node("n", "12/12G pods=10");
        w.queue("q1", {.capability = amounts("4/4G")});
        w.job("j", "q1", 1, inqueue());
        w.pod("there", "j", "3/3G", running("n"));
        w.pod("waits", "j", "3/3G");
        check_deserved(w, "q1", {4000, 4e9});
        test::lens const lens{w};
        proportion::state const s{lens.view()};
        CHECK(s.deserved(w.cluster.queue("q1"))[muster::dimension::pods] == 2);
        CHECK(s.share(w.cluster.queue("q1")) == 0.75);
    }
    SUBCASE("a resource that others' guarantees use up") {
        world w;
        w.node("n", "10/10G nvidia.com/gpu=8");
        asking(w, "q1", "1/1G nvidia.com/gpu=8");
        asking(w, "q2", "1/1G nvidia.com/gpu=8", {.guarantee = amounts("nvidia.com/gpu=8")});
        check_deserved(w, "q1", {1000, 1e9, 4000});
    }
    SUBCASE("weight zero") {
        world w;
        w.node("n", "10/10G");
        asking(w, "q1", "1/1G", {.weight = 0});
        asking(w, "q2", "1/1G");
        check_deserved(w, "q1", {0, 0});
        check_deserved(w, "q2", {1000, 1e9});
    }
}

// Source: volcano, pkg/scheduler/plugins/proportion/proportion_test.go, TestEnqueueAndAllocable, at ed72c7c8.
TEST_CASE("proportion: who is let in, and who is given a place (S1 to S5)") {
    using muster::policy::without;
    using both_actions = muster::actions<muster::action::enqueue, muster::action::allocate>;
    using all = muster::scheduler<both_actions, muster::tier<without<proportion, hook::queue_order>>>;
    using letting_in =
        muster::scheduler<both_actions, muster::tier<without<proportion, hook::allocatable, hook::overused>>>;
    using placing =
        muster::scheduler<both_actions,
                          muster::tier<without<proportion, hook::job_enqueueable, hook::job_enqueued, hook::overused>>>;
    auto const common = [](bool busy) {
        world w;
        w.node("n1", "2/2G");
        w.node("n2", "2/2G");
        w.queue("q1", {.capability = amounts("2/2G")});
        w.queue("q2", {.capability = amounts("3/3G")});
        w.queue("q3", {.capability = amounts("3/3G"), .open = false});
        if (!busy) return w;
        w.job("pg1", "q1", 1, {.min_resources = amounts("1/2G"), .phase = job_phase::running});
        w.job("pg2", "q2", 1, {.min_resources = amounts("2/1G"), .phase = job_phase::running});
        w.pod("pod1", "pg1", "1/2G", running("n1"));
        w.pod("pod2", "pg2", "2/1G", running("n2"));
        return w;
    };
    SUBCASE("S1") {
        auto w = common(true);
        w.job("pg3", "q1", 1, pending("1/0G"));
        w.pod("pod3", "pg3", "1/0G");
        CHECK(w.binds(all{}.run(w.cluster)) == test::binds{{"default/pod3", "n1"}});
        check_deserved(w, "q1", {2000, 2e9});
        check_deserved(w, "q2", {2000, 1e9});
        test::lens const lens{w};
        proportion::state const s{lens.view()};
        CHECK(!s.overused(lens[w.cluster.queue("q1")]));
        CHECK(s.overused(lens[w.cluster.queue("q2")]));
        CHECK(s.overused(lens[w.cluster.queue("q3")])); // nobody asks: it deserves nothing
    }
    SUBCASE("S2") {
        auto w = common(true);
        w.job("pg4", "q2", 1, pending("0/1G"));
        w.pod("pod4", "pg4", "0/1G");
        CHECK(w.binds(all{}.run(w.cluster)) == test::binds{{"default/pod4", "n2"}});
        check_deserved(w, "q1", {1000, 2e9});
        check_deserved(w, "q2", {2000, 2e9});
    }
    SUBCASE("S3") {
        auto w = common(true);
        auto const j = w.job("pg5", "q1", 1, pending("1/1G"));
        w.pod("pod5", "pg5", "1/1G");
        auto const out = letting_in{}.run(w.cluster);
        CHECK(out.bound.empty());
        CHECK(out.phases[j.index()] == job_phase::pending);
    }
    SUBCASE("S4") {
        auto w = common(true);
        auto const j = w.job("pg5", "q1", 1, pending("1/1G"));
        w.pod("pod5", "pg5", "1/1G");
        muster::record record;
        auto const out = placing{}.run(w.cluster, &record);
        CHECK(out.bound.empty());
        CHECK(out.phases[j.index()] == job_phase::inqueue);
        check_deserved(w, "q1", {2000, 2e9});
        check_deserved(w, "q2", {2000, 1e9});
        REQUIRE(out.record.refusals.size() == 1);
        auto const why = out.record.why(out.record.refusals[0]);
        CHECK(muster::reasons{why.data(), why.data() + why.size()} ==
              muster::reasons{{muster::reason_code::queue_quota, muster::limit_kind::capability,
                               muster::dimension::memory, 1'000'000'000, 2'000'000'000, 2e9}});
    }
    SUBCASE("S5") {
        auto w = common(false);
        auto const j = w.job("pg6", "q3", 1, pending("1/1G"));
        w.pod("pod6", "pg6", "1/1G");
        muster::record record;
        auto const out = letting_in{}.run(w.cluster, &record);
        CHECK(out.bound.empty());
        CHECK(out.phases[j.index()] == job_phase::pending);
        REQUIRE(out.record.refusals.size() == 1);
        CHECK(out.record.why(out.record.refusals[0])[0].code == muster::reason_code::queue_closed);
    }
}

TEST_CASE("proportion: the queue of higher priority goes first, then the smaller share (S6)") {
    world w;
    w.node("n1", "2/4Gi");
    w.node("n2", "2/4Gi");
    for (auto const& [name, priority] : {std::pair{"q1", 5}, {"q2", 1}, {"q3", 10}})
        w.queue(name, {.priority = priority, .capability = amounts("2/4Gi")});
    w.job("pg1", "q1", 1, {.phase = job_phase::running});
    w.job("pg2", "q2", 1, inqueue());
    w.job("pg3", "q3", 1, inqueue());
    w.pod("p1", "pg1", "2/4Gi", running("n1"));
    w.pod("p2", "pg2", "2/4Gi");
    w.pod("p3", "pg3", "2/4Gi");
    test::lens const lens{w};
    proportion::state const s{lens.view()};
    check_deserved(w, "q1", {4000 / 3.0, 8.0 * (1 << 30) / 3.0});
    CHECK(s.share(w.cluster.queue("q1")) == doctest::Approx(1.5));
    CHECK(s.share(w.cluster.queue("q2")) == 0);
    auto const order = [&](char const* a, char const* b) {
        return s.queue_order(lens[w.cluster.queue(a)], lens[w.cluster.queue(b)]);
    };
    CHECK(order("q3", "q1") < 0);
    CHECK(order("q2", "q1") > 0);
    CHECK(order("q1", "q1") == 0);
    using muster::policy::without;
    using scheduler = muster::scheduler<muster::actions<muster::action::allocate>,
                                        muster::tier<without<proportion, hook::allocatable, hook::overused,
                                                             hook::job_enqueueable, hook::job_enqueued>>>;
    CHECK(w.binds(scheduler{}.run(w.cluster)) == test::binds{{"default/p3", "n2"}});
}

// Source: likewise, TestNoDoubleCountingForInqueueJobWithBindingTasks.
TEST_CASE("proportion: what a job already holds is not claimed twice (S7)") {
    world w;
    w.node("n1", "4/8Gi");
    w.queue("q1", {.capability = amounts("4/8Gi")});
    w.job("pgA", "q1", 3, inqueue({.min_resources = amounts("3/3Gi")}));
    for (auto const* name : {"pA1", "pA2", "pA3"})
        w.pod(name, "pgA", "1/1Gi", {.status = muster::task_status::bound, .node = "n1"});
    w.job("pgB", "q1", 1, pending("1/1Gi"));
    w.pod("pB1", "pgB", "1/1Gi");
    using scheduler =
        muster::scheduler<muster::actions<muster::action::enqueue, muster::action::allocate>, muster::tier<proportion>>;
    CHECK(w.binds(scheduler{}.run(w.cluster)) == test::binds{{"default/pB1", "n1"}});
}

namespace {

/// Keeps one job out.
struct bouncer {
    std::string job{};
    [[nodiscard]] muster::vote job_enqueueable(muster::job_view j) const noexcept {
        return j.key() == job ? muster::vote::reject : muster::vote::permit;
    }
};

} // namespace

// Source: likewise, TestJobEnqueuedOnOtherPluginsReject.
TEST_CASE("proportion: a job that another policy keeps out claims nothing (S8)") {
    world w;
    w.node("n1", "4/4G");
    w.queue("q1", {.capability = amounts("1/4G")});
    w.job("pgA", "q1", 1, pending("1/1G"));
    auto const b = w.job("pgB", "q1", 1, pending("1/1G"));
    using scheduler = muster::scheduler<muster::actions<muster::action::enqueue>, muster::tier<proportion, bouncer>>;
    auto const out = scheduler{bouncer{"default/pgA"}}.run(w.cluster);
    CHECK(out.phases[w.cluster.job("default/pgA").index()] == job_phase::pending);
    CHECK(out.phases[b.index()] == job_phase::inqueue);
}

TEST_CASE("proportion: a claim leaves out what gated tasks ask for") {
    struct row {
        muster::scheduling_gate gate;
        job_phase second;
    };
    for (row const& r : {row{muster::scheduling_gate::none, job_phase::pending},
                         row{muster::scheduling_gate::queue, job_phase::pending},
                         row{muster::scheduling_gate::held, job_phase::inqueue}}) {
        world w;
        w.node("n", "9/9G");
        w.queue("q", {.capability = amounts("2/9G")});
        w.job("a", "q", 2, inqueue({.min_resources = amounts("2/1G")}));
        w.pod("a-0", "a", "1/0G", {.gate = r.gate});
        auto const b = w.job("b", "q", 1, pending("1/1G"));
        using scheduler = muster::scheduler<muster::actions<muster::action::enqueue>, muster::tier<proportion>>;
        CHECK(scheduler{}.run(w.cluster).phases[b.index()] == r.second);
    }
}

TEST_CASE("proportion: queues above what they deserve give, one task at least too many") {
    world w;
    w.node("n", "6/6G pods=100");
    w.queue("rich");
    w.queue("poor");
    w.job("jr", "rich", 1, {.phase = job_phase::running});
    w.job("jp", "poor", 1, inqueue());
    muster::column<muster::task_id> candidates;
    for (auto const* name : {"r1", "r2", "r3"}) candidates.push_back(w.pod(name, "jr", "2/1G", running("n")));
    candidates.push_back(w.pod("none", "", "0/1G", running("n")));
    auto const t = w.pod("t", "jp", "6/1G");
    test::lens const lens{w};
    proportion::state const s{lens.view()};
    check_deserved(w, "rich", {3000, 3e9});
    muster::column<muster::task_id> victims;
    CHECK(s.reclaimable(lens.view(), lens[t], candidates, victims) == muster::vote::permit);
    CHECK(w.names(victims) == std::vector<std::string>{"default/r1", "default/r2"});
}
