// expect: parameters are given for a policy that no tier lists
// expect: binpack
#include <muster/policy/binpack.hpp>
#include <muster/policy/gang.hpp>
#include <muster/scheduler/scheduler.hpp>

namespace policy = muster::policy;

#ifdef MENDED
using packed = muster::scheduler<muster::actions<>, muster::tier<policy::gang>, muster::tier<policy::binpack>>;
#else
using packed = muster::scheduler<muster::actions<>, muster::tier<policy::gang>>;
#endif

packed const chosen{policy::binpack{.weight = 5}};
