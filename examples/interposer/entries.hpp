#pragma once

// Every driver entry point that the library stands before: a row each, with its name as the driver exports it, its
// parameters as cuda.h declares them (another signature does not compile), its arguments, and the operation that stands
// around the real call; `memory.hpp`, `pools.hpp`, `contexts.hpp` and `launch.hpp` have those. A row is all that a new
// entry point takes.

// Rows with a twin for streams that are per thread: the same, with the ending _ptsz, which `own` tells.
#define MUSTER_STREAM_ENTRIES(ROW, _, own)                                                                             \
    ROW(cuMemAllocAsync##_, (CUdeviceptr * p, size_t n, CUstream s), (p, n, s),                                        \
        from_pool(                                                                                                     \
            p, [&] { return current_pool(s); }, n, s, own, [&] { return real().cuMemAllocAsync##_(p, n, s); }))        \
    ROW(cuMemAllocFromPoolAsync##_, (CUdeviceptr * p, size_t n, CUmemoryPool pool, CUstream s), (p, n, pool, s),       \
        from_pool(                                                                                                     \
            p, [&] { return pool_of_device{pool}; }, n, s, own,                                                        \
            [&] { return real().cuMemAllocFromPoolAsync##_(p, n, pool, s); }))                                         \
    ROW(cuMemFreeAsync##_, (CUdeviceptr p, CUstream s), (p, s),                                                        \
        given_back(p, [&] { return real().cuMemFreeAsync##_(p, s); }))                                                 \
    ROW(cuLaunchKernel##_,                                                                                             \
        (CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by,               \
         unsigned int bz, unsigned int shared, CUstream s, void** p, void** extra),                                    \
        (f, x, y, z, bx, by, bz, shared, s, p, extra), paced(kind_of(f, x, y, z), s, own, [&] {                        \
            return real().cuLaunchKernel##_(f, x, y, z, bx, by, bz, shared, s, p, extra);                              \
        }))                                                                                                            \
    ROW(cuLaunchKernelEx##_, (CUlaunchConfig const* c, CUfunction f, void** p, void** extra), (c, f, p, extra),        \
        paced(c, f, own, [&] { return real().cuLaunchKernelEx##_(c, f, p, extra); }))                                  \
    ROW(cuLaunchCooperativeKernel##_,                                                                                  \
        (CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by,               \
         unsigned int bz, unsigned int shared, CUstream s, void** p),                                                  \
        (f, x, y, z, bx, by, bz, shared, s, p), paced(kind_of(f, x, y, z), s, own, [&] {                               \
            return real().cuLaunchCooperativeKernel##_(f, x, y, z, bx, by, bz, shared, s, p);                          \
        }))                                                                                                            \
    ROW(cuGraphInstantiateWithParams##_, (CUgraphExec * e, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS * q), (e, g, q),   \
        instantiated(e, g, [&] { return real().cuGraphInstantiateWithParams##_(e, g, q); }))                           \
    ROW(cuGraphUpload##_, (CUgraphExec e, CUstream s), (e, s),                                                         \
        with_memory(e, [&] { return real().cuGraphUpload##_(e, s); }))                                                 \
    ROW(cuGraphLaunch##_, (CUgraphExec e, CUstream s), (e, s),                                                         \
        with_memory(e, [&] { return paced(key_of(e), s, own, [&] { return real().cuGraphLaunch##_(e, s); }); }))       \
    ROW(cuStreamBeginCapture##_, (CUstream s), (s), recording([&] { return real().cuStreamBeginCapture##_(s); }))      \
    ROW(cuStreamBeginCapture_v2##_, (CUstream s, CUstreamCaptureMode m), (s, m),                                       \
        recording([&] { return real().cuStreamBeginCapture_v2##_(s, m); }))                                            \
    ROW(cuStreamBeginCaptureToGraph##_,                                                                                \
        (CUstream s, CUgraph g, CUgraphNode const* d, CUgraphEdgeData const* q, size_t n, CUstreamCaptureMode m),      \
        (s, g, d, q, n, m), recording([&] { return real().cuStreamBeginCaptureToGraph##_(s, g, d, q, n, m); }))        \
    ROW(cuStreamSynchronize##_, (CUstream s), (s), settled([&] { return real().cuStreamSynchronize##_(s); }))

#define MUSTER_PLAIN_ENTRIES(ROW)                                                                                      \
    ROW(cuMemAlloc_v2, (CUdeviceptr * p, size_t n), (p, n),                                                            \
        counted(p, footprint(n), [&] { return real().cuMemAlloc_v2(p, n); }))                                          \
    ROW(cuMemAlloc, (CUdeviceptr_v1 * p, unsigned int n), (p, n),                                                      \
        counted(p, footprint(n), [&] { return real().cuMemAlloc(p, n); }))                                             \
    ROW(cuMemAllocManaged, (CUdeviceptr * p, size_t n, unsigned int f), (p, n, f),                                     \
        managed(p, n, [&] { return real().cuMemAllocManaged(p, n, f); }))                                              \
    ROW(cuMemAllocPitch_v2, (CUdeviceptr * p, size_t * pitch, size_t w, size_t h, unsigned int e),                     \
        (p, pitch, w, h, e), pitched(p, pitch, w, h, [&] { return real().cuMemAllocPitch_v2(p, pitch, w, h, e); }))    \
    ROW(cuMemAllocPitch, (CUdeviceptr_v1 * p, unsigned int* pitch, unsigned int w, unsigned int h, unsigned int e),    \
        (p, pitch, w, h, e), pitched(p, pitch, w, h, [&] { return real().cuMemAllocPitch(p, pitch, w, h, e); }))       \
    ROW(cuMemFree_v2, (CUdeviceptr p), (p), given_back(p, [&] { return real().cuMemFree_v2(p); }))                     \
    ROW(cuMemFree, (CUdeviceptr_v1 p), (p), given_back(p, [&] { return real().cuMemFree(p); }))                        \
    ROW(cuArrayCreate_v2, (CUarray * a, CUDA_ARRAY_DESCRIPTOR const* d), (a, d),                                       \
        counted(a, footprint_of(d), [&] { return real().cuArrayCreate_v2(a, d); }))                                    \
    ROW(cuArrayCreate, (CUarray * a, CUDA_ARRAY_DESCRIPTOR_v1 const* d), (a, d),                                       \
        counted(a, footprint_of(d), [&] { return real().cuArrayCreate(a, d); }))                                       \
    ROW(cuArray3DCreate_v2, (CUarray * a, CUDA_ARRAY3D_DESCRIPTOR const* d), (a, d),                                   \
        counted(a, footprint_of(d), [&] { return real().cuArray3DCreate_v2(a, d); }))                                  \
    ROW(cuArray3DCreate, (CUarray * a, CUDA_ARRAY3D_DESCRIPTOR_v1 const* d), (a, d),                                   \
        counted(a, footprint_of(d), [&] { return real().cuArray3DCreate(a, d); }))                                     \
    ROW(cuArrayDestroy, (CUarray a), (a), given_back(key_of(a), [&] { return real().cuArrayDestroy(a); }))             \
    ROW(cuMipmappedArrayCreate, (CUmipmappedArray * a, CUDA_ARRAY3D_DESCRIPTOR const* d, unsigned int levels),         \
        (a, d, levels),                                                                                                \
        counted(a, footprint_of(d, levels), [&] { return real().cuMipmappedArrayCreate(a, d, levels); }))              \
    ROW(cuMipmappedArrayDestroy, (CUmipmappedArray a), (a),                                                            \
        given_back(key_of(a), [&] { return real().cuMipmappedArrayDestroy(a); }))                                      \
    ROW(cuMemCreate, (CUmemGenericAllocationHandle * h, size_t n, CUmemAllocationProp const* q, unsigned long long f), \
        (h, n, q, f), physical(h, n, q, [&] { return real().cuMemCreate(h, n, q, f); }))                               \
    ROW(cuMemRelease, (CUmemGenericAllocationHandle h), (h),                                                           \
        session::current().books.give_back_handle(h, [&] { return real().cuMemRelease(h); }))                          \
    ROW(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * h, void* at), (h, at),                            \
        then([&] { return real().cuMemRetainAllocationHandle(h, at); },                                                \
             [&](session& s) { s.books.retain(*h, reinterpret_cast<std::uintptr_t>(at)); }))                           \
    ROW(cuMemMap, (CUdeviceptr p, size_t n, size_t o, CUmemGenericAllocationHandle h, unsigned long long f),           \
        (p, n, o, h, f),                                                                                               \
        then([&] { return real().cuMemMap(p, n, o, h, f); }, [&](session& s) { s.books.map(p, n, h); }))               \
    ROW(cuMemUnmap, (CUdeviceptr p, size_t n), (p, n),                                                                 \
        then([&] { return real().cuMemUnmap(p, n); }, [&](session& s) { s.books.unmap(p, n); }))                       \
    ROW(cuMemPoolCreate, (CUmemoryPool * pool, CUmemPoolProps const* q), (pool, q),                                    \
        pool_known(pool, q == nullptr ? nullptr : &q->location, [&] { return real().cuMemPoolCreate(pool, q); }))      \
    ROW(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice d), (pool, d),                                       \
        pool_known(pool, d, true, [&] { return real().cuDeviceGetDefaultMemPool(pool, d); }))                          \
    ROW(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice d), (pool, d),                                              \
        pool_known(pool, d, true, [&] { return real().cuDeviceGetMemPool(pool, d); }))                                 \
    ROW(cuMemGetDefaultMemPool, (CUmemoryPool * pool, CUmemLocation * l, CUmemAllocationType t), (pool, l, t),         \
        pool_known(pool, l, [&] { return real().cuMemGetDefaultMemPool(pool, l, t); }))                                \
    ROW(cuMemGetMemPool, (CUmemoryPool * pool, CUmemLocation * l, CUmemAllocationType t), (pool, l, t),                \
        pool_known(pool, l, [&] { return real().cuMemGetMemPool(pool, l, t); }))                                       \
    ROW(cuMemPoolImportFromShareableHandle,                                                                            \
        (CUmemoryPool * pool, void* h, CUmemAllocationHandleType t, unsigned long long f), (pool, h, t, f),            \
        pool_known(pool, 0, false, [&] { return real().cuMemPoolImportFromShareableHandle(pool, h, t, f); }))          \
    ROW(cuDeviceSetMemPool, (CUdevice d, CUmemoryPool pool), (d, pool),                                                \
        pool_chosen([&] { return real().cuDeviceSetMemPool(d, pool); }))                                               \
    ROW(cuMemSetMemPool, (CUmemLocation * l, CUmemAllocationType t, CUmemoryPool pool), (l, t, pool),                  \
        pool_chosen([&] { return real().cuMemSetMemPool(l, t, pool); }))                                               \
    ROW(cuMemPoolDestroy, (CUmemoryPool pool), (pool), pool_gone(pool, [&] { return real().cuMemPoolDestroy(pool); })) \
    ROW(cuMemPoolTrimTo, (CUmemoryPool pool, size_t keep), (pool, keep),                                               \
        then([&] { return real().cuMemPoolTrimTo(pool, keep); }, recount_pools))                                       \
    ROW(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute a, void* value), (pool, a, value),              \
        then([&] { return real().cuMemPoolSetAttribute(pool, a, value); }, recount_pools))                             \
    ROW(cuGraphAddMemAllocNode,                                                                                        \
        (CUgraphNode * n, CUgraph g, CUgraphNode const* d, size_t c, CUDA_MEM_ALLOC_NODE_PARAMS* q), (n, g, d, c, q),  \
        node_added(q, [&] { return real().cuGraphAddMemAllocNode(n, g, d, c, q); }))                                   \
    ROW(cuGraphInstantiateWithFlags, (CUgraphExec * e, CUgraph g, unsigned long long f), (e, g, f),                    \
        instantiated(e, g, [&] { return real().cuGraphInstantiateWithFlags(e, g, f); }))                               \
    ROW(cuGraphInstantiate_v2, (CUgraphExec * e, CUgraph g, CUgraphNode * n, char* log, size_t l), (e, g, n, log, l),  \
        instantiated(e, g, [&] { return real().cuGraphInstantiate_v2(e, g, n, log, l); }))                             \
    ROW(cuGraphInstantiate, (CUgraphExec * e, CUgraph g, CUgraphNode * n, char* log, size_t l), (e, g, n, log, l),     \
        instantiated(e, g, [&] { return real().cuGraphInstantiate(e, g, n, log, l); }))                                \
    ROW(cuGraphExecDestroy, (CUgraphExec e), (e), graph_gone(e, [&] { return real().cuGraphExecDestroy(e); }))         \
    ROW(cuDeviceGraphMemTrim, (CUdevice d), (d),                                                                       \
        graph_memory_trimmed(d, [&] { return real().cuDeviceGraphMemTrim(d); }))                                       \
    ROW(cuDevicePrimaryCtxRetain, (CUcontext * c, CUdevice d), (c, d), primary_retained(c, d))                         \
    ROW(cuDevicePrimaryCtxRelease_v2, (CUdevice d), (d),                                                               \
        primary_gone(d, false, [&] { return real().cuDevicePrimaryCtxRelease_v2(d); }))                                \
    ROW(cuDevicePrimaryCtxRelease, (CUdevice d), (d),                                                                  \
        primary_gone(d, false, [&] { return real().cuDevicePrimaryCtxRelease(d); }))                                   \
    ROW(cuDevicePrimaryCtxReset_v2, (CUdevice d), (d),                                                                 \
        primary_gone(d, true, [&] { return real().cuDevicePrimaryCtxReset_v2(d); }))                                   \
    ROW(cuDevicePrimaryCtxReset, (CUdevice d), (d),                                                                    \
        primary_gone(d, true, [&] { return real().cuDevicePrimaryCtxReset(d); }))                                      \
    ROW(cuCtxCreate_v4, (CUcontext * c, CUctxCreateParams * q, unsigned int f, CUdevice d), (c, q, f, d),              \
        context_made(d, [&] { return real().cuCtxCreate_v4(c, q, f, d); }))                                            \
    ROW(cuCtxCreate_v3, (CUcontext * c, CUexecAffinityParam * q, int n, unsigned int f, CUdevice d), (c, q, n, f, d),  \
        context_made(d, [&] { return real().cuCtxCreate_v3(c, q, n, f, d); }))                                         \
    ROW(cuCtxCreate_v2, (CUcontext * c, unsigned int f, CUdevice d), (c, f, d),                                        \
        context_made(d, [&] { return real().cuCtxCreate_v2(c, f, d); }))                                               \
    ROW(cuCtxCreate, (CUcontext * c, unsigned int f, CUdevice d), (c, f, d),                                           \
        context_made(d, [&] { return real().cuCtxCreate(c, f, d); }))                                                  \
    ROW(cuCtxDestroy_v2, (CUcontext c), (c), context_gone(c, [&] { return real().cuCtxDestroy_v2(c); }))               \
    ROW(cuCtxDestroy, (CUcontext c), (c), context_gone(c, [&] { return real().cuCtxDestroy(c); }))                     \
    ROW(cuCtxDetach, (CUcontext c), (c), context_gone(c, [&] { return real().cuCtxDetach(c); }))                       \
    ROW(cuGreenCtxDestroy, (CUgreenCtx c), (c), context_gone(c, [&] { return real().cuGreenCtxDestroy(c); }))          \
    ROW(cuGreenCtxCreate, (CUgreenCtx * c, CUdevResourceDesc q, CUdevice d, unsigned int f), (c, q, d, f),             \
        context_made(d, [&] { return real().cuGreenCtxCreate(c, q, d, f); }))                                          \
    ROW(cuCtxSetLimit, (CUlimit l, size_t n), (l, n),                                                                  \
        then([&] { return real().cuCtxSetLimit(l, n); }, [](session& s) { s.measure_all(); }))                         \
    ROW(cuModuleLoad, (CUmodule * m, char const* file), (m, file),                                                     \
        loaded(m, real().cuModuleUnload, [&] { return real().cuModuleLoad(m, file); }))                                \
    ROW(cuModuleLoadData, (CUmodule * m, void const* image), (m, image),                                               \
        loaded(m, real().cuModuleUnload, [&] { return real().cuModuleLoadData(m, image); }))                           \
    ROW(cuModuleLoadDataEx, (CUmodule * m, void const* image, unsigned int n, CUjit_option* o, void** v),              \
        (m, image, n, o, v),                                                                                           \
        loaded(m, real().cuModuleUnload, [&] { return real().cuModuleLoadDataEx(m, image, n, o, v); }))                \
    ROW(cuModuleLoadFatBinary, (CUmodule * m, void const* image), (m, image),                                          \
        loaded(m, real().cuModuleUnload, [&] { return real().cuModuleLoadFatBinary(m, image); }))                      \
    ROW(cuModuleUnload, (CUmodule m), (m), unloaded(m, [&] { return real().cuModuleUnload(m); }))                      \
    ROW(cuLibraryLoadData,                                                                                             \
        (CUlibrary * l, void const* code, CUjit_option* o, void** v, unsigned int n, CUlibraryOption* p, void** w,     \
         unsigned int k),                                                                                              \
        (l, code, o, v, n, p, w, k),                                                                                   \
        loaded(l, real().cuLibraryUnload, [&] { return real().cuLibraryLoadData(l, code, o, v, n, p, w, k); }))        \
    ROW(cuLibraryLoadFromFile,                                                                                         \
        (CUlibrary * l, char const* file, CUjit_option* o, void** v, unsigned int n, CUlibraryOption* p, void** w,     \
         unsigned int k),                                                                                              \
        (l, file, o, v, n, p, w, k),                                                                                   \
        loaded(l, real().cuLibraryUnload, [&] { return real().cuLibraryLoadFromFile(l, file, o, v, n, p, w, k); }))    \
    ROW(cuLibraryUnload, (CUlibrary l), (l), unloaded(l, [&] { return real().cuLibraryUnload(l); }))                   \
    ROW(cuLaunch, (CUfunction f), (f), paced(kind_of(f), nullptr, false, [&] { return real().cuLaunch(f); }))          \
    ROW(cuLaunchGrid, (CUfunction f, int x, int y), (f, x, y),                                                         \
        paced(kind_of(f, x, y), nullptr, false, [&] { return real().cuLaunchGrid(f, x, y); }))                         \
    ROW(cuLaunchGridAsync, (CUfunction f, int x, int y, CUstream s), (f, x, y, s),                                     \
        paced(kind_of(f, x, y), s, false, [&] { return real().cuLaunchGridAsync(f, x, y, s); }))                       \
    ROW(cuLaunchCooperativeKernelMultiDevice, (CUDA_LAUNCH_PARAMS * q, unsigned int n, unsigned int f), (q, n, f),     \
        paced(n == 0 ? nullptr : q, nullptr, false,                                                                    \
              [&] { return real().cuLaunchCooperativeKernelMultiDevice(q, n, f); }))                                   \
    ROW(cuStreamDestroy_v2, (CUstream s), (s), (forget_launches(s), real().cuStreamDestroy_v2(s)))                     \
    ROW(cuStreamDestroy, (CUstream s), (s), (forget_launches(s), real().cuStreamDestroy(s)))                           \
    ROW(cuCtxSynchronize, (void), (), settled([&] { return real().cuCtxSynchronize(); }))                              \
    ROW(cuCtxSynchronize_v2, (CUcontext c), (c), settled([&] { return real().cuCtxSynchronize_v2(c); }))               \
    ROW(cuEventSynchronize, (CUevent e), (e), settled([&] { return real().cuEventSynchronize(e); }))                   \
    ROW(cuMemGetInfo_v2, (size_t * free, size_t * total), (free, total),                                               \
        memory_info(free, total, [](auto... to) { return real().cuMemGetInfo_v2(to...); }))                            \
    ROW(cuMemGetInfo, (unsigned int* free, unsigned int* total), (free, total),                                        \
        memory_info(free, total, [](auto... to) { return real().cuMemGetInfo(to...); }))                               \
    ROW(cuDeviceTotalMem_v2, (size_t * total, CUdevice d), (total, d),                                                 \
        total_memory(total, d, [&] { return real().cuDeviceTotalMem_v2(total, d); }))                                  \
    ROW(cuDeviceTotalMem, (unsigned int* total, CUdevice d), (total, d),                                               \
        total_memory(total, d, [&] { return real().cuDeviceTotalMem(total, d); }))

/// All of them.
#define MUSTER_ENTRIES(ROW)                                                                                            \
    MUSTER_PLAIN_ENTRIES(ROW)                                                                                          \
    MUSTER_STREAM_ENTRIES(ROW, , false)                                                                                \
    MUSTER_STREAM_ENTRIES(ROW, _ptsz, true)

/// Functions of the driver that operations call and nothing stands before.
#define MUSTER_HELPERS(ROW)                                                                                            \
    ROW(cuCtxFromGreenCtx)                                                                                             \
    ROW(cuCtxGetCurrent)                                                                                               \
    ROW(cuCtxGetDevice)                                                                                                \
    ROW(cuCtxPopCurrent_v2)                                                                                            \
    ROW(cuCtxPushCurrent_v2)                                                                                           \
    ROW(cuDeviceGetCount)                                                                                              \
    ROW(cuDeviceGetGraphMemAttribute)                                                                                  \
    ROW(cuDeviceGetUuid)                                                                                               \
    ROW(cuDeviceGetUuid_v2)                                                                                            \
    ROW(cuDevicePrimaryCtxGetState)                                                                                    \
    ROW(cuEventCreate)                                                                                                 \
    ROW(cuEventDestroy_v2)                                                                                             \
    ROW(cuEventQuery)                                                                                                  \
    ROW(cuEventRecord)                                                                                                 \
    ROW(cuEventRecord_ptsz)                                                                                            \
    ROW(cuGetProcAddress)                                                                                              \
    ROW(cuGetProcAddress_v2)                                                                                           \
    ROW(cuGraphChildGraphNodeGetGraph)                                                                                 \
    ROW(cuGraphGetEdges)                                                                                               \
    ROW(cuGraphGetNodes)                                                                                               \
    ROW(cuGraphMemAllocNodeGetParams)                                                                                  \
    ROW(cuGraphMemFreeNodeGetParams)                                                                                   \
    ROW(cuGraphNodeGetType)                                                                                            \
    ROW(cuMemPoolGetAttribute)                                                                                         \
    ROW(cuStreamGetDevice)                                                                                             \
    ROW(cuStreamIsCapturing)                                                                                           \
    ROW(cuStreamIsCapturing_ptsz)                                                                                      \
    ROW(cuThreadExchangeStreamCaptureMode)
