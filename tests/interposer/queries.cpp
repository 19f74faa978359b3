// What a program is told of its card.

#include <muster/account/limits.hpp>

#include "support.hpp"

using namespace interposer_test;

TEST_CASE("interposer: without a limit every answer is the driver's") {
    auto const child = in_child({}, [] {
        open_context();
        std::size_t free = 0;
        std::size_t total = 0;
        if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || total != (std::size_t{16} << 30U) || free != total) return 2;
        if (cuMemGetInfo(nullptr, &total) != CUDA_SUCCESS || cuMemGetInfo(&free, nullptr) != CUDA_SUCCESS) return 3;
        CUdeviceptr p = 0;
        if (cuMemAlloc(&p, 15'000 * mib) != CUDA_SUCCESS) return 4;
        if (cuMemAlloc(&p, 2'000 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 5;
        if (cuDeviceTotalMem(&total, 1) != CUDA_ERROR_INVALID_DEVICE) return 6;
        return cuMemFree(0x1234) == CUDA_ERROR_INVALID_VALUE ? 0 : 7;
    });
    CHECK(child.status == 0);
    CHECK(child.errors.empty());
    auto const alone = in_child({}, [] {
        unsetenv("CUDA_DEVICE_MEMORY_SHARED_CACHE");
        auto const path = muster::account::limits{}.ledger;
        bool const there = std::filesystem::exists(path);
        open_context();
        CUdeviceptr p = 0;
        if (cuMemAlloc(&p, 15'000 * mib) != CUDA_SUCCESS || cuMemFree(p) != CUDA_SUCCESS) return 2;
        return std::filesystem::exists(path) == there ? 0 : 3; // nothing to hold or to show: no ledger either
    });
    CHECK(alone.status == 0);
    CHECK(alone.errors.empty());
}

TEST_CASE("interposer: a limit above the card's memory changes nothing, and free is never more than there is") {
    auto const child = in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "64g"}}, [] {
        open_context();
        std::size_t free = 0;
        std::size_t total = 0;
        if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || total != (std::size_t{16} << 30U) || free > total) return 2;
        return cuDeviceTotalMem(&total, 0) == CUDA_SUCCESS && total == (std::size_t{16} << 30U) ? 0 : 3;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: a limit that can't be read gives out nothing and says what to do, unless told otherwise") {
    auto const take = [] {
        open_context();
        CUdeviceptr p = 7;
        auto const result = cuMemAlloc(&p, mib);
        if (result == CUDA_ERROR_OUT_OF_MEMORY && p != 7) return 3; // outputs stay as they were
        return result == CUDA_SUCCESS ? 0 : result == CUDA_ERROR_OUT_OF_MEMORY ? 1 : 2;
    };
    auto const denied = in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2 gigs"}}, take);
    CHECK(denied.status == 1);
    CHECK(denied.errors == "muster: CUDA_DEVICE_MEMORY_LIMIT=2 gigs: text follows the value; no device memory is given "
                           "out: correct it, or set MUSTER_ON_ERROR=allow\n");
    CHECK(in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2 gigs"}, {"MUSTER_ON_ERROR", "allow"}}, take).status == 0);
    auto const silent = in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "-1"}, {"MUSTER_LOG_LEVEL", "0"}}, take);
    CHECK(silent.status == 1);
    CHECK(silent.errors.empty());
    CHECK(in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2 gigs"}, {"CUDA_DISABLE_CONTROL", "true"}}, take).status == 0);
}

TEST_CASE("interposer: NVML shows the limit and what the container holds, not the card's") {
    auto const child = in_child(limited, [] {
        auto* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        auto* const by_handle =
            reinterpret_cast<decltype(&nvmlDeviceGetMemoryInfo)>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
        nvmlDevice_t device = nullptr;
        nvmlMemory_t m{};
        (void)nvmlDeviceGetHandleByIndex_v2(0, &device);
        if (by_handle(device, &m) != NVML_SUCCESS || m.total != limit || m.used != 0 || m.free != limit) return 2;
        open_context();
        CUdeviceptr p = 0;
        (void)cuMemAlloc(&p, 300 * mib);
        nvmlMemory_v2_t w{};
        if (nvmlDeviceGetMemoryInfo_v2(device, &w) != NVML_SUCCESS) return 3;
        return w.total == limit && w.used == 300 * mib && w.free == 1700 * mib && w.reserved == 0 ? 0 : 4;
    });
    CHECK(child.status == 0);
    auto const unlimited = in_child({}, [] {
        nvmlDevice_t device = nullptr;
        nvmlMemory_t m{};
        (void)nvmlDeviceGetHandleByIndex_v2(0, &device);
        return nvmlDeviceGetMemoryInfo(device, &m) == NVML_SUCCESS && m.total == 16ULL << 30U && m.used == 5ULL << 30U
                   ? 0
                   : 2;
    });
    CHECK(unlimited.status == 0);
}

TEST_CASE("interposer: NVML lists the container's processes, by its own numbers, in records of every size") {
    environment env = limited;
    env.emplace_back("PRETEND_PID_OFFSET", "4000000");
    env.emplace_back("PRETEND_NEIGHBOUR", "1"); // somebody else's, which is none of the container's business
    auto const child = in_child(env, [] {
        auto* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        auto const find = [&](auto*& f, char const* name) {
            f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(library, name));
        };
        nvmlReturn_t (*v1)(nvmlDevice_t, unsigned int*, nvmlProcessInfo_v1_t*) = nullptr;
        nvmlReturn_t (*v2)(nvmlDevice_t, unsigned int*, nvmlProcessInfo_v2_t*) = nullptr;
        decltype(&nvmlDeviceGetComputeRunningProcesses) v3 = nullptr;
        decltype(&nvmlDeviceGetGraphicsRunningProcesses) graphics = nullptr;
        find(v1, "nvmlDeviceGetComputeRunningProcesses");
        find(v2, "nvmlDeviceGetComputeRunningProcesses_v2");
        find(v3, "nvmlDeviceGetComputeRunningProcesses_v3");
        find(graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3");
        nvmlDevice_t device = nullptr;
        (void)nvmlDeviceGetHandleByIndex_v2(0, &device);
        nvmlProcessInfo_t list[4]{};
        unsigned int n = 4;
        if (v3(device, &n, list) != NVML_SUCCESS || n != 0) return 2; // nobody holds anything
        open_context();
        CUdeviceptr p = 0;
        (void)cuMemAlloc(&p, 300 * mib);
        n = 4;
        auto const self = static_cast<unsigned int>(getpid());
        if (v3(device, &n, list) != NVML_SUCCESS || n != 1) return 3;
        if (list[0].pid != self || list[0].usedGpuMemory != 300 * mib || list[0].gpuInstanceId != 0xFFFF'FFFF) return 4;
        nvmlProcessInfo_v1_t old[2]{};
        old[1].pid = 7; // what lies behind the records is left alone
        n = 1;
        if (v1(device, &n, old) != NVML_SUCCESS || old[0].pid != self || old[1].pid != 7) return 5;
        nvmlProcessInfo_v2_t middle[1]{};
        n = 1;
        if (v2(device, &n, middle) != NVML_SUCCESS || middle[0].usedGpuMemory != 300 * mib) return 6;
        n = 0;
        if (v3(device, &n, nullptr) != NVML_ERROR_INSUFFICIENT_SIZE || n != 1) return 7;
        n = 4;
        if (graphics(device, &n, list) != NVML_SUCCESS || n != 0) return 8;
        n = 4;
        if (v3(nullptr, &n, list) != NVML_ERROR_INVALID_ARGUMENT) return 9; // NVML's own refusals stand
        nvmlProcessDetail_v1_t details[2]{};
        nvmlProcessDetailList_t all{nvmlProcessDetailList_v1, 0, 2, details};
        if (nvmlDeviceGetRunningProcessDetailList(device, &all) != NVML_SUCCESS || all.numProcArrayEntries != 1)
            return 10;
        if (details[0].pid != self || details[0].usedGpuMemory != 300 * mib) return 11;
        all.version = 1;
        return nvmlDeviceGetRunningProcessDetailList(device, &all) == NVML_ERROR_ARGUMENT_VERSION_MISMATCH ? 0 : 12;
    });
    CHECK(child.status == 0);
    auto const unlimited = in_child({{"PRETEND_NEIGHBOUR", "1"}}, [] {
        nvmlDevice_t device = nullptr;
        (void)nvmlDeviceGetHandleByIndex_v2(0, &device);
        nvmlProcessInfo_t list[4]{};
        unsigned int n = 4;
        return nvmlDeviceGetComputeRunningProcesses(device, &n, list) == NVML_SUCCESS && n == 1 &&
                       list[0].pid == 999'999
                   ? 0
                   : 2;
    });
    CHECK(unlimited.status == 0);
}

TEST_CASE("interposer: queries work before there is a context, and with pointers that are null") {
    auto const child = in_child(limited, [] {
        std::size_t total = 0;
        std::size_t free = 0;
        if (cuDeviceTotalMem(&total, 0) != CUDA_SUCCESS || total != limit) return 2;
        if (cuDeviceTotalMem(&total, 5) != CUDA_ERROR_INVALID_DEVICE) return 3;
        if (cuMemGetInfo(&free, &total) != CUDA_ERROR_INVALID_CONTEXT) return 4;
        open_context();
        if (cuMemGetInfo(nullptr, &total) != CUDA_SUCCESS || total != limit) return 5;
        return cuMemGetInfo(&free, nullptr) == CUDA_SUCCESS && free == limit ? 0 : 6;
    });
    CHECK(child.status == 0);
}
