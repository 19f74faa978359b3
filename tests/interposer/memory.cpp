// What a program can have of a card, and that all of it comes back.

#include "paths.hpp"

using namespace interposer_test;

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

TEST_CASE("interposer: a context counts, by NVML's figure, with whatever number NVML has for the process") {
    environment const with_context{{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"PRETEND_CONTEXT", "524288000"}};
    for (environment const& more :
         {environment{}, environment{{"PRETEND_PID_OFFSET", "4000000"}},
          environment{{"PRETEND_PID_OFFSET", "4000000"}, {"PRETEND_NEIGHBOUR", "1"}}, environment{{"PRETEND_MIG", "1"}},
          environment{{"PRETEND_NVML_BLIND", "1"}, {"MUSTER_CONTEXT_MEMORY", "500m"}}}) {
        auto env = with_context;
        env.insert(env.end(), more.begin(), more.end());
        auto const child = in_child(env, [] {
            open_context();
            std::size_t free = 0;
            std::size_t total = 0;
            if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || free != 1500 * mib || total != limit) return 2;
            CUdeviceptr p = 0;
            if (cuMemAlloc(&p, 1502 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 3;
            if (cuMemAlloc(&p, 1500 * mib) != CUDA_SUCCESS || pretend_in_use() != limit) return 4;
            return 0;
        });
        CHECK(child.status == 0);
        CHECK(child.errors.empty());
    }
    auto const neither = in_child(
        {{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"MUSTER_CONTEXT_MEMORY", "much"}, {"MUSTER_LOG_LEVEL", "2"}}, [] {
            open_context();
            CUdeviceptr p = 0;
            return cuMemAlloc(&p, limit) == CUDA_SUCCESS ? 0 : 2;
        });
    CHECK(neither.status == 0);
    CHECK(neither.errors.find("MUSTER_CONTEXT_MEMORY=much") != std::string::npos);
}

TEST_CASE("interposer: what a context grows by counts once it shows") {
    auto const child = in_child(limited, [] {
        open_context();
        CUdeviceptr p = 0;
        if (cuLaunchKernel(kernel(4), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS) return 2;
        if (cuCtxSynchronize() != CUDA_SUCCESS) return 3; // 256 MiB of local memory
        if (cuMemAlloc(&p, 1746 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 4;
        if (cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1000 * mib) != CUDA_SUCCESS) return 5;
        if (cuMemAlloc(&p, 1002 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 6;
        return cuMemAlloc(&p, 1000 * mib) == CUDA_SUCCESS && pretend_in_use() == limit ? 0 : 7;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: with a context goes all that was allocated in it") {
    environment env = limited;
    env.emplace_back("PRETEND_CONTEXT", "104857600");
    auto const child = in_child(env, [] {
        CUdeviceptr p = 0;
        for (int i = 0; i != 3; ++i) { // reset, released, destroyed
            CUcontext c = nullptr;
            if (i != 2) open_context();
            if (i == 2 && cuCtxCreate(&c, nullptr, 0, 0) != CUDA_SUCCESS) return 2;
            for (int k = 0; k != 19; ++k)
                if (cuMemAlloc(&p, 100 * mib) != CUDA_SUCCESS) return 10 * i + 3;
            if (cuMemAlloc(&p, mib) != CUDA_ERROR_OUT_OF_MEMORY) return 10 * i + 4;
            auto const gone = i == 0   ? cuDevicePrimaryCtxReset(0)
                              : i == 1 ? cuDevicePrimaryCtxRelease(0)
                                       : cuCtxDestroy(c);
            if (gone != CUDA_SUCCESS || pretend_in_use() != 0) return 10 * i + 5;
        }
        return 0;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: code and its globals count whether or not NVML can tell, and are refused when they don't fit") {
    for (auto const* const blind : {"0", "1"})
        for (bool const library : {false, true}) {
            CAPTURE(blind);
            CAPTURE(library);
            auto const child = in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"PRETEND_NVML_BLIND", blind}}, [&] {
                open_context();
                auto const image = "big[" + std::to_string(1500 * mib) + "]";
                CUmodule m = nullptr;
                CUlibrary l = nullptr;
                auto const load = [&] {
                    return library ? cuLibraryLoadData(&l, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0)
                                   : cuModuleLoadData(&m, image.c_str());
                };
                auto const unload = [&] { return library ? cuLibraryUnload(l) : cuModuleUnload(m); };
                CUdeviceptr p = 0;
                if (load() != CUDA_SUCCESS) return 2;
                if (cuMemAlloc(&p, 600 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 3;
                if (unload() != CUDA_SUCCESS || cuMemAlloc(&p, 600 * mib) != CUDA_SUCCESS) return 4;
                if (load() != CUDA_ERROR_OUT_OF_MEMORY || pretend_in_use() != 600 * mib) return 5;
                return cuMemAlloc(&p, 1400 * mib) == CUDA_SUCCESS ? 0 : 6;
            });
            CHECK(child.status == 0);
        }
}

TEST_CASE("interposer: a graph that is recorded stays whole, and its allocations count when it is launched") {
    auto const child = in_child(limited, [] {
        open_context();
        CUstream s = nullptr;
        CUgraph g = nullptr;
        CUgraphExec e = nullptr;
        CUdeviceptr p = 0;
        CUdeviceptr other = 0;
        (void)cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
        if (cuMemAllocAsync(&other, 64 * mib, nullptr) != CUDA_SUCCESS) return 2;
        (void)cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
        if (cuMemAllocAsync(&p, 64 * mib, s) != CUDA_SUCCESS) return 3;
        // Meanwhile on other streams, which a question to the driver would end.
        if (cuMemAllocAsync(&other, 64 * mib, nullptr) != CUDA_SUCCESS) return 4;
        if (cuMemAlloc(&other, 3000 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 5;
        if (cuStreamSynchronize(nullptr) != CUDA_SUCCESS) return 6;
        if (cuLaunchKernel(kernel(1), 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr) != CUDA_SUCCESS) return 7;
        if (cuStreamEndCapture(s, &g) != CUDA_SUCCESS) return 8;
        if (cuGraphInstantiate(&e, g, 0) != CUDA_SUCCESS) return 9;
        if (cuMemAlloc(&other, 1800 * mib) != CUDA_SUCCESS) return 10; // 128 are in the pool
        if (cuGraphLaunch(e, s) != CUDA_SUCCESS) return 11;            // takes 64
        if (cuMemAlloc(&other, 10 * mib) != CUDA_ERROR_OUT_OF_MEMORY || pretend_in_use() > limit) return 12;
        if (cuMemFree(p) != CUDA_SUCCESS || cuGraphLaunch(e, s) != CUDA_SUCCESS) return 13; // has what it needs
        if (cuMemFree(p) != CUDA_SUCCESS) return 14;
        if (cuMemAlloc(&other, 70 * mib) != CUDA_SUCCESS) return 15; // graph memory that nobody uses goes
        return cuGraphLaunch(e, s) == CUDA_ERROR_OUT_OF_MEMORY && pretend_in_use() <= limit ? 0 : 16;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: managed memory counts for the card unless the container may have more than there is") {
    auto const take = [] {
        open_context();
        CUdeviceptr p = 0;
        if (cuMemAllocManaged(&p, 1500 * mib, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS) return 2;
        if (cuMemAllocManaged(&p, 1500 * mib, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS) return 1;
        return cuMemFree(p) == CUDA_SUCCESS ? 0 : 3;
    };
    CHECK(in_child(limited, take).status == 1);
    // It doesn't hide what else there is, wherever it lies.
    CHECK(in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"PRETEND_CONTEXT", "524288000"}}, [] {
              open_context();
              CUdeviceptr p = 0;
              CUdeviceptr q = 0;
              if (cuMemAllocManaged(&p, 1000 * mib, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS) return 2;
              if (cuMemAlloc(&q, 600 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 3; // everything is counted anew here
              if (cuMemAlloc(&q, 500 * mib) != CUDA_SUCCESS || cuMemFree(p) != CUDA_SUCCESS) return 4;
              return cuMemAlloc(&q, 1000 * mib) == CUDA_SUCCESS ? 0 : 5;
          }).status == 0);
    CHECK(in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"CUDA_OVERSUBSCRIBE", "true"}}, take).status == 0);
}

TEST_CASE("interposer: host memory is not counted") {
    auto const child = in_child(limited, [] {
        open_context();
        CUmemGenericAllocationHandle h = 0;
        CUmemAllocationProp q{};
        q.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        q.location.type = CU_MEM_LOCATION_TYPE_HOST;
        for (int i = 0; i != 3; ++i)
            if (cuMemCreate(&h, 1000 * mib, &q, 0) != CUDA_SUCCESS) return 2;
        CUdeviceptr p = 0;
        return cuMemAlloc(&p, limit) == CUDA_SUCCESS ? 0 : 3;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: memory counts for the card it lies on, by that card's limit, in whatever order cards come") {
    environment const two{
        {"PRETEND_CARDS", "2"}, {"CUDA_DEVICE_MEMORY_LIMIT_0", "1000m"}, {"CUDA_DEVICE_MEMORY_LIMIT_1", "2000m"}};
    auto const filled = [](CUdevice first, CUdevice second) {
        return [first, second] {
            CUcontext c = nullptr;
            CUdeviceptr p = 0;
            for (CUdevice const d : {first, second}) {
                std::size_t const most = (d == first ? 1000 : 2000) * mib;
                (void)cuDevicePrimaryCtxRetain(&c, d);
                (void)cuCtxSetCurrent(c);
                std::size_t total = 0;
                if (cuDeviceTotalMem(&total, d) != CUDA_SUCCESS || total != most) return 2;
                if (cuMemAlloc(&p, most + 2 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 3;
                // From the other card's context: a pool and physical memory of this one.
                CUmemAllocationProp q{};
                q.type = CU_MEM_ALLOCATION_TYPE_PINNED;
                q.location = {CU_MEM_LOCATION_TYPE_DEVICE, d};
                CUmemPoolProps props{};
                props.location = q.location;
                CUmemoryPool pool = nullptr;
                CUmemGenericAllocationHandle h = 0;
                CUcontext other = nullptr;
                CUstream s = nullptr;
                (void)cuStreamCreate(&s, 0);
                (void)cuDevicePrimaryCtxRetain(&other, 1 - d);
                (void)cuCtxSetCurrent(other);
                if (cuMemCreate(&h, 500 * mib, &q, 0) != CUDA_SUCCESS) return 4;
                if (cuMemPoolCreate(&pool, &props) != CUDA_SUCCESS) return 5;
                if (cuMemAllocFromPoolAsync(&p, 96 * mib, pool, s) != CUDA_SUCCESS) return 6;
                if (cuMemAllocAsync(&p, 96 * mib, s) != CUDA_SUCCESS) return 7; // the stream's card
                (void)cuCtxSetCurrent(c);
                if (pretend_in_use_of(d) != 692 * mib) return 8;
                if (cuMemAlloc(&p, most - 690 * mib) != CUDA_ERROR_OUT_OF_MEMORY) return 9;
                if (cuMemAlloc(&p, most - 692 * mib) != CUDA_SUCCESS) return 10;
            }
            return 0;
        };
    };
    CHECK(in_child(two, filled(0, 1)).status == 0);
    auto reversed = two;
    reversed.emplace_back("PRETEND_NVML_REVERSED", "1"); // as CUDA_DEVICE_ORDER or CUDA_VISIBLE_DEVICES may do
    CHECK(in_child(reversed, filled(1, 0)).status == 0);
}

TEST_CASE("interposer: the oldest versions of an entry point count as the newest do") {
    // Their names are the new ones without an ending, which the header takes for the new ones.
    auto* const library = dlopen("libcuda.so.1", RTLD_NOW);
    auto* const alloc = reinterpret_cast<CUresult (*)(unsigned int*, unsigned int)>(dlsym(library, "cuMemAlloc"));
    auto* const free = reinterpret_cast<CUresult (*)(unsigned int)>(dlsym(library, "cuMemFree"));
    auto* const total = reinterpret_cast<CUresult (*)(unsigned int*, CUdevice)>(dlsym(library, "cuDeviceTotalMem"));
    auto const child = in_child(limited, [&] {
        open_context();
        unsigned int p = 0;
        if (total(&p, 0) != CUDA_SUCCESS || p != limit) return 2;
        if (alloc(&p, 1500 * mib) != CUDA_SUCCESS) return 3;
        unsigned int q = 0;
        if (alloc(&q, 600 * mib) != CUDA_ERROR_OUT_OF_MEMORY || q != 0) return 4;
        return free(p) == CUDA_SUCCESS && alloc(&q, 600 * mib) == CUDA_SUCCESS ? 0 : 5;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: refusals leave outputs as they were, and are the driver's own codes") {
    auto const child = in_child(limited, [] {
        open_context();
        CUdeviceptr p = 0x77;
        std::size_t pitch = 0x77;
        if (cuMemAlloc(&p, 3000 * mib) != CUDA_ERROR_OUT_OF_MEMORY || p != 0x77) return 2;
        if (cuMemAllocAsync(&p, 3000 * mib, nullptr) != CUDA_ERROR_OUT_OF_MEMORY || p != 0x77) return 3;
        if (cuMemAllocPitch(&p, &pitch, 4096, mib, 4) != CUDA_ERROR_OUT_OF_MEMORY || p != 0x77 || pitch != 0x77)
            return 4;
        if (cuMemAlloc(&p, SIZE_MAX) != CUDA_ERROR_OUT_OF_MEMORY || p != 0x77) return 5;
        if (cuMemAlloc(&p, 0) != CUDA_ERROR_INVALID_VALUE) return 6; // the driver's business
        if (cuMemFree(0) != CUDA_SUCCESS || cuMemFree(0x1234) != CUDA_ERROR_INVALID_VALUE) return 7;
        if (cuMemFreeAsync(0x1234, nullptr) != CUDA_ERROR_INVALID_VALUE) return 8;
        if (cuMemAlloc(&p, 64) != CUDA_SUCCESS || cuMemFree(p) != CUDA_SUCCESS) return 9;
        return cuMemFree(p) == CUDA_ERROR_INVALID_VALUE ? 0 : 10; // twice
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: what goes in and out of a pool for long leaves the account where it was") {
    auto const child = in_child(limited, [] {
        open_context();
        CUmemoryPool pool = nullptr;
        CUmemPoolProps q{};
        q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        for (int round = 0; round != 50; ++round) {
            if (cuMemPoolCreate(&pool, &q) != CUDA_SUCCESS) return 2;
            CUdeviceptr p[8]{};
            for (int i = 0; i != 400; ++i) {
                auto& at = p[i % 8];
                if (cuMemFreeAsync(at, nullptr) != CUDA_SUCCESS) return 3;
                auto const size = (1 + static_cast<std::size_t>(i * 7919 % 97)) * mib;
                auto const result = i % 2 == 0 ? cuMemAllocAsync(&at, size, nullptr)
                                               : cuMemAllocFromPoolAsync(&at, size, pool, nullptr);
                if (result != CUDA_SUCCESS) return 4;
                if (i % 50 == 0 && cuStreamSynchronize(nullptr) != CUDA_SUCCESS) return 5;
            }
            for (auto const at : p) (void)cuMemFreeAsync(at, nullptr);
            if (cuCtxSynchronize() != CUDA_SUCCESS || cuMemPoolDestroy(pool) != CUDA_SUCCESS) return 6;
            std::size_t free = 0;
            std::size_t total = 0;
            if (cuMemGetInfo(&free, &total) != CUDA_SUCCESS || free != limit || pretend_in_use() != 0) return 7;
        }
        return 0;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: without a context the driver says what is wrong, and nothing is charged") {
    auto const child = in_child(limited, [] {
        CUdeviceptr p = 0;
        if (cuMemAlloc(&p, mib) != CUDA_ERROR_INVALID_CONTEXT) return 2;
        if (cuMemAllocAsync(&p, mib, nullptr) != CUDA_ERROR_INVALID_CONTEXT) return 3;
        if (cuLaunchKernel(kernel(1), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_ERROR_INVALID_CONTEXT)
            return 4;
        open_context();
        return cuMemAlloc(&p, limit) == CUDA_SUCCESS ? 0 : 5;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: what is out of a pool counts also when the pool is destroyed") {
    for (auto const* const blind : {"0", "1"}) {
        auto const child = in_child({{"CUDA_DEVICE_MEMORY_LIMIT", "2000m"}, {"PRETEND_NVML_BLIND", blind}}, [] {
            open_context();
            CUmemPoolProps q{};
            q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
            CUmemoryPool pool = nullptr;
            CUdeviceptr p = 0;
            for (int i = 0; i != 5; ++i) {
                if (cuMemPoolCreate(&pool, &q) != CUDA_SUCCESS) return 2;
                auto const result = cuMemAllocFromPoolAsync(&p, 960 * mib, pool, nullptr);
                if (result != (i < 2 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY)) return 3;
                if (cuMemPoolDestroy(pool) != CUDA_SUCCESS || pretend_in_use() > limit) return 4;
            }
            return 0;
        });
        CHECK(child.status == 0);
    }
}

TEST_CASE("interposer: parameters that are missing are the driver's to refuse") {
    environment env = limited;
    env.emplace_back("CUDA_DEVICE_SM_LIMIT", "50");
    auto const child = in_child(env, [] {
        open_context();
        CUmemGenericAllocationHandle h = 0;
        CUarray a = nullptr;
        CUmemoryPool pool = nullptr;
        if (cuMemCreate(&h, 2 * mib, nullptr, 0) != CUDA_ERROR_INVALID_VALUE) return 2;
        if (cuArrayCreate(&a, nullptr) != CUDA_ERROR_INVALID_VALUE) return 3;
        if (cuArray3DCreate(&a, nullptr) != CUDA_ERROR_INVALID_VALUE) return 4;
        if (cuMemPoolCreate(&pool, nullptr) != CUDA_ERROR_INVALID_VALUE) return 5;
        if (cuLaunchKernelEx(nullptr, kernel(1), nullptr, nullptr) != CUDA_ERROR_INVALID_VALUE) return 6;
        CUdeviceptr p = 0;
        return cuMemAlloc(&p, limit) == CUDA_SUCCESS ? 0 : 7;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: graph memory that nobody uses goes for who needs it, also when its graph is gone") {
    auto const child = in_child(limited, [] {
        open_context();
        CUgraph g = nullptr;
        CUgraphNode n = nullptr;
        CUgraphExec e = nullptr;
        CUDA_MEM_ALLOC_NODE_PARAMS q{};
        q.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        q.bytesize = chunk;
        (void)cuGraphCreate(&g, 0);
        if (cuGraphAddMemAllocNode(&n, g, nullptr, 0, &q) != CUDA_SUCCESS) return 2;
        if (cuGraphInstantiate(&e, g, 0) != CUDA_SUCCESS || cuGraphLaunch(e, nullptr) != CUDA_SUCCESS) return 3;
        if (cuMemFree(q.dptr) != CUDA_SUCCESS || cuGraphExecDestroy(e) != CUDA_SUCCESS) return 4;
        if (pretend_in_use() != chunk) return 5; // the driver keeps it
        CUdeviceptr p = 0;
        return cuMemAlloc(&p, limit) == CUDA_SUCCESS && pretend_in_use() == limit ? 0 : 6;
    });
    CHECK(child.status == 0);
}
