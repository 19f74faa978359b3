// Processes that share a ledger, whatever becomes of them; and the whole way from a decision to the driver.

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include <muster/account/limits.hpp>
#include <muster/ext/ledger_file.hpp>
#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>
#include <muster/wire/volcano.hpp>
#include <muster/workload/synthetic.hpp>

#include "paths.hpp"

using namespace interposer_test;

TEST_CASE("interposer: a ledger that can't be used leaves each process to its own limits, with a word") {
    auto const path = scratch("foreign");
    std::ofstream{path} << "not a ledger";
    auto const child = in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"CUDA_DEVICE_MEMORY_SHARED_CACHE", path}},
                                [] { return fill_and_empty(paths().front(), by(road::linker)); });
    std::filesystem::remove(path);
    CHECK(child.status == 0);
    CHECK(child.errors.find("is no ledger of this muster") != std::string::npos);
    CHECK(child.errors.find("held to its limits alone") != std::string::npos);
}

TEST_CASE("interposer: where no ledger can be written, each process is held to its own limits, with a word") {
    auto const child =
        in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"CUDA_DEVICE_MEMORY_SHARED_CACHE", "/proc/nowhere/ledger"}},
                 [] { return fill_and_empty(paths().front(), by(road::linker)); });
    CHECK(child.status == 0);
    CHECK(child.errors.find("/proc/nowhere/ledger: can't be made") != std::string::npos);
    CHECK(std::count(child.errors.begin(), child.errors.end(), '\n') == 1);
}

TEST_CASE("interposer: a card for which the ledger has no room gives out nothing") {
    auto const path = scratch("crammed");
    {
        auto file = muster::ext::ledger_file::open(path);
        REQUIRE(file);
        for (int i = 0; i != 16; ++i) REQUIRE((*file)->card("GPU-of-somebody-" + std::to_string(i)));
    }
    auto const child = in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"CUDA_DEVICE_MEMORY_SHARED_CACHE", path}}, [] {
        open_context();
        CUdeviceptr p = 0;
        if (cuMemAlloc(&p, mib) != CUDA_ERROR_OUT_OF_MEMORY) return 2;
        // NVML tells the limit all the same, and takes no row for it.
        nvmlDevice_t device = nullptr;
        nvmlMemory_t m{};
        (void)nvmlDeviceGetHandleByIndex_v2(0, &device);
        return nvmlDeviceGetMemoryInfo(device, &m) == NVML_SUCCESS && m.total == limit && m.used == 0 ? 0 : 3;
    });
    std::filesystem::remove(path);
    CHECK(child.status == 0);
}

TEST_CASE("interposer: a process that came without limits is held to those that the ledger has") {
    auto const ledger = scratch("inherited");
    environment const first{{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"CUDA_DEVICE_MEMORY_SHARED_CACHE", ledger}};
    environment const bare{{"CUDA_DEVICE_MEMORY_SHARED_CACHE", ledger}};
    environment const higher{{"CUDA_DEVICE_MEMORY_LIMIT", "9g"}, {"CUDA_DEVICE_MEMORY_SHARED_CACHE", ledger}};
    auto const fill = [] { return fill_and_empty(paths().front(), by(road::linker)); };
    CHECK(in_child(first, fill).status == 0);
    CHECK(in_child(bare, fill).status == 0);
    CHECK(in_child(higher, fill).status == 0);
    std::filesystem::remove(ledger);
}

TEST_CASE("interposer: processes share one limit; what a killed one held is there for the next that needs it") {
    auto const ledger = scratch("shared");
    environment const env{{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"CUDA_DEVICE_MEMORY_SHARED_CACHE", ledger}};
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    auto const holder = fork();
    if (holder == 0) {
        for (auto const& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
        open_context();
        CUdeviceptr p = 0;
        char const said = cuMemAlloc(&p, 1500 * mib) == CUDA_SUCCESS ? 'y' : 'n';
        (void)!write(ready[1], &said, 1);
        pause();
        _exit(0);
    }
    char said = 0;
    REQUIRE(read(ready[0], &said, 1) == 1);
    CHECK(said == 'y');
    auto const ask = [](std::size_t n) {
        return [n] {
            open_context();
            CUdeviceptr p = 0;
            auto const result = cuMemAlloc(&p, n);
            return result == CUDA_SUCCESS ? 0 : result == CUDA_ERROR_OUT_OF_MEMORY ? 1 : 2;
        };
    };
    CHECK(in_child(env, ask(600 * mib)).status == 1);
    CHECK(in_child(env, ask(500 * mib)).status == 0);
    kill(holder, SIGKILL);
    waitpid(holder, nullptr, 0);
    CHECK(in_child(env, [] { return open_context(), free_now(by(road::linker)) == limit ? 0 : 1; }).status == 0);
    CHECK(in_child(env, ask(2000 * mib)).status == 0);
    std::filesystem::remove(ledger);
}

TEST_CASE("interposer: a forked child is counted for itself, and what it inherits is not its own") {
    auto const child = in_child(limited, [] {
        open_context();
        CUdeviceptr mine = 0;
        if (cuMemAlloc(&mine, 1500 * mib) != CUDA_SUCCESS) return 2;
        auto const grandchild = fork();
        if (grandchild == 0) {
            CUdeviceptr p = 0;
            if (cuMemAlloc(&p, 600 * mib) != CUDA_ERROR_OUT_OF_MEMORY) _exit(3);
            if (cuMemAlloc(&p, 400 * mib) != CUDA_SUCCESS) _exit(4);
            (void)cuMemFree(mine); // the parent's: changes no account
            if (cuMemAlloc(&p, 200 * mib) != CUDA_ERROR_OUT_OF_MEMORY) _exit(5);
            _exit(0);
        }
        int status = 0;
        waitpid(grandchild, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 10 + WEXITSTATUS(status);
        CUdeviceptr p = 0;
        return cuMemAlloc(&p, 500 * mib) == CUDA_SUCCESS ? 0 : 6; // the dead grandchild's is back
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: what the scheduler grants is what the driver gives, to the byte") {
    namespace volcano = muster::wire::volcano;
    using scheduler = muster::scheduler<muster::actions<muster::action::allocate>,
                                        muster::tier<muster::policy::deviceshare<muster::device::slices>>>;
    muster::workload::random_numbers random{20261201};
    for (int i = 0; i != 20; ++i) {
        // A decision,
        muster::cluster c;
        (void)c.add_queue({.name = "q"});
        (void)c.add_node(
            {.name = "n",
             .allocatable = {{"cpu", muster::quantity::from_units(8)}, {"pods", muster::quantity::from_units(9)}},
             .cards = {{.uuid = "GPU-0", .type = "NVIDIA A10", .slots = 10, .memory = muster::mib{16384}}}});
        (void)c.add_job({.name = "j", .queue = "q", .min_available = 1, .phase = muster::job_phase::inqueue});
        auto const asked = static_cast<std::int64_t>(random.below(3000)) + 1;
        auto const task =
            *c.add_task({.name = "p",
                         .job = "default/j",
                         .requests = {{"cpu", muster::quantity::from_units(1)}},
                         .devices = {{{.memory = muster::mib{asked}, .cores = muster::percent{30}}}, {}}});
        auto const out = scheduler{}.run(c);
        REQUIRE(out.bound.size() == 1);
        // as the environment that the device plugin gives,
        std::vector<volcano::share> shares;
        for (auto const& s : out.state.shares_of(task))
            shares.push_back({c.tables().text(c.tables().cards[s.card.index()].uuid), s.memory.value, s.cores.value});
        environment env;
        auto const written = volcano::environment(shares, "id");
        for (auto const& [name, value] : *written)
            if (name != "CUDA_DEVICE_MEMORY_SHARED_CACHE") env.emplace_back(name, value);
        // as what the driver gives: all of it, and not a block more.
        auto const granted = static_cast<std::size_t>(asked) * mib;
        CAPTURE(granted);
        auto const child = in_child(env, [granted] {
            open_context();
            std::size_t got = 0;
            for (std::size_t size : {std::size_t{64} << 20U, std::size_t{2} << 20U, std::size_t{1} << 20U})
                for (CUdeviceptr p = 0; cuMemAlloc(&p, size) == CUDA_SUCCESS;) got += size;
            CUdeviceptr p = 0;
            if (got != granted || pretend_in_use() != granted) return 2;
            return cuMemAlloc(&p, 1) == CUDA_ERROR_OUT_OF_MEMORY ? 0 : 3;
        });
        CHECK(child.status == 0);
    }
}

TEST_CASE("interposer: 8 processes of 32 threads, some of them killed, never pass the limit together") {
    auto const ledger = scratch("crowd");
    environment const env{{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"CUDA_DEVICE_MEMORY_SHARED_CACHE", ledger}};
    // What all have of one card, a place for each.
    auto const card = scratch("card");
    std::ofstream{card} << std::string(512, '\0');
    auto const file = open(card.c_str(), O_RDWR);
    auto* const card_use =
        static_cast<std::int64_t volatile*>(mmap(nullptr, 512, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
    auto const together = [card_use] {
        std::int64_t sum = 0;
        for (int k = 0; k != 8; ++k) sum += card_use[8 + k] == 0 ? card_use[k] : 0;
        return sum;
    };
    std::vector<pid_t> crowd;
    for (int i = 0; i != 8; ++i) {
        auto const child = fork();
        if (child == 0) {
            for (auto const& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
            setenv("PRETEND_TOTAL", card.c_str(), 1);
            setenv("PRETEND_PLACE", std::to_string(i).c_str(), 1);
            std::vector<std::thread> threads;
            for (std::uint64_t t = 0; t != 32; ++t)
                threads.emplace_back([t, i, together] {
                    open_context();
                    muster::workload::random_numbers random{t * 8 + static_cast<std::uint64_t>(i)};
                    for (int round = 0; round != 200 || i < 4; ++round) { // the first four go on until they are killed
                        CUdeviceptr p = 0;
                        auto const size = random.below(300 * mib) + 1;
                        bool const async = random.below(2) == 0;
                        auto const result = async ? cuMemAllocAsync(&p, size, nullptr) : cuMemAlloc(&p, size);
                        if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY) _exit(2);
                        std::size_t free = 0;
                        std::size_t total = 0;
                        if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || total != limit || free > limit) _exit(3);
                        if (pretend_in_use() > limit) _exit(4);
                        if (together() > static_cast<std::int64_t>(limit)) _exit(6);
                        if (result == CUDA_SUCCESS &&
                            (async ? cuMemFreeAsync(p, nullptr) : cuMemFree(p)) != CUDA_SUCCESS)
                            _exit(5);
                    }
                });
            for (auto& t : threads) t.join();
            (void)cuCtxSynchronize();
            _exit(0);
        }
        crowd.push_back(child);
    }
    for (int i = 0; i != 8; ++i) {
        if (i < 4) {
            usleep(30'000);
            card_use[8 + i] = 1; // what it has from here on doesn't count
            kill(crowd[static_cast<std::size_t>(i)], SIGKILL);
        }
        int status = 0;
        waitpid(crowd[static_cast<std::size_t>(i)], &status, 0);
        CHECK(WIFSIGNALED(status) == (i < 4));
        if (i >= 4) CHECK(WEXITSTATUS(status) == 0);
    }
    CHECK(in_child(env, [] { return fill_and_empty(paths().front(), by(road::linker)); }).status == 0);
    std::filesystem::remove(card);
    std::filesystem::remove(ledger);
}
