// expect: this hook is not as policy/hooks.hpp states it
// expect: hook::fits
// expect: clumsy
#include <muster/scheduler/scheduler.hpp>

struct clumsy {
#ifdef MENDED
    bool fits(muster::node_view, muster::shape_view) const noexcept { return true; }
#else
    bool fits(muster::node_view, muster::task_view) const noexcept { return true; }
#endif
    bool job_valid(muster::job_view) const noexcept { return true; }
};

template class muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<clumsy>>;
