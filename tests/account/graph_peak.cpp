#include <muster/account/graph_peak.hpp>

#include <vector>

#include <doctest/doctest.h>

using muster::account::add_peak;
using muster::account::graph_edge;
using muster::account::graph_step;
using muster::account::takings;

namespace {

takings peak(std::vector<graph_step> const& steps, std::vector<graph_edge> const& edges) {
    takings t;
    add_peak(steps, edges, t);
    return t;
}

} // namespace

TEST_CASE("graph peak: in a chain, what is freed can be taken again, in whatever order its nodes are told") {
    std::vector<graph_step> const steps{
        {3, 200, 0, 50}, {1, 100, 0, 70}, {4, 200, 0, 0}, {2, 100, 0, 0}, {5, 300, 1, 9}};
    std::vector<graph_edge> const edges{{2, 3}, {1, 2}, {4, 5}, {3, 4}};
    CHECK(peak(steps, edges) == takings{{0, 70}, {1, 9}});
    CHECK(peak({{1, 100, 0, 70}, {2, 200, 0, 50}, {3, 100, 0, 0}, {4, 300, 0, 60}}, {{1, 2}, {2, 3}, {3, 4}}) ==
          takings{{0, 120}});
}

TEST_CASE("graph peak: what isn't a chain may take all at once") {
    std::vector<graph_step> const steps{{1, 100, 0, 70}, {2, 100, 0, 0}, {3, 200, 0, 50}, {4, 0, 0, 0}};
    CHECK(peak(steps, {{1, 2}, {1, 3}, {2, 4}, {3, 4}}) == takings{{0, 120}});
    CHECK(peak(steps, {{1, 2}, {1, 3}, {3, 4}}) == takings{{0, 120}}); // a tree
    CHECK(peak(steps, {{1, 2}, {3, 4}, {3, 4}}) == takings{{0, 120}}); // two parts
    CHECK(peak(steps, {{2, 3}, {3, 2}, {1, 4}}) == takings{{0, 120}}); // a ring beside
    CHECK(peak({}, {}).empty());
    CHECK(peak({{1, 0, 0, 0}}, {}).empty());
    CHECK(peak({{1, 100, 0, 5}}, {}) == takings{{0, 5}});
    CHECK(peak({{1, 100, 0, 0}}, {}).empty()); // frees what another graph took
}
