#pragma once

// The operations that stand around the driver's memory calls. All have one shape: take what the call may need from the
// ledger, call the driver with no lock held, then keep what it really took, or give everything back.

#include "driver.hpp"

#include <algorithm>
#include <type_traits>

#include <muster/account/footprint.hpp>

#include "formats.hpp"
#include "session.hpp"

namespace muster::interposer {

using account::footprint;

/// The current context's device, or -1.
[[nodiscard]] inline CUdevice current_device() noexcept {
    CUdevice device = -1;
    return ask(real().cuCtxGetDevice, &device) ? device : -1;
}

[[nodiscard]] inline CUcontext current_context() noexcept {
    CUcontext context = nullptr;
    return ask(real().cuCtxGetCurrent, &context) ? context : nullptr;
}

template <class Handle>
[[nodiscard]] CUdeviceptr key_of(Handle h) noexcept {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<CUdeviceptr>(h);
    else
        return h;
}

/// Calls the driver, and `f(session)` if that went well.
template <class Call, class F>
[[nodiscard]] CUresult then(Call call, F f) {
    auto const result = call();
    if (result == CUDA_SUCCESS) f(session::current());
    return result;
}

/// Calls the driver for something of `size` bytes on the current device; `*made` becomes the new pointer or handle.
template <class Made, class Call>
[[nodiscard]] CUresult counted(Made* made, std::size_t size, Call call, std::size_t managed = 0) {
    return session::current().books.take({current_device(), size, current_context(), managed}, call,
                                         [made] { return key_of(*made); });
}

/// Managed memory lies on the card or with the host as the driver likes: it counts for the card, unless the container
/// may have more than there is.
template <class Call>
[[nodiscard]] CUresult managed(CUdeviceptr* p, std::size_t n, Call call) {
    return counted(p, session::current().oversubscribes() ? 0 : footprint(n), call, footprint(n));
}

/// Rows of which the driver chooses the length.
template <class Pointer, class Size, class Call>
[[nodiscard]] CUresult pitched(Pointer* p, Size* pitch, std::size_t width, std::size_t height, Call call) {
    constexpr std::size_t widest_alignment = 512;
    auto const bound = footprint(account::times(account::rounded_up(width, widest_alignment), height));
    auto const result = counted(p, bound, call);
    if (result == CUDA_SUCCESS) session::current().books.correct(key_of(*p), footprint(account::times(*pitch, height)));
    return result;
}

template <class Descriptor>
[[nodiscard]] std::size_t footprint_of(Descriptor const* d, unsigned int levels = 1) noexcept {
    if (d == nullptr) return 0; // the driver says what is wrong
    account::array_shape shape{d->Width, d->Height, 0, element_bits(d->Format, d->NumChannels), false, levels};
    if constexpr (requires { d->Depth; }) {
        if ((d->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0)
            return 0; // has no memory of its own
        shape.depth = d->Depth;
        shape.layered = (d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    }
    return footprint(shape);
}

template <class Call>
[[nodiscard]] CUresult given_back(CUdeviceptr p, Call call) {
    return session::current().books.give_back(p, call);
}

template <class Call>
[[nodiscard]] CUresult physical(CUmemGenericAllocationHandle* h, std::size_t size, CUmemAllocationProp const* q,
                                Call call) {
    if (q == nullptr || q->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return call();
    return session::current().books.take_shared({q->location.id, size}, call, [h] { return *h; });
}

// What a process is told of its card.

template <class Size, class Call>
[[nodiscard]] CUresult memory_info(Size* free, Size* total, Call call) {
    Size really_free = 0;
    Size real_total = 0;
    auto const result = call(&really_free, &real_total);
    if (result != CUDA_SUCCESS) return result;
    auto& s = session::current();
    auto const device = current_device();
    if (auto const limit = s.limit(device); limit != 0) {
        auto const used = s.used(device);
        real_total = static_cast<Size>(std::min<std::size_t>(real_total, limit));
        really_free = static_cast<Size>(std::min<std::size_t>(really_free, used < limit ? limit - used : 0));
    }
    if (free != nullptr) *free = really_free;
    if (total != nullptr) *total = real_total;
    return result;
}

template <class Size, class Call>
[[nodiscard]] CUresult total_memory(Size* total, CUdevice device, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS && total != nullptr)
        if (auto const limit = session::current().limit(device); limit != 0)
            *total = static_cast<Size>(std::min<std::size_t>(*total, limit));
    return result;
}

} // namespace muster::interposer
