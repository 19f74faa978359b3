// expect: parameters are given twice for one policy
// expect: binpack
#include <muster/policy/binpack.hpp>
#include <muster/scheduler/scheduler.hpp>

namespace policy = muster::policy;

using packed = muster::scheduler<muster::actions<>, muster::tier<policy::binpack>>;

#ifdef MENDED
packed const chosen{policy::binpack{.weight = 5}};
#else
packed const chosen{policy::binpack{.weight = 5}, policy::binpack{.cpu = 2}};
#endif
