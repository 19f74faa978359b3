#include <muster/scheduler/scheduler.hpp>

#include <type_traits>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <muster/policy.hpp>

#include "support/any_cluster.hpp"
#include "support/volcano_like.hpp"
#include "support/world.hpp"

using muster::job_phase;
using test::volcano_like;
using test::world;

namespace {

using namespace muster::policy;

using packs =
    muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<gang>, muster::tier<binpack, nodeorder>>;

static_assert(
    std::is_empty_v<muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<priority, gang>>>,
    "stateless policies cost nothing to carry");
static_assert(std::is_copy_constructible_v<volcano_like>);

/// Two nodes, one half full.
world halves() {
    world w;
    w.node("empty", "4/4Gi");
    w.node("half", "4/4Gi");
    w.pod("there", "", "2/2Gi", test::running("half"));
    w.queue("q");
    w.job("j", "q", 1, test::inqueue());
    w.pod("t", "j", "1/1Gi");
    return w;
}

} // namespace

TEST_CASE("scheduler: policies take their parameters, any of them, in any order") {
    auto const w = halves();
    binpack const strong{.weight = 10};
    nodeorder const off{.least_requested = 0, .balanced = 0, .taint_toleration = 0};
    CHECK(w.binds(packs{strong, off}.run(w.cluster)) == test::binds{{"default/t", "half"}});
    CHECK(w.binds(packs{off, strong}.run(w.cluster)) == test::binds{{"default/t", "half"}});
    CHECK(w.binds(packs{binpack{.weight = 0}}.run(w.cluster)) == test::binds{{"default/t", "empty"}});
}

TEST_CASE("scheduler: from pending to running, cycle by cycle") {
    world w;
    w.node("n", "4/4Gi");
    w.queue("q");
    auto const j = w.job("j", "q", 2, {.min_resources = test::amounts("2/2Gi")});
    auto const first = volcano_like{}.run(w.cluster);
    CHECK(first.phases[j.index()] == job_phase::inqueue);
    CHECK(first.conditions.empty()); // no tasks, nothing to say
    muster::task_spec a{.name = "a", .job = "default/j", .requests = test::amounts("1/1Gi")};
    muster::task_spec b{.name = "b", .job = "default/j", .requests = test::amounts("1/1Gi")};
    auto const ta = test::must(w.cluster.add_task(a));
    auto const tb = test::must(w.cluster.add_task(b));
    test::must(
        w.cluster.update_job(j, {.name = "j", .queue = "q", .min_available = 2, .phase = job_phase::inqueue}).map([] {
            return true;
        }));
    auto const second = volcano_like{}.run(w.cluster);
    CHECK(second.bound == muster::column{ta, tb});
    CHECK(second.phases[j.index()] == job_phase::inqueue); // decided is not yet handed over
    CHECK(second.conditions == muster::column<muster::condition>{{j, true, 0}});
    for (auto* spec : {&a, &b}) {
        spec->status = muster::task_status::running;
        spec->node = "n";
        CHECK(w.cluster.update_task(w.cluster.task("default/" + spec->name), *spec).has_value());
    }
    auto const third = volcano_like{}.run(w.cluster);
    CHECK(third.bound.empty());
    CHECK(third.phases[j.index()] == job_phase::running);
}

TEST_CASE("scheduler: any cycle keeps its promises, with or without a record, and again") {
    CHECK(test::holds(
        [] {
            auto const w = test::any_world();
            auto const& t = w.cluster.tables();
            auto const before = w.cluster.state();
            volcano_like const scheduler{binpack{.weight = 3}};
            auto const out = scheduler.run(w.cluster);
            auto const found = test::flaws_of_cycle(w, out.state);
            RC_LOG() << found << "\n";
            RC_ASSERT(found.empty());

            test::lens const lens{w};
            proportion::state const shares{lens.view()};
            RC_ASSERT(audit_limits(t, before, out.state, [&](muster::queue_id q, muster::dimension_id d) {
                          return shares.deserved(q)[d];
                      }).empty());

            muster::record record{.keep_candidates = true};
            auto const told = scheduler.run(w.cluster, &record);
            auto const again = scheduler.run(w.cluster);
            for (auto const* other : {&told, &again}) {
                RC_ASSERT(other->bound == out.bound);
                RC_ASSERT(other->pipelined == out.pipelined);
                RC_ASSERT(other->phases == out.phases);
                RC_ASSERT(other->conditions == out.conditions);
                RC_ASSERT(other->state.tasks == out.state.tasks);
                RC_ASSERT(other->state.shares == out.state.shares);
            }
            RC_ASSERT(w.cluster.state().tasks == before.tasks);
        },
        300));
}

TEST_CASE("scheduler: the record tells who competed, and who was chosen") {
    auto const w = halves();
    muster::record record{.keep_candidates = true};
    auto const out = packs{}.run(w.cluster, &record);
    REQUIRE(out.record.decisions.size() == 1);
    auto const& d = out.record.decisions[0];
    CHECK(d.task == w.cluster.task("default/t"));
    CHECK(d.now);
    auto const candidates = out.record.candidates_of(d);
    REQUIRE(candidates.size() == 2);
    auto const best = std::max_element(candidates.begin(), candidates.end(),
                                       [](auto const& a, auto const& b) { return a.score < b.score; });
    CHECK(best->node == d.node);
}

TEST_CASE("scheduler: a node that is alone is listed with its score, like any other") {
    auto const two = halves();
    for (auto const n : {muster::node_id{0U}, muster::node_id{1U}}) {
        CAPTURE(n.value);
        auto alone = two;
        REQUIRE(alone.cluster.remove_node(muster::node_id{1U - n.value}).has_value());
        muster::record of_two{.keep_candidates = true};
        muster::record of_one{.keep_candidates = true};
        auto const both = packs{}.run(two.cluster, &of_two);
        auto const lone = packs{}.run(alone.cluster, &of_one);
        auto const listed = lone.record.candidates_of(lone.record.decisions[0]);
        REQUIRE(listed.size() == 1);
        for (auto const& c : both.record.candidates_of(both.record.decisions[0]))
            if (c.node == n) CHECK(c.score == listed[0].score); // binpack scores a node for itself
    }
}
