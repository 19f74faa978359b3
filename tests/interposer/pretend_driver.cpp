// A pretend libcuda.so.1: one card of 16 GiB that counts its pages and gives out no memory. Pools grow in chunks,
// graphs take their memory at launch, modules say nothing of their size; all as the real one does, so that an
// interposer can be held to account without a GPU. `pretend_in_use` tells what is really taken.

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#undef cuGetProcAddress

namespace {

constexpr std::size_t capacity = std::size_t{16} << 30U;
constexpr std::size_t page = std::size_t{2} << 20U;
constexpr std::size_t chunk = std::size_t{32} << 20U;

std::size_t up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
std::size_t pages(std::size_t n) { return n > (std::size_t{1} << 20U) ? up(n, page) : up(n, 512); }

struct physical {
    std::size_t size = 0;
    int references = 1;
};

/// The card and all that lives on it.
struct card {
    std::mutex mutex{};
    std::size_t in_use = 0;
    std::uint64_t next = 0x7f00'0000'0000;
    std::map<std::uint64_t, std::size_t> blocks{};
    std::map<std::uint64_t, physical> handles{};
    std::map<std::uint64_t, std::uint64_t> mappings{};

    CUresult take(std::size_t n) {
        if (n > capacity - in_use) return CUDA_ERROR_OUT_OF_MEMORY;
        in_use += n;
        return CUDA_SUCCESS;
    }
    std::uint64_t address(std::size_t n) {
        auto const at = next;
        next += up(n, page);
        return at;
    }
    void unreference(std::uint64_t handle) {
        auto const at = handles.find(handle);
        if (at == handles.end() || --at->second.references != 0) return;
        in_use -= at->second.size;
        handles.erase(at);
    }
};

card& the_card() {
    static card c;
    return c;
}

/// A stream-ordered pool: grows in chunks, and keeps what its threshold lets it.
struct pool {
    std::size_t kept = 0;
    std::size_t handed_out = 0;
    std::uint64_t threshold = 0;
    std::map<std::uint64_t, std::size_t> blocks{};

    void trim(std::size_t keep) {
        auto const least = std::max(keep, up(handed_out, chunk));
        if (kept <= least) return;
        the_card().in_use -= kept - least;
        kept = least;
    }
};

pool& default_pool() {
    static pool p;
    return p;
}
std::map<pool*, bool>& all_pools() {
    static std::map<pool*, bool> all{{&default_pool(), true}};
    return all;
}

struct graph {
    std::map<std::uint64_t, std::size_t> nodes{};
};

using clock_type = std::chrono::steady_clock;
clock_type::time_point busy_until{};
int launches = 0;

thread_local bool in_context = false;

template <class To, class From>
To as(From from) {
    return reinterpret_cast<To>(from);
}

CUresult block(CUdeviceptr* p, std::size_t n) {
    if (n == 0) return CUDA_ERROR_INVALID_VALUE;
    auto& c = the_card();
    std::lock_guard const lock{c.mutex};
    if (auto const refused = c.take(pages(n)); refused != CUDA_SUCCESS) return refused;
    *p = c.address(n);
    c.blocks[*p] = pages(n);
    return CUDA_SUCCESS;
}

CUresult from_pool(CUdeviceptr* p, std::size_t n, pool& of) {
    auto& c = the_card();
    std::lock_guard const lock{c.mutex};
    auto const wanted = up(of.handed_out + up(n, 512), chunk);
    if (wanted > of.kept) {
        if (auto const refused = c.take(wanted - of.kept); refused != CUDA_SUCCESS) return refused;
        of.kept = wanted;
    }
    of.handed_out += up(n, 512);
    *p = c.address(n);
    of.blocks[*p] = up(n, 512);
    return CUDA_SUCCESS;
}

CUresult give_back(CUdeviceptr p) {
    if (p == 0) return CUDA_SUCCESS;
    auto& c = the_card();
    std::lock_guard const lock{c.mutex};
    if (auto const at = c.blocks.find(p); at != c.blocks.end()) {
        c.in_use -= at->second;
        c.blocks.erase(at);
        return CUDA_SUCCESS;
    }
    for (auto const& [of, there] : all_pools())
        if (auto const at = of->blocks.find(p); at != of->blocks.end()) {
            of->handed_out -= at->second;
            of->blocks.erase(at);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult synchronise() {
    auto& c = the_card();
    std::lock_guard const lock{c.mutex};
    for (auto const& [of, there] : all_pools())
        if (of->kept > of->threshold) of->trim(of->threshold);
    return CUDA_SUCCESS;
}

std::size_t array_bytes(std::size_t w, std::size_t h, std::size_t d, unsigned channels) {
    return w * std::max<std::size_t>(h, 1) * std::max<std::size_t>(d, 1) * channels * 4;
}

} // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int pretend_launches() { return launches; }
EXPORT std::size_t pretend_in_use() { return the_card().in_use; }

EXPORT CUresult cuInit(unsigned int) { return CUDA_SUCCESS; }
EXPORT CUresult cuDriverGetVersion(int* v) { return *v = 13000, CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGet(CUdevice* d, int i) { return *d = i, i == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }
EXPORT CUresult cuDeviceGetCount(int* n) { return *n = 1, CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* u, CUdevice d) {
    if (d != 0) return CUDA_ERROR_INVALID_DEVICE;
    std::memset(u, 7, sizeof *u);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* n, CUdevice d) {
    return *n = capacity, d == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
EXPORT CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    if (!in_context) return CUDA_ERROR_INVALID_CONTEXT;
    if (free != nullptr) *free = capacity - the_card().in_use;
    if (total != nullptr) *total = capacity;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice) {
    return *c = as<CUcontext>(&the_card()), CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext c) { return in_context = c != nullptr, CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetDevice(CUdevice* d) { return *d = 0, in_context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; }

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* p, std::size_t n) { return block(p, n); }
EXPORT CUresult cuMemAllocManaged(CUdeviceptr* p, std::size_t n, unsigned int) { return block(p, n); }
EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* p, std::size_t* pitch, std::size_t w, std::size_t h, unsigned int) {
    *pitch = up(w, 512);
    return cuMemAlloc_v2(p, *pitch * h); // by way of its own export, as drivers may
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr p) { return give_back(p); }

EXPORT CUresult cuMemAllocAsync(CUdeviceptr* p, std::size_t n, CUstream) { return from_pool(p, n, default_pool()); }
EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr* p, std::size_t n, CUstream) {
    return from_pool(p, n, default_pool());
}
EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* p, std::size_t n, CUmemoryPool of, CUstream) {
    return from_pool(p, n, *as<pool*>(of));
}
EXPORT CUresult cuMemFreeAsync(CUdeviceptr p, CUstream) { return give_back(p); }
EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream) { return give_back(p); }
EXPORT CUresult cuMemPoolCreate(CUmemoryPool* p, CUmemPoolProps const*) {
    auto* const made = new pool;
    all_pools()[made] = true;
    return *p = as<CUmemoryPool>(made), CUDA_SUCCESS;
}
EXPORT CUresult cuMemPoolDestroy(CUmemoryPool p) {
    auto* const gone = as<pool*>(p);
    gone->trim(0);
    all_pools().erase(gone);
    delete gone;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool p, std::size_t keep) { return as<pool*>(p)->trim(keep), CUDA_SUCCESS; }
EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool p, CUmemPool_attribute a, void* value) {
    if (a == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) std::memcpy(&as<pool*>(p)->threshold, value, sizeof(std::uint64_t));
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool p, CUmemPool_attribute a, void* value) {
    if (a != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(value, &as<pool*>(p)->kept, sizeof(std::uint64_t));
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool* p, CUdevice) {
    return *p = as<CUmemoryPool>(&default_pool()), CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* p, CUdevice d) { return cuDeviceGetMemPool(p, d); }

EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* h, std::size_t n, CUmemAllocationProp const*,
                            unsigned long long) {
    if (n == 0 || n % page != 0) return CUDA_ERROR_INVALID_VALUE;
    auto& c = the_card();
    std::lock_guard const lock{c.mutex};
    if (auto const refused = c.take(n); refused != CUDA_SUCCESS) return refused;
    *h = c.next++;
    c.handles[*h] = {n, 1};
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
    std::lock_guard const lock{the_card().mutex};
    if (!the_card().handles.contains(h)) return CUDA_ERROR_INVALID_VALUE;
    return the_card().unreference(h), CUDA_SUCCESS;
}
EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* h, void* at) {
    std::lock_guard const lock{the_card().mutex};
    auto const found = the_card().mappings.find(as<std::uint64_t>(at));
    if (found == the_card().mappings.end()) return CUDA_ERROR_INVALID_VALUE;
    ++the_card().handles[found->second].references;
    return *h = found->second, CUDA_SUCCESS;
}
EXPORT CUresult cuMemAddressReserve(CUdeviceptr* p, std::size_t n, std::size_t, CUdeviceptr, unsigned long long) {
    return *p = the_card().address(n), CUDA_SUCCESS;
}
EXPORT CUresult cuMemMap(CUdeviceptr p, std::size_t, std::size_t, CUmemGenericAllocationHandle h, unsigned long long) {
    std::lock_guard const lock{the_card().mutex};
    ++the_card().handles[h].references;
    the_card().mappings[p] = h;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemUnmap(CUdeviceptr p, std::size_t n) {
    auto& c = the_card();
    std::lock_guard const lock{c.mutex};
    for (auto at = c.mappings.lower_bound(p); at != c.mappings.end() && at->first - p < n; at = c.mappings.erase(at))
        c.unreference(at->second);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuArrayCreate_v2(CUarray* a, CUDA_ARRAY_DESCRIPTOR const* d) {
    CUdeviceptr p = 0;
    auto const result = block(&p, array_bytes(d->Width, d->Height, 1, d->NumChannels));
    return *a = as<CUarray>(p), result;
}
EXPORT CUresult cuArray3DCreate_v2(CUarray* a, CUDA_ARRAY3D_DESCRIPTOR const* d) {
    CUdeviceptr p = 0;
    auto const result = block(&p, array_bytes(d->Width, d->Height, d->Depth, d->NumChannels));
    return *a = as<CUarray>(p), result;
}
EXPORT CUresult cuArrayDestroy(CUarray a) { return give_back(as<CUdeviceptr>(a)); }
EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray* a, CUDA_ARRAY3D_DESCRIPTOR const* d, unsigned int) {
    CUdeviceptr p = 0;
    auto const result = block(&p, array_bytes(d->Width, d->Height, d->Depth, d->NumChannels));
    return *a = as<CUmipmappedArray>(p), result;
}
EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray a) { return give_back(as<CUdeviceptr>(a)); }

/// An image is a text here; `big[N]` in it is a global of N bytes.
EXPORT CUresult cuModuleLoadData(CUmodule* m, void const* image) {
    CUdeviceptr p = 0;
    auto const* const big = std::strstr(static_cast<char const*>(image), "big[");
    auto const result = block(&p, big == nullptr ? 1 : std::strtoull(big + 4, nullptr, 10));
    return *m = as<CUmodule>(p), result;
}
EXPORT CUresult cuModuleUnload(CUmodule m) { return give_back(as<CUdeviceptr>(m)); }

EXPORT CUresult cuGraphCreate(CUgraph* g, unsigned int) { return *g = as<CUgraph>(new graph), CUDA_SUCCESS; }
EXPORT CUresult cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }
EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode* n, CUgraph g, CUgraphNode const*, std::size_t,
                                       CUDA_MEM_ALLOC_NODE_PARAMS* q) {
    q->dptr = the_card().address(q->bytesize);
    as<graph*>(g)->nodes[q->dptr] = pages(q->bytesize);
    return *n = as<CUgraphNode>(g), CUDA_SUCCESS;
}
EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* e, CUgraph g, unsigned long long) {
    return *e = as<CUgraphExec>(new graph{*as<graph*>(g)}), CUDA_SUCCESS;
}
EXPORT CUresult cuGraphExecDestroy(CUgraphExec e) { return delete as<graph*>(e), CUDA_SUCCESS; }
EXPORT CUresult cuGraphLaunch(CUgraphExec e, CUstream) {
    auto& c = the_card();
    std::lock_guard const lock{c.mutex};
    for (auto const& [p, n] : as<graph*>(e)->nodes) {
        if (c.blocks.contains(p)) continue;
        if (auto const refused = c.take(n); refused != CUDA_SUCCESS) return refused;
        c.blocks[p] = n;
    }
    return CUDA_SUCCESS;
}
/// A kernel takes as long as it has blocks, in microseconds; one after the other.
EXPORT CUresult cuLaunchKernel(CUfunction, unsigned int blocks, unsigned int, unsigned int, unsigned int, unsigned int,
                               unsigned int, unsigned int, CUstream, void**, void**) {
    std::lock_guard const lock{the_card().mutex};
    ++launches;
    busy_until = std::max(busy_until, clock_type::now()) + std::chrono::microseconds{blocks};
    return CUDA_SUCCESS;
}
EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx,
                                    unsigned int by, unsigned int bz, unsigned int s, CUstream t, void** p, void** e) {
    return cuLaunchKernel(f, x, y, z, bx, by, bz, s, t, p, e);
}
EXPORT CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus* status) {
    *status = s == CU_STREAM_PER_THREAD ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetCurrent(CUcontext* c) { return *c = as<CUcontext>(&the_card()), CUDA_SUCCESS; }
EXPORT CUresult cuEventCreate(CUevent* e, unsigned int) {
    return *e = as<CUevent>(new clock_type::time_point), CUDA_SUCCESS;
}
EXPORT CUresult cuEventRecord(CUevent e, CUstream) {
    std::lock_guard const lock{the_card().mutex};
    return *as<clock_type::time_point*>(e) = busy_until, CUDA_SUCCESS;
}
EXPORT CUresult cuEventRecord_ptsz(CUevent e, CUstream s) { return cuEventRecord(e, s); }

EXPORT CUresult cuStreamSynchronize(CUstream) { return synchronise(); }
EXPORT CUresult cuCtxSynchronize() { return synchronise(); }
EXPORT CUresult cuEventSynchronize(CUevent e) {
    std::this_thread::sleep_until(*as<clock_type::time_point*>(e));
    return synchronise();
}

EXPORT CUresult cuGetProcAddress_v2(char const* symbol, void** function, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult* status);
EXPORT CUresult cuGetProcAddress(char const* symbol, void** function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

namespace {

struct entry {
    std::string_view name;
    void* plain;
    void* per_thread; ///< null: the same
};

template <class F>
void* address_of(F* f) {
    return reinterpret_cast<void*>(f);
}

entry const entries[]{{"cuMemAlloc", address_of(cuMemAlloc_v2), nullptr},
                      {"cuMemFree", address_of(cuMemFree_v2), nullptr},
                      {"cuMemAllocManaged", address_of(cuMemAllocManaged), nullptr},
                      {"cuMemAllocPitch", address_of(cuMemAllocPitch_v2), nullptr},
                      {"cuMemAllocAsync", address_of(cuMemAllocAsync), address_of(cuMemAllocAsync_ptsz)},
                      {"cuMemFreeAsync", address_of(cuMemFreeAsync), address_of(cuMemFreeAsync_ptsz)},
                      {"cuMemAllocFromPoolAsync", address_of(cuMemAllocFromPoolAsync), nullptr},
                      {"cuMemCreate", address_of(cuMemCreate), nullptr},
                      {"cuMemRelease", address_of(cuMemRelease), nullptr},
                      {"cuMemMap", address_of(cuMemMap), nullptr},
                      {"cuMemUnmap", address_of(cuMemUnmap), nullptr},
                      {"cuArrayCreate", address_of(cuArrayCreate_v2), nullptr},
                      {"cuArray3DCreate", address_of(cuArray3DCreate_v2), nullptr},
                      {"cuArrayDestroy", address_of(cuArrayDestroy), nullptr},
                      {"cuMipmappedArrayCreate", address_of(cuMipmappedArrayCreate), nullptr},
                      {"cuMipmappedArrayDestroy", address_of(cuMipmappedArrayDestroy), nullptr},
                      {"cuModuleLoadData", address_of(cuModuleLoadData), nullptr},
                      {"cuModuleUnload", address_of(cuModuleUnload), nullptr},
                      {"cuGraphAddMemAllocNode", address_of(cuGraphAddMemAllocNode), nullptr},
                      {"cuGraphInstantiateWithFlags", address_of(cuGraphInstantiateWithFlags), nullptr},
                      {"cuGraphLaunch", address_of(cuGraphLaunch), nullptr},
                      {"cuMemGetInfo", address_of(cuMemGetInfo_v2), nullptr},
                      {"cuDeviceTotalMem", address_of(cuDeviceTotalMem_v2), nullptr},
                      {"cuCtxSynchronize", address_of(cuCtxSynchronize), nullptr}};

} // namespace

EXPORT CUresult cuGetProcAddress_v2(char const* symbol, void** function, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult* status) {
    *function = nullptr;
    if (std::string_view{symbol} == "cuGetProcAddress")
        *function = version < 12000 ? address_of(cuGetProcAddress) : address_of(cuGetProcAddress_v2);
    for (auto const& e : entries)
        if (e.name == symbol) *function = (flags & 2) != 0 && e.per_thread != nullptr ? e.per_thread : e.plain;
    if (status != nullptr)
        *status = *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
