// expect: policies are listed in tiers
// expect: gang
#include <muster/policy/gang.hpp>
#include <muster/scheduler/scheduler.hpp>

#ifdef MENDED
using bare = muster::scheduler<muster::actions<>, muster::tier<muster::policy::gang>>;
#else
using bare = muster::scheduler<muster::actions<>, muster::policy::gang>;
#endif

bare const chosen{};
