// expect: this hook is not as policy/hooks.hpp states it
// expect: hook::score
// expect: hasty
#include <muster/scheduler/scheduler.hpp>

struct hasty {
    double score(muster::node_view, muster::shape_view) const
#ifdef MENDED
        noexcept
#endif
    {
        return 1;
    }
};

template class muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<hasty>>;
