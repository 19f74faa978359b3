#include <muster/scheduler/scan.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <muster/policy/static_tiers.hpp>

#include "support/law.hpp"
#include "support/world.hpp"

using test::world;

namespace {

/// Refuses and scores nodes as it is told, `[node]`.
struct table {
    std::vector<bool> fit{};
    std::vector<double> value{};

    [[nodiscard]] bool fits(muster::node_view n, muster::shape_view) const noexcept { return fit[n.id().index()]; }
    [[nodiscard]] double score(muster::node_view n, muster::shape_view) const noexcept { return value[n.id().index()]; }
};

muster::pick picked(world const& w, muster::task_id t, table const& policy, bool by_amounts) {
    test::lens const lens{w};
    muster::static_tiers<muster::tier<table>> const tiers{policy};
    muster::scan scan;
    scan.open(lens.view().nodes().size());
    scan.consider(lens.view().nodes());
    return scan.run(tiers.open(lens.view()), lens.view(), lens.shape(t), by_amounts);
}

} // namespace

TEST_CASE("scan: the answer is that of the plain rule, node by node") {
    CHECK(test::holds(
        [] {
            world w;
            table policy;
            auto const nodes = *rc::gen::inRange<std::size_t>(0, 8);
            for (std::size_t n = 0; n != nodes; ++n) {
                auto const name = "n" + std::to_string(n);
                w.node(name, "2/4Gi");
                auto const load = *rc::gen::element("0/0", "1/1Gi", "2/1Gi", "3/1Gi");
                w.pod("t" + name, "", load,
                      {.status = *rc::gen::element(muster::task_status::running, muster::task_status::releasing,
                                                   muster::task_status::pipelined),
                       .node = name});
                policy.fit.push_back(*rc::gen::inRange(0, 4) != 0);
                policy.value.push_back(*rc::gen::element(0.0, -0.0, 1.0, 2.5, -3.0, std::nan(""),
                                                         std::numeric_limits<double>::infinity(),
                                                         -std::numeric_limits<double>::infinity()));
            }
            auto const task = w.pod("t", "", "1/1Gi");
            bool const by_amounts = *rc::gen::inRange(0, 2) != 0;

            test::lens const lens{w};
            muster::pick expected;
            for (bool const now : {true, false}) {
                if (expected || (!now && !by_amounts)) break;
                muster::column<muster::node_id> group;
                for (auto const n : lens.view().nodes()) {
                    auto const node = lens[n];
                    bool idle = true;
                    bool future = true;
                    for (auto const& [d, amount] : lens.shape(task).request()) {
                        idle = idle && amount <= node.idle(d);
                        future = future && amount <= node.future_idle(d);
                    }
                    bool const belongs = !by_amounts || (future && idle == now);
                    if (belongs && policy.fit[n.index()]) group.push_back(n);
                }
                if (group.size() == 1) expected = {group.front(), now}; // taken unscored
                if (group.size() < 2) continue;
                for (auto const n : group) {
                    auto const score = policy.value[n.index()];
                    if (!std::isnan(score) && (!expected || score > policy.value[expected.node.index()]))
                        expected = {n, now};
                }
            }
            auto const got = picked(w, task, policy, by_amounts);
            RC_ASSERT(got.node == expected.node);
            if (got) RC_ASSERT(got.now == expected.now);
        },
        500));
}

TEST_CASE("scan: room now beats a higher score later, and the first of equals wins") {
    world w;
    w.node("later", "1/1Gi");
    w.node("now-a", "1/1Gi");
    w.node("now-b", "1/1Gi");
    w.pod("leaving", "", "1/1Gi", {.status = muster::task_status::releasing, .node = "later"});
    auto const t = w.pod("t", "", "1/1Gi");
    auto const best = picked(w, t, {{true, true, true}, {100, 1, 1}}, true);
    CHECK(w.name(best.node) == "now-a");
    CHECK(best.now);
    auto const later = picked(w, t, {{true, false, false}, {0, 0, 0}}, true);
    CHECK(w.name(later.node) == "later");
    CHECK(!later.now);
    CHECK(!picked(w, t, {{false, false, false}, {0, 0, 0}}, true));
}
