#pragma once

// Memory that is kept for later: stream-ordered pools, and what graphs allocate. Both are charged what the driver keeps
// for them, not what is handed out.

#include "driver.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <muster/ext/clock.hpp>

#include "memory.hpp"

namespace muster::interposer {

/// Whether what is launched or allocated on a stream is only noted down, for a graph.
[[nodiscard]] inline bool is_capturing(CUstream stream, bool per_thread) noexcept {
    if (!session::current().records.load(std::memory_order_relaxed)) return false;
    auto* const question = per_thread ? real().cuStreamIsCapturing_ptsz : real().cuStreamIsCapturing;
    auto status = CU_STREAM_CAPTURE_STATUS_NONE;
    return question != nullptr && (!ask(question, stream, &status) || status != CU_STREAM_CAPTURE_STATUS_NONE);
}

/// A thread may be recording a graph, which many questions to the driver would spoil, but for those of a thread that
/// says so beforehand.
class relaxed {
public:
    /// `always`: whoever asks for long may be there when the first recording begins.
    explicit relaxed(bool always = false) noexcept : needed_(always || session::current().records.load()) {
        exchange();
    }
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
    if (session::current().devices.load(std::memory_order_relaxed) == 1) return 0;
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

/// What a pool keeps, or what is out of it.
template <CUmemPool_attribute Which = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT>
[[nodiscard]] bool bytes_of_pool(std::uint64_t pool, std::uint64_t& bytes) noexcept {
    auto* const handle = reinterpret_cast<CUmemoryPool>(pool); // NOLINT(performance-no-int-to-ptr)
    return ask(real().cuMemPoolGetAttribute, handle, Which, static_cast<void*>(&bytes));
}

[[nodiscard]] inline std::size_t growth_of(CUmemoryPool pool, std::size_t size) noexcept {
    relaxed const while_asking;
    std::uint64_t kept = 0;
    std::uint64_t out = 0;
    return bytes_of_pool<>(key_of(pool), kept) && bytes_of_pool<CU_MEMPOOL_ATTR_USED_MEM_CURRENT>(key_of(pool), out)
               ? account::pool_growth(kept, out, size)
               : size;
}

inline void recount_pools(session& s) {
    relaxed const while_asking;
    s.books.pools.recount_all(bytes_of_pool<>);
}

/// `find()` is the pool, which nobody must ask for while a graph is recorded; where its device isn't known, it is.
template <class Find, class Call>
[[nodiscard]] CUresult from_pool(CUdeviceptr* p, Find find, std::size_t size, CUstream stream, bool per_thread,
                                 Call call) {
    if (is_capturing(stream, per_thread)) return call(); // its launch will take the memory
    auto& books = session::current().books;
    pool_of_device of = find();
    if (of.device < 0) of.device = books.pools.device_of(key_of(of.pool)).value_or(current_device());
    if (of.device < 0) return call();
    auto const before = p == nullptr ? 0 : *p; // a refusal leaves it
    auto* const free = per_thread ? real().cuMemFreeAsync_ptsz : real().cuMemFreeAsync;
    auto const recount = [&] {
        relaxed const while_asking;
        books.pools.recount(key_of(of.pool), of.device, bytes_of_pool<>);
    };
    return books.take_kept(
        of.device, account::rounded_up(size, account::pool_chunk), [&] { return growth_of(of.pool, size); }, call,
        recount, [&] { (void)ask(free, std::exchange(*p, before), stream); });
}

/// Notes whose memory a pool's is.
template <class Call>
[[nodiscard]] CUresult pool_known(CUmemoryPool* pool, CUdevice device, bool counted, Call call) {
    return then(call, [&](session& s) { s.books.pools.learn(key_of(*pool), device, counted); });
}

template <class Call>
[[nodiscard]] CUresult pool_known(CUmemoryPool* pool, CUmemLocation const* l, Call call) {
    if (l == nullptr) return call(); // the driver says what is wrong
    bool const on_card = l->type == CU_MEM_LOCATION_TYPE_DEVICE;
    return pool_known(pool, on_card ? l->id : 0, on_card, call);
}

/// What is out of a pool stays until it is freed: NVML's figure has it, and else it stays charged.
template <class Call>
[[nodiscard]] CUresult pool_gone(CUmemoryPool pool, Call call) {
    auto& s = session::current();
    std::uint64_t out = 0;
    if (!s.can_measure()) (void)bytes_of_pool<CU_MEMPOOL_ATTR_USED_MEM_CURRENT>(key_of(pool), out);
    auto const good = [](CUresult r) { return r == CUDA_SUCCESS; };
    auto const result = pool_chosen([&] { return s.books.pools.give_back(key_of(pool), call, good, out); });
    s.measure_all();
    return result;
}

/// A synchronisation, after which pools may have let go of memory, and code that was loaded late shows.
template <class Call>
[[nodiscard]] CUresult settled(Call call) {
    auto const result = call();
    auto& s = session::current();
    recount_pools(s);
    if (s.can_measure() && ext::is_due(s.next_measure, 250)) s.measure_all(); // milliseconds
    return result;
}

// A graph's memory comes when it is launched or uploaded, and stays on its device until that is trimmed.

/// Whether the driver can be asked what is in a graph.
[[nodiscard]] inline bool lists_nodes() noexcept {
    auto const& r = real();
    return r.cuGraphGetNodes != nullptr && r.cuGraphNodeGetType != nullptr && r.cuGraphMemAllocNodeGetParams != nullptr;
}

/// What follows what in a graph; nothing where the driver doesn't tell.
[[nodiscard]] inline std::vector<account::graph_edge> edges_of(CUgraph g) {
    std::size_t count = 0;
    if (!ask(real().cuGraphGetEdges, g, nullptr, nullptr, &count)) return {};
    std::vector<CUgraphNode> from(count);
    std::vector<CUgraphNode> to(count);
    std::vector<account::graph_edge> edges;
    if (!ask(real().cuGraphGetEdges, g, from.data(), to.data(), &count)) return edges;
    for (std::size_t i = 0; i != count; ++i) edges.emplace_back(key_of(from[i]), key_of(to[i]));
    return edges;
}

/// Adds what a graph's allocations take, and those of graphs within it.
inline void add_memory_of(CUgraph g, account::takings& to) {
    std::size_t count = 0;
    if (!lists_nodes() || !ask(real().cuGraphGetNodes, g, nullptr, &count)) return;
    std::vector<CUgraphNode> nodes(count);
    if (!ask(real().cuGraphGetNodes, g, nodes.data(), &count)) return;
    bool allocates = false;
    std::vector<account::graph_step> steps;
    for (auto* const node : nodes) {
        auto& step = steps.emplace_back();
        step.node = key_of(node);
        auto type = CU_GRAPH_NODE_TYPE_EMPTY;
        CUDA_MEM_ALLOC_NODE_PARAMS q{};
        CUdeviceptr freed = 0;
        CUgraph child = nullptr;
        if (!ask(real().cuGraphNodeGetType, node, &type)) continue;
        if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && ask(real().cuGraphMemAllocNodeGetParams, node, &q) &&
            q.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
            step = {key_of(node), q.dptr, q.poolProps.location.id, footprint(q.bytesize)};
            allocates = true;
        }
        if (type == CU_GRAPH_NODE_TYPE_MEM_FREE && ask(real().cuGraphMemFreeNodeGetParams, node, &freed))
            step.block = freed;
        if (type == CU_GRAPH_NODE_TYPE_GRAPH && ask(real().cuGraphChildGraphNodeGetGraph, node, &child))
            add_memory_of(child, to);
    }
    if (allocates) account::add_peak(steps, edges_of(g), to);
}

/// Charges a device's graph memory.
inline void recount_graph_memory(CUdevice device) {
    auto const kept = [](std::uint64_t d, std::uint64_t& bytes) {
        return ask(real().cuDeviceGetGraphMemAttribute, static_cast<CUdevice>(d),
                   CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, static_cast<void*>(&bytes));
    };
    session::current().books.graph_memory.recount(static_cast<std::uint64_t>(device), device, kept);
}

/// Counts at once what a node will take, where nobody can tell it later.
template <class Call>
[[nodiscard]] CUresult node_added(CUDA_MEM_ALLOC_NODE_PARAMS* q, Call call) {
    return q == nullptr || lists_nodes() ? call() : counted(&q->dptr, footprint(q->bytesize), call);
}

template <class Call>
[[nodiscard]] CUresult instantiated(CUgraphExec* e, CUgraph g, Call call) {
    return then(call, [e, g](session& s) {
        account::takings takes;
        add_memory_of(g, takes);
        s.books.instantiated(key_of(*e), takes);
    });
}

template <class Call>
[[nodiscard]] CUresult with_memory(CUgraphExec e, Call call) {
    return session::current().books.launch(key_of(e), call, recount_graph_memory);
}

template <class Call>
[[nodiscard]] CUresult graph_memory_trimmed(CUdevice device, Call call) {
    return then(call, [device](session& s) {
        recount_graph_memory(device);
        s.books.trimmed();
    });
}

/// What may help where the limit leaves too little: graph memory that nobody uses goes, and all is counted anew. What a
/// pool keeps stays: its threshold says that somebody wants it so.
inline void make_room(session& s, CUdevice device) {
    recount_pools(s);
    relaxed const while_asking;
    auto* const trim = real().cuDeviceGraphMemTrim;
    if (s.books.graph_memory.charged(static_cast<std::uint64_t>(device)) != 0 && trim != nullptr)
        (void)graph_memory_trimmed(device, [&] { return trim(device); });
    s.measure(device);
}

} // namespace muster::interposer
