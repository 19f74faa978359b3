// The other one: the same composition, so that both have the same templates, and another header first.
#include <muster/version.hpp>

#include <muster/muster.hpp>

#include "order.hpp"

std::size_t bound_by_second() {
    muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<muster::policy::gang>> const s;
    return s.run(muster::cluster{}).bound.size();
}
