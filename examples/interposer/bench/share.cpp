// A tenant: keeps the card busy for some seconds, and prints how much of it it got. The card counts the work itself, as
// launches finish, in memory of the host that is read every 100 ms.
//
//   --mode=stream|ex|graph  which call launches
//   --us=1000               how long a kernel takes, set by events before; under a limit, where waiting looks like
//   work,
//                           --iterations=N of a run without one instead
//   --vary                  each launch is 1 to 10 times as long, by an argument: the grid stays the same
//   --threads=1             each with a stream of its own
//   --seconds=5 --warm=1    measured, after so much unmeasured
//   --base=RATE             of a run without a limit, for the share; --label=TEXT and --aim=TEXT are printed
//   --header                the columns' names, nothing else

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <thread>

#include "common.hpp"

namespace {

using bench::check;

// Blocks take tickets; the last of a launch adds its iterations to what is done. Launches of one stream follow each
// other, so that no two of them are in a stream's counters at once.
constexpr char const* image = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry burn(.param .u64 tickets, .param .u64 done, .param .u32 iterations)
{
    .reg .pred %p<5>; .reg .f32 %f<7>; .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [tickets]; cvta.to.global.u64 %d1, %d1;
    ld.param.u64 %d2, [done]; cvta.to.global.u64 %d2, %d2;
    ld.param.u32 %r1, [iterations];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %r1;
    cvt.rn.f32.u32 %f1, %r2; mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f40000000; mov.f32 %f4, 0f40400000;
    mov.f32 %f5, 0f3F7FFFF0; mov.f32 %f6, 0f3727C5AC;
again:
    fma.rn.f32 %f1, %f1, %f5, %f6; fma.rn.f32 %f2, %f2, %f5, %f6;
    fma.rn.f32 %f3, %f3, %f5, %f6; fma.rn.f32 %f4, %f4, %f5, %f6;
    sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0;
    @%p1 bra again;
    add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3;
    setp.lt.f32 %p2, %f1, 0f00000000; // never, which no compiler knows: the loop has to be run
    @%p2 st.global.f32 [%d1+4], %f1;
    bar.sync 0;
    setp.ne.u32 %p3, %r2, 0;
    @%p3 ret;
    mov.u32 %r4, %nctaid.x; sub.u32 %r4, %r4, 1;
    atom.global.inc.u32 %r5, [%d1], %r4; // back to 0 after the last
    setp.ne.u32 %p4, %r5, %r4;
    @%p4 ret;
    cvt.u64.u32 %d3, %r1; red.sys.global.add.u64 [%d2], %d3;
    ret;
}
)";

constexpr std::size_t in_flight = 8; ///< launches of a stream
constexpr unsigned int block = 256;

/// What one thread launches, and where.
class lane {
public:
    lane(CUfunction burn, unsigned int grid, std::string_view mode) : burn_(burn), grid_(grid), mode_(mode) {
        constexpr std::size_t line = 128;
        check(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
        check(cuMemAlloc(&tickets_, line));
        check(cuMemsetD8(tickets_, 0, line));
        check(cuCtxSynchronize()); // the stream doesn't wait for that by itself
        check(cuMemHostAlloc(reinterpret_cast<void**>(&done_), line, CU_MEMHOSTALLOC_DEVICEMAP));
        check(cuMemHostGetDevicePointer(&done_there_, done_, 0));
        *done_ = 0;
    }

    [[nodiscard]] double done() const {
        return static_cast<double>(std::atomic_ref{*done_}.load(std::memory_order_relaxed));
    }

    void launch(unsigned int n) {
        std::array<void*, 3> arguments{&tickets_, &done_there_, &n};
        if (mode_ == "graph") {
            if (graph_ == nullptr) graph_ = bench::graph_of(burn_, grid_, block, arguments.data()); // which copies them
            check(cuGraphLaunch(graph_, stream_));
        } else if (mode_ == "ex") {
            CUlaunchConfig c{};
            c.gridDimX = grid_;
            c.blockDimX = block;
            c.gridDimY = c.gridDimZ = c.blockDimY = c.blockDimZ = 1;
            c.hStream = stream_;
            check(cuLaunchKernelEx(&c, burn_, arguments.data(), nullptr));
        } else {
            check(cuLaunchKernel(burn_, grid_, 1, 1, block, 1, 1, 0, stream_, arguments.data(), nullptr));
        }
    }

    /// Launches until it is told to stop; with `vary` each launch is up to ten times as long.
    void keep_busy(unsigned int iterations, bool vary, unsigned int seed, std::atomic<bool> const& stop) {
        std::minstd_rand random{seed};
        std::uniform_real_distribution<double> length{1, 10};
        std::array<CUevent, in_flight> events{};
        for (auto& e : events) check(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
        for (std::size_t i = 0; !stop; ++i) {
            auto* const e = events[i % in_flight];
            if (i >= in_flight) check(cuEventSynchronize(e));
            launch(vary ? static_cast<unsigned int>(iterations * length(random)) : iterations);
            check(cuEventRecord(e, stream_));
        }
        check(cuStreamSynchronize(stream_));
    }

    /// How many iterations take so long; the card needs a while to come up to speed.
    [[nodiscard]] unsigned int iterations_of(double us) {
        CUevent from = nullptr;
        CUevent to = nullptr;
        check(cuEventCreate(&from, CU_EVENT_DEFAULT));
        check(cuEventCreate(&to, CU_EVENT_DEFAULT));
        unsigned int n = 1000;
        auto const until = bench::now() + 0.3;
        for (int i = 0; i < 10 || bench::now() < until; ++i) {
            float took = 0; // milliseconds
            check(cuEventRecord(from, stream_));
            launch(n);
            check(cuEventRecord(to, stream_));
            check(cuEventSynchronize(to));
            check(cuEventElapsedTime(&took, from, to));
            n = static_cast<unsigned int>(std::clamp(n * us / std::max(took * 1000.0, 1.0), 16.0, 1e8));
        }
        return n;
    }

private:
    CUfunction burn_;
    unsigned int grid_;
    std::string_view mode_;
    CUstream stream_ = nullptr;
    CUdeviceptr tickets_ = 0;
    std::uint64_t* done_ = nullptr;
    CUdeviceptr done_there_ = 0;
    CUgraphExec graph_ = nullptr; ///< made at its first launch
};

void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

} // namespace

int main(int argc, char** argv) {
    auto const flag = [&](std::string_view name) { return std::count(argv + 1, argv + argc, name) != 0; };
    auto const number = [&](char const* name, double otherwise) { return bench::number(argc, argv, name, otherwise); };
    if (flag("--header")) {
        std::printf("%-22s   %-4s   %-6s   %-4s   %-10s   %s\n", "RUN", "AIM", "SHARE", "CV", "RATE", "ITERATIONS");
        return 0;
    }
    bench::card const card;
    int processors = 0;
    check(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, card.device));
    auto* const burn = bench::load(image, "burn");
    auto const grid = static_cast<unsigned int>(processors) * 8; // fills it once
    auto iterations = static_cast<unsigned int>(number("--iterations", 0));
    if (iterations == 0) iterations = lane{burn, grid, "stream"}.iterations_of(number("--us", 1000));

    std::vector<lane> lanes;
    auto const threads = static_cast<std::size_t>(number("--threads", 1));
    for (std::size_t i = 0; i != threads; ++i)
        lanes.emplace_back(burn, grid, bench::option(argc, argv, "--mode", "stream"));
    std::atomic<bool> stop{false};
    std::vector<std::thread> running;
    running.reserve(threads);
    for (auto& l : lanes)
        running.emplace_back([&, seed = static_cast<unsigned int>(running.size() + 1), vary = flag("--vary")] {
            check(cuCtxSetCurrent(card.context));
            l.keep_busy(iterations, vary, seed, stop);
        });

    struct sample {
        double at, work;
    };
    std::vector<sample> seen;
    auto const look = [&] {
        seen.push_back({bench::now(), 0});
        for (auto const& l : lanes) seen.back().work += l.done();
    };
    auto const warm = number("--warm", 1);
    sleep(warm);
    for (look(); seen.back().at - seen.front().at < number("--seconds", 5); look()) sleep(0.1);
    sleep(warm / 2); // a neighbour who started a little later is still measuring
    stop = true;
    for (auto& t : running) t.join();

    auto const rate_of = [](sample const& a, sample const& b) { return (b.work - a.work) / (b.at - a.at); };
    auto const rate = rate_of(seen.front(), seen.back());
    if (rate <= 0) bench::give_up("nothing was done");
    double squares = 0;
    for (std::size_t i = 1; i != seen.size(); ++i) squares += std::pow(rate_of(seen[i - 1], seen[i]) / rate - 1, 2);
    auto const base = number("--base", rate);
    std::printf("%-22s   %-4s   %-6.1f   %-4.2f   %-10.4e   %u\n", bench::option(argc, argv, "--label", "-"),
                bench::option(argc, argv, "--aim", "100"), 100 * rate / base,
                std::sqrt(squares / static_cast<double>(seen.size() - 1)), rate, iterations);
}
