#include <muster/scheduler/actions/enqueue.hpp>

#include <doctest/doctest.h>

#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/world.hpp"

using muster::job_phase;
using test::world;

// Scenarios E: volcano, pkg/scheduler/actions/enqueue/enqueue_test.go, at ed72c7c8 (spec/volcano-core.md 9), without
// policy sla.

namespace {

namespace hook = muster::hook;
using namespace muster::policy;

using enqueues = muster::scheduler<muster::actions<muster::action::enqueue>, muster::tier<drf, proportion, gang>>;

job_phase phase(world const& w, char const* job) {
    auto const out = enqueues{}.run(w.cluster);
    return out.phases[w.cluster.job(job).index()];
}

muster::queue_spec capable(char const* what) { return {.capability = test::amounts(what)}; }

} // namespace

TEST_CASE("enqueue: a job that is in stays in (E1)") {
    world w;
    w.queue("c1", capable("4/4G"));
    w.job("c1/pg1", "c1", 2, test::inqueue());
    w.pod("c1/p1", "c1/pg1", "1/1G");
    w.pod("c1/p2", "c1/pg1", "1/1G");
    CHECK(phase(w, "c1/pg1") == job_phase::inqueue);
}

TEST_CASE("enqueue: jobs without minimum resources are let in unasked (E2)") {
    world w;
    w.queue("c1", capable("1/1G"));
    w.queue("c2", {.open = false});
    w.job("c1/pg1", "c1", 1);
    w.job("c1/pg2", "c2", 1);
    w.pod("c1/p1", "c1/pg1", "3/1G");
    w.pod("c1/p2", "c1/pg2", "1/1G");
    CHECK(phase(w, "c1/pg1") == job_phase::inqueue);
    CHECK(phase(w, "c1/pg2") == job_phase::inqueue);
}

TEST_CASE("enqueue: a running job is left alone (E3)") {
    world w;
    w.queue("c1");
    w.job("c1/pg1", "c1", 2, {.phase = job_phase::running});
    w.pod("c1/p1", "c1/pg1", "1/1G", test::running(""));
    w.pod("c1/p2", "c1/pg1", "1/1G", test::running(""));
    CHECK(phase(w, "c1/pg1") == job_phase::running);
}

TEST_CASE("enqueue: a job whose queue is missing takes no part (E4)") {
    world w;
    w.queue("c2");
    w.job("c1/pg1", "c1", 0);
    auto const out = enqueues{}.run(w.cluster);
    CHECK(out.jobs.empty());
    CHECK(out.phases[0] == job_phase::pending);
}

TEST_CASE("enqueue: a job that asks for more than its queue may hold waits, and says why (E5)") {
    world w;
    w.queue("c1", capable("1/1G"));
    w.job("c1/pg1", "c1", 1, {.min_resources = test::amounts("8/8G")});
    CHECK(phase(w, "c1/pg1") == job_phase::pending);
    muster::record record;
    auto const out = enqueues{}.run(w.cluster, &record);
    REQUIRE(out.record.refusals.size() == 1);
    auto const why = out.record.why(out.record.refusals[0]);
    REQUIRE(why.size() == 2);
    CHECK(why[0].code == muster::reason_code::queue_quota);
    CHECK(why[0].dimension == muster::dimension::cpu);
    CHECK(why[0].asked == 8000);
    CHECK(why[0].limit == 0); // without nodes there is nothing to hold
    CHECK(why[1].dimension == muster::dimension::memory);
}

TEST_CASE("enqueue: a job that is refused does not hold up the next, and those let in count") {
    world w;
    w.node("n", "9/9G");
    w.queue("q", capable("3/3G"));
    struct row {
        char const* job;
        char const* asks;
        job_phase phase;
    };
    std::vector<row> const rows{
        {"a", "2/1G", job_phase::inqueue}, {"b", "2/1G", job_phase::pending}, {"c", "1/1G", job_phase::inqueue}};
    std::int64_t created = 0;
    for (row const& r : rows) w.job(r.job, "q", 1, {.created = created++, .min_resources = test::amounts(r.asks)});
    auto const out = enqueues{}.run(w.cluster);
    for (row const& r : rows) CHECK(out.phases[w.cluster.job(std::string{"default/"} + r.job).index()] == r.phase);
}
