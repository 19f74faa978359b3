#pragma once

// The driver's own functions, looked up at run time: an old driver lacks some, and nothing here must stop it loading.

#include <cuda.h>

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

/// The driver's functions; those that it lacks are null. Looked up on the first call.
[[nodiscard]] real_driver const& real() noexcept;

/// A symbol as the dynamic linker finds it, by the linker's own function rather than ours.
[[nodiscard]] void* find(void* handle, char const* name) noexcept;

} // namespace muster::interposer
