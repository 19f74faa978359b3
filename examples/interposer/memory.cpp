#include "memory.hpp"

#include <limits>

#include "table.hpp"

namespace muster::interposer {

namespace {

/// Bits of an array's element; formats that are compressed or planar count as their average.
std::size_t bits_of(CUarray_format format) noexcept {
    switch (static_cast<unsigned>(format)) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 32;
    default:
        return 64; // no element of one channel is larger
    }
}

std::size_t times(std::size_t a, std::size_t b) noexcept {
    std::size_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

std::size_t array_size(std::size_t width, std::size_t height, std::size_t depth, CUarray_format format,
                       unsigned int channels) noexcept {
    auto const elements = times(times(width, std::max<std::size_t>(height, 1)), std::max<std::size_t>(depth, 1));
    return times(elements, bits_of(format) * channels) / 8;
}

} // namespace

std::size_t footprint(CUDA_ARRAY_DESCRIPTOR const& d) noexcept {
    return footprint(array_size(d.Width, d.Height, 1, d.Format, d.NumChannels));
}

std::size_t footprint(CUDA_ARRAY3D_DESCRIPTOR const& d, unsigned int levels) noexcept {
    constexpr unsigned int without_memory = 0x40 | 0x80; // CUDA_ARRAY3D_SPARSE, CUDA_ARRAY3D_DEFERRED_MAPPING
    if ((d.Flags & without_memory) != 0) return 0;
    std::size_t sum = 0;
    auto width = d.Width;
    auto height = d.Height;
    auto depth = d.Depth;
    for (unsigned int level = 0; level < std::max(levels, 1U); ++level) {
        auto const size = array_size(width, height, depth, d.Format, d.NumChannels);
        if (__builtin_add_overflow(sum, size, &sum)) return SIZE_MAX;
        width = std::max<std::size_t>(width / 2, 1);
        height /= 2;
        if ((d.Flags & CUDA_ARRAY3D_LAYERED) == 0) depth /= 2;
    }
    return footprint(sum);
}

CUdevice current_device() noexcept {
    CUdevice device = -1;
    if (real().cuCtxGetDevice == nullptr || real().cuCtxGetDevice(&device) != CUDA_SUCCESS) return -1;
    return device;
}

CUmemoryPool current_pool() noexcept {
    CUmemoryPool pool = nullptr;
    if (auto const device = current_device(); device >= 0 && real().cuDeviceGetMemPool != nullptr)
        (void)real().cuDeviceGetMemPool(&pool, device);
    return pool;
}

CUresult pitched(CUdeviceptr* p, std::size_t* pitch, std::size_t width, std::size_t height, unsigned int element) {
    auto& s = session::current();
    auto const device = current_device();
    constexpr std::size_t widest_alignment = 512;
    auto const bound = footprint(times(rounded_up(width, widest_alignment), height));
    if (!s.reserve(device, bound)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto const result = real().cuMemAllocPitch_v2(p, pitch, width, height, element);
    auto const size = result == CUDA_SUCCESS ? footprint(times(*pitch, height)) : 0;
    if (size > bound && !s.reserve(device, size - bound)) {
        (void)real().cuMemFree_v2(*p);
        s.release(device, bound);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (size < bound) s.release(device, bound - size);
    if (result == CUDA_SUCCESS) s.keep(*p, {device, size});
    return result;
}

void refresh_pool(session& s, CUmemoryPool pool) noexcept {
    if (real().cuMemPoolGetAttribute == nullptr) return;
    s.locked([&](session& in) {
        auto const at = in.pools.find(pool);
        if (at == in.pools.end() || !at->second.counted) return;
        cuuint64_t kept = 0;
        if (real().cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &kept) != CUDA_SUCCESS) return;
        auto& charged = at->second.charged;
        if (kept < charged) in.release(at->second.device, charged - kept);
        // It is there already: what can't be had by right is counted all the same.
        if (kept > charged) in.count(at->second.device, kept - charged);
        charged = kept;
    });
}

void refresh_pools(session& s) noexcept {
    std::array<CUmemoryPool, 64> known{};
    auto const count = s.locked([&](session& in) {
        std::size_t n = 0;
        for (auto const& [pool, state] : in.pools)
            if (n != known.size() && state.charged != 0) known[n++] = pool;
        return n;
    });
    for (std::size_t i = 0; i != count; ++i) refresh_pool(s, known[i]);
}

void drop(session& s, CUmemGenericAllocationHandle h, int handles, int mappings) {
    auto const gone = s.locked([&](session& in) {
        auto const at = in.physical.find(h);
        if (at == in.physical.end()) return holding{};
        at->second.handles -= handles;
        at->second.mappings -= mappings;
        if (at->second.handles > 0 || at->second.mappings > 0) return holding{};
        auto const held = at->second.held;
        in.physical.erase(at);
        return held;
    });
    s.release(gone.device, gone.size);
}

std::size_t free_memory() noexcept {
    std::size_t free = 0;
    std::size_t total = 0;
    if (real().cuMemGetInfo_v2 != nullptr) (void)real().cuMemGetInfo_v2(&free, &total);
    return free;
}

void unload(CUmodule m) noexcept {
    if (real().cuModuleUnload != nullptr) (void)real().cuModuleUnload(m);
}

bool reserve_nodes(session& s, CUgraphExec e, graph_state& taken) {
    s.locked([&](session& in) {
        auto const at = in.executables.find(e);
        if (at != in.executables.end()) taken = at->second;
    });
    for (auto at = taken.nodes.begin(); at != taken.nodes.end();) {
        auto const held = s.take(at->first); // launched before and not freed
        if (held) s.keep(at->first, *held);
        at = held ? taken.nodes.erase(at) : std::next(at);
    }
    std::size_t sum = 0;
    for (auto const& [p, size] : taken.nodes) sum += size;
    return s.reserve(taken.device, sum);
}

void settle_nodes(session& s, graph_state const& taken, bool launched) {
    for (auto const& [p, size] : taken.nodes) {
        if (launched)
            s.keep(p, {taken.device, size});
        else
            s.release(taken.device, size);
    }
}

CUresult memory_info(std::size_t* free, std::size_t* total) noexcept {
    std::size_t really_free = 0;
    std::size_t real_total = 0;
    auto const result = real().cuMemGetInfo_v2(&really_free, &real_total);
    if (result != CUDA_SUCCESS) return result;
    auto& s = session::current();
    auto const device = current_device();
    if (auto const limit = s.limit(device); limit != 0) {
        auto const used = s.used(device);
        real_total = std::min(real_total, limit);
        really_free = std::min(really_free, used < limit ? limit - used : 0);
    }
    if (free != nullptr) *free = really_free;
    if (total != nullptr) *total = real_total;
    return result;
}

CUresult total_memory(std::size_t* total, CUdevice device) noexcept {
    auto const result = real().cuDeviceTotalMem_v2(total, device);
    if (result == CUDA_SUCCESS && total != nullptr)
        if (auto const limit = session::current().limit(device); limit != 0) *total = std::min(*total, limit);
    return result;
}

} // namespace muster::interposer
