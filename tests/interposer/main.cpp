// What a program under the interposer can have of a card, by every road and path; run with LD_PRELOAD on the pretend
// driver (CMakeLists.txt beside this file). Each case is a process of its own: an interposer lives as long as one.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cuda.h>
#include <dlfcn.h>
#include <nvml.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <muster/account/limits.hpp>
#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>
#include <muster/wire/volcano.hpp>
#include <muster/workload/synthetic.hpp>

extern "C" {
decltype(cuMemAllocAsync) cuMemAllocAsync_ptsz;
std::size_t pretend_in_use();
int pretend_launches();
decltype(cuLaunchKernel) cuLaunchKernel_ptsz;
/// A user's function whose name looks like the driver's.
[[gnu::visibility("default")]] int cuMemAlloc_of_mine() { return 42; }
}

namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t limit = 2000 * mib;
constexpr std::size_t chunk = 64 * mib;

using environment = std::vector<std::pair<std::string, std::string>>;

std::string scratch(std::string const& name) {
    return (std::filesystem::temp_directory_path() / ("muster-interposer-" + std::to_string(getpid()) + "-" + name))
        .string();
}

/// What a child process left behind.
struct finished {
    int status = -1;
    std::string errors{};
};

/// Runs `f` in a process of its own with these variables set; its ledger is fresh unless one is named.
finished in_child(environment const& env, std::function<int()> const& f) {
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
CUfunction kernel(std::uintptr_t which) { return reinterpret_cast<CUfunction>(which); }

environment const limited{{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}};

// The functions under test, by the road that found them: header's name, the driver's name.
#define FUNCTIONS(F)                                                                                                   \
    F(cuMemAlloc, cuMemAlloc_v2)                                                                                       \
    F(cuMemFree, cuMemFree_v2)                                                                                         \
    F(cuMemAllocManaged, cuMemAllocManaged)                                                                            \
    F(cuMemAllocPitch, cuMemAllocPitch_v2)                                                                             \
    F(cuMemAllocAsync, cuMemAllocAsync)                                                                                \
    F(cuMemFreeAsync, cuMemFreeAsync)                                                                                  \
    F(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync)                                                                \
    F(cuMemCreate, cuMemCreate)                                                                                        \
    F(cuMemRelease, cuMemRelease)                                                                                      \
    F(cuMemMap, cuMemMap)                                                                                              \
    F(cuMemUnmap, cuMemUnmap)                                                                                          \
    F(cuArrayCreate, cuArrayCreate_v2)                                                                                 \
    F(cuArray3DCreate, cuArray3DCreate_v2)                                                                             \
    F(cuArrayDestroy, cuArrayDestroy)                                                                                  \
    F(cuMipmappedArrayCreate, cuMipmappedArrayCreate)                                                                  \
    F(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy)                                                                \
    F(cuModuleLoadData, cuModuleLoadData)                                                                              \
    F(cuModuleUnload, cuModuleUnload)                                                                                  \
    F(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode)                                                                  \
    F(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags)                                                        \
    F(cuGraphLaunch, cuGraphLaunch)                                                                                    \
    F(cuMemGetInfo, cuMemGetInfo_v2)                                                                                   \
    F(cuDeviceTotalMem, cuDeviceTotalMem_v2)                                                                           \
    F(cuCtxSynchronize, cuCtxSynchronize)

struct driver {
#define SLOT(name, exported) decltype(&::exported) p_##exported = nullptr;
    FUNCTIONS(SLOT)
#undef SLOT
};

enum class road { linker, dlsym, get_proc_address, per_thread };

driver by(road r) {
    driver d;
    auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
    auto const find = [&](std::string name) -> void* {
        if (r == road::dlsym) return dlsym(library, name.c_str());
        if (name.ends_with("_v2")) name.resize(name.size() - 3);
        void* found = nullptr;
        (void)cuGetProcAddress_v2(name.c_str(), &found, 13000, r == road::per_thread ? 2 : 0, nullptr);
        return found;
    };
#define FIND(name, exported)                                                                                           \
    d.p_##exported = r == road::linker ? &::exported : reinterpret_cast<decltype(d.p_##exported)>(find(#exported));
    FUNCTIONS(FIND)
    return d;
}

void open_context() {
    CUcontext context = nullptr;
    (void)cuInit(0);
    (void)cuDevicePrimaryCtxRetain(&context, 0);
    (void)cuCtxSetCurrent(context);
}

/// One way to memory: takes a chunk, and what gives all chunks back.
struct path {
    char const* name;
    CUresult (*take)(driver const&, std::vector<CUdeviceptr>&);
    CUresult (*give)(driver const&, CUdeviceptr);
    std::size_t size = chunk; ///< that one call really takes
};

CUresult free_memory(driver const& d, CUdeviceptr p) { return d.p_cuMemFree_v2(p); }

template <auto Get>
CUresult pointer(driver const& d, std::vector<CUdeviceptr>& all) {
    CUdeviceptr p = 0;
    auto const result = Get(d, &p);
    if (result == CUDA_SUCCESS) all.push_back(p);
    return result;
}

template <class Handle>
CUdeviceptr number(Handle h) {
    return reinterpret_cast<CUdeviceptr>(h);
}

CUmemAllocationProp on_card() {
    CUmemAllocationProp q{};
    q.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return q;
}

CUmemoryPool own_pool() {
    static CUmemoryPool const made = [] {
        CUmemPoolProps q{};
        q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        CUmemoryPool p = nullptr;
        (void)cuMemPoolCreate(&p, &q);
        return p;
    }();
    return made;
}

CUresult map_new(driver const& d, std::vector<CUdeviceptr>& all, bool release) {
    auto const q = on_card();
    CUmemGenericAllocationHandle h = 0;
    if (auto const refused = d.p_cuMemCreate(&h, chunk, &q, 0); refused != CUDA_SUCCESS) return refused;
    CUdeviceptr p = 0;
    (void)cuMemAddressReserve(&p, chunk, 0, 0, 0);
    (void)d.p_cuMemMap(p, chunk, 0, h, 0);
    if (release) (void)d.p_cuMemRelease(h);
    all.push_back(p);
    return CUDA_SUCCESS;
}

CUresult unmap(driver const& d, CUdeviceptr p) { return d.p_cuMemUnmap(p, chunk); }
CUresult unmap_and_release(driver const& d, CUdeviceptr p) {
    CUmemGenericAllocationHandle h = 0;
    (void)cuMemRetainAllocationHandle(&h, reinterpret_cast<void*>(p)); // a second reference
    (void)d.p_cuMemUnmap(p, chunk);
    (void)d.p_cuMemRelease(h);
    return d.p_cuMemRelease(h);
}

CUDA_ARRAY3D_DESCRIPTOR cube() {
    CUDA_ARRAY3D_DESCRIPTOR q{};
    q.Width = 512;
    q.Height = 512;
    q.Depth = chunk / (512 * 512 * 4);
    q.Format = CU_AD_FORMAT_FLOAT;
    q.NumChannels = 1;
    return q;
}

std::vector<path> const& paths() {
    static std::vector<path> const ways{
        {"alloc", pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAlloc_v2(p, chunk); }>, free_memory},
        {"alloc of 2 MiB and a byte",
         pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAlloc_v2(p, 2 * mib + 1); }>, free_memory,
         4 * mib},
        {"managed", pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAllocManaged(p, chunk, 1); }>,
         free_memory},
        {"pitch", pointer<[](driver const& d, CUdeviceptr* p) {
             std::size_t pitch = 0;
             return d.p_cuMemAllocPitch_v2(p, &pitch, 65536, chunk / 65536, 4);
         }>,
         free_memory},
        {"narrow pitch", pointer<[](driver const& d, CUdeviceptr* p) {
             std::size_t pitch = 0;
             return d.p_cuMemAllocPitch_v2(p, &pitch, 4, chunk / 512, 4);
         }>,
         free_memory},
        {"async", pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAllocAsync(p, chunk, nullptr); }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuMemFreeAsync(p, nullptr); }},
        {"async, freed by cuMemFree",
         pointer<[](driver const& d, CUdeviceptr* p) { return d.p_cuMemAllocAsync(p, chunk, nullptr); }>, free_memory},
        {"async per thread",
         pointer<[](driver const&, CUdeviceptr* p) { return cuMemAllocAsync_ptsz(p, chunk, nullptr); }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuMemFreeAsync(p, nullptr); }},
        {"own pool", pointer<[](driver const& d, CUdeviceptr* p) {
             return d.p_cuMemAllocFromPoolAsync(p, chunk, own_pool(), nullptr);
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuMemFreeAsync(p, nullptr); }},
        {"physical", [](driver const& d, std::vector<CUdeviceptr>& all) { return map_new(d, all, false); },
         unmap_and_release},
        {"physical, released once mapped",
         [](driver const& d, std::vector<CUdeviceptr>& all) { return map_new(d, all, true); }, unmap},
        {"array", pointer<[](driver const& d, CUdeviceptr* p) {
             CUDA_ARRAY_DESCRIPTOR q{};
             q.Width = 4096;
             q.Height = chunk / (4096 * 4);
             q.Format = CU_AD_FORMAT_FLOAT;
             q.NumChannels = 1;
             CUarray a = nullptr;
             auto const result = d.p_cuArrayCreate_v2(&a, &q);
             return *p = number(a), result;
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuArrayDestroy(reinterpret_cast<CUarray>(p)); }},
        {"array of three dimensions", pointer<[](driver const& d, CUdeviceptr* p) {
             auto const q = cube();
             CUarray a = nullptr;
             auto const result = d.p_cuArray3DCreate_v2(&a, &q);
             return *p = number(a), result;
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuArrayDestroy(reinterpret_cast<CUarray>(p)); }},
        {"mipmapped array", pointer<[](driver const& d, CUdeviceptr* p) {
             auto const q = cube();
             CUmipmappedArray a = nullptr;
             auto const result = d.p_cuMipmappedArrayCreate(&a, &q, 1);
             return *p = number(a), result;
         }>,
         [](driver const& d, CUdeviceptr p) {
             return d.p_cuMipmappedArrayDestroy(reinterpret_cast<CUmipmappedArray>(p));
         }},
        {"graph",
         [](driver const& d, std::vector<CUdeviceptr>& all) {
             CUgraph g = nullptr;
             CUgraphNode node = nullptr;
             CUgraphExec e = nullptr;
             CUDA_MEM_ALLOC_NODE_PARAMS q{};
             q.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
             q.bytesize = chunk;
             (void)cuGraphCreate(&g, 0);
             (void)d.p_cuGraphAddMemAllocNode(&node, g, nullptr, 0, &q);
             (void)d.p_cuGraphInstantiateWithFlags(&e, g, 0);
             auto const result = d.p_cuGraphLaunch(e, nullptr);
             if (result == CUDA_SUCCESS) all.push_back(q.dptr);
             return result;
         },
         free_memory},
        {"globals of a module", pointer<[](driver const& d, CUdeviceptr* p) {
             static std::string const image = "big[" + std::to_string(chunk) + "]";
             CUmodule m = nullptr;
             auto const result = d.p_cuModuleLoadData(&m, image.c_str());
             return *p = number(m), result;
         }>,
         [](driver const& d, CUdeviceptr p) { return d.p_cuModuleUnload(reinterpret_cast<CUmodule>(p)); }}};
    return ways;
}

std::size_t free_now(driver const& d) {
    std::size_t free = 0;
    std::size_t total = 0;
    return d.p_cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS && total == limit ? free : SIZE_MAX;
}

/// Takes all there is and gives it back; what went wrong, by number.
int fill_and_empty(path const& way, driver const& d) {
    open_context();
    std::vector<CUdeviceptr> all;
    auto result = CUDA_SUCCESS;
    while (all.size() * way.size <= 2 * limit && (result = way.take(d, all)) == CUDA_SUCCESS) {
    }
    auto const got = all.size() * way.size;
    if (result != CUDA_ERROR_OUT_OF_MEMORY) return 2;
    if (got > limit) return 3;
    if (got + way.size + 16 * mib < limit) return 4; // refused too early
    if (pretend_in_use() > limit) return 5;
    if (free_now(d) > limit - got) return 6;
    for (auto const p : all)
        if (way.give(d, p) != CUDA_SUCCESS) return 7;
    (void)d.p_cuCtxSynchronize();
    (void)cuDeviceGraphMemTrim(0); // graphs keep theirs
    if (pretend_in_use() != 0) return 8;
    if (free_now(d) != limit) return 9;
    return 0;
}

} // namespace

TEST_CASE("interposer: every path to memory is held to the limit, by every road, and gives all of it back") {
    for (auto const r : {road::linker, road::dlsym, road::get_proc_address, road::per_thread})
        for (auto const& way : paths()) {
            CAPTURE(way.name);
            CAPTURE(static_cast<int>(r));
            auto const child = in_child(limited, [&] { return fill_and_empty(way, by(r)); });
            CHECK(child.status == 0);
            CHECK(child.errors.empty());
        }
}

TEST_CASE("interposer: a pool that keeps its memory leaves none for others") {
    auto const child = in_child(limited, [] {
        open_context();
        CUmemoryPool pool = nullptr;
        (void)cuDeviceGetDefaultMemPool(&pool, 0);
        cuuint64_t keep = UINT64_MAX;
        (void)cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
        CUdeviceptr p = 0;
        if (cuMemAllocAsync(&p, 1500 * mib, nullptr) != CUDA_SUCCESS) return 2;
        if (cuMemFreeAsync(p, nullptr) != CUDA_SUCCESS || cuStreamSynchronize(nullptr) != CUDA_SUCCESS) return 3;
        std::size_t free = 0;
        std::size_t total = 0;
        if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || free > 500 * mib) return 4; // it is kept, and counts
        if (cuMemPoolTrimTo(pool, 1504 * mib) != CUDA_SUCCESS) return 5;
        if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || free > 500 * mib) return 6;
        if (cuMemAlloc(&p, 600 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 7;
        if (cuMemPoolTrimTo(pool, 0) != CUDA_SUCCESS) return 8;
        return cuMemAlloc(&p, 600 * mib) == CUDA_SUCCESS ? 0 : 9;
    });
    CHECK(child.status == 0);
}

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

TEST_CASE("interposer: launches take no more than the share of the time, by every form, and all of them arrive") {
    using launch = decltype(&cuLaunchKernel);
    for (launch const form : {&cuLaunchKernel, &cuLaunchKernel_ptsz})
        for (unsigned const blocks : {20U, 400U, 5000U}) { // of a microsecond each
            CAPTURE(blocks);
            auto const child = in_child({{"CUDA_DEVICE_SM_LIMIT", "30"}}, [&] {
                open_context();
                auto const count = 60'000 / blocks;
                auto const begin = std::chrono::steady_clock::now();
                for (unsigned i = 0; i != count; ++i)
                    if (form(kernel(1), blocks, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS) return 2;
                if (pretend_launches() != static_cast<int>(count)) return 3;
                // The last batch may still be under way, and a burst may have come first.
                auto const least = std::chrono::microseconds{60'000 * 100 / 30 - 30'000};
                return std::chrono::steady_clock::now() - begin >= least ? 0 : 4;
            });
            CHECK(child.status == 0);
        }
}

TEST_CASE("interposer: launches that are recorded are not held up, nor any where the share is whole or switched off") {
    auto const many = [](bool record) {
        return [record] {
            open_context();
            CUstream stream = nullptr;
            (void)cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
            if (record) (void)cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
            for (int i = 0; i != 100; ++i) // a second each: held up, they would never end
                if (cuLaunchKernel(kernel(1), 1'000'000, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr) != CUDA_SUCCESS)
                    return 2;
            return pretend_launches() == (record ? 0 : 100) ? 0 : 3;
        };
    };
    CHECK(in_child({{"CUDA_DEVICE_SM_LIMIT", "30"}}, many(true)).status == 0);
    CHECK(in_child({{"CUDA_DEVICE_SM_LIMIT", "100"}}, many(false)).status == 0);
    CHECK(in_child({}, many(false)).status == 0);
    environment const off{{"CUDA_DEVICE_SM_LIMIT", "30"}, {"GPU_CORE_UTILIZATION_POLICY", "disable"}};
    CHECK(in_child(off, many(false)).status == 0);
}

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
        CUdriverProcAddressQueryResult status{};
        if (cuGetProcAddress_v2("cuNoSuchThing", &found, 13000, 0, &status) != CUDA_ERROR_NOT_FOUND ||
            status != CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
            return 9;
        return 0;
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
    std::vector<pid_t> crowd;
    for (int i = 0; i != 8; ++i) {
        auto const child = fork();
        if (child == 0) {
            for (auto const& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
            std::vector<std::thread> threads;
            for (std::uint64_t t = 0; t != 32; ++t)
                threads.emplace_back([t, i] {
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
            kill(crowd[static_cast<std::size_t>(i)], SIGKILL);
        }
        int status = 0;
        waitpid(crowd[static_cast<std::size_t>(i)], &status, 0);
        CHECK(WIFSIGNALED(status) == (i < 4));
        if (i >= 4) CHECK(WEXITSTATUS(status) == 0);
    }
    CHECK(in_child(env, [] { return fill_and_empty(paths().front(), by(road::linker)); }).status == 0);
    std::filesystem::remove(ledger);
}
