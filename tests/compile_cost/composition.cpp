// The umbrella and one whole composition, compiled down to code.
#include <muster/muster.hpp>

namespace action = muster::action;
namespace device = muster::device;
namespace policy = muster::policy;

using volcano_like =
    muster::scheduler<muster::actions<action::enqueue, action::allocate, action::backfill>,
                      muster::tier<policy::priority, policy::gang, policy::conformance>,
                      muster::tier<policy::drf, policy::deviceshare<device::slices>, policy::predicates,
                                   policy::proportion, policy::nodeorder, policy::binpack>>;

std::size_t cycle(muster::cluster const& c) {
    volcano_like const scheduler{policy::binpack{.weight = 5}};
    return scheduler.run(c).bound.size();
}
