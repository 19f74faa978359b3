#include "policy/laws.hpp"

#include <doctest/doctest.h>

#include <muster/policy.hpp>

namespace {

using namespace muster::policy;
using shares = deviceshare<muster::device::slices>;

/// A policy with parameters under which all of it works.
template <class Policy>
Policy set_up() {
    if constexpr (std::is_same_v<Policy, binpack>)
        return {.weight = 3, .cpu = 2, .memory = 5, .resources = {{"nvidia.com/gpu", 7}}};
    else if constexpr (std::is_same_v<Policy, nodeorder>)
        return {.most_requested = 2};
    else if constexpr (std::is_same_v<Policy, shares>)
        return {.order = "binpack", .weight = 10, .exclusive = {{{"app", "a"}}}};
    else
        return {};
}

} // namespace

TEST_CASE_TEMPLATE("laws: every policy", Policy, priority, gang, conformance, drf, shares, predicates, proportion,
                   nodeorder, binpack) {
    auto const policy = set_up<Policy>();
    static_assert(muster::detail::has_well_formed_hooks<Policy>);
    CHECK(test::holds([&] { test::law_asking_twice(policy); }));
    CHECK(test::holds([&] { test::law_release_undoes_allocate(policy); }));
    CHECK(test::law_without<Policy>());
}
