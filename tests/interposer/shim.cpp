// A library of the user's that stands before the driver itself: it has a function of the driver's name, and goes on to
// the next of that name.

#include <cuda.h>
#include <dlfcn.h>

extern "C" {
[[gnu::visibility("default")]] int shim_calls = 0;

[[gnu::visibility("default")]] CUresult cuMemAlloc_v2(CUdeviceptr* p, size_t n) {
    ++shim_calls;
    auto* const next = reinterpret_cast<decltype(&cuMemAlloc_v2)>(dlsym(RTLD_NEXT, "cuMemAlloc_v2"));
    return next == nullptr ? CUDA_ERROR_NOT_FOUND : next(p, n);
}

/// What OpenMP's runtime looks up, and its tools define: asking for the next one must not lead back here.
[[gnu::visibility("default")]] void* ompt_start_tool(unsigned int, char const*) {
    auto* volatile next = dlsym(RTLD_NEXT, "ompt_start_tool"); // no tail call: that would be somebody else's question
    return next;
}
}
