// The exported functions: each row of the table becomes one.

#include <dlfcn.h>
#include <unwind.h>

#include <array>

#include <muster/ext/guarded.hpp>
#include <muster/ext/published.hpp>

#include "contexts.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "pools.hpp"

namespace muster::interposer {

namespace {

/// How many wrappers a thread is inside of.
[[gnu::tls_model("initial-exec")]] thread_local int depth = 0;

/// Marks that a thread is inside a wrapper: what the driver calls of itself meanwhile is not the application's.
class inside {
public:
    inside() noexcept : nested_(depth++ != 0) {}
    inside(inside const&) = delete;
    inside& operator=(inside const&) = delete;
    ~inside() { --depth; }
    [[nodiscard]] bool nested() const noexcept { return nested_; }

private:
    bool nested_;
};

/// This library has its own copy of the unwinder, which must have run before another one's cancellation meets it.
auto const woken = _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);

} // namespace

real_driver const& look_up_driver() noexcept {
    return ext::published(the_driver, [](real_driver& d) {
        auto* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return;
#define MUSTER_FIND(name, ...) d.name = reinterpret_cast<decltype(d.name)>(find(library, #name));
        MUSTER_ENTRIES(MUSTER_FIND)
        MUSTER_HELPERS(MUSTER_FIND)
#undef MUSTER_FIND
    });
}

std::span<row const> rows() noexcept {
#define MUSTER_ROW(name, ...)                                                                                          \
    row{#name, reinterpret_cast<void*>(&::name), [] { return reinterpret_cast<void*>(real().name); }},
    static std::array const all{MUSTER_ENTRIES(MUSTER_ROW)};
#undef MUSTER_ROW
    return all;
}

} // namespace muster::interposer

using namespace muster::interposer; // NOLINT: the rows read as what they do

#define MUSTER_EXPORT(name, parameters, arguments, ...)                                                                \
    extern "C" [[gnu::visibility("default")]] CUresult name parameters {                                               \
        inside const call;                                                                                             \
        if (real().name == nullptr) return CUDA_ERROR_NOT_SUPPORTED;                                                   \
        if (call.nested() || !session::current().on()) return real().name arguments;                                   \
        return muster::ext::guarded(CUDA_ERROR_OUT_OF_MEMORY, [&]() -> CUresult { return __VA_ARGS__; });              \
    }
MUSTER_ENTRIES(MUSTER_EXPORT)
