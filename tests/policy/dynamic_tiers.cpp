#include <muster/policy/dynamic_tiers.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/policy.hpp>
#include <muster/policy/static_tiers.hpp>

#include "support/world.hpp"

namespace {

namespace hook = muster::hook;
using namespace muster::policy;

/// The tiers of the policies that answer a hook.
template <class Hook>
std::string walked(muster::dynamic_tiers const& tiers) {
    muster::cluster const nothing;
    test::lens const lens{nothing};
    std::string seen;
    tiers.open(lens.view()).walk<Hook>([&](muster::erased_state const&, std::size_t tier) {
        seen += std::to_string(tier);
        return true;
    });
    return seen;
}

} // namespace

TEST_CASE("dynamic_tiers: an erased state has the hooks of its policy") {
    muster::cluster const nothing;
    test::lens const lens{nothing};
    auto const hooks = muster::erased_policy{priority{}}.open(lens.view())->hooks();
    CHECK(hooks == (muster::hook_bit<hook::job_order> | muster::hook_bit<hook::task_order> |
                    muster::hook_bit<hook::job_starving> | muster::hook_bit<hook::preemptable>));
}

TEST_CASE("dynamic_tiers: policies are walked in order, each with its tier") {
    muster::dynamic_tiers tiers;
    tiers.add(0, muster::erased_policy{gang{}});
    tiers.add(0, muster::erased_policy{predicates{}});
    tiers.add(2, muster::erased_policy{priority{}});
    tiers.add(2, muster::erased_policy{drf{}});
    CHECK(walked<hook::job_order>(tiers) == "022");
    CHECK(walked<hook::fits>(tiers) == "0");
    CHECK(walked<hook::score>(tiers) == "");
}

TEST_CASE("dynamic_tiers: a mask switches hooks off, as a type's does") {
    muster::dynamic_tiers tiers;
    tiers.add(0, muster::erased_policy{gang{}, muster::every_hook & ~muster::hook_bit<hook::job_order>});
    tiers.add(1, muster::erased_policy{without<gang, hook::job_order>{}});
    CHECK(walked<hook::job_order>(tiers) == "");
    CHECK(walked<hook::job_ready>(tiers) == "01");
}
