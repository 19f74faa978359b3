#pragma once

// The operations that stand around the driver's memory calls. All have one shape: take what the call may need from the
// ledger, call the driver with no lock held, then keep what it really took, or give everything back.

#include <algorithm>
#include <type_traits>
#include <vector>

#include "real.hpp"
#include "session.hpp"

namespace muster::interposer {

/// Device memory comes in pages of this size; smaller blocks share pages.
inline constexpr std::size_t page = std::size_t{2} << 20U;

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t n, std::size_t to) noexcept {
    return n > SIZE_MAX - to ? SIZE_MAX : (n + to - 1) / to * to;
}

/// What a block of `n` bytes takes of a card.
[[nodiscard]] constexpr std::size_t footprint(std::size_t n) noexcept {
    return rounded_up(n, n > (std::size_t{1} << 20U) ? page : 512);
}

[[nodiscard]] std::size_t footprint(CUDA_ARRAY_DESCRIPTOR const& d) noexcept;
/// Of an array with so many levels, each half as large as the one before.
[[nodiscard]] std::size_t footprint(CUDA_ARRAY3D_DESCRIPTOR const& d, unsigned int levels) noexcept;

/// The current context's device, or -1.
[[nodiscard]] CUdevice current_device() noexcept;
/// The pool that stream-ordered allocations of the current device come from.
[[nodiscard]] CUmemoryPool current_pool() noexcept;

template <class Handle>
[[nodiscard]] CUdeviceptr key_of(Handle h) noexcept {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<CUdeviceptr>(h);
    else
        return h;
}

/// Calls the driver for something of `size` bytes on a device; `made()` is the new pointer's key.
template <class Call, class Made>
[[nodiscard]] CUresult counted(CUdevice device, std::size_t size, Call call, Made made) {
    auto& s = session::current();
    if (!s.reserve(device, size)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto const result = call();
    if (result == CUDA_SUCCESS)
        s.keep(made(), {device, size});
    else
        s.release(device, size);
    return result;
}

template <class Call>
[[nodiscard]] CUresult linear(CUdeviceptr* p, std::size_t size, Call call) {
    return counted(current_device(), size, call, [&] { return *p; });
}

template <class Array, class Call>
[[nodiscard]] CUresult array(Array* a, std::size_t size, Call call) {
    return counted(current_device(), size, call, [&] { return key_of(*a); });
}

[[nodiscard]] CUresult pitched(CUdeviceptr* p, std::size_t* pitch, std::size_t width, std::size_t height,
                               unsigned int element);

/// A free of whatever has a record or none: what has none is the driver's business.
template <class Call>
[[nodiscard]] CUresult given_back(CUdeviceptr p, Call call) {
    auto& s = session::current();
    auto const held = s.take(p);
    auto const result = call();
    if (held && result == CUDA_SUCCESS) s.release(held->device, held->size);
    if (held && result != CUDA_SUCCESS) s.keep(p, *held);
    return result;
}

// Pools are charged what they keep, not what is handed out of them.

/// Sets a pool's charge to what the driver says it keeps.
void refresh_pool(session& s, CUmemoryPool pool) noexcept;
void refresh_pools(session& s) noexcept;

template <class Call>
[[nodiscard]] CUresult from_pool(CUmemoryPool pool, std::size_t size, Call call) {
    auto& s = session::current();
    auto const device = s.locked([&](session& in) {
        auto const [at, fresh] = in.pools.try_emplace(pool, pool_state{current_device(), 0, true});
        return at->second.counted ? at->second.device : -1;
    });
    if (device < 0) return call();
    if (!s.reserve(device, size)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto const result = call();
    // The pool is charged before the reservation goes, so that nobody gets in between.
    if (result == CUDA_SUCCESS) refresh_pool(s, pool);
    s.release(device, size);
    return result;
}

template <class Call>
[[nodiscard]] CUresult pool_made(CUmemoryPool* pool, CUmemPoolProps const& q, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS)
        session::current().locked([&](session& in) {
            bool const counted = q.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
            in.pools.insert_or_assign(*pool, pool_state{counted ? q.location.id : 0, 0, counted});
        });
    return result;
}

template <class Call>
[[nodiscard]] CUresult pool_changed(CUmemoryPool pool, Call call, bool gone = false) {
    auto& s = session::current();
    auto const result = call();
    if (result != CUDA_SUCCESS) return result;
    refresh_pool(s, pool);
    if (gone) {
        auto const last = s.locked([&](session& in) {
            auto const at = in.pools.find(pool);
            auto const state = at == in.pools.end() ? pool_state{} : at->second;
            if (at != in.pools.end()) in.pools.erase(at);
            return state;
        });
        s.release(last.device, last.charged);
    }
    return result;
}

/// A synchronisation, after which pools may have let go of memory.
template <class Call>
[[nodiscard]] CUresult settled(Call call) {
    auto const result = call();
    refresh_pools(session::current());
    return result;
}

// Physical memory is held until neither a handle nor a mapping refers to it.

template <class Call>
[[nodiscard]] CUresult physical(CUmemGenericAllocationHandle* h, std::size_t size, CUmemAllocationProp const& q,
                                Call call) {
    if (q.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return call();
    auto& s = session::current();
    if (!s.reserve(q.location.id, size)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto const result = call();
    if (result == CUDA_SUCCESS)
        s.locked([&](session& in) { in.physical[*h] = {{q.location.id, size}, 1, 0}; });
    else
        s.release(q.location.id, size);
    return result;
}

/// Counts references down, and gives back what nothing refers to any more.
void drop(session& s, CUmemGenericAllocationHandle h, int handles, int mappings);

template <class Call>
[[nodiscard]] CUresult unreferenced(CUmemGenericAllocationHandle h, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS) drop(session::current(), h, 1, 0);
    return result;
}

template <class Call>
[[nodiscard]] CUresult referenced(CUmemGenericAllocationHandle* h, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS) drop(session::current(), *h, -1, 0);
    return result;
}

template <class Call>
[[nodiscard]] CUresult mapped(CUdeviceptr p, std::size_t size, CUmemGenericAllocationHandle h, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS) {
        auto& s = session::current();
        s.locked([&](session& in) { in.mappings[p] = {size, h}; });
        drop(s, h, 0, -1);
    }
    return result;
}

template <class Call>
[[nodiscard]] CUresult unmapped(CUdeviceptr p, std::size_t size, Call call) {
    auto const result = call();
    if (result != CUDA_SUCCESS) return result;
    auto& s = session::current();
    std::vector<CUmemGenericAllocationHandle> gone;
    s.locked([&](session& in) {
        auto at = in.mappings.lower_bound(p);
        while (at != in.mappings.end() && at->first - p < size) {
            gone.push_back(at->second.second);
            at = in.mappings.erase(at);
        }
    });
    for (auto const h : gone) drop(s, h, 0, 1);
    return result;
}

// A module says nothing of its size: it is what the card has less of afterwards.

[[nodiscard]] std::size_t free_memory() noexcept;
void unload(CUmodule m) noexcept;

template <class Call>
[[nodiscard]] CUresult loaded(CUmodule* m, Call call) {
    auto& s = session::current();
    auto const device = current_device();
    auto const before = free_memory();
    auto const result = call();
    if (result != CUDA_SUCCESS) return result;
    auto const after = free_memory();
    auto const size = before > after ? before - after : 0;
    if (!s.reserve(device, size)) {
        unload(*m);
        *m = nullptr;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    s.keep(key_of(*m), {device, size});
    return result;
}

// A graph's memory comes at its launch.

template <class Call>
[[nodiscard]] CUresult allocates(CUgraph g, CUDA_MEM_ALLOC_NODE_PARAMS* q, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS && q->poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        session::current().locked([&](session& in) {
            auto& graph = in.graphs[g];
            graph.device = q->poolProps.location.id;
            graph.nodes[q->dptr] = footprint(q->bytesize);
        });
    return result;
}

template <class Call>
[[nodiscard]] CUresult instantiated(CUgraphExec* e, CUgraph g, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS)
        session::current().locked([&](session& in) {
            auto const at = in.graphs.find(g);
            if (at != in.graphs.end()) in.executables[*e] = at->second;
        });
    return result;
}

/// Takes what a graph's nodes will allocate that isn't held yet; says whether there was room.
[[nodiscard]] bool reserve_nodes(session& s, CUgraphExec e, graph_state& taken);
void settle_nodes(session& s, graph_state const& taken, bool launched);

template <class Call>
[[nodiscard]] CUresult launched(CUgraphExec e, Call call) {
    auto& s = session::current();
    graph_state taken;
    if (!reserve_nodes(s, e, taken)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto const result = call();
    if (!taken.nodes.empty()) settle_nodes(s, taken, result == CUDA_SUCCESS);
    return result;
}

template <class Graph, class Call>
[[nodiscard]] CUresult forgotten(Graph g, Call call) {
    auto const result = call();
    if (result == CUDA_SUCCESS)
        session::current().locked([&](session& in) {
            if constexpr (std::is_same_v<Graph, CUgraph>)
                in.graphs.erase(g);
            else
                in.executables.erase(g);
        });
    return result;
}

// What a process is told of its card.

[[nodiscard]] CUresult memory_info(std::size_t* free, std::size_t* total) noexcept;
[[nodiscard]] CUresult total_memory(std::size_t* total, CUdevice device) noexcept;

} // namespace muster::interposer
