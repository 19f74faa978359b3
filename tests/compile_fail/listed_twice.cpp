// expect: a policy is listed twice in a tier
// expect: gang
#include <muster/policy/gang.hpp>
#include <muster/policy/priority.hpp>
#include <muster/scheduler/scheduler.hpp>

namespace policy = muster::policy;

#ifdef MENDED
using tiers =
    muster::scheduler<muster::actions<>, muster::tier<policy::gang, policy::priority>, muster::tier<policy::gang>>;
#else
using tiers = muster::scheduler<muster::actions<>, muster::tier<policy::gang, policy::priority, policy::gang>>;
#endif

auto cycle(muster::cluster const& c) { return tiers{}.run(c); }
