#pragma once

// Every way to memory, by every road to the driver.

#include "support.hpp"

namespace interposer_test {

// The functions under test, by the road that found them: header's name, the driver's name.
#define FUNCTIONS(F)                                                                                                   \
    F(cuMemAlloc, cuMemAlloc_v2)                                                                                       \
    F(cuMemFree, cuMemFree_v2)                                                                                         \
    F(cuMemAllocManaged, cuMemAllocManaged)                                                                            \
    F(cuMemAllocPitch, cuMemAllocPitch_v2)                                                                             \
    F(cuMemAllocAsync, cuMemAllocAsync)                                                                                \
    F(cuMemFreeAsync, cuMemFreeAsync)                                                                                  \
    F(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync)                                                                \
    F(cuMemCreate, cuMemCreate)                                                                                        \
    F(cuMemRelease, cuMemRelease)                                                                                      \
    F(cuMemMap, cuMemMap)                                                                                              \
    F(cuMemUnmap, cuMemUnmap)                                                                                          \
    F(cuArrayCreate, cuArrayCreate_v2)                                                                                 \
    F(cuArray3DCreate, cuArray3DCreate_v2)                                                                             \
    F(cuArrayDestroy, cuArrayDestroy)                                                                                  \
    F(cuMipmappedArrayCreate, cuMipmappedArrayCreate)                                                                  \
    F(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy)                                                                \
    F(cuModuleLoadData, cuModuleLoadData)                                                                              \
    F(cuModuleUnload, cuModuleUnload)                                                                                  \
    F(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode)                                                                  \
    F(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags)                                                        \
    F(cuGraphLaunch, cuGraphLaunch)                                                                                    \
    F(cuMemGetInfo, cuMemGetInfo_v2)                                                                                   \
    F(cuDeviceTotalMem, cuDeviceTotalMem_v2)                                                                           \
    F(cuCtxSynchronize, cuCtxSynchronize)

struct driver {
#define SLOT(name, exported) decltype(&::exported) p_##exported = nullptr;
    FUNCTIONS(SLOT)
#undef SLOT
};

enum class road { linker, dlsym, get_proc_address, per_thread };

inline driver by(road r) {
    driver d;
    auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
    auto const find = [&](std::string name) -> void* {
        if (r == road::dlsym) return dlsym(library, name.c_str());
        if (name.ends_with("_v2")) name.resize(name.size() - 3);
        void* found = nullptr;
        (void)cuGetProcAddress_v2(name.c_str(), &found, 13000, r == road::per_thread ? 2 : 0, nullptr);
        return found;
    };
#define FIND(name, exported)                                                                                           \
    d.p_##exported = r == road::linker ? &::exported : reinterpret_cast<decltype(d.p_##exported)>(find(#exported));
    FUNCTIONS(FIND)
    return d;
}

/// One way to memory: takes a chunk, and what gives all chunks back.
struct path {
    char const* name;
    CUresult (*take)(driver const&, std::vector<CUdeviceptr>&);
    CUresult (*give)(driver const&, CUdeviceptr);
    std::size_t size = chunk; ///< that one call really takes
};

inline CUresult free_memory(driver const& d, CUdeviceptr p) { return d.p_cuMemFree_v2(p); }

template <auto Get>
CUresult pointer(driver const& d, std::vector<CUdeviceptr>& all) {
    CUdeviceptr p = 0;
    auto const result = Get(d, &p);
    if (result == CUDA_SUCCESS) all.push_back(p);
    return result;
}

template <class Handle>
CUdeviceptr number(Handle h) {
    return reinterpret_cast<CUdeviceptr>(h);
}

inline CUmemAllocationProp on_card() {
    CUmemAllocationProp q{};
    q.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return q;
}

inline CUmemoryPool own_pool() {
    static CUmemoryPool const made = [] {
        CUmemPoolProps q{};
        q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        CUmemoryPool p = nullptr;
        (void)cuMemPoolCreate(&p, &q);
        return p;
    }();
    return made;
}

inline CUresult map_new(driver const& d, std::vector<CUdeviceptr>& all, bool release) {
    auto const q = on_card();
    CUmemGenericAllocationHandle h = 0;
    if (auto const refused = d.p_cuMemCreate(&h, chunk, &q, 0); refused != CUDA_SUCCESS) return refused;
    CUdeviceptr p = 0;
    (void)cuMemAddressReserve(&p, chunk, 0, 0, 0);
    (void)d.p_cuMemMap(p, chunk, 0, h, 0);
    if (release) (void)d.p_cuMemRelease(h);
    all.push_back(p);
    return CUDA_SUCCESS;
}

inline CUresult unmap(driver const& d, CUdeviceptr p) { return d.p_cuMemUnmap(p, chunk); }
inline CUresult unmap_and_release(driver const& d, CUdeviceptr p) {
    CUmemGenericAllocationHandle h = 0;
    (void)cuMemRetainAllocationHandle(&h, reinterpret_cast<void*>(p)); // a second reference
    (void)d.p_cuMemUnmap(p, chunk);
    (void)d.p_cuMemRelease(h);
    return d.p_cuMemRelease(h);
}

inline CUDA_ARRAY3D_DESCRIPTOR cube() {
    CUDA_ARRAY3D_DESCRIPTOR q{};
    q.Width = 512;
    q.Height = 512;
    q.Depth = chunk / (512 * 512 * 4);
    q.Format = CU_AD_FORMAT_FLOAT;
    q.NumChannels = 1;
    return q;
}

inline std::vector<path> const& paths() {
    static std::vector<path> const ways{
        {"alloc", pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAlloc_v2(p, chunk); }>, free_memory},
        {"alloc of 2 MiB and a byte",
         pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAlloc_v2(p, 2 * mib + 1); }>, free_memory,
         4 * mib},
        {"managed", pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAllocManaged(p, chunk, 1); }>,
         free_memory},
        {"pitch", pointer<[](driver const& d, CUdeviceptr* p) {
             std::size_t pitch = 0;
             return d.p_cuMemAllocPitch_v2(p, &pitch, 65536, chunk / 65536, 4);
         }>,
         free_memory},
        {"narrow pitch", pointer<[](driver const& d, CUdeviceptr* p) {
             std::size_t pitch = 0;
             return d.p_cuMemAllocPitch_v2(p, &pitch, 4, chunk / 512, 4);
         }>,
         free_memory},
        {"async", pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAllocAsync(p, chunk, nullptr); }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuMemFreeAsync(p, nullptr); }},
        {"async, freed by cuMemFree",
         pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAllocAsync(p, chunk, nullptr); }>, free_memory},
        {"async per thread",
         pointer<[](driver const&, CUdeviceptr* p) { return cuMemAllocAsync_ptsz(p, chunk, nullptr); }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuMemFreeAsync(p, nullptr); }},
        {"own pool", pointer<[](driver const& d, CUdeviceptr* p) {
             return d.p_cuMemAllocFromPoolAsync(p, chunk, own_pool(), nullptr);
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuMemFreeAsync(p, nullptr); }},
        {"physical", [](driver const& d, std::vector<CUdeviceptr>& all) { return map_new(d, all, false); },
         unmap_and_release},
        {"physical, released once mapped",
         [](driver const& d, std::vector<CUdeviceptr>& all) { return map_new(d, all, true); }, unmap},
        {"array", pointer<[](driver const& d, CUdeviceptr* p) {
             CUDA_ARRAY_DESCRIPTOR q{};
             q.Width = 4096;
             q.Height = chunk / (4096 * 4);
             q.Format = CU_AD_FORMAT_FLOAT;
             q.NumChannels = 1;
             CUarray a = nullptr;
             auto const result = d.p_cuArrayCreate_v2(&a, &q);
             return *p = number(a), result;
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuArrayDestroy(reinterpret_cast<CUarray>(p)); }},
        {"array of three dimensions", pointer<[](driver const& d, CUdeviceptr* p) {
             auto const q = cube();
             CUarray a = nullptr;
             auto const result = d.p_cuArray3DCreate_v2(&a, &q);
             return *p = number(a), result;
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuArrayDestroy(reinterpret_cast<CUarray>(p)); }},
        {"mipmapped array", pointer<[](driver const& d, CUdeviceptr* p) {
             auto const q = cube();
             CUmipmappedArray a = nullptr;
             auto const result = d.p_cuMipmappedArrayCreate(&a, &q, 1);
             return *p = number(a), result;
         }>,
         [](driver const& d, CUdeviceptr p) {
             return d.p_cuMipmappedArrayDestroy(reinterpret_cast<CUmipmappedArray>(p));
         }},
        {"graph",
         [](driver const& d, std::vector<CUdeviceptr>& all) {
             CUgraph g = nullptr;
             CUgraphNode node = nullptr;
             CUgraphExec e = nullptr;
             CUDA_MEM_ALLOC_NODE_PARAMS q{};
             q.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
             q.bytesize = chunk;
             (void)cuGraphCreate(&g, 0);
             (void)d.p_cuGraphAddMemAllocNode(&node, g, nullptr, 0, &q);
             (void)d.p_cuGraphInstantiateWithFlags(&e, g, 0);
             auto const result = d.p_cuGraphLaunch(e, nullptr);
             if (result == CUDA_SUCCESS) all.push_back(q.dptr);
             return result;
         },
         free_memory},
        {"globals of a module", pointer<[](driver const& d, CUdeviceptr* p) {
             static std::string const image = "big[" + std::to_string(chunk) + "]";
             CUmodule m = nullptr;
             auto const result = d.p_cuModuleLoadData(&m, image.c_str());
             return *p = number(m), result;
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuModuleUnload(reinterpret_cast<CUmodule>(p)); }}};
    return ways;
}

inline std::size_t free_now(driver const& d) {
    std::size_t free = 0;
    std::size_t total = 0;
    return d.p_cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS && total == limit ? free : SIZE_MAX;
}

/// Takes all there is and gives it back; what went wrong, by number.
inline int fill_and_empty(path const& way, driver const& d) {
    open_context();
    std::vector<CUdeviceptr> all;
    auto result = CUDA_SUCCESS;
    while (all.size() * way.size <= 2 * limit && (result = way.take(d, all)) == CUDA_SUCCESS) {
    }
    auto const got = all.size() * way.size;
    if (result != CUDA_ERROR_OUT_OF_MEMORY) return 2;
    if (got > limit) return 3;
    if (got + way.size + 16 * mib < limit) return 4; // refused too early
    if (pretend_in_use() > limit) return 5;
    if (free_now(d) > limit - got) return 6;
    for (auto const p : all)
        if (way.give(d, p) != CUDA_SUCCESS) return 7;
    (void)d.p_cuCtxSynchronize();
    (void)cuDeviceGraphMemTrim(0); // graphs keep theirs
    if (pretend_in_use() != 0) return 8;
    if (free_now(d) != limit) return 9;
    return 0;
}

} // namespace interposer_test
