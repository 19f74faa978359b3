#include <muster/policy/predicates.hpp>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::reason_code;
using muster::policy::predicates;
using test::world;

static_assert(muster::has_fits<predicates::state> && muster::has_explain_fits<predicates::state>);
static_assert(!muster::has_score<predicates::state>);

namespace {

constexpr muster::node_id n{0U};

bool fits(world const& w, muster::task_id t, predicates const& policy = {}) {
    test::lens const lens{w};
    return policy.open(lens.view()).fits(lens[n], lens.shape(t));
}

std::vector<reason_code> why(world const& w, muster::task_id t) {
    test::lens const lens{w};
    muster::reasons found;
    predicates{}.open(lens.view()).explain_fits(lens[n], lens.shape(t), found);
    std::vector<reason_code> codes;
    for (auto const& r : found) codes.push_back(r.code);
    return codes;
}

} // namespace

TEST_CASE("predicates: a node takes so many pods, whatever their state") {
    for (auto const& [pods, room] : {std::pair{"pods=3", true}, {"pods=2", false}, {"pods=0", false}}) {
        world w;
        w.node("n", std::string{"4/4Gi "} + pods);
        w.pod("a", "", "", test::running("n"));
        w.pod("b", "", "", {.status = muster::task_status::releasing, .node = "n"});
        CHECK(fits(w, w.pod("t", "", "")) == room);
    }
}

TEST_CASE("predicates: selector, affinity, taints and cordon") {
    using muster::taint_effect;
    muster::term_spec const in_a{.labels = {{"zone", muster::label_operator::in, {"a"}, {}}}};
    muster::term_spec const in_b{.labels = {{"zone", muster::label_operator::in, {"b"}, {}}}};
    muster::term_spec const here{.fields = {{"metadata.name", muster::label_operator::in, {"n"}, {}}}};
    struct row {
        char const* name;
        muster::node_spec node;
        muster::rules_spec rules;
        bool fits;
    };
    muster::node_spec const plain{};
    muster::node_spec const in_zone{.labels = {{"zone", "a"}}};
    muster::node_spec const tainted{.taints = {{"gpu", "yes", taint_effect::no_schedule}}};
    muster::node_spec const evicting{.taints = {{"gpu", "yes", taint_effect::no_execute}}};
    muster::node_spec const soft{.taints = {{"gpu", "yes", taint_effect::prefer_no_schedule}}};
    muster::node_spec const cordoned{.unschedulable = true};
    for (row const& r : {
             row{"nothing asked", plain, {}, true},
             row{"selector met", in_zone, {.selector = {{"zone", "a"}}}, true},
             row{"selector missed", in_zone, {.selector = {{"zone", "b"}}}, false},
             row{"label missing", plain, {.selector = {{"zone", "a"}}}, false},
             row{"both needed", in_zone, {.selector = {{"zone", "a"}, {"x", "y"}}}, false},
             row{"one term is enough", in_zone, {.required = {{in_b, in_a}}}, true},
             row{"no term met", in_zone, {.required = {{in_b}}}, false},
             row{"by name", plain, {.required = {{here}}}, true},
             row{"no terms at all", plain, {.required = std::vector<muster::term_spec>{}}, false},
             row{"selector and affinity", in_zone, {.selector = {{"zone", "a"}}, .required = {{in_b}}}, false},
             row{"taint", tainted, {}, false},
             row{"tolerated", tainted, {.tolerations = {{"gpu", {}, {}}}}, true},
             row{"another value", tainted, {.tolerations = {{"gpu", "no", {}}}}, false},
             row{"another effect", evicting, {.tolerations = {{"gpu", {}, taint_effect::no_schedule}}}, false},
             row{"soft taint", soft, {}, true},
             row{"cordoned", cordoned, {}, false},
             row{"cordon tolerated", cordoned, {.tolerations = {{"node.kubernetes.io/unschedulable", {}, {}}}}, true},
             row{"all tolerated", cordoned, {.tolerations = {{}}}, true},
         }) {
        CAPTURE(r.name);
        world w;
        w.node("n", "4/4Gi", r.node);
        CHECK(fits(w, w.pod("t", "", "1/1Gi", {.rules = r.rules})) == r.fits);
    }
}

TEST_CASE("predicates: a host port is given once") {
    world w;
    w.node("n", "4/4Gi");
    w.pod("there", "", "", test::running("n", {.rules = {.ports = {{"10.0.0.1", "TCP", 80}}}}));
    CHECK(!fits(w, w.pod("same", "", "", {.rules = {.ports = {{"10.0.0.1", "TCP", 80}}}})));
    CHECK(!fits(w, w.pod("any", "", "", {.rules = {.ports = {{"0.0.0.0", "TCP", 80}}}})));
    CHECK(fits(w, w.pod("udp", "", "", {.rules = {.ports = {{"10.0.0.1", "UDP", 80}}}})));
    CHECK(fits(w, w.pod("other", "", "", {.rules = {.ports = {{"10.0.0.2", "TCP", 80}}}})));
}

TEST_CASE("predicates: each check but pods and cordon can be switched off") {
    world w;
    w.node("n", "4/4Gi", {.taints = {{"gpu", "", muster::taint_effect::no_schedule}}});
    w.pod("there", "", "", test::running("n", {.rules = {.ports = {{"0.0.0.0", "TCP", 80}}}}));
    auto const t = w.pod("t", "", "", {.rules = {.selector = {{"a", "b"}}, .ports = {{"0.0.0.0", "TCP", 80}}}});
    CHECK(fits(w, t, {.node_affinity = false, .ports = false, .taints = false}));
    CHECK(!fits(w, t, {.ports = false, .taints = false}));
    CHECK(!fits(w, t, {.node_affinity = false, .taints = false}));
    CHECK(!fits(w, t, {.node_affinity = false, .ports = false}));
}

// Source: volcano, pkg/scheduler/plugins/predicates/predicates_test.go, at ed72c7c8.
TEST_CASE("predicates: reasons come in a fixed order, and a full node hides none (PR4)") {
    auto const reasons_of = [](bool cordoned, bool labelled, bool tainted, char const* pods) {
        world w;
        muster::node_spec spec{.unschedulable = cordoned};
        if (labelled) spec.labels = {{"zone", "a"}};
        if (tainted) spec.taints = {{"gpu", "", muster::taint_effect::no_schedule}};
        w.node("n", std::string{"4/4Gi "} + pods, spec);
        w.pod("there", "", "", test::running("n", {.rules = {.ports = {{"0.0.0.0", "TCP", 80}}}}));
        return why(w, w.pod("t", "", "", {.rules = {.selector = {{"zone", "a"}}, .ports = {{"0.0.0.0", "TCP", 80}}}}));
    };
    using codes = std::vector<reason_code>;
    CHECK(reasons_of(true, false, true, "pods=1") == codes{reason_code::pod_count, reason_code::unschedulable});
    CHECK(reasons_of(false, false, true, "pods=9") == codes{reason_code::node_affinity});
    CHECK(reasons_of(false, true, true, "pods=9") == codes{reason_code::untolerated});
    CHECK(reasons_of(false, true, false, "pods=1") == codes{reason_code::pod_count, reason_code::port_taken});
}
