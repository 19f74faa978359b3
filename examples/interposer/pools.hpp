#pragma once

// Memory that is kept for later: stream-ordered pools, and what graphs allocate. Both are charged what the driver keeps
// for them, not what is handed out.

#include "driver.hpp"

#include "memory.hpp"

namespace muster::interposer {

/// Whether what is launched or allocated on a stream is only noted down, for a graph.
[[nodiscard]] inline bool is_capturing(CUstream stream, bool per_thread) noexcept {
    if (!session::current().records.load(std::memory_order_relaxed)) return false;
    auto* const question = per_thread ? real().cuStreamIsCapturing_ptsz : real().cuStreamIsCapturing;
    auto status = CU_STREAM_CAPTURE_STATUS_NONE;
    return question != nullptr && (!ask(question, stream, &status) || status != CU_STREAM_CAPTURE_STATUS_NONE);
}

/// A graph is recorded from here on, or will be.
template <class Call>
[[nodiscard]] CUresult recording(Call call) {
    session::current().records = true;
    return call();
}

/// A thread may be recording a graph, which many questions to the driver would spoil, but for those of a thread that
/// says so beforehand.
class relaxed {
public:
    relaxed() noexcept : needed_(session::current().records.load(std::memory_order_relaxed)) { exchange(); }
    relaxed(relaxed const&) = delete;
    relaxed& operator=(relaxed const&) = delete;
    ~relaxed() { exchange(); }

private:
    void exchange() noexcept {
        if (needed_) (void)ask(real().cuThreadExchangeStreamCaptureMode, &mode_);
    }
    bool needed_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

struct pool_of_device {
    CUmemoryPool pool = nullptr;
    CUdevice device = -1; ///< -1: not known
};

[[nodiscard]] inline CUdevice device_of(CUstream stream) noexcept {
    CUdevice device = -1;
    bool const named = key_of(stream) > key_of(CU_STREAM_PER_THREAD); // the others belong to the current context
    return named && ask(real().cuStreamGetDevice, stream, &device) ? device : current_device();
}

/// The pool that allocations on a stream come from.
[[nodiscard]] inline pool_of_device current_pool(CUstream stream) noexcept {
    pool_of_device out{nullptr, device_of(stream)};
    auto& known = session::current().current_pools;
    if (static_cast<std::size_t>(out.device) >= known.size()) return out;
    auto& at = known[static_cast<std::size_t>(out.device)];
    if ((out.pool = at.load(std::memory_order_relaxed)) != nullptr) return out;
    relaxed const while_asking;
    if (ask(real().cuDeviceGetMemPool, &out.pool, out.device)) at = out.pool;
    return out;
}

/// Another pool may be the current one from now on.
template <class Call>
[[nodiscard]] CUresult pool_chosen(Call call) {
    return then(call, [](session& s) {
        for (auto& p : s.current_pools) p = nullptr;
    });
}

/// Sets a pool's charge to what the driver says it keeps.
inline void recount(session& s, CUmemoryPool pool, pool_state& state) noexcept {
    cuuint64_t kept = 0;
    if (state.counted && ask(real().cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &kept))
        s.adjust(state.device, state.charged, kept);
}

inline void recount_pool(session& s, CUmemoryPool pool, CUdevice device) {
    relaxed const while_asking;
    s.locked([&](session& in) {
        recount(in, pool, in.pools.try_emplace(pool, pool_state{device, 0, true}).first->second);
    });
}

inline void recount_pools(session& s) {
    relaxed const while_asking;
    s.locked([](session& in) {
        for (auto& [pool, state] : in.pools)
            if (state.charged != 0) recount(in, pool, state);
    });
}

/// `find()` is the pool, which nobody must ask for while a graph is recorded; where its device isn't known, the pool
/// is.
template <class Find, class Call>
[[nodiscard]] CUresult from_pool(Find find, std::size_t size, CUstream stream, bool per_thread, Call call) {
    if (is_capturing(stream, per_thread)) return call(); // its launch will take the memory
    auto& s = session::current();
    pool_of_device of = find();
    if (of.device < 0)
        of.device = s.locked([&](session& in) {
            auto const at = in.pools.find(of.pool);
            if (at == in.pools.end()) return current_device();
            return at->second.counted ? at->second.device : -1;
        });
    if (of.device < 0) return call();
    if (!s.reserve(of.device, size)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto const result = call();
    // The pool is charged before the reservation goes, so that nobody gets in between.
    if (result == CUDA_SUCCESS) recount_pool(s, of.pool, of.device);
    s.release(of.device, size);
    return result;
}

/// Notes whose memory a pool's is.
template <class Call>
[[nodiscard]] CUresult pool_known(CUmemoryPool* pool, CUdevice device, bool counted, Call call) {
    return then(call, [&](session& s) {
        s.locked([&](session& in) { in.pools.try_emplace(*pool, pool_state{device, 0, counted}); });
    });
}

template <class Call>
[[nodiscard]] CUresult pool_known(CUmemoryPool* pool, CUmemLocation const& l, Call call) {
    bool const on_card = l.type == CU_MEM_LOCATION_TYPE_DEVICE;
    return pool_known(pool, on_card ? l.id : 0, on_card, call);
}

template <class Call>
[[nodiscard]] CUresult pool_changed(Call call) {
    return then(call, [](session& s) { recount_pools(s); });
}

/// Forgets pools that are gone: `f(handle, state)` says which.
template <class F>
void forget_pools_if(session& s, F f) {
    s.locked([&](session& in) {
        std::erase_if(in.pools, [&](auto const& entry) {
            bool const gone = f(entry.first, entry.second);
            if (gone) in.release(entry.second.device, entry.second.charged);
            return gone;
        });
        for (auto& p : in.current_pools) p = nullptr;
    });
}

inline void forget_pools(session& s, CUdevice device) {
    forget_pools_if(s, [device](CUmemoryPool, pool_state const& state) { return state.device == device; });
}

template <class Call>
[[nodiscard]] CUresult pool_gone(CUmemoryPool pool, Call call) {
    return then(call, [pool](session& s) {
        forget_pools_if(s, [pool](CUmemoryPool p, pool_state const&) { return p == pool; });
    });
}

/// A synchronisation, after which pools may have let go of memory, and code that was loaded late shows.
template <class Call>
[[nodiscard]] CUresult settled(Call call) {
    auto const result = call();
    auto& s = session::current();
    recount_pools(s);
    s.measure_now_and_then();
    return result;
}

// A graph's memory comes when it is launched or uploaded, and stays on its device until that is trimmed.

/// Whether the driver can be asked what is in a graph.
[[nodiscard]] inline bool lists_nodes() noexcept {
    auto const& r = real();
    return r.cuGraphGetNodes != nullptr && r.cuGraphNodeGetType != nullptr && r.cuGraphMemAllocNodeGetParams != nullptr;
}

/// Adds what a graph's allocations take, and those of graphs within it.
inline void add_memory_of(CUgraph g, graph_memory& to) {
    auto const& r = real();
    if (!lists_nodes()) return;
    std::size_t count = 0;
    if (r.cuGraphGetNodes(g, nullptr, &count) != CUDA_SUCCESS) return;
    std::vector<CUgraphNode> nodes(count);
    if (r.cuGraphGetNodes(g, nodes.data(), &count) != CUDA_SUCCESS) return;
    for (auto* const node : nodes) {
        auto type = CU_GRAPH_NODE_TYPE_EMPTY;
        if (!ask(r.cuGraphNodeGetType, node, &type)) continue;
        CUDA_MEM_ALLOC_NODE_PARAMS q{};
        CUgraph child = nullptr;
        if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && ask(r.cuGraphMemAllocNodeGetParams, node, &q) &&
            q.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            to[q.poolProps.location.id] += footprint(q.bytesize);
        if (type == CU_GRAPH_NODE_TYPE_GRAPH && ask(r.cuGraphChildGraphNodeGetGraph, node, &child))
            add_memory_of(child, to);
    }
}

/// Sets the charge for a device's graph memory to what there is.
inline void recount_graph_memory(session& s, CUdevice device) {
    auto const at = static_cast<std::size_t>(device);
    s.locked([&](session& in) {
        cuuint64_t kept = 0;
        if (at < in.graph_charges.size() &&
            ask(real().cuDeviceGetGraphMemAttribute, device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &kept))
            in.adjust(device, in.graph_charges[at], kept);
    });
}

[[nodiscard]] inline bool reserve_all(session& s, graph_memory const& wanted) noexcept {
    for (auto at = wanted.begin(); at != wanted.end(); ++at) {
        if (s.reserve(at->first, at->second)) continue;
        for (auto taken = wanted.begin(); taken != at; ++taken) s.release(taken->first, taken->second);
        return false;
    }
    return true;
}

/// Counts at once what a node will take, where nobody can tell it later.
template <class Call>
[[nodiscard]] CUresult node_added(CUDA_MEM_ALLOC_NODE_PARAMS* q, Call call) {
    return lists_nodes() ? call() : counted(&q->dptr, footprint(q->bytesize), call);
}

template <class Call>
[[nodiscard]] CUresult instantiated(CUgraphExec* e, CUgraph g, Call call) {
    return then(call, [e, g](session& s) {
        graph_memory takes;
        add_memory_of(g, takes);
        if (takes.empty()) return;
        s.locked([&](session& in) {
            in.executables[*e] = {takes};
            in.executables_with_memory = in.executables.size();
        });
    });
}

template <class Call>
[[nodiscard]] CUresult with_memory(CUgraphExec e, Call call) {
    auto& s = session::current();
    if (s.executables_with_memory.load(std::memory_order_relaxed) == 0) return call();
    auto const state = s.locked([&](session& in) {
        auto const at = in.executables.find(e);
        return at == in.executables.end() ? executable_state{} : at->second;
    });
    if (state.takes.empty()) return call();
    if (!state.backed && !reserve_all(s, state.takes)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto const result = call();
    for (auto const& [device, size] : state.takes) {
        recount_graph_memory(s, device);
        if (!state.backed) s.release(device, size);
    }
    if (result == CUDA_SUCCESS && !state.backed)
        s.locked([&](session& in) {
            if (auto const at = in.executables.find(e); at != in.executables.end()) at->second.backed = true;
        });
    return result;
}

template <class Call>
[[nodiscard]] CUresult graph_memory_trimmed(CUdevice device, Call call) {
    return then(call, [device](session& s) {
        recount_graph_memory(s, device);
        s.locked([&](session& in) {
            for (auto& [e, state] : in.executables) state.backed = false;
        });
    });
}

template <class Call>
[[nodiscard]] CUresult graph_gone(CUgraphExec e, Call call) {
    return then(call, [e](session& s) {
        if (s.executables_with_memory.load(std::memory_order_relaxed) == 0) return;
        s.locked([&](session& in) {
            in.executables.erase(e);
            in.executables_with_memory = in.executables.size();
        });
    });
}

/// What may help where the limit leaves too little: graph memory that nobody uses goes, and all is counted anew. What a
/// pool keeps stays: its threshold says that somebody wants it so.
inline void make_room(session& s, CUdevice device) {
    recount_pools(s);
    relaxed const while_asking;
    auto* const trim = real().cuDeviceGraphMemTrim;
    if (s.executables_with_memory != 0 && trim != nullptr)
        (void)graph_memory_trimmed(device, [&] { return trim(device); });
    s.measure(device);
}

} // namespace muster::interposer
