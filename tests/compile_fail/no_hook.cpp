// expect: this policy has no hook of policy/hooks.hpp
// expect: bystander
#include <muster/scheduler/scheduler.hpp>

struct bystander {
    int patience = 3;
#ifdef MENDED
    int job_order(muster::job_view, muster::job_view) const noexcept { return 0; }
#endif
};

template class muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<bystander>>;
