// A pretend libcuda.so.1: cards of 16 GiB that count their pages and give out no memory. Pools grow in chunks, graphs
// take their memory at launch and keep it, modules say nothing of their size, recording a graph forbids questions; all
// as the real one does, so that an interposer can be held to account without a GPU. `pretend_in_use` tells what is
// really taken. The environment chooses: PRETEND_CARDS (1), PRETEND_CONTEXT (bytes of a context, 0).

#define __CUDA_API_VERSION_INTERNAL // cuda.h's name: it declares every version then
#include <cuda.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t capacity = std::size_t{16} << 30U;
constexpr std::size_t page = std::size_t{2} << 20U;
constexpr std::size_t chunk = std::size_t{32} << 20U;

std::size_t up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
std::size_t pages(std::size_t n) { return n > (std::size_t{1} << 20U) ? up(n, page) : up(n, 512); }
std::size_t setting(char const* name, std::size_t otherwise) {
    auto const* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

using clock_type = std::chrono::steady_clock;

struct physical {
    std::size_t size = 0;
    int references = 1;
};

/// A stream-ordered pool: grows in chunks, and keeps what its threshold lets it.
struct pool {
    struct card* of = nullptr;
    std::size_t kept = 0;
    std::size_t handed_out = 0;
    std::uint64_t threshold = 0;
    std::map<std::uint64_t, std::size_t> blocks{};
};

/// What all processes have together, where they share a card: in the file of PRETEND_TOTAL, a place for each.
std::atomic<std::int64_t>* shared_total() {
    static std::atomic<std::int64_t>* const there = [] {
        auto const* const path = std::getenv("PRETEND_TOTAL");
        if (path == nullptr) return static_cast<std::atomic<std::int64_t>*>(nullptr);
        auto const file = open(path, O_RDWR);
        auto* const memory = mmap(nullptr, 512, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        return static_cast<std::atomic<std::int64_t>*>(memory) + setting("PRETEND_PLACE", 0);
    }();
    return there;
}

/// Bytes in use.
class counter {
public:
    operator std::size_t() const { return value_; }
    void operator+=(std::size_t n) {
        value_ += n;
        if (shared_total() != nullptr) shared_total()->fetch_add(static_cast<std::int64_t>(n));
    }
    void operator-=(std::size_t n) { *this += ~n + 1; }

private:
    std::size_t value_ = 0;
};

/// A card and all that lives on it.
struct card {
    CUdevice number = 0;
    counter in_use{};
    int contexts = 0;
    bool primary = false;
    std::map<std::uint64_t, std::size_t> blocks{};
    pool default_pool{this};
    std::size_t graph_kept = 0; ///< what graphs took since the last trim
    std::size_t graph_live = 0; ///< and is not freed
    std::size_t local = 0;      ///< memory of the context that grew
    clock_type::time_point busy_until{};
    bool stuck = false; ///< the last kernel waits for one more launch

    CUresult take(std::size_t n) {
        if (n > capacity - in_use) return CUDA_ERROR_OUT_OF_MEMORY;
        in_use += n;
        return CUDA_SUCCESS;
    }
};

std::mutex mutex;
std::array<card, 2>& cards() {
    static std::array<card, 2> all{card{0}, card{1}};
    for (auto& c : all) c.default_pool.of = &c;
    return all;
}
std::size_t card_count() { return setting("PRETEND_CARDS", 1); }
bool exists(CUdevice d) { return d >= 0 && static_cast<std::size_t>(d) < card_count(); }
card& card_at(CUdevice d) { return cards()[static_cast<std::size_t>(d)]; }

std::uint64_t next_address = 0x7f00'0000'0000;
std::uint64_t address(std::size_t n) {
    auto const at = next_address;
    next_address += up(n, page);
    return at;
}

std::map<std::uint64_t, physical> handles;
std::map<std::uint64_t, card*> handle_card;
std::map<std::uint64_t, std::uint64_t> mappings;
std::map<pool*, bool> own_pools;

struct node {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUDA_MEM_ALLOC_NODE_PARAMS memory{};
    card* of = nullptr;
    std::uint64_t length = 0; ///< of a kernel, in microseconds
};
struct graph {
    std::vector<node*> nodes{};
};
struct executable {
    std::vector<node*> nodes{};
    std::size_t launches = 0;
};
std::map<std::uint64_t, card*> graph_blocks; ///< live memory of graphs, by address

struct context;
struct stream {
    bool gone = false;
    bool waits = false; ///< for the legacy stream, as that does for it
    context* in = nullptr;
    card* of = nullptr;
    graph* recorded = nullptr; ///< while it is captured
    bool spoilt = false;
};
std::vector<stream*> recording;
thread_local auto capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
std::atomic<int> launches = 0;

/// A context is a number and the card it is on.
struct context {
    card* of = nullptr;
    bool gone = false;
};
thread_local context* current = nullptr;

template <class To, class From>
To as(From from) {
    return reinterpret_cast<To>(from);
}

stream* stream_of(CUstream s) { return as<std::uintptr_t>(s) > 2 ? as<stream*>(s) : nullptr; }
bool is_recorded(CUstream s) { return stream_of(s) != nullptr && stream_of(s)->recorded != nullptr; }
card* here() { return current == nullptr ? nullptr : current->of; }

/// A question that nobody may ask while a graph is recorded: it spoils that.
CUresult question() {
    if (recording.empty() || capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    for (auto* const s : recording) s->spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/// The legacy stream waits for streams that may be recorded now: to use it spoils that.
bool spoils_legacy() {
    bool spoilt = false;
    for (auto* const s : recording) spoilt = (s->spoilt = s->spoilt || s->waits) || spoilt;
    return spoilt;
}

CUresult block(std::uint64_t* p, std::size_t n, std::uint64_t at = 0) {
    if (here() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (n == 0) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard const lock{mutex};
    if (auto const refused = here()->take(pages(n)); refused != CUDA_SUCCESS) return refused;
    *p = at != 0 ? at : address(n);
    here()->blocks[*p] = pages(n);
    return CUDA_SUCCESS;
}

void trim(pool& p, std::size_t keep) {
    auto const least = std::max(keep, up(p.handed_out, chunk));
    if (p.kept <= least) return;
    p.of->in_use -= p.kept - least;
    p.kept = least;
}

CUresult from_pool(CUdeviceptr* p, std::size_t n, pool& of, CUstream s) {
    std::lock_guard const lock{mutex};
    if (is_recorded(s)) {
        auto* const made = new node{CU_GRAPH_NODE_TYPE_MEM_ALLOC, {}, of.of};
        made->memory.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, of.of->number};
        made->memory.bytesize = n;
        made->memory.dptr = *p = address(n);
        stream_of(s)->recorded->nodes.push_back(made);
        return CUDA_SUCCESS;
    }
    auto const wanted = up(of.handed_out + up(n, 512), chunk);
    if (wanted > of.kept) {
        if (auto const refused = of.of->take(wanted - of.kept); refused != CUDA_SUCCESS) return refused;
        of.kept = wanted;
    }
    of.handed_out += up(n, 512);
    *p = address(n);
    of.blocks[*p] = up(n, 512);
    return CUDA_SUCCESS;
}

template <class F>
void each_pool(F f) {
    for (auto& c : cards()) f(c.default_pool);
    for (auto const& [p, there] : own_pools) f(*p);
}

CUresult give_back(std::uint64_t p) {
    if (p == 0) return CUDA_SUCCESS;
    std::lock_guard const lock{mutex};
    for (auto& c : cards())
        if (auto const at = c.blocks.find(p); at != c.blocks.end()) {
            c.in_use -= at->second;
            c.blocks.erase(at);
            return CUDA_SUCCESS;
        }
    if (auto const at = graph_blocks.find(p); at != graph_blocks.end()) {
        graph_blocks.erase(at);
        return CUDA_SUCCESS; // the card keeps it for graphs
    }
    auto result = CUDA_ERROR_INVALID_VALUE;
    each_pool([&](pool& of) {
        auto const at = of.blocks.find(p);
        if (at == of.blocks.end()) return;
        of.handed_out -= at->second;
        of.blocks.erase(at);
        if (auto const own = own_pools.find(&of); own != own_pools.end() && !own->second) trim(of, 0);
        result = CUDA_SUCCESS;
    });
    return result;
}

CUresult synchronise() {
    std::lock_guard const lock{mutex};
    each_pool([](pool& of) {
        if (of.kept > of.threshold) trim(of, of.threshold);
    });
    return CUDA_SUCCESS;
}

void unreference(std::uint64_t handle) {
    auto const at = handles.find(handle);
    if (at == handles.end() || --at->second.references != 0) return;
    handle_card[handle]->in_use -= at->second.size;
    handles.erase(at);
}

std::size_t array_bytes(std::size_t w, std::size_t h, std::size_t d, unsigned channels) {
    return up(w * channels * 4, 64) * up(std::max<std::size_t>(h, 1), 8) * std::max<std::size_t>(d, 1);
}

CUresult make_context(CUcontext* c, CUdevice d) {
    if (!exists(d)) return CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard const lock{mutex};
    ++card_at(d).contexts;
    (void)card_at(d).take(setting("PRETEND_CONTEXT", 0));
    *c = as<CUcontext>(new context{&card_at(d)});
    return CUDA_SUCCESS;
}

/// A context goes, and all that it had; the handle is of no more use.
void end_context(card& of) {
    std::lock_guard const lock{mutex};
    --of.contexts;
    of.in_use -= setting("PRETEND_CONTEXT", 0) + of.local;
    of.local = 0;
    for (auto const& [p, n] : of.blocks) of.in_use -= n;
    of.blocks.clear();
}
context* primaries[2]{};

/// A kernel's handle says what it does. 1: takes as long as it has blocks, in microseconds. 2: waits until one more is
/// launched, wherever. 3: takes as many microseconds as its first argument says. 4: needs 256 MiB of local memory.
CUresult launch(std::uintptr_t kernel, std::uint64_t blocks, CUstream s, void** arguments = nullptr) {
    std::lock_guard const lock{mutex};
    if (is_recorded(s)) {
        stream_of(s)->recorded->nodes.push_back(new node{CU_GRAPH_NODE_TYPE_KERNEL, {}, nullptr, blocks});
        return CUDA_SUCCESS;
    }
    if (here() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    auto& c = *here();
    ++launches;
    for (auto& other : cards()) other.stuck = false;
    c.stuck = kernel == 2;
    std::uint64_t const length = kernel == 3 ? *static_cast<unsigned*>(arguments[0]) : blocks;
    c.busy_until = std::max(c.busy_until, clock_type::now()) + std::chrono::microseconds{length};
    if (kernel == 4 && c.local == 0) {
        c.local = std::size_t{256} << 20U;
        c.in_use += c.local;
    }
    return CUDA_SUCCESS;
}

/// An image is a text here; `big[N]` in it is a global of N bytes.
CUresult load(std::uint64_t* m, void const* image) {
    auto const* const big = std::strstr(static_cast<char const*>(image), "big[");
    return block(m, big == nullptr ? 1 : std::strtoull(big + 4, nullptr, 10));
}

struct event {
    context* in = nullptr;
    clock_type::time_point due{};
    card* of = nullptr;
    bool stuck = false;
    bool recorded_from = false; ///< in a stream that is recorded
};

/// What is gone must not be used: the real driver may crash.
void must_live(bool lives) {
    if (!lives) std::abort();
}

} // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int pretend_launches();
EXPORT std::size_t pretend_in_use();
EXPORT std::size_t pretend_in_use_of(int d);
EXPORT int pretend_contexts(int d);
EXPORT int pretend_launches() { return launches; }
EXPORT std::size_t pretend_in_use() { return pretend_in_use_of(0); }
EXPORT std::size_t pretend_in_use_of(int d) { return std::lock_guard{mutex}, card_at(d).in_use; }
EXPORT int pretend_contexts(int d) { return std::lock_guard{mutex}, card_at(d).contexts; }

EXPORT CUresult cuInit(unsigned int) { return CUDA_SUCCESS; }
EXPORT CUresult cuDriverGetVersion(int* v) { return *v = 13000, CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGet(CUdevice* d, int i) { return *d = i, exists(i) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }
EXPORT CUresult cuDeviceGetCount(int* n) { return *n = static_cast<int>(card_count()), CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* u, CUdevice d) {
    if (!exists(d)) return CUDA_ERROR_INVALID_DEVICE;
    std::memset(u, 7 + d, sizeof *u);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* n, CUdevice d) {
    return *n = capacity, exists(d) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
EXPORT CUresult cuDeviceTotalMem(unsigned int* n, CUdevice d) {
    return *n = UINT32_MAX, exists(d) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
EXPORT CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    if (here() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (free != nullptr) *free = capacity - pretend_in_use_of(here()->number);
    if (total != nullptr) *total = capacity;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice d) {
    if (!exists(d)) return CUDA_ERROR_INVALID_DEVICE;
    auto& of = card_at(d);
    if (!of.primary && make_context(c, d) == CUDA_SUCCESS) primaries[d] = as<context*>(*c);
    of.primary = true;
    return *c = as<CUcontext>(primaries[d]), CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice d) {
    if (card_at(d).primary) end_context(card_at(d));
    if (primaries[d] != nullptr) primaries[d]->gone = true;
    return card_at(d).primary = false, CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) { return cuDevicePrimaryCtxReset_v2(d); }
EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned int* flags, int* active) {
    return *flags = 0, *active = card_at(d).primary ? 1 : 0, CUDA_SUCCESS;
}
EXPORT CUresult cuCtxCreate_v4(CUcontext* c, CUctxCreateParams*, unsigned int, CUdevice d) {
    auto const result = make_context(c, d);
    if (result == CUDA_SUCCESS) current = as<context*>(*c);
    return result;
}
EXPORT CUresult cuCtxDestroy_v2(CUcontext c) {
    end_context(*as<context*>(c)->of);
    as<context*>(c)->gone = true;
    if (current == as<context*>(c)) current = nullptr;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext c) { return current = as<context*>(c), CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetCurrent(CUcontext* c) { return *c = as<CUcontext>(current), CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetDevice(CUdevice* d) {
    if (here() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return *d = here()->number, CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetLimit(CUlimit, std::size_t n) {
    std::lock_guard const lock{mutex};
    here()->in_use += n - here()->local;
    return here()->local = n, CUDA_SUCCESS;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* p, std::size_t n) {
    std::uint64_t at = 0;
    auto const result = block(&at, n);
    if (result == CUDA_SUCCESS) *p = at;
    return result;
}
EXPORT CUresult cuMemAlloc(CUdeviceptr_v1* p, unsigned int n) {
    static std::uint64_t low = 0x1000;
    std::uint64_t at = 0;
    auto const result = block(&at, n, low += 512);
    if (result == CUDA_SUCCESS) *p = static_cast<CUdeviceptr_v1>(at);
    return result;
}
EXPORT CUresult cuMemFree(CUdeviceptr_v1 p) { return give_back(p); }
EXPORT CUresult cuMemAllocManaged(CUdeviceptr* p, std::size_t n, unsigned int) { return cuMemAlloc_v2(p, n); }
EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* p, std::size_t* pitch, std::size_t w, std::size_t h, unsigned int) {
    *pitch = up(w, 512);
    // By way of whatever the program has of that name, as drivers may.
    auto* const alloc = reinterpret_cast<decltype(&cuMemAlloc_v2)>(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
    return alloc(p, *pitch * h);
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr p) { return give_back(p); }

EXPORT CUresult cuMemAllocAsync(CUdeviceptr* p, std::size_t n, CUstream s) {
    auto* const of = stream_of(s) != nullptr ? stream_of(s)->of : here();
    return of == nullptr ? CUDA_ERROR_INVALID_CONTEXT : from_pool(p, n, of->default_pool, s);
}
EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr* p, std::size_t n, CUstream s) { return cuMemAllocAsync(p, n, s); }
EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* p, std::size_t n, CUmemoryPool of, CUstream s) {
    return from_pool(p, n, *as<pool*>(of), s);
}
EXPORT CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) {
    if (is_recorded(s)) return CUDA_SUCCESS;
    return give_back(p);
}
EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream s) { return cuMemFreeAsync(p, s); }
EXPORT CUresult cuMemPoolCreate(CUmemoryPool* p, CUmemPoolProps const* q) {
    if (q == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto* const made = new pool{&card_at(q->location.id)};
    std::lock_guard const lock{mutex};
    own_pools[made] = true;
    return *p = as<CUmemoryPool>(made), CUDA_SUCCESS;
}
EXPORT CUresult cuMemPoolDestroy(CUmemoryPool p) {
    auto* const gone = as<pool*>(p);
    std::lock_guard const lock{mutex};
    own_pools[gone] = false; // what is out of it stays until it is freed
    trim(*gone, 0);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool p, std::size_t keep) {
    if (auto const refused = question(); refused != CUDA_SUCCESS) return refused;
    std::lock_guard const lock{mutex};
    return trim(*as<pool*>(p), keep), CUDA_SUCCESS;
}
EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool p, CUmemPool_attribute a, void* value) {
    if (a == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) std::memcpy(&as<pool*>(p)->threshold, value, sizeof(std::uint64_t));
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool p, CUmemPool_attribute a, void* value) {
    if (auto const refused = question(); refused != CUDA_SUCCESS) return refused;
    if (a != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT && a != CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard const lock{mutex};
    auto const& of = *as<pool*>(p);
    std::memcpy(value, a == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ? &of.handed_out : &of.kept, sizeof(std::uint64_t));
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool* p, CUdevice d) {
    if (auto const refused = question(); refused != CUDA_SUCCESS) return refused;
    return *p = as<CUmemoryPool>(&card_at(d).default_pool), CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* p, CUdevice d) { return cuDeviceGetMemPool(p, d); }

EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* h, std::size_t n, CUmemAllocationProp const* q,
                            unsigned long long) {
    if (q == nullptr || n == 0 || n % page != 0) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard const lock{mutex};
    bool const on_card = q->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    auto& of = card_at(on_card ? q->location.id : 0);
    if (auto const refused = on_card ? of.take(n) : CUDA_SUCCESS; refused != CUDA_SUCCESS) return refused;
    *h = next_address++;
    handles[*h] = {on_card ? n : 0, 1};
    handle_card[*h] = &of;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
    std::lock_guard const lock{mutex};
    if (!handles.contains(h)) return CUDA_ERROR_INVALID_VALUE;
    return unreference(h), CUDA_SUCCESS;
}
EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* h, void* at) {
    std::lock_guard const lock{mutex};
    auto const found = mappings.find(as<std::uint64_t>(at));
    if (found == mappings.end()) return CUDA_ERROR_INVALID_VALUE;
    ++handles[found->second].references;
    return *h = found->second, CUDA_SUCCESS;
}
EXPORT CUresult cuMemAddressReserve(CUdeviceptr* p, std::size_t n, std::size_t, CUdeviceptr, unsigned long long) {
    std::lock_guard const lock{mutex};
    return *p = address(n), CUDA_SUCCESS;
}
EXPORT CUresult cuMemMap(CUdeviceptr p, std::size_t, std::size_t, CUmemGenericAllocationHandle h, unsigned long long) {
    std::lock_guard const lock{mutex};
    ++handles[h].references;
    mappings[p] = h;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemUnmap(CUdeviceptr p, std::size_t n) {
    std::lock_guard const lock{mutex};
    for (auto at = mappings.lower_bound(p); at != mappings.end() && at->first - p < n; at = mappings.erase(at))
        unreference(at->second);
    return CUDA_SUCCESS;
}

namespace {

CUresult array(void* made, std::size_t n) {
    std::uint64_t p = 0;
    auto const result = block(&p, n);
    if (result == CUDA_SUCCESS) std::memcpy(made, &p, sizeof p);
    return result;
}

} // namespace

EXPORT CUresult cuArrayCreate_v2(CUarray* a, CUDA_ARRAY_DESCRIPTOR const* d) {
    return d == nullptr ? CUDA_ERROR_INVALID_VALUE : array(a, array_bytes(d->Width, d->Height, 1, d->NumChannels));
}
EXPORT CUresult cuArray3DCreate_v2(CUarray* a, CUDA_ARRAY3D_DESCRIPTOR const* d) {
    return d == nullptr ? CUDA_ERROR_INVALID_VALUE
                        : array(a, array_bytes(d->Width, d->Height, d->Depth, d->NumChannels));
}
EXPORT CUresult cuArrayDestroy(CUarray a) { return give_back(as<std::uint64_t>(a)); }
EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray* a, CUDA_ARRAY3D_DESCRIPTOR const* d, unsigned int) {
    return d == nullptr ? CUDA_ERROR_INVALID_VALUE
                        : array(a, array_bytes(d->Width, d->Height, d->Depth, d->NumChannels));
}
EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray a) { return give_back(as<std::uint64_t>(a)); }

EXPORT CUresult cuModuleLoadData(CUmodule* m, void const* image) {
    std::uint64_t p = 0;
    auto const result = load(&p, image);
    return *m = as<CUmodule>(p), result;
}
EXPORT CUresult cuModuleUnload(CUmodule m) { return give_back(as<std::uint64_t>(m)); }
EXPORT CUresult cuLibraryLoadData(CUlibrary* l, void const* code, CUjit_option*, void**, unsigned int, CUlibraryOption*,
                                  void**, unsigned int) {
    std::uint64_t p = 0;
    auto const result = load(&p, code);
    return *l = as<CUlibrary>(p), result;
}
EXPORT CUresult cuLibraryUnload(CUlibrary l) { return give_back(as<std::uint64_t>(l)); }

EXPORT CUresult cuGraphCreate(CUgraph* g, unsigned int) { return *g = as<CUgraph>(new graph), CUDA_SUCCESS; }
EXPORT CUresult cuGraphDestroy(CUgraph g) { return delete as<graph*>(g), CUDA_SUCCESS; }
EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode* n, CUgraph g, CUgraphNode const*, std::size_t,
                                       CUDA_MEM_ALLOC_NODE_PARAMS* q) {
    std::lock_guard const lock{mutex};
    q->dptr = address(q->bytesize);
    auto* const made = new node{CU_GRAPH_NODE_TYPE_MEM_ALLOC, *q, &card_at(q->poolProps.location.id)};
    as<graph*>(g)->nodes.push_back(made);
    return *n = as<CUgraphNode>(made), CUDA_SUCCESS;
}
EXPORT CUresult cuGraphGetNodes(CUgraph g, CUgraphNode* to, std::size_t* n) {
    auto const& all = as<graph*>(g)->nodes;
    if (to != nullptr) std::transform(all.begin(), all.end(), to, [](node* x) { return as<CUgraphNode>(x); });
    return *n = all.size(), CUDA_SUCCESS;
}
EXPORT CUresult cuGraphNodeGetType(CUgraphNode n, CUgraphNodeType* t) { return *t = as<node*>(n)->type, CUDA_SUCCESS; }
EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode n, CUDA_MEM_ALLOC_NODE_PARAMS* q) {
    return *q = as<node*>(n)->memory, CUDA_SUCCESS;
}
EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* e, CUgraph g, unsigned long long) {
    return *e = as<CUgraphExec>(new executable{as<graph*>(g)->nodes}), CUDA_SUCCESS;
}
EXPORT CUresult cuGraphExecDestroy(CUgraphExec e) { return delete as<executable*>(e), CUDA_SUCCESS; }
EXPORT CUresult cuGraphUpload(CUgraphExec e, CUstream) {
    std::lock_guard const lock{mutex};
    for (auto* const n : as<executable*>(e)->nodes) {
        if (n->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
        auto& c = *n->of;
        std::size_t live = 0;
        for (auto const& [p, of] : graph_blocks) live += of == &c ? chunk * 2 : 0; // each of 64 MiB, as all here
        auto const wanted = live + pages(n->memory.bytesize);
        if (graph_blocks.contains(n->memory.dptr) || wanted <= c.graph_kept) continue;
        if (auto const refused = c.take(wanted - c.graph_kept); refused != CUDA_SUCCESS) return refused;
        c.graph_kept = wanted;
    }
    return CUDA_SUCCESS;
}
EXPORT CUresult cuGraphLaunch(CUgraphExec e, CUstream s) {
    if (auto const refused = cuGraphUpload(e, s); refused != CUDA_SUCCESS) return refused;
    std::lock_guard const lock{mutex};
    for (auto* const n : as<executable*>(e)->nodes)
        if (n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            graph_blocks[n->memory.dptr] = n->of;
        else
            here()->busy_until = std::max(here()->busy_until, clock_type::now()) + std::chrono::microseconds{n->length};
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice d, CUgraphMem_attribute a, void* value) {
    if (a != CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard const lock{mutex};
    std::uint64_t const kept = card_at(d).graph_kept;
    return std::memcpy(value, &kept, sizeof kept), CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGraphMemTrim(CUdevice d) {
    std::lock_guard const lock{mutex};
    auto& c = card_at(d);
    std::size_t live = 0;
    for (auto const& [p, of] : graph_blocks) live += of == &c ? chunk * 2 : 0;
    c.in_use -= c.graph_kept - std::min(live, c.graph_kept);
    return c.graph_kept = std::min(live, c.graph_kept), CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int, unsigned int,
                               unsigned int, unsigned int, CUstream s, void** p, void**) {
    return launch(as<std::uintptr_t>(f), std::uint64_t{x} * y * z, s, p);
}
EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx,
                                    unsigned int by, unsigned int bz, unsigned int m, CUstream s, void** p, void** e) {
    return cuLaunchKernel(f, x, y, z, bx, by, bz, m, s, p, e);
}
EXPORT CUresult cuLaunchKernelEx(CUlaunchConfig const* c, CUfunction f, void** p, void**) {
    if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return launch(as<std::uintptr_t>(f), std::uint64_t{c->gridDimX} * c->gridDimY * c->gridDimZ, c->hStream, p);
}
EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int,
                                          unsigned int, unsigned int, unsigned int, CUstream s, void** p) {
    return launch(as<std::uintptr_t>(f), std::uint64_t{x} * y * z, s, p);
}
EXPORT CUresult cuLaunch(CUfunction f) { return launch(as<std::uintptr_t>(f), 5000, nullptr); }
EXPORT CUresult cuLaunchGridAsync(CUfunction f, int x, int y, CUstream s) {
    return launch(as<std::uintptr_t>(f), static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y), s);
}
EXPORT CUresult cuLaunchGrid(CUfunction f, int x, int y) {
    return launch(as<std::uintptr_t>(f), static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y), nullptr);
}

EXPORT CUresult cuStreamCreate(CUstream* s, unsigned int flags) {
    auto* const made = new stream;
    made->in = current;
    made->of = here();
    made->waits = (flags & CU_STREAM_NON_BLOCKING) == 0;
    return *s = as<CUstream>(made), CUDA_SUCCESS;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream s) { return stream_of(s)->gone = true, CUDA_SUCCESS; }
EXPORT CUresult cuStreamGetDevice(CUstream s, CUdevice* d) { return *d = stream_of(s)->of->number, CUDA_SUCCESS; }
EXPORT CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode) {
    stream_of(s)->recorded = new graph;
    recording.push_back(stream_of(s));
    return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamEndCapture(CUstream s, CUgraph* g) {
    auto* const of = stream_of(s);
    bool const spoilt = std::exchange(of->spoilt, false);
    std::erase(recording, of);
    *g = as<CUgraph>(std::exchange(of->recorded, nullptr));
    return spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}
EXPORT CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus* status) {
    *status = is_recorded(s) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return std::swap(*mode, capture_mode), CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent* e, unsigned int) { return *e = as<CUevent>(new event{current}), CUDA_SUCCESS; }
EXPORT CUresult cuEventRecord(CUevent e, CUstream s) {
    std::lock_guard const lock{mutex};
    auto& of = *as<event*>(e);
    must_live(!of.in->gone && (stream_of(s) == nullptr || (!stream_of(s)->gone && !stream_of(s)->in->gone)));
    if (here() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (s == nullptr && spoils_legacy()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return of = {of.in, here()->busy_until, here(), here()->stuck, is_recorded(s)}, CUDA_SUCCESS;
}
EXPORT CUresult cuEventRecord_ptsz(CUevent e, CUstream s) { return cuEventRecord(e, s); }
EXPORT CUresult cuEventQuery(CUevent e) {
    if (auto const refused = question(); refused != CUDA_SUCCESS) return refused;
    std::lock_guard const lock{mutex};
    auto& of = *as<event*>(e);
    must_live(!of.in->gone);
    if (of.recorded_from) {
        for (auto* const r : recording) r->spoilt = true;
        return CUDA_ERROR_CAPTURED_EVENT;
    }
    of.stuck = of.stuck && of.of->stuck;
    return of.stuck || clock_type::now() < of.due ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
EXPORT CUresult cuStreamSynchronize(CUstream) { return synchronise(); }
EXPORT CUresult cuCtxSynchronize() { return synchronise(); }
EXPORT CUresult cuEventSynchronize(CUevent e) {
    std::this_thread::sleep_until(as<event*>(e)->due);
    return synchronise();
}

EXPORT CUresult cuGetProcAddress(char const* symbol, void** function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

namespace {

struct entry {
    std::string_view name;
    void* plain;
    void* per_thread = nullptr; ///< null: the same
};

template <class F>
void* address_of(F* f) {
    return reinterpret_cast<void*>(f);
}

#define ENTRY(name, exported)                                                                                          \
    entry { #name, address_of(exported) }
entry const entries[]{ENTRY(cuMemAlloc, cuMemAlloc_v2),
                      ENTRY(cuMemFree, cuMemFree_v2),
                      ENTRY(cuMemAllocManaged, cuMemAllocManaged),
                      ENTRY(cuMemAllocPitch, cuMemAllocPitch_v2),
                      {"cuMemAllocAsync", address_of(cuMemAllocAsync), address_of(cuMemAllocAsync_ptsz)},
                      {"cuMemFreeAsync", address_of(cuMemFreeAsync), address_of(cuMemFreeAsync_ptsz)},
                      ENTRY(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync),
                      ENTRY(cuMemCreate, cuMemCreate),
                      ENTRY(cuMemRelease, cuMemRelease),
                      ENTRY(cuMemMap, cuMemMap),
                      ENTRY(cuMemUnmap, cuMemUnmap),
                      ENTRY(cuArrayCreate, cuArrayCreate_v2),
                      ENTRY(cuArray3DCreate, cuArray3DCreate_v2),
                      ENTRY(cuArrayDestroy, cuArrayDestroy),
                      ENTRY(cuMipmappedArrayCreate, cuMipmappedArrayCreate),
                      ENTRY(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy),
                      ENTRY(cuModuleLoadData, cuModuleLoadData),
                      ENTRY(cuModuleUnload, cuModuleUnload),
                      ENTRY(cuLibraryLoadData, cuLibraryLoadData),
                      ENTRY(cuLibraryUnload, cuLibraryUnload),
                      ENTRY(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode),
                      ENTRY(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags),
                      ENTRY(cuGraphLaunch, cuGraphLaunch),
                      ENTRY(cuMemGetInfo, cuMemGetInfo_v2),
                      ENTRY(cuDeviceTotalMem, cuDeviceTotalMem_v2),
                      ENTRY(cuCtxSynchronize, cuCtxSynchronize)};
#undef ENTRY

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
