#include <muster/scheduler/dynamic_scheduler.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/any_cluster.hpp"
#include "support/same_outcome.hpp"
#include "support/volcano_like.hpp"
#include "support/world.hpp"

namespace {

using namespace muster::policy;
using shares = deviceshare<muster::device::slices>;

binpack const packing{.weight = 2, .cpu = 3, .resources = {{"nvidia.com/gpu", 5}}};
shares const sharing{.order = "binpack", .weight = 10};

muster::action_list all_actions() {
    muster::action_list list;
    list.add(muster::action::enqueue{});
    list.add(muster::action::allocate{});
    list.add(muster::action::backfill{});
    return list;
}

/// The same composition as a type and as a value.
template <class... Tiers, class... Given>
void demand_equal_outcomes(muster::dynamic_tiers tiers, Given const&... given) {
    muster::scheduler<test::every_action, Tiers...> const as_type{given...};
    muster::dynamic_scheduler const as_value{all_actions(), std::move(tiers)};
    CHECK(test::holds(
        [&] {
            auto const w = test::any_world();
            muster::record of_type{.keep_candidates = true};
            muster::record of_value{.keep_candidates = true};
            auto const a = as_type.run(w.cluster, &of_type);
            auto const b = as_value.run(w.cluster, &of_value);
            test::demand_same(a, b);
            for (auto const* out : {&a, &b}) RC_ASSERT(test::flaws_of_cycle(w, out->state).empty());
        },
        200));
}

} // namespace

TEST_CASE("dynamic_scheduler: a composition decides the same as a type and as a value") {
    muster::dynamic_tiers tiers;
    for (auto policy :
         {muster::erased_policy{priority{}}, muster::erased_policy{gang{}}, muster::erased_policy{conformance{}}})
        tiers.add(0, policy);
    for (auto policy :
         {muster::erased_policy{drf{}}, muster::erased_policy{sharing}, muster::erased_policy{predicates{}},
          muster::erased_policy{proportion{}}, muster::erased_policy{nodeorder{}}, muster::erased_policy{packing}})
        tiers.add(1, policy);
    demand_equal_outcomes<muster::tier<priority, gang, conformance>,
                          muster::tier<drf, shares, predicates, proportion, nodeorder, binpack>>(std::move(tiers),
                                                                                                 packing, sharing);
}

TEST_CASE("dynamic_scheduler: other orders of policies, and hooks switched off, as well") {
    using quiet = without<proportion, muster::hook::allocatable, muster::hook::overused>;
    muster::dynamic_tiers tiers;
    tiers.add(0, muster::erased_policy{nodeorder{}});
    tiers.add(0, muster::erased_policy{proportion{}, quiet::mask});
    tiers.add(1, muster::erased_policy{predicates{}});
    tiers.add(1, muster::erased_policy{gang{}});
    tiers.add(2, muster::erased_policy{shares{}});
    tiers.add(2, muster::erased_policy{nodeorder{}});
    demand_equal_outcomes<muster::tier<nodeorder, quiet>, muster::tier<predicates, gang>,
                          muster::tier<shares, nodeorder>>(std::move(tiers));
}

TEST_CASE("dynamic_scheduler: a list of actions knows whether it lets jobs in") {
    CHECK(all_actions().enqueues());
    muster::action_list list;
    list.add(muster::action::allocate{});
    CHECK(!list.enqueues());
}
