#pragma once

/// \file
/// The composition of a common volcano-scheduler.conf, as a type.

#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>

namespace test {

using every_action = muster::actions<muster::action::enqueue, muster::action::allocate, muster::action::backfill>;

using volcano_like = muster::scheduler<
    every_action, muster::tier<muster::policy::priority, muster::policy::gang, muster::policy::conformance>,
    muster::tier<muster::policy::drf, muster::policy::deviceshare<muster::device::slices>, muster::policy::predicates,
                 muster::policy::proportion, muster::policy::nodeorder, muster::policy::binpack>>;

} // namespace test
