#include <muster/workload/synthetic.hpp>

#include <doctest/doctest.h>

#include <muster/cluster/audit.hpp>

namespace workload = muster::workload;

static_assert(workload::random_numbers{1}.next() == 0x910a2dec89025cc1U, "splitmix64's first number of seed 1");
static_assert(workload::random_numbers{7}.below(1) == 0);

TEST_CASE("synthetic: a cluster has what its measures say") {
    auto const c = workload::make_cluster({.nodes = 5, .cards = 8, .gangs = 3, .gang_size = 10});
    auto const& t = c.tables();
    CHECK(t.nodes.size() == 5);
    CHECK(t.cards.size() == 40);
    CHECK(t.jobs.size() == 3);
    for (auto const& job : t.jobs) CHECK(job.tasks.size() == 10);
    CHECK(c.task("default/gang-2-9"));
}

TEST_CASE("synthetic: the same seed gives the same cluster, another one does not") {
    auto const first = workload::make_cluster({.seed = 3});
    auto const again = workload::make_cluster({.seed = 3});
    auto const other = workload::make_cluster({.seed = 4});
    CHECK(first.state().idle == again.state().idle);
    CHECK(first.tables().tasks.size() == again.tables().tasks.size());
    CHECK(first.state().idle != other.state().idle);
}

TEST_CASE("synthetic: what runs fits its nodes and cards") {
    for (std::uint64_t const seed : {1U, 2U, 3U}) {
        CAPTURE(seed);
        auto const c = workload::make_cluster({.seed = seed, .nodes = 50, .running = 8, .gangs = 1});
        CHECK(muster::audit(c).empty());
    }
}
