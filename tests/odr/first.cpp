// One of two files that include the umbrella and are linked together.
#include <muster/muster.hpp>

#include "order.hpp"

#include <cstdio>

std::size_t bound_by_first() {
    muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<muster::policy::gang>> const s;
    return s.run(muster::cluster{}).bound.size();
}

int main() {
    if (bound_by_first() == bound_by_second()) return 0;
    std::puts("the two files decide differently");
    return 1;
}
