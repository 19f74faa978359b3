// A program on a driver that lacks what came after version 11.0; it asks for each entry point by name.

#include <cuda.h>
#include <dlfcn.h>

#include <cstddef>

#undef cuGetProcAddress

int main() {
    auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return 1;
    auto* const retain =
        reinterpret_cast<decltype(&cuDevicePrimaryCtxRetain)>(dlsym(library, "cuDevicePrimaryCtxRetain"));
    auto* const set = reinterpret_cast<decltype(&cuCtxSetCurrent)>(dlsym(library, "cuCtxSetCurrent"));
    auto* const alloc = reinterpret_cast<decltype(&cuMemAlloc)>(dlsym(library, "cuMemAlloc_v2"));
    auto* const free = reinterpret_cast<decltype(&cuMemFree)>(dlsym(library, "cuMemFree_v2"));
    auto* const launch = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(library, "cuLaunchKernel"));
    if (retain == nullptr || alloc == nullptr || launch == nullptr) return 2;
    if (dlsym(library, "cuMemAllocAsync") != nullptr || dlsym(library, "cuGraphLaunch") != nullptr) return 3;
    // By the linker's road the name is there, and says what the driver would.
    if (auto* const async = reinterpret_cast<decltype(&cuMemAllocAsync)>(dlsym(RTLD_DEFAULT, "cuMemAllocAsync"));
        async != nullptr) {
        CUdeviceptr p = 0;
        if (async(&p, 1, nullptr) != CUDA_ERROR_NOT_SUPPORTED) return 4;
    }
    CUcontext context = nullptr;
    CUdeviceptr p = 0;
    if (retain(&context, 0) != CUDA_SUCCESS || set(context) != CUDA_SUCCESS) return 5;
    constexpr std::size_t mib = std::size_t{1} << 20U;
    if (alloc(&p, 102 * mib) != CUDA_ERROR_OUT_OF_MEMORY || alloc(&p, 100 * mib) != CUDA_SUCCESS) return 6;
    if (free(p) != CUDA_SUCCESS || alloc(&p, 100 * mib) != CUDA_SUCCESS) return 7;
    return 0;
}
