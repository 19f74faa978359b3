// A consumer with habits of its own: an old cast, a shadowed name, an unused parameter.
#include <muster/muster.hpp>

#include <cstdio>

namespace policy = muster::policy;

using packed = muster::scheduler<muster::actions<muster::action::allocate>,
                                 muster::tier<policy::gang, policy::predicates, policy::binpack>>;

static int rounded(double x, int) {
    int const whole = (int)x;
    {
        int const whole = 0;
        (void)whole;
    }
    return whole;
}

int main() {
    packed const scheduler{policy::binpack{.weight = 5}};
    auto const bound = scheduler.run(muster::cluster{}).bound.size();
    std::printf("muster %d.%d.%d bound %zu\n", muster::version_major, muster::version_minor, muster::version_patch,
                bound);
    return rounded(static_cast<double>(bound), 0);
}
