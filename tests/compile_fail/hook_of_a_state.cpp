// expect: this hook is not as policy/hooks.hpp states it
// expect: hook::allocated
// expect: ledger
#include <muster/scheduler/scheduler.hpp>

struct ledger {
    struct state {
        std::size_t seen = 0;
#ifdef MENDED
        void allocated(muster::task_view) noexcept { ++seen; }
#else
        bool allocated(muster::task_view) noexcept { return ++seen != 0; }
#endif
    };
    [[nodiscard]] state open(muster::session_view) const { return {}; }
};

template class muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<ledger>>;
