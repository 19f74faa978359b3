#include <muster/policy/nodeorder.hpp>

#include <doctest/doctest.h>

#include <muster/policy/gang.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/world.hpp"

using muster::policy::gang;
using muster::policy::nodeorder;
using test::world;

static_assert(muster::has_rank<nodeorder::state> && muster::has_score<nodeorder::state> &&
              muster::has_allocated<nodeorder::state> && muster::has_deallocated<nodeorder::state>);
static_assert(!muster::has_fits<nodeorder::state>);

namespace {

constexpr nodeorder off{.least_requested = 0,
                        .most_requested = 0,
                        .balanced = 0,
                        .node_affinity = 0,
                        .taint_toleration = 0,
                        .image_locality = 0};

/// What each node gets for a pod.
std::vector<double> ranks(world const& w, muster::task_id t, nodeorder const& policy) {
    test::lens const lens{w};
    std::vector<double> sums(lens.view().nodes().size());
    policy.open(lens.view()).rank(lens.view(), lens.view().nodes(), lens.shape(t), sums);
    return sums;
}

/// Where the whole scheduler puts the only pod.
std::string chosen(world& w, nodeorder const& policy, std::string_view what, muster::rules_spec rules = {}) {
    w.queue("q");
    w.job("j", "q", 1, test::inqueue());
    w.pod("p", "j", what, {.rules = std::move(rules)});
    using scheduler = muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<gang, nodeorder>>;
    return w.binds(scheduler{policy}.run(w.cluster))["default/p"];
}

muster::term_spec where(char const* label, muster::label_operator op, std::vector<std::string> values) {
    muster::term_spec term;
    term.labels.push_back({label, op, std::move(values), {}});
    return term;
}

muster::rules_spec prefers(char const* zone, std::int64_t weight = 10) {
    muster::rules_spec rules;
    rules.preferred.push_back({weight, where("zone", muster::label_operator::in, {zone})});
    return rules;
}

} // namespace

// Source: volcano, pkg/scheduler/plugins/nodeorder/nodeorder_test.go, at ed72c7c8.
TEST_CASE("nodeorder: each ranking by itself chooses as the original's (N1 to N5)") {
    auto policy = off;
    world w;
    SUBCASE("N1") {
        policy.least_requested = 1;
        w.node("n1", "2/4Gi");
        w.node("n2", "4/8Gi");
        CHECK(chosen(w, policy, "1/1G") == "n2");
    }
    SUBCASE("N2") {
        policy.most_requested = 1;
        w.node("n2", "4/8Gi");
        w.node("n1", "2/4Gi");
        CHECK(chosen(w, policy, "1/1G") == "n1");
    }
    SUBCASE("N3") {
        policy.balanced = 10;
        w.node("n2", "4/2Gi");
        w.node("n1", "2/2Gi");
        CHECK(chosen(w, policy, "1/1Gi") == "n1");
    }
    SUBCASE("N4") {
        policy.node_affinity = 10;
        w.node("n2", "4/4Gi", {.labels = {{"zone", "zone2"}}});
        w.node("n1", "4/4Gi", {.labels = {{"zone", "zone1"}}});
        CHECK(chosen(w, policy, "1/1G", prefers("zone1")) == "n1");
    }
    SUBCASE("N5") {
        policy.taint_toleration = 10;
        w.node("n2", "4/4Gi", {.taints = {{"k", "v", muster::taint_effect::prefer_no_schedule}}});
        w.node("n1", "4/4Gi");
        CHECK(chosen(w, policy, "1/1G") == "n1");
    }
}

TEST_CASE("nodeorder: least and most requested are whole numbers, and count something for pods that ask for nothing") {
    world w;
    w.node("n", "3/1000Mi");
    w.pod("there", "", "1/0", test::running("n")); // counts 200 MiB
    auto const t = w.pod("t", "", "1/300Mi");
    auto const nothing = w.pod("nothing", "", ""); // counts 100m and 200 MiB
    auto const large = w.pod("large", "", "9/1Mi");
    auto const with = [&](std::int64_t least, std::int64_t most, muster::task_id pod) {
        auto policy = off;
        policy.least_requested = least;
        policy.most_requested = most;
        return ranks(w, pod, policy)[0];
    };
    CHECK(with(1, 0, t) == (33 + 50) / 2);
    CHECK(with(0, 1, t) == (66 + 50) / 2);
    CHECK(with(1, 0, nothing) == (63 + 60) / 2);
    CHECK(with(1, 0, large) == (0 + 79) / 2);
    CHECK(with(0, 1, large) == (100 + 20) / 2);
    CHECK(with(2, 3, t) == 2 * 41 + 3 * 58);
}

TEST_CASE("nodeorder: balance is 50 where nothing changes, more where a node gets more even") {
    world w;
    w.node("cpu-heavy", "4/4Gi");
    w.node("even", "4/4Gi");
    w.pod("there", "", "2/0", test::running("cpu-heavy"));
    auto policy = off;
    policy.balanced = 1;
    CHECK(ranks(w, w.pod("memory", "", "0/2Gi"), policy) ==
          std::vector<double>{50 + (50 + 100 - 75) / 2, 50 + (50 + 75 - 100) / 2});
    CHECK(ranks(w, w.pod("even", "", "1/1Gi"), policy)[1] == 75);
    CHECK(ranks(w, w.pod("nothing", "", ""), policy) == std::vector<double>{0, 0});
}

TEST_CASE("nodeorder: affinity is scaled to the best candidate, taints to the worst") {
    world w;
    w.node("a", "4/4Gi", {.labels = {{"zone", "1"}, {"fast", "y"}}});
    w.node("b", "4/4Gi", {.labels = {{"zone", "1"}}, .taints = {{"x", "", muster::taint_effect::prefer_no_schedule}}});
    w.node("c", "4/4Gi",
           {.taints = {{"x", "", muster::taint_effect::prefer_no_schedule},
                       {"y", "", muster::taint_effect::prefer_no_schedule},
                       {"z", "", muster::taint_effect::no_schedule}}});
    muster::rules_spec rules = prefers("1", 1);
    rules.preferred.push_back({2, where("fast", muster::label_operator::exists, {})});
    auto policy = off;
    policy.node_affinity = 2;
    CHECK(ranks(w, w.pod("p", "", "1/1Gi", {.rules = rules}), policy) == std::vector<double>{200, 66, 0});
    policy = off;
    policy.taint_toleration = 3;
    CHECK(ranks(w, w.pod("q", "", "1/1Gi"), policy) == std::vector<double>{300, 150, 0});
    CHECK(ranks(w, w.pod("r", "", "1/1Gi", {.rules = {.tolerations = {{"y", {}, {}}}}}), policy) ==
          std::vector<double>{300, 0, 0});
    CHECK(ranks(w, w.pod("s", "", "1/1Gi", {.rules = {.tolerations = {{}}}}), policy) ==
          std::vector<double>{300, 300, 300});
}

TEST_CASE("nodeorder: placed pods count until they are taken back") {
    world w;
    w.node("n", "4/4Gi");
    auto const t = w.pod("t", "", "2/2Gi");
    test::lens const lens{w};
    auto policy = off;
    policy.least_requested = 1;
    auto s = policy.open(lens.view());
    auto now = w.cluster.state();
    auto const rank = [&] {
        std::vector<double> sums(1);
        s.rank(lens.view(now), lens.view().nodes(), lens.shape(t, now), sums);
        return sums[0];
    };
    CHECK(rank() == 50);
    now.move(w.cluster.tables(), t, {muster::task_status::allocated, muster::node_id{0U}, {}});
    s.allocated(lens.view(now).view(t));
    CHECK(rank() == 0);
    s.deallocated(lens.view(now).view(t));
    CHECK(rank() == 50);
}
