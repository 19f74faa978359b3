#pragma once

// What the tests of the interposer share. They run with LD_PRELOAD on the pretend driver (CMakeLists.txt beside this
// file). Each case is a process of its own: an interposer lives as long as one.

#include <cuda.h>
#include <dlfcn.h>
#include <nvml.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

extern "C" {
decltype(cuMemAllocAsync) cuMemAllocAsync_ptsz;
decltype(cuLaunchKernel) cuLaunchKernel_ptsz;
std::size_t pretend_in_use();
std::size_t pretend_in_use_of(int device);
int pretend_contexts(int device);
int pretend_launches();
}

namespace interposer_test {

inline constexpr std::size_t mib = std::size_t{1} << 20U;
inline constexpr std::size_t limit = 2000 * mib;
inline constexpr std::size_t chunk = 64 * mib;

using environment = std::vector<std::pair<std::string, std::string>>;

inline std::string scratch(std::string const& name) {
    return (std::filesystem::temp_directory_path() / ("muster-interposer-" + std::to_string(getpid()) + "-" + name))
        .string();
}

/// What a child process left behind.
struct finished {
    int status = -1;
    std::string errors{};
};

/// Runs `f` in a process of its own with these variables set; its ledger is fresh unless one is named.
inline finished in_child(environment const& env, std::function<int()> const& f) {
    static int count = 0;
    auto const errors = scratch("errors");
    auto const ledger = scratch("ledger-" + std::to_string(++count));
    auto const child = fork();
    if (child == 0) {
        setenv("CUDA_DEVICE_MEMORY_SHARED_CACHE", ledger.c_str(), 1);
        for (auto const& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
        if (std::freopen(errors.c_str(), "w", stderr) == nullptr) _exit(99);
        auto const status = f();
        std::fflush(stderr);
        _exit(status);
    }
    finished out;
    int status = 0;
    waitpid(child, &status, 0);
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::stringstream text;
    text << std::ifstream{errors}.rdbuf();
    out.errors = text.str();
    std::filesystem::remove(errors);
    std::filesystem::remove(ledger);
    return out;
}

/// A kernel of the pretend driver; it says there what each does.
inline CUfunction kernel(std::uintptr_t which) { return reinterpret_cast<CUfunction>(which); }

inline environment const limited{{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}};

inline void open_context() {
    CUcontext context = nullptr;
    (void)cuInit(0);
    (void)cuDevicePrimaryCtxRetain(&context, 0);
    (void)cuCtxSetCurrent(context);
}

} // namespace interposer_test
