#include <muster/policy/binpack.hpp>

#include <vector>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::policy::binpack;
using test::world;

static_assert(muster::has_score<binpack::state>);
static_assert(!muster::has_fits<binpack::state> && !muster::has_rank<binpack::state>);

// Source: volcano, pkg/scheduler/plugins/binpack/binpack_test.go, TestNode, at ed72c7c8.
TEST_CASE("binpack: scores of the original's test (BP1, BP2)") {
    world w;
    w.node("n1", "2/4Gi");
    w.node("n2", "4/16Gi nvidia.com/gpu=4");
    w.node("n3", "2/4Gi example.com/foo=16");
    w.pod("r1", "", "1/1Gi", test::running("n1"));
    w.pod("r2", "", "1500m/0", test::running("n3"));
    muster::column<muster::task_id> const pods{w.pod("p1", "", "1/1Gi"), w.pod("p2", "", "1500m/0"),
                                               w.pod("p3", "", "2/10Gi nvidia.com/gpu=2"),
                                               w.pod("p4", "", "3/4Gi example.com/foo=3")};
    struct row {
        binpack policy;
        std::vector<std::vector<double>> scores; ///< `[pod][node]`
    };
    std::vector<row> const rows{
        {{.weight = 10, .cpu = 2, .memory = 3, .resources = {{"nvidia.com/gpu", 7}, {"example.com/foo", 8}}},
         {{700, 137.5, 0}, {0, 375, 0}, {0, 531.25, 0}, {0, 173.076923076, 0}}},
        {{.weight = 1, .cpu = 1, .memory = 1, .resources = {{"nvidia.com/gpu", 23}}},
         {{75, 15.625, 0}, {0, 37.5, 0}, {0, 50.5, 0}, {0, 50, 0}}},
    };
    for (row const& r : rows) {
        test::lens const lens{w};
        auto const s = r.policy.open(lens.view());
        for (std::size_t p = 0; p != pods.size(); ++p)
            for (std::size_t n = 0; n != 3; ++n) {
                CAPTURE(p);
                CAPTURE(n);
                CHECK(s.score(lens[muster::node_id{n}], lens.shape(pods[p])) ==
                      doctest::Approx(r.scores[p][n]).epsilon(1e-9));
            }
    }
}

TEST_CASE("binpack: a full node scores all, an overfull one nothing") {
    world w;
    auto const n = w.node("n", "4/4Gi");
    auto const exact = w.pod("exact", "", "4/4Gi");
    auto const more = w.pod("more", "", "4001m/1Gi");
    auto const nothing = w.pod("nothing", "", "");
    test::lens const lens{w};
    auto const s = binpack{.weight = 5}.open(lens.view());
    CHECK(s.score(lens[n], lens.shape(exact)) == 500);
    CHECK(s.score(lens[n], lens.shape(more)) == 0);
    CHECK(s.score(lens[n], lens.shape(nothing)) == 0);
    CHECK(binpack{.weight = 0}.open(lens.view()).score(lens[n], lens.shape(exact)) == 0);
}
