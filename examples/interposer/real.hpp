#pragma once

// The driver's own functions, looked up at run time: an old driver lacks some, and nothing here must stop it loading.

#include <cuda.h>

#include <atomic>

// NOLINTBEGIN(readability-identifier-naming): the driver's names
extern "C" {
decltype(cuMemAllocAsync) cuMemAllocAsync_ptsz;
decltype(cuMemAllocFromPoolAsync) cuMemAllocFromPoolAsync_ptsz;
decltype(cuMemFreeAsync) cuMemFreeAsync_ptsz;
decltype(cuGraphLaunch) cuGraphLaunch_ptsz;
decltype(cuGraphInstantiateWithParams) cuGraphInstantiateWithParams_ptsz;
decltype(cuStreamSynchronize) cuStreamSynchronize_ptsz;
decltype(cuStreamIsCapturing) cuStreamIsCapturing_ptsz;
decltype(cuEventRecord) cuEventRecord_ptsz;
decltype(cuLaunchKernel) cuLaunchKernel_ptsz;
decltype(cuLaunchKernelEx) cuLaunchKernelEx_ptsz;
decltype(cuLaunchCooperativeKernel) cuLaunchCooperativeKernel_ptsz;
}
// NOLINTEND(readability-identifier-naming)

namespace muster::interposer {

struct real_driver;

inline std::atomic<real_driver const*> the_driver{nullptr};
[[nodiscard]] real_driver const& look_up_driver() noexcept;

/// The driver's functions; those that it lacks are null. Looked up on the first call.
[[nodiscard]] inline real_driver const& real() noexcept {
    auto const* const found = the_driver.load(std::memory_order_acquire);
    return found != nullptr ? *found : look_up_driver();
}

/// A symbol as the dynamic linker finds it, by the linker's own function rather than ours.
[[nodiscard]] void* find(void* handle, char const* name) noexcept;

} // namespace muster::interposer
