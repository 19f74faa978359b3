#pragma once

// What the programs here share: a checked call, a clock, options, medians, a graph of one kernel. Driver API only.

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace bench {

/// Ends the program, and says where and why.
[[noreturn]] inline void give_up(char const* why, char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, why);
    std::exit(1);
}

/// The same where a call of the driver failed.
inline void check(CUresult result, char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (result == CUDA_SUCCESS) return;
    char const* name = nullptr;
    if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "a code that CUDA doesn't know";
    give_up(name, file, line);
}

/// Seconds of a clock that never goes back.
[[nodiscard]] inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The text after `--name=`.
[[nodiscard]] inline char const* option(int argc, char** argv, std::string_view name, char const* otherwise) {
    for (int i = 1; i < argc; ++i)
        if (std::string_view const a{argv[i]}; a.starts_with(name) && a.substr(name.size()).starts_with('='))
            return argv[i] + name.size() + 1;
    return otherwise;
}

[[nodiscard]] inline double number(int argc, char** argv, std::string_view name, double otherwise) {
    auto const* const text = option(argc, argv, name, nullptr);
    return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

[[nodiscard]] inline double median(std::vector<double> v) {
    auto const middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
    std::nth_element(v.begin(), middle, v.end());
    return v.empty() ? 0 : *middle;
}

/// The first card's primary context, made current.
struct card {
    CUdevice device = 0;
    CUcontext context = nullptr;

    card() {
        check(cuInit(0));
        check(cuDeviceGet(&device, 0));
        check(cuDevicePrimaryCtxRetain(&context, device));
        check(cuCtxSetCurrent(context));
    }
};

[[nodiscard]] inline CUfunction load(char const* image, char const* kernel) {
    CUmodule module = nullptr;
    CUfunction f = nullptr;
    check(cuModuleLoadData(&module, image));
    check(cuModuleGetFunction(&f, module, kernel));
    return f;
}

[[nodiscard]] inline CUgraphExec graph_of(CUfunction f, unsigned int grid, unsigned int block, void** arguments) {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec executable = nullptr;
    CUDA_KERNEL_NODE_PARAMS q{};
    q.func = f;
    q.gridDimX = grid;
    q.blockDimX = block;
    q.gridDimY = q.gridDimZ = q.blockDimY = q.blockDimZ = 1;
    q.kernelParams = arguments;
    check(cuGraphCreate(&graph, 0));
    check(cuGraphAddKernelNode(&node, graph, nullptr, 0, &q));
    check(cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

} // namespace bench
