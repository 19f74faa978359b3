#include <muster/policy/priority.hpp>

#include <limits>
#include <type_traits>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::policy::priority;
using test::world;

static_assert(muster::has_job_order<priority> && muster::has_task_order<priority> &&
              muster::has_job_starving<priority> && muster::has_preemptable<priority>);
static_assert(!muster::has_reclaimable<priority> && !muster::has_fits<priority>);
static_assert(std::is_empty_v<priority>);

TEST_CASE("priority: the higher comes first, whatever lies between") {
    constexpr auto top = std::numeric_limits<std::int32_t>::max();
    constexpr auto bottom = std::numeric_limits<std::int32_t>::min();
    struct row {
        std::int32_t a, b;
        int order;
    };
    for (row const& r : {row{2, 1, -1}, row{1, 2, 1}, row{1, 1, 0}, row{top, bottom, -1}, row{bottom, top, 1}}) {
        world w;
        w.queue("q");
        auto const ja = w.job("a", "q", 1, {.priority = r.a});
        auto const jb = w.job("b", "q", 1, {.priority = r.b});
        auto const ta = w.pod("a", "a", "", {.priority = r.a});
        auto const tb = w.pod("b", "a", "", {.priority = r.b});
        test::lens const lens{w};
        CHECK(priority{}.job_order(lens[ja], lens[jb]) == r.order);
        CHECK(priority{}.task_order(lens[ta], lens[tb]) == r.order);
    }
}

TEST_CASE("priority: a job with tasks left to place is starving") {
    using enum muster::task_status;
    for (auto const& [status, starving] :
         {std::pair{pending, true}, {pipelined, false}, {running, false}, {failed, true}}) {
        world w;
        w.node("n", "1/1Gi");
        w.queue("q");
        auto const j = w.job("j", "q", 1);
        w.pod("t", "j", "", {.status = status, .node = "n"});
        CHECK(priority{}.job_starving(test::lens{w}[j]) == starving);
    }
}

TEST_CASE("priority: lower jobs go for a higher one, within a job lower tasks") {
    world w;
    w.node("n", "9/9Gi");
    w.queue("q");
    w.job("low", "q", 1, {.priority = 1});
    w.job("high", "q", 1, {.priority = 9});
    muster::column<muster::task_id> const candidates{
        w.pod("low-urgent", "low", "", test::running("n", {.priority = 1000})),
        w.pod("high-lazy", "high", "", test::running("n", {.priority = 1})),
        w.pod("high-equal", "high", "", test::running("n", {.priority = 5})),
        w.pod("stranger", "", "", test::running("n")),
    };
    auto const preemptor = w.pod("p", "high", "", {.priority = 5});
    auto const loner = w.pod("loner", "", "", {.priority = 5});
    test::lens const lens{w};
    muster::column<muster::task_id> victims;
    CHECK(priority{}.preemptable(lens.view(), lens[preemptor], candidates, victims) == muster::vote::permit);
    CHECK(w.names(victims) == std::vector<std::string>{"default/low-urgent", "default/high-lazy"});
    victims.clear();
    CHECK(priority{}.preemptable(lens.view(), lens[loner], candidates, victims) == muster::vote::permit);
    CHECK(victims.empty());
}
