// What the library adds to a call. It is not preloaded here but loaded beside the driver, so that one process can call
// both: blocks of calls go real, wrapped, real, and a wrapped block is compared with its two neighbours. A processor
// that changes its speed meanwhile changes all three.
//
//   overhead LIBMUSTER.SO
//
// Limits are read from the environment. With CUDA_DEVICE_SM_LIMIT launches alone are measured, in short bursts, so that
// what they wait for is the library and not the card.

#include <dlfcn.h>

#include <cstdint>
#include <type_traits>

#include "common.hpp"

namespace {

using bench::check;

constexpr char const* image = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
)";

/// One road to the driver.
struct road {
    decltype(&cuMemAlloc) take = cuMemAlloc;
    decltype(&cuMemFree) give = cuMemFree;
    decltype(&cuMemAllocAsync) take_async = cuMemAllocAsync;
    decltype(&cuMemFreeAsync) give_async = cuMemFreeAsync;
    decltype(&cuMemGetInfo) info = cuMemGetInfo;
    decltype(&cuLaunchKernel) launch = cuLaunchKernel;
    decltype(&cuGraphLaunch) launch_graph = cuGraphLaunch;
};

road through(char const* file) {
    auto* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) bench::give_up(dlerror());
    road r;
    auto const find = [&](auto& slot, char const* name) {
        auto* const there = dlsym(library, name);
        if (there == nullptr) bench::give_up(dlerror());
        if (there == reinterpret_cast<void*>(slot)) bench::give_up("the library is preloaded: nothing to compare with");
        slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(there);
    };
    find(r.take, "cuMemAlloc_v2");
    find(r.give, "cuMemFree_v2");
    find(r.take_async, "cuMemAllocAsync");
    find(r.give_async, "cuMemFreeAsync");
    find(r.info, "cuMemGetInfo_v2");
    find(r.launch, "cuLaunchKernel");
    find(r.launch_graph, "cuGraphLaunch");
    return r;
}

/// A block of calls, and what goes before each block outside the time.
struct shape {
    int calls;
    int rounds;
    double pause = 0; ///< seconds
};

/// Prints what `call(road)` takes each way, in microseconds.
template <class Call>
void compare(char const* name, road const& wrapped, shape of, double aim, Call call) {
    road const real;
    auto const block = [&](road const& r) {
        check(cuCtxSynchronize());
        for (auto const until = bench::now() + of.pause; bench::now() < until;) {
        } // a sleep would let the processor slow down
        auto const start = bench::now();
        for (int i = 0; i != of.calls; ++i) call(r);
        return (bench::now() - start) * 1e6 / of.calls;
    };
    std::vector<double> native, with, added;
    for (int i = -of.rounds / 10; i != of.rounds; ++i) { // the first are to warm up
        auto const before = block(real);
        auto const between = block(wrapped);
        auto const after = block(real);
        if (i < 0) continue;
        native.push_back((before + after) / 2);
        with.push_back(between);
        added.push_back(between - native.back());
    }
    std::printf("%-44s   %-9.3f   %-9.3f   %-7.3f   %.2f\n", name, bench::median(native), bench::median(with),
                bench::median(added), aim);
}

void memory(bench::card const& card, CUstream stream, road const& wrapped) {
    auto const pair = [](std::size_t size) {
        return [size](road const& r) {
            CUdeviceptr p = 0;
            check(r.take(&p, size));
            check(r.give(p));
        };
    };
    compare("cuMemAlloc + cuMemFree, 1 MiB", wrapped, {20, 200}, 1, pair(1 << 20));

    constexpr std::size_t small = 4096;
    std::vector<CUdeviceptr> live(20'000);
    for (auto& p : live) check(wrapped.take(&p, small)); // the library's records are full, the card's heap is for all
    compare("cuMemAlloc + cuMemFree, 4 KiB, 20,000 live", wrapped, {200, 500}, 1, pair(small));
    for (auto const p : live) check(wrapped.give(p));

    CUmemoryPool pool = nullptr;
    cuuint64_t keep = UINT64_MAX;
    check(cuDeviceGetDefaultMemPool(&pool, card.device));
    check(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    compare("cuMemAllocAsync + cuMemFreeAsync, 1 MiB", wrapped, {500, 500}, 0.2, [&](road const& r) {
        CUdeviceptr p = 0;
        check(r.take_async(&p, 1 << 20, stream));
        check(r.give_async(p, stream));
    });
    compare("cuMemGetInfo", wrapped, {100, 500}, 0.1, [](road const& r) {
        std::size_t free = 0;
        std::size_t total = 0;
        check(r.info(&free, &total));
    });
}

void launches(CUstream stream, road const& wrapped, bool share) {
    auto* const nothing = bench::load(image, "nothing");
    auto* const one_node = bench::graph_of(nothing, 1, 1, nullptr);
    auto const aim = share ? 0.3 : 0.05;
    auto const shape_of = [&](int calls) { return share ? shape{50, 400, 1e-3} : shape{calls, 400}; };
    compare(share ? "cuLaunchKernel, bursts of 50" : "cuLaunchKernel, back to back", wrapped, shape_of(500), aim,
            [&](road const& r) { check(r.launch(nothing, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr)); });
    compare(share ? "cuGraphLaunch, one node, bursts of 50" : "cuGraphLaunch, one node", wrapped, shape_of(200), aim,
            [&](road const& r) { check(r.launch_graph(one_node, stream)); });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) bench::give_up("usage: overhead LIBMUSTER.SO");
    bench::card const card;
    auto const wrapped = through(argv[1]);
    auto const* const limit = std::getenv("CUDA_DEVICE_SM_LIMIT");
    bool const share = limit != nullptr && *limit != 0;
    CUstream stream = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    std::printf("%-44s   %-9s   %-9s   %-7s   %s\n", "CALL", "NATIVE", "WRAPPED", "ADDED", "AIM");
    if (!share) memory(card, stream, wrapped);
    launches(stream, wrapped, share);
}
