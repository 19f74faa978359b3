// A load as PyTorch makes it, on the CUDA runtime: every phase is integer arithmetic whose sum is known, so that what
// it prints is the same everywhere: with the library and without. It holds less than 1 GiB of the card.
//
//   workload        a line a phase: its sum, and "ok" or what was expected
//   workload --oom  takes until it is refused, and goes on working; only under a limit

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace {

using word = std::uint32_t;
using sum_type = unsigned long long;

constexpr std::size_t mib = std::size_t{1} << 20U;
int exit_status = 0;

void check(cudaError_t error, char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorName(error));
    std::exit(1);
}

void report(char const* phase, sum_type got, sum_type expected) {
    std::printf("%-10s   %016llx   ", phase, got);
    if (got == expected) return void(std::printf("ok\n"));
    std::printf("differs: expected %016llx\n", expected);
    exit_status = 1;
}

/// What `fill` writes at a place.
__host__ __device__ constexpr word element(word seed, std::size_t i) {
    auto const x = (static_cast<word>(i) + seed * 40503U) * 2654435761U;
    return x ^ (x >> 15U);
}

__device__ std::size_t first() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::size_t step() { return std::size_t{gridDim.x} * blockDim.x; }

__global__ void fill(word* p, std::size_t n, word seed) {
    for (auto i = first(); i < n; i += step()) p[i] = element(seed, i);
}
__global__ void add(word* to, word const* from, std::size_t n) {
    for (auto i = first(); i < n; i += step()) to[i] += from[i];
}
/// Weighted, so that words that changed places show.
__global__ void total(word const* p, std::size_t n, sum_type* sum) {
    sum_type mine = 0;
    for (auto i = first(); i < n; i += step()) mine += (i + 1) * p[i];
    atomicAdd(sum, mine);
}

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), cudaStream_t stream, Arguments... arguments) {
    kernel<<<256, 256, 0, stream>>>(arguments...);
    check(cudaGetLastError());
}

/// The weighted sum of a buffer's words, as the card makes it.
sum_type sum_of(word const* p, std::size_t n, cudaStream_t stream) {
    sum_type* there = nullptr;
    sum_type sum = 0;
    check(cudaMalloc(&there, sizeof sum));
    check(cudaMemsetAsync(there, 0, sizeof sum, stream));
    run(total, stream, p, n, there);
    check(cudaMemcpyAsync(&sum, there, sizeof sum, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaFree(there));
    return sum;
}

/// The same for what these fills add up to, on the host.
sum_type expected(std::size_t n, std::vector<word> const& seeds) {
    std::vector<word> sums(n);
    for (auto const seed : seeds)
        for (std::size_t i = 0; i != n; ++i) sums[i] += element(seed, i);
    sum_type sum = 0;
    for (std::size_t i = 0; i != n; ++i) sum += (i + 1) * sums[i];
    return sum;
}

/// Segments of 2 and 20 MiB, and larger ones for themselves, cut into blocks by hand.
class cache {
public:
    char* take(std::size_t n) {
        n = (n + 511) / 512 * 512;
        auto const size = n <= mib ? 2 * mib : n < 10 * mib ? 20 * mib : (n + 2 * mib - 1) / (2 * mib) * (2 * mib);
        auto s = std::find_if(segments_.begin(), segments_.end(),
                              [&](auto const& at) { return at.second.size == size && size - at.second.cut >= n; });
        if (s == segments_.end()) {
            char* base = nullptr;
            check(cudaMalloc(&base, size));
            s = segments_.insert({base, {size}}).first;
        }
        ++s->second.blocks;
        return s->first + std::exchange(s->second.cut, s->second.cut + n);
    }
    void give(char* p) {
        auto& s = std::prev(segments_.upper_bound(p))->second;
        if (--s.blocks == 0) s.cut = 0;
    }
    /// Gives back the segments of which nothing is in use.
    void empty() {
        std::erase_if(segments_, [](auto const& at) {
            if (at.second.blocks == 0) check(cudaFree(at.first));
            return at.second.blocks == 0;
        });
    }

private:
    struct segment {
        std::size_t size, cut = 0, blocks = 0;
    };
    std::map<char*, segment> segments_{};
};

/// Blocks of all sizes come and go; none may touch another's words.
void caching() {
    struct lease {
        word* at;
        std::size_t words;
        word seed;
    };
    cache all;
    std::minstd_rand roll{1};
    std::vector<lease> live;
    std::size_t in_use = 0;
    sum_type got = 0;
    sum_type wanted = 0;
    auto const end_one = [&] {
        std::swap(live[roll() % live.size()], live.back());
        auto const l = live.back();
        live.pop_back();
        in_use -= l.words;
        got += sum_of(l.at, l.words, nullptr);
        wanted += expected(l.words, {l.seed});
        all.give(reinterpret_cast<char*>(l.at));
    };
    for (word turn = 0; turn != 400; ++turn) {
        auto const most = std::array{mib, mib, 10 * mib, 24 * mib}[roll() % 4] / sizeof(word);
        auto const n = 1 + roll() % most;
        live.push_back({reinterpret_cast<word*>(all.take(n * sizeof(word))), n, turn});
        in_use += n;
        run(fill, nullptr, live.back().at, n, turn);
        while (in_use > 200 * mib / sizeof(word) || (!live.empty() && roll() % 3 == 0)) end_one();
        if (turn % 50 == 49) all.empty();
    }
    while (!live.empty()) end_one();
    all.empty();
    report("caching", got, wanted);
}

constexpr std::size_t words = mib; ///< of the buffers below
constexpr std::size_t bytes = words * sizeof(word);

/// A stream, and a buffer to add up in.
struct place {
    cudaStream_t stream = nullptr;
    word* sums = nullptr;
    place() {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        check(cudaMalloc(&sums, bytes));
        check(cudaMemsetAsync(sums, 0, bytes, stream));
    }
    place(place const&) = delete;
    place& operator=(place const&) = delete;
    ~place() {
        check(cudaFree(sums));
        check(cudaStreamDestroy(stream));
    }
    void report(char const* phase, std::vector<word> const& seeds) const {
        ::report(phase, sum_of(sums, words, stream), expected(words, seeds));
    }
};

/// Four streams: each takes and fills, the next adds and frees when an event says so.
void streams() {
    std::array<place, 4> at;
    std::array<cudaEvent_t, 4> filled{};
    std::array<std::vector<word>, 4> seeds;
    for (auto& e : filled) check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    for (word seed = 0; seed != 160; ++seed) {
        auto const i = seed % 4;
        auto const next = (seed + 1) % 4;
        word* p = nullptr;
        check(cudaMallocAsync(&p, bytes, at[i].stream));
        run(fill, at[i].stream, p, words, seed);
        check(cudaEventRecord(filled[i], at[i].stream));
        check(cudaStreamWaitEvent(at[next].stream, filled[i], 0));
        run(add, at[next].stream, at[next].sums, p, words);
        check(cudaFreeAsync(p, at[next].stream));
        seeds[next].push_back(seed);
    }
    for (std::size_t i = 0; i != 4; ++i) at[i].report("streams", seeds[i]);
    for (auto* const e : filled) check(cudaEventDestroy(e));
}

/// A pool of its own, that keeps some of what it is given back.
void own_pool() {
    place const at;
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps q{};
    q.allocType = cudaMemAllocationTypePinned;
    q.location.type = cudaMemLocationTypeDevice;
    std::uint64_t keep = 32 * mib;
    check(cudaMemPoolCreate(&pool, &q));
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    std::vector<word> seeds;
    for (int turn = 0; turn != 30; ++turn) {
        std::array<word*, 12> p{}; // 48 MiB
        for (auto& one : p) {
            seeds.push_back(static_cast<word>(seeds.size()));
            check(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&one), bytes, pool, at.stream));
            run(fill, at.stream, one, words, seeds.back());
        }
        for (auto* const one : p) {
            run(add, at.stream, at.sums, one, words);
            check(cudaFreeAsync(one, at.stream));
        }
        if (turn % 10 == 9) check(cudaStreamSynchronize(at.stream));
    }
    at.report("pool", seeds);
    check(cudaMemPoolTrimTo(pool, 0));
    check(cudaMemPoolDestroy(pool));
}

/// Memory of the host that the card copies from and to, and a function of the host in a stream.
void host_memory() {
    place const at;
    struct pinned {
        word* p = nullptr;
        sum_type sum = 0;
    } host;
    word* copy = nullptr;
    check(cudaMallocHost(&host.p, bytes));
    check(cudaMalloc(&copy, bytes));
    for (std::size_t i = 0; i != words; ++i) host.p[i] = element(7, i);
    check(cudaMemcpyAsync(copy, host.p, bytes, cudaMemcpyHostToDevice, at.stream));
    run(fill, at.stream, at.sums, words, word{8});
    run(add, at.stream, at.sums, copy, words);
    check(cudaMemcpyAsync(host.p, at.sums, bytes, cudaMemcpyDeviceToHost, at.stream));
    check(cudaLaunchHostFunc(
        at.stream,
        [](void* to) {
            auto& h = *static_cast<pinned*>(to);
            for (std::size_t i = 0; i != words; ++i) h.sum += (i + 1) * h.p[i];
        },
        &host));
    check(cudaStreamSynchronize(at.stream));
    report("host", host.sum, expected(words, {7, 8}));
    check(cudaFree(copy));
    check(cudaFreeHost(host.p));
}

/// Makes a graph of what `record(stream)` puts there.
template <class Record>
cudaGraph_t captured(cudaStream_t stream, Record record) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    record();
    check(cudaStreamEndCapture(stream, &graph));
    return graph;
}

/// A graph that takes and frees memory of its own.
void capture() {
    place const at;
    auto* const graph = captured(at.stream, [&] {
        word* p = nullptr;
        check(cudaMallocAsync(&p, bytes, at.stream));
        run(fill, at.stream, p, words, word{3});
        run(add, at.stream, at.sums, p, words);
        check(cudaFreeAsync(p, at.stream));
    });
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i != 50; ++i) check(cudaGraphLaunch(executable, at.stream));
    at.report("capture", std::vector<word>(50, 3));
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaDeviceGraphMemTrim(0));
}

/// A graph whose kernel gets another argument.
void update() {
    place const at;
    word* other = nullptr;
    check(cudaMalloc(&other, bytes));
    auto const graph_of = [&](word seed) {
        return captured(at.stream, [&] {
            run(fill, at.stream, other, words, seed);
            run(add, at.stream, at.sums, other, words);
        });
    };
    auto* const graph = graph_of(1);
    auto* const again = graph_of(2);
    cudaGraphExec_t executable = nullptr;
    cudaGraphExecUpdateResultInfo how{};
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i != 3; ++i) check(cudaGraphLaunch(executable, at.stream));
    check(cudaGraphExecUpdate(executable, again, &how));
    for (int i = 0; i != 2; ++i) check(cudaGraphLaunch(executable, at.stream));
    at.report("update", {1, 1, 1, 2, 2});
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaGraphDestroy(again));
    check(cudaFree(other));
}

/// What the card says of its memory moves with what is taken; then the context goes, and the next call makes another.
void device() {
    std::array<std::size_t, 2> free{};
    std::size_t all = 0;
    void* p = nullptr;
    check(cudaMemGetInfo(&free[0], &all));
    check(cudaMalloc(&p, 64 * mib));
    check(cudaMemGetInfo(&free[1], &all));
    check(cudaFree(p));
    report("info", free[0] <= all && free[1] < free[0] ? 1 : 0, 1);
    check(cudaDeviceSynchronize());
    check(cudaDeviceReset());
    {
        place const at;
        run(fill, at.stream, at.sums, words, word{5});
        at.report("reset", {5});
    }
    check(cudaDeviceReset());
}

/// Takes until the card says no, and then works on.
void refused(char const* phase, bool async) {
    constexpr std::size_t piece = 64 * mib;
    auto const take = [&](word** p) { return async ? cudaMallocAsync(p, piece, nullptr) : cudaMalloc(p, piece); };
    auto const give = [&](word* p) { check(async ? cudaFreeAsync(p, nullptr) : cudaFree(p)); };
    std::vector<word*> held;
    auto error = cudaSuccess;
    for (word* p = nullptr; held.size() * piece < 4096 * mib && (error = take(&p)) == cudaSuccess;) held.push_back(p);
    std::printf("%-10s   %zu MiB, then %s\n", phase, held.size() * piece / mib, cudaGetErrorName(error));
    if (error != cudaErrorMemoryAllocation || cudaGetLastError() != error || cudaGetLastError() != cudaSuccess) {
        std::printf("%-10s   differs: expected cudaErrorMemoryAllocation, once\n", phase);
        exit_status = 1;
    }
    for (; held.size() > 10; held.pop_back()) give(held.back());
    check(cudaDeviceSynchronize());
    held.push_back(nullptr);
    check(take(&held.back()));
    run(fill, nullptr, held.back(), words, word{9});
    report(phase, sum_of(held.back(), words, nullptr), expected(words, {9}));
    for (auto* const p : held) give(p);
    check(cudaDeviceSynchronize());
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--oom") == 0) {
        refused("malloc", false);
        refused("async", true);
    } else {
        for (auto* const phase : {caching, streams, own_pool, host_memory, capture, update, device}) phase();
    }
    return exit_status;
}
