#include <muster/cluster/view.hpp>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::task_status;
using test::world;

namespace {

/// A job of min 5 and the tasks of the original's test: best-effort and not, pending, pipelined, running.
muster::gang_counts counts_of(std::int32_t min) {
    world w;
    w.node("n", "4/8Gi");
    w.queue("q");
    auto const j = w.job("j", "q", min);
    for (auto const* what : {"", "100m/0"})
        for (auto const s : {task_status::pending, task_status::pipelined, task_status::running})
            w.pod(std::string{"t"} + what[0] + std::string{name_of(s)}, "j", what, {.status = s, .node = "n"});
    return muster::job_view{w.cluster.tables(), w.cluster.state(), j, muster::job_phase::inqueue}.gang();
}

} // namespace

TEST_CASE("view: a gang is ready, pipelined or starving by its counts (J2, J3)") {
    auto const five = counts_of(5);
    CHECK(five.pending_best_effort == 1);
    CHECK(!five.is_ready());
    CHECK(five.is_pipelined());
    CHECK(five.is_starving());
    auto const three = counts_of(3);
    CHECK(three.is_ready());
    CHECK(three.is_pipelined());
    CHECK(!three.is_starving());
}

TEST_CASE("view: roles are counted only if the job's minimum covers theirs") {
    struct row {
        std::int32_t min;
        bool every;
    };
    for (row const& r : {row{1, true}, row{2, true}, row{3, false}, row{4, false}}) {
        CAPTURE(r.min);
        world w;
        w.queue("q");
        auto const j = w.job("j", "q", r.min, {.min_of_role = {{"a", 1}, {"b", 2}}});
        w.pod("a-1", "j", "1/1Gi", {.role = "a"});
        w.pod("b-1", "j", "1/1Gi", {.role = "b"});
        w.pod("c-1", "j", "1/1Gi", {.role = "c"});
        muster::job_view const view{w.cluster.tables(), w.cluster.state(), j, muster::job_phase::inqueue};
        auto const pending = [&](muster::role_id role) { return std::int64_t{view.counts(role)[0]}; };
        CHECK(view.each_role(pending) == r.every);
    }
}

TEST_CASE("view: a node shows its tasks, cards and amounts") {
    world w;
    w.node("m", "1/1Gi", {.cards = {test::card("m-0", 1000)}});
    auto const n = w.node("n", "4/8Gi", {.cards = {test::card("n-0", 1000), test::card("n-1", 1000)}});
    auto const held = std::vector<muster::held_share>{{"n-1", 0, muster::mib{7}, {}}};
    w.pod("a", "", "1/1Gi", test::running("n", {.shares = held}));
    w.pod("b", "", "1/1Gi", {.status = task_status::releasing, .node = "n"});
    muster::node_view const view{w.cluster.tables(), w.cluster.state(), n};
    CHECK(view.name() == "n");
    CHECK(view.first_card() == muster::card_id{1U});
    REQUIRE(view.taken().size() == 2);
    CHECK(view.taken()[1].memory == muster::mib{7});
    CHECK(view.allocatable(muster::dimension::cpu) == 4000);
    CHECK(view.used(muster::dimension::cpu) == 2000);
    CHECK(view.idle(muster::dimension::cpu) == 2000);
    CHECK(view.future_idle(muster::dimension::cpu) == 3000);
    int tasks = 0;
    view.each_task([&](muster::task_view) { ++tasks; });
    CHECK(tasks == 2);
}
