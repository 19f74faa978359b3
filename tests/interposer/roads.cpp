// The roads to the driver, and that nothing else of a program changes.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <thread>

#include "support.hpp"

extern "C" {
/// A user's function whose name looks like the driver's.
[[gnu::visibility("default")]] int cuMemAlloc_of_mine();
int cuMemAlloc_of_mine() { return 42; }
extern int shim_calls;
void* ompt_start_tool(unsigned int, char const*);
}

using namespace interposer_test;

TEST_CASE("interposer: look-ups repeat, respect their handle, and leave others' names alone") {
    auto const child = in_child(limited, [] {
        auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
        auto* const ours = dlsym(library, "cuMemAlloc_v2");
        for (int i = 0; i != 200; ++i)
            if (dlsym(library, "cuMemAlloc_v2") != ours || dlsym(RTLD_NEXT, "open") == nullptr) return 2;
        if (ours != reinterpret_cast<void*>(&cuMemAlloc_v2)) return 3; // the linker's road leads to the same place
        if (dlsym(library, "cuNoSuchThing") != nullptr || dlerror() == nullptr) return 4;
        if (dlsym(RTLD_DEFAULT, "cuMemAlloc_of_mine") != reinterpret_cast<void*>(&cuMemAlloc_of_mine)) return 5;
        if (dlsym(library, "cuInit") == nullptr) return 6; // no row: the driver's own
        void* found = nullptr;
        if (cuGetProcAddress_v2("cuGetProcAddress", &found, 12000, 0, nullptr) != CUDA_SUCCESS ||
            found != reinterpret_cast<void*>(&cuGetProcAddress_v2))
            return 7;
        if (cuGetProcAddress_v2("cuGetProcAddress", &found, 11030, 0, nullptr) != CUDA_SUCCESS ||
            found == reinterpret_cast<void*>(&cuGetProcAddress_v2) || found == nullptr)
            return 8;
        // By the older form of the question, too.
        auto* const older = reinterpret_cast<CUresult (*)(char const*, void**, int, cuuint64_t)>(found);
        if (older("cuGetProcAddress", &found, 11030, 0) != CUDA_SUCCESS || found != reinterpret_cast<void*>(older))
            return 10;
        if (older("cuMemAlloc", &found, 11030, 0) != CUDA_SUCCESS || found != ours) return 11;
        CUdriverProcAddressQueryResult status{};
        if (cuGetProcAddress_v2("cuNoSuchThing", &found, 13000, 0, &status) != CUDA_ERROR_NOT_FOUND ||
            status != CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
            return 9;
        return 0;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: what comes next is what comes next after whoever asks") {
    auto const child = in_child(limited, [] {
        if (dlsym(RTLD_NEXT, "cuMemAlloc_of_mine") != nullptr) return 2; // nobody after this program has it
        if (ompt_start_tool(0, "") != nullptr) return 3;                 // nor this after the library that has it
        auto* const shim = dlopen("libshim.so", RTLD_NOW);
        auto* const alloc = reinterpret_cast<decltype(&cuMemAlloc)>(dlsym(shim, "cuMemAlloc_v2"));
        if (alloc == nullptr || alloc == &cuMemAlloc) return 4; // the user's stays the user's
        open_context();
        CUdeviceptr p = 0;
        if (alloc(&p, 1500 * mib) != CUDA_SUCCESS || shim_calls != 1) return 5;
        // By way of the library, too, it is ours that stands before the driver.
        return alloc(&p, 600 * mib) == CUDA_ERROR_OUT_OF_MEMORY && shim_calls == 2 ? 0 : 6;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: a library that was opened for itself alone finds its own, whatever that is called") {
    auto const child = in_child(limited, [] {
        auto* const plugin = dlopen("libplugin.so", RTLD_NOW | RTLD_LOCAL);
        if (plugin == nullptr) return 2;
        auto* const finds = reinterpret_cast<void* (*)()>(dlsym(plugin, "plugin_finds"));
        return finds() != nullptr && finds() == dlsym(plugin, "curl_of_plugin") ? 0 : 3;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: look-ups of what comes next go on while libraries come and go") {
    auto const child = in_child(limited, [] {
        std::atomic<bool> done{false};
        std::thread other{[&] {
            while (!done)
                if (auto* const plugin = dlopen("libplugin.so", RTLD_NOW | RTLD_LOCAL); plugin != nullptr)
                    dlclose(plugin);
        }};
        auto* const ours = reinterpret_cast<void*>(&cuMemAlloc);
        int found = 0;
        for (int i = 0; i != 20'000; ++i) found += dlsym(RTLD_NEXT, "cuMemAlloc_v2") == ours ? 1 : 0;
        done = true;
        other.join();
        return found == 20'000 ? 0 : 2;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: nothing is visible but the entry points, in all their versions") {
    std::string library;
    for (std::ifstream maps{"/proc/self/maps"}; std::getline(maps, library);)
        if (library.ends_with("/libmuster.so")) break;
    auto* const symbols = popen(("nm -D --defined-only " + library.substr(library.find('/'))).c_str(), "r");
    REQUIRE(symbols != nullptr);
    std::vector<std::string> names;
    char name[256];
    while (std::fscanf(symbols, "%*s %*s %255s", name) == 1) names.emplace_back(name);
    REQUIRE(pclose(symbols) == 0);
    for (auto const& n : names) {
        CAPTURE(n);
        CHECK((n.starts_with("cu") || n.starts_with("nvmlDeviceGet") || n == "dlsym" || n == "dlvsym"));
    }
    for (std::string const must : {"cuMemAlloc",
                                   "cuMemAlloc_v2",
                                   "cuMemAllocAsync_ptsz",
                                   "cuMemAllocFromPoolAsync_ptsz",
                                   "cuMemFreeAsync_ptsz",
                                   "cuLaunchKernel_ptsz",
                                   "cuLaunchKernelEx_ptsz",
                                   "cuLaunchCooperativeKernel_ptsz",
                                   "cuGraphLaunch_ptsz",
                                   "cuGraphInstantiateWithParams_ptsz",
                                   "cuGraphInstantiate",
                                   "cuGraphInstantiate_v2",
                                   "cuGraphUpload_ptsz",
                                   "cuCtxCreate",
                                   "cuCtxCreate_v2",
                                   "cuCtxCreate_v3",
                                   "cuCtxCreate_v4",
                                   "cuLaunch",
                                   "cuLaunchGrid",
                                   "cuLaunchGridAsync",
                                   "cuLibraryLoadData",
                                   "cuMemCreate",
                                   "cuMipmappedArrayCreate",
                                   "cuGetProcAddress",
                                   "cuGetProcAddress_v2",
                                   "nvmlDeviceGetComputeRunningProcesses_v3",
                                   "nvmlDeviceGetRunningProcessDetailList"}) {
        CAPTURE(must);
        CHECK(std::find(names.begin(), names.end(), must) != names.end());
    }
}

TEST_CASE("interposer: a program that opens and closes the driver, and starts it twice, finds it as it was") {
    auto const child = in_child(limited, [] {
        for (int i = 0; i != 3; ++i) {
            auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
            auto* const alloc = reinterpret_cast<decltype(&cuMemAlloc)>(dlsym(library, "cuMemAlloc_v2"));
            if (cuInit(0) != CUDA_SUCCESS || cuInit(0) != CUDA_SUCCESS) return 2;
            open_context();
            CUdeviceptr p = 0;
            if (alloc(&p, 3000 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 3;
            if (alloc(&p, 600 * mib) != CUDA_SUCCESS) return 4; // three times fit
            if (dlclose(library) != 0) return 5;
        }
        return 0;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: of the program's own nothing changes: mask, signals, environment, descriptors, locale") {
    auto const seen = [] {
        struct state {
            mode_t mask;
            void (*user1)(int);
            void (*user2)(int);
            std::size_t variables = 0;
            std::string locale;
        } out{umask(022), signal(SIGUSR1, SIG_DFL), signal(SIGUSR2, SIG_DFL), 0, std::setlocale(LC_ALL, nullptr)};
        (void)umask(out.mask);
        (void)signal(SIGUSR1, out.user1);
        (void)signal(SIGUSR2, out.user2);
        for (auto* const* v = environ; *v != nullptr; ++v) ++out.variables;
        return out;
    };
    auto const child = in_child(limited, [&] {
        (void)umask(027);
        (void)signal(SIGUSR1, SIG_IGN);
        auto const before = seen();
        open_context();
        CUdeviceptr p = 0;
        (void)cuMemAlloc(&p, mib);
        auto const after = seen();
        if (after.mask != before.mask || after.user1 != before.user1 || after.user2 != before.user2) return 2;
        if (after.variables != before.variables || after.locale != before.locale) return 3;
        // Whatever is open now and wasn't asked for is closed at an exec.
        for (int d = 3; d != 64; ++d) {
            auto const flags = fcntl(d, F_GETFD);
            auto const at = std::filesystem::path{"/proc/self/fd"} / std::to_string(d);
            std::error_code none;
            auto const target = std::filesystem::read_symlink(at, none).string();
            if (flags >= 0 && target.find("muster-interposer") != std::string::npos && (flags & FD_CLOEXEC) == 0)
                return 4;
        }
        return 0;
    });
    CHECK(child.status == 0);
    CHECK(child.errors.empty());
}

TEST_CASE("interposer: threads that look symbols up and allocate from the first moment get what is theirs") {
    auto const child = in_child(limited, [] {
        std::vector<std::thread> threads;
        for (int t = 0; t != 32; ++t)
            threads.emplace_back([] {
                auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
                auto* const alloc = reinterpret_cast<decltype(&cuMemAlloc)>(dlsym(library, "cuMemAlloc_v2"));
                if (alloc != &cuMemAlloc || dlsym(RTLD_NEXT, "malloc") == nullptr) _exit(2);
                open_context();
                CUdeviceptr p = 0;
                if (alloc(&p, 10 * mib) != CUDA_SUCCESS || cuMemFree(p) != CUDA_SUCCESS) _exit(3);
            });
        for (auto& t : threads) t.join();
        open_context();
        std::size_t free = 0;
        std::size_t total = 0;
        return cuMemGetInfo(&free, &total) == CUDA_SUCCESS && free == limit ? 0 : 4;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: a driver that lacks most entry points is as good as it is, and no more is claimed") {
    // Its exports are a handful; the program asks for them by hand.
    auto const text = std::string{"LD_LIBRARY_PATH="} + MUSTER_PRETEND_OLD + " CUDA_DEVICE_MEMORY_LIMIT=100m " +
                      "CUDA_DEVICE_MEMORY_SHARED_CACHE=" + scratch("old") + ' ' + MUSTER_OLD_DRIVER_PROGRAM;
    CHECK(std::system(text.c_str()) == 0);
    std::filesystem::remove(scratch("old"));
}
