// The umbrella and one whole composition, compiled down to code.
#include <muster/muster.hpp>

using namespace muster;

using volcano_like = scheduler<actions<action::enqueue, action::allocate, action::backfill>,
                               tier<policy::priority, policy::gang, policy::conformance>,
                               tier<policy::drf, policy::deviceshare<device::slices>, policy::predicates,
                                    policy::proportion, policy::nodeorder, policy::binpack>>;

std::size_t cycle(cluster const& c) {
    volcano_like const scheduler{policy::binpack{.weight = 5}};
    return scheduler.run(c).bound.size();
}
