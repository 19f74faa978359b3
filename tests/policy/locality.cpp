#include <muster/policy/hooks.hpp>

#include <cstdint>

#include <doctest/doctest.h>

#include <muster/muster.hpp>

using namespace muster;

namespace {

struct reads_all {
    [[nodiscard]] double score(node_view, shape_view) const noexcept { return 0; }
};

cluster two_nodes(bool repelling) {
    cluster c;
    (void)c.add_queue({.name = "default"});
    for (auto const* name : {"n1", "n2"}) {
        node_spec node{.name = name,
                       .allocatable = {{"cpu", quantity::from_units(4)}, {"pods", quantity::from_units(9)}}};
        if (repelling) node.taints.push_back({"spot", "", taint_effect::prefer_no_schedule});
        (void)c.add_node(node);
    }
    (void)c.add_job({.name = "j"});
    (void)c.add_task({.name = "t", .job = "default/j", .requests = {{"cpu", quantity::from_units(1)}}});
    return c;
}

template <class... Ps>
locality reads(cluster const& c) {
    return scheduler<actions<action::allocate>, tier<policy::gang>, tier<Ps...>>{}.open(c).reads(c.task("default/t"));
}

} // namespace

TEST_CASE("locality: a composition reads as far as the farthest of its policies") {
    auto const plain = two_nodes(false);
    CHECK(reads<policy::predicates, policy::binpack>(plain) == locality::node);
    CHECK(reads<policy::predicates, policy::nodeorder>(plain) == locality::node);
    CHECK(reads<policy::predicates, reads_all>(plain) == locality::cluster);
    CHECK(reads<policy::nodeorder>(two_nodes(true)) == locality::candidates);
}

TEST_CASE("locality: a verdict on one node tells room and score") {
    auto const c = two_nodes(false);
    scheduler<actions<action::allocate>, tier<policy::predicates, policy::binpack>> const s;
    auto session = s.open(c);
    auto const task = c.task("default/t");
    auto const before = session.judge(task, c.node("n1"));
    CHECK(before.has == verdict::room::now);
    CHECK(before.score == 25.0);
    CHECK(session.one(task).has_value());
    CHECK(session.release(task).has_value());
    CHECK(session.judge(task, c.node("n1")).score == before.score);
}
