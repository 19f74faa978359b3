#pragma once

// Every driver entry point that the library stands before: a row each, with its name as the driver exports it, its
// parameters as cuda.h declares them (another signature does not compile), its arguments, and the operation that stands
// around the real call. `memory.hpp` has the operations. A row is all that a new entry point takes.

#include <cuda.h>

#include "launch.hpp"
#include "memory.hpp"

// Rows with a twin for streams that are per thread: the same, with the ending _ptsz, which `own` tells.
#define MUSTER_STREAM_ENTRIES(ROW, _, own)                                                                             \
    ROW(cuMemAllocAsync##_, (CUdeviceptr * p, size_t n, CUstream s), (p, n, s),                                        \
        from_pool(current_pool(), n, [&] { return real().cuMemAllocAsync##_(p, n, s); }))                              \
    ROW(cuMemAllocFromPoolAsync##_, (CUdeviceptr * p, size_t n, CUmemoryPool pool, CUstream s), (p, n, pool, s),       \
        from_pool(pool, n, [&] { return real().cuMemAllocFromPoolAsync##_(p, n, pool, s); }))                          \
    ROW(cuMemFreeAsync##_, (CUdeviceptr p, CUstream s), (p, s),                                                        \
        given_back(p, [&] { return real().cuMemFreeAsync##_(p, s); }))                                                 \
    ROW(cuGraphLaunch##_, (CUgraphExec e, CUstream s), (e, s),                                                         \
        launched(e, [&] { return paced(key_of(e), s, own, [&] { return real().cuGraphLaunch##_(e, s); }); }))          \
    ROW(cuLaunchKernel##_,                                                                                             \
        (CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by,               \
         unsigned int bz, unsigned int shared, CUstream s, void** p, void** extra),                                    \
        (f, x, y, z, bx, by, bz, shared, s, p, extra), paced(kind_of(f, x, y, z), s, own, [&] {                        \
            return real().cuLaunchKernel##_(f, x, y, z, bx, by, bz, shared, s, p, extra);                              \
        }))                                                                                                            \
    ROW(cuLaunchKernelEx##_, (CUlaunchConfig const* c, CUfunction f, void** p, void** extra), (c, f, p, extra),        \
        paced(kind_of(f, c->gridDimX, c->gridDimY, c->gridDimZ), c->hStream, own,                                      \
              [&] { return real().cuLaunchKernelEx##_(c, f, p, extra); }))                                             \
    ROW(cuLaunchCooperativeKernel##_,                                                                                  \
        (CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by,               \
         unsigned int bz, unsigned int shared, CUstream s, void** p),                                                  \
        (f, x, y, z, bx, by, bz, shared, s, p), paced(kind_of(f, x, y, z), s, own, [&] {                               \
            return real().cuLaunchCooperativeKernel##_(f, x, y, z, bx, by, bz, shared, s, p);                          \
        }))                                                                                                            \
    ROW(cuGraphInstantiateWithParams##_, (CUgraphExec * e, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS * q), (e, g, q),   \
        instantiated(e, g, [&] { return real().cuGraphInstantiateWithParams##_(e, g, q); }))                           \
    ROW(cuStreamSynchronize##_, (CUstream s), (s), settled([&] { return real().cuStreamSynchronize##_(s); }))

#define MUSTER_PLAIN_ENTRIES(ROW)                                                                                      \
    ROW(cuMemAlloc_v2, (CUdeviceptr * p, size_t n), (p, n),                                                            \
        linear(p, footprint(n), [&] { return real().cuMemAlloc_v2(p, n); }))                                           \
    ROW(cuMemAllocManaged, (CUdeviceptr * p, size_t n, unsigned int f), (p, n, f),                                     \
        linear(p, footprint(n), [&] { return real().cuMemAllocManaged(p, n, f); }))                                    \
    ROW(cuMemAllocPitch_v2, (CUdeviceptr * p, size_t * pitch, size_t w, size_t h, unsigned int e),                     \
        (p, pitch, w, h, e), pitched(p, pitch, w, h, e))                                                               \
    ROW(cuMemFree_v2, (CUdeviceptr p), (p), given_back(p, [&] { return real().cuMemFree_v2(p); }))                     \
    ROW(cuArrayCreate_v2, (CUarray * a, CUDA_ARRAY_DESCRIPTOR const* d), (a, d),                                       \
        array(a, footprint(*d), [&] { return real().cuArrayCreate_v2(a, d); }))                                        \
    ROW(cuArray3DCreate_v2, (CUarray * a, CUDA_ARRAY3D_DESCRIPTOR const* d), (a, d),                                   \
        array(a, footprint(*d, 1), [&] { return real().cuArray3DCreate_v2(a, d); }))                                   \
    ROW(cuArrayDestroy, (CUarray a), (a), given_back(key_of(a), [&] { return real().cuArrayDestroy(a); }))             \
    ROW(cuMipmappedArrayCreate, (CUmipmappedArray * a, CUDA_ARRAY3D_DESCRIPTOR const* d, unsigned int levels),         \
        (a, d, levels), array(a, footprint(*d, levels), [&] { return real().cuMipmappedArrayCreate(a, d, levels); }))  \
    ROW(cuMipmappedArrayDestroy, (CUmipmappedArray a), (a),                                                            \
        given_back(key_of(a), [&] { return real().cuMipmappedArrayDestroy(a); }))                                      \
    ROW(cuMemPoolDestroy, (CUmemoryPool pool), (pool),                                                                 \
        pool_changed(                                                                                                  \
            pool, [&] { return real().cuMemPoolDestroy(pool); }, true))                                                \
    ROW(cuMemPoolTrimTo, (CUmemoryPool pool, size_t keep), (pool, keep),                                               \
        pool_changed(pool, [&] { return real().cuMemPoolTrimTo(pool, keep); }))                                        \
    ROW(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute a, void* value), (pool, a, value),              \
        pool_changed(pool, [&] { return real().cuMemPoolSetAttribute(pool, a, value); }))                              \
    ROW(cuMemPoolCreate, (CUmemoryPool * pool, CUmemPoolProps const* q), (pool, q),                                    \
        pool_made(pool, *q, [&] { return real().cuMemPoolCreate(pool, q); }))                                          \
    ROW(cuMemCreate, (CUmemGenericAllocationHandle * h, size_t n, CUmemAllocationProp const* q, unsigned long long f), \
        (h, n, q, f), physical(h, n, *q, [&] { return real().cuMemCreate(h, n, q, f); }))                              \
    ROW(cuMemRelease, (CUmemGenericAllocationHandle h), (h), unreferenced(h, [&] { return real().cuMemRelease(h); }))  \
    ROW(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * h, void* at), (h, at),                            \
        referenced(h, [&] { return real().cuMemRetainAllocationHandle(h, at); }))                                      \
    ROW(cuMemMap, (CUdeviceptr p, size_t n, size_t o, CUmemGenericAllocationHandle h, unsigned long long f),           \
        (p, n, o, h, f), mapped(p, n, h, [&] { return real().cuMemMap(p, n, o, h, f); }))                              \
    ROW(cuMemUnmap, (CUdeviceptr p, size_t n), (p, n), unmapped(p, n, [&] { return real().cuMemUnmap(p, n); }))        \
    ROW(cuModuleLoad, (CUmodule * m, char const* file), (m, file),                                                     \
        loaded(m, [&] { return real().cuModuleLoad(m, file); }))                                                       \
    ROW(cuModuleLoadData, (CUmodule * m, void const* image), (m, image),                                               \
        loaded(m, [&] { return real().cuModuleLoadData(m, image); }))                                                  \
    ROW(cuModuleLoadDataEx, (CUmodule * m, void const* image, unsigned int n, CUjit_option* o, void** v),              \
        (m, image, n, o, v), loaded(m, [&] { return real().cuModuleLoadDataEx(m, image, n, o, v); }))                  \
    ROW(cuModuleLoadFatBinary, (CUmodule * m, void const* image), (m, image),                                          \
        loaded(m, [&] { return real().cuModuleLoadFatBinary(m, image); }))                                             \
    ROW(cuModuleUnload, (CUmodule m), (m), given_back(key_of(m), [&] { return real().cuModuleUnload(m); }))            \
    ROW(cuGraphAddMemAllocNode,                                                                                        \
        (CUgraphNode * n, CUgraph g, CUgraphNode const* d, size_t c, CUDA_MEM_ALLOC_NODE_PARAMS* q), (n, g, d, c, q),  \
        allocates(g, q, [&] { return real().cuGraphAddMemAllocNode(n, g, d, c, q); }))                                 \
    ROW(cuGraphInstantiateWithFlags, (CUgraphExec * e, CUgraph g, unsigned long long f), (e, g, f),                    \
        instantiated(e, g, [&] { return real().cuGraphInstantiateWithFlags(e, g, f); }))                               \
    ROW(cuGraphDestroy, (CUgraph g), (g), forgotten(g, [&] { return real().cuGraphDestroy(g); }))                      \
    ROW(cuGraphExecDestroy, (CUgraphExec e), (e), forgotten(e, [&] { return real().cuGraphExecDestroy(e); }))          \
    ROW(cuCtxSynchronize, (void), (), settled([&] { return real().cuCtxSynchronize(); }))                              \
    ROW(cuEventSynchronize, (CUevent e), (e), settled([&] { return real().cuEventSynchronize(e); }))                   \
    ROW(cuMemGetInfo_v2, (size_t * free, size_t * total), (free, total), memory_info(free, total))                     \
    ROW(cuDeviceTotalMem_v2, (size_t * total, CUdevice d), (total, d), total_memory(total, d))

/// All of them.
#define MUSTER_ENTRIES(ROW)                                                                                            \
    MUSTER_PLAIN_ENTRIES(ROW)                                                                                          \
    MUSTER_STREAM_ENTRIES(ROW, , false)                                                                                \
    MUSTER_STREAM_ENTRIES(ROW, _ptsz, true)
