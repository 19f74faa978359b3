#pragma once

// Memory that nobody announces: contexts, code and its globals, local memory. NVML says what the process has in all;
// where it can't, the card has less of it afterwards.

#include "driver.hpp"

#include "launch.hpp"
#include "memory.hpp"
#include "pools.hpp"

namespace muster::interposer {

/// What the current device has left.
[[nodiscard]] inline std::size_t free_memory() noexcept {
    std::size_t free = 0;
    std::size_t total = 0;
    return ask(real().cuMemGetInfo_v2, &free, &total) ? free : 0;
}

/// Whether a device's primary context is there, as far as the driver tells.
[[nodiscard]] inline bool is_active(CUdevice device) noexcept {
    unsigned int flags = 0;
    int active = 0;
    return !ask(real().cuDevicePrimaryCtxGetState, device, &flags, &active) || active != 0;
}

/// A context is counted and never refused: what it takes leaves less for the rest.
template <class Call>
[[nodiscard]] CUresult context_made(CUdevice device, Call call) {
    auto& s = session::current();
    auto const before = s.others_on(device);
    auto const result = call();
    if (result == CUDA_SUCCESS) s.context_made(device, before);
    return result;
}

[[nodiscard]] inline CUresult primary_retained(CUcontext* context, CUdevice device) {
    auto& s = session::current();
    auto const retain = [&] { return real().cuDevicePrimaryCtxRetain(context, device); };
    auto const result = s.can_measure() && is_active(device) ? retain() : context_made(device, retain);
    if (auto const at = static_cast<std::size_t>(device); result == CUDA_SUCCESS && at < s.primaries.size()) {
        s.primaries[at] = *context;
        ++s.retained[at];
    }
    return result;
}

/// With a context goes all that was allocated in it.
template <class Call>
[[nodiscard]] CUresult context_gone(CUcontext context, Call call) {
    auto& s = session::current();
    forget_launches(context);
    auto const result = s.books.give_back_context(context, call, [](CUresult r) { return r == CUDA_SUCCESS; });
    s.measure_all();
    return result;
}

template <class Call>
[[nodiscard]] CUresult context_gone(CUgreenCtx green, Call call) {
    CUcontext context = nullptr;
    return ask(real().cuCtxFromGreenCtx, &context, green) ? context_gone(context, call) : call();
}

/// A primary context is gone when nobody retains it any more, or at once if it is `reset`.
template <class Call>
[[nodiscard]] CUresult primary_gone(CUdevice device, bool reset, Call call) {
    auto& s = session::current();
    auto const at = static_cast<std::size_t>(device);
    CUcontext const context = at < s.primaries.size() ? s.primaries[at].load() : nullptr;
    if (context == nullptr || (!reset && s.retained[at].fetch_sub(1) > 1)) return call(); // others retain it
    s.retained[at] = 0;
    forget_launches(context);
    auto const gone = [&](CUresult r) { return r == CUDA_SUCCESS && (reset || !is_active(device)); };
    auto const result = s.books.give_back_context(context, call, gone);
    if (!gone(result)) return result;
    s.books.pools.forget(device);
    s.books.graph_memory.forget(device);
    for (auto& p : s.current_pools) p = nullptr;
    s.measure_all();
    return result;
}

/// Code that was loaded; what doesn't fit is unloaded again.
template <class Handle, class Unload, class Call>
[[nodiscard]] CUresult loaded(Handle* h, Unload* unload, Call call) {
    auto& s = session::current();
    auto const device = current_device();
    auto const before = free_memory();
    auto const result = call();
    if (result != CUDA_SUCCESS) return result;
    auto const after = free_memory();
    if (after >= before) return result;
    if (s.can_measure()) {
        s.measure(device);
        if (s.limit(device) == 0 || s.used(device) <= s.limit(device)) return result;
    } else if (s.reserve(device, before - after)) {
        s.books.keep(key_of(*h), {device, before - after, current_context()});
        return result;
    }
    (void)ask(unload, *h);
    *h = nullptr;
    s.measure(device);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

template <class Handle, class Call>
[[nodiscard]] CUresult unloaded(Handle h, Call call) {
    auto const result = given_back(key_of(h), call);
    if (result == CUDA_SUCCESS) session::current().measure(current_device());
    return result;
}

} // namespace muster::interposer
