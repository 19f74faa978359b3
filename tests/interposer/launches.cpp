// The share of time.

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support.hpp"

using namespace interposer_test;

TEST_CASE("interposer: launches take no more than the share of the time, by every form, and all of them arrive") {
    using launch = decltype(&cuLaunchKernel);
    for (launch const form : {&cuLaunchKernel, &cuLaunchKernel_ptsz})
        for (unsigned const blocks : {20U, 400U, 5000U}) { // of a microsecond each
            CAPTURE(blocks);
            // The share is held whether or not NVML shows who is who.
            environment const env{{"CUDA_DEVICE_SM_LIMIT", "30"}, {"PRETEND_NVML_BLIND", blocks == 400 ? "1" : "0"}};
            auto const child = in_child(env, [&] {
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

TEST_CASE("interposer: work that waits for a launch on another card doesn't stop that from coming") {
    // As collectives do that one thread launches on all cards.
    auto const child = in_child({{"CUDA_DEVICE_SM_LIMIT", "30"}, {"PRETEND_CARDS", "2"}}, [] {
        auto const begin = std::chrono::steady_clock::now();
        CUcontext contexts[2]{};
        for (CUdevice const d : {0, 1}) (void)cuDevicePrimaryCtxRetain(&contexts[d], d);
        for (int i = 0; i != 10; ++i)
            for (int const d : {0, 1}) {
                (void)cuCtxSetCurrent(contexts[d]);
                if (cuLaunchKernel(kernel(d == 0 ? 2 : 1), 10, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) !=
                    CUDA_SUCCESS)
                    return 2;
            }
        if (pretend_launches() != 20) return 3;
        return std::chrono::steady_clock::now() - begin < std::chrono::seconds{60} ? 0 : 4;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: a process alone on the card pays for what its kernels took, however that varies") {
    auto const run = [](environment env) {
        env.emplace_back("CUDA_DEVICE_SM_LIMIT", "30");
        return in_child(env, [] {
            open_context();
            auto const begin = std::chrono::steady_clock::now();
            unsigned sum = 0;
            for (unsigned i = 0; i != 60; ++i) { // a kernel and a grid, but lengths of 300 us to 3 ms
                unsigned length = 300 * (1 + i * 7 % 10);
                void* arguments[] = {&length};
                sum += length;
                if (cuLaunchKernel(kernel(3), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS)
                    return 2;
            }
            auto const took = std::chrono::steady_clock::now() - begin;
            return took > std::chrono::microseconds{sum * 2} ? 0 : 1; // at 30 % it is more than three times as long
        });
    };
    CHECK(run({}).status == 0);
}

TEST_CASE("interposer: many threads launch at once within one share, and none is lost") {
    auto const child = in_child({{"CUDA_DEVICE_SM_LIMIT", "50"}}, [] {
        auto const begin = std::chrono::steady_clock::now();
        std::vector<std::thread> threads;
        for (int t = 0; t != 8; ++t)
            threads.emplace_back([t] {
                open_context();
                CUstream s = nullptr;
                if (t % 2 == 0) (void)cuStreamCreate(&s, 0);
                auto const form = t % 4 == 1 ? &cuLaunchKernel_ptsz : &cuLaunchKernel;
                for (int i = 0; i != 100; ++i)
                    if (form(kernel(1), 50, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr) != CUDA_SUCCESS) _exit(2);
            });
        for (auto& t : threads) t.join();
        if (pretend_launches() != 800) return 3;
        // 40 ms of work; the last batch may be under way, and a burst came first.
        return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds{60} ? 0 : 4;
    });
    CHECK(child.status == 0);
}

TEST_CASE("interposer: every form of a launch waits for its turn") {
    auto const paced = [](std::function<CUresult()> const& once) {
        return in_child({{"CUDA_DEVICE_SM_LIMIT", "10"}}, [&] {
            open_context();
            auto const begin = std::chrono::steady_clock::now();
            for (int i = 0; i != 5; ++i)
                if (once() != CUDA_SUCCESS) return 2;
            // Five of 5 ms: but for the first burst and the last, 50 ms each.
            return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds{150} ? 0 : 3;
        });
    };
    CHECK(paced([] { return cuLaunchKernel(kernel(1), 5000, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); }).status ==
          0);
    CHECK(paced([] {
              CUlaunchConfig c{};
              c.gridDimX = 5000;
              c.gridDimY = c.gridDimZ = 1;
              return cuLaunchKernelEx(&c, kernel(1), nullptr, nullptr);
          }).status == 0);
    CHECK(paced([] { return cuLaunchCooperativeKernel(kernel(1), 5000, 1, 1, 1, 1, 1, 0, nullptr, nullptr); }).status ==
          0);
    CHECK(paced([] { return cuLaunchGrid(kernel(1), 5000, 1); }).status == 0);
    CHECK(paced([] { return cuLaunchGridAsync(kernel(1), 5000, 1, nullptr); }).status == 0);
    CHECK(paced([] { return cuLaunch(kernel(1)); }).status == 0);
    CHECK(paced([] {
              return cuLaunchKernel_ptsz(kernel(1), 5000, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
          }).status == 0);
    CHECK(paced([] {
              static CUgraphExec const graph = [] {
                  CUstream s = nullptr;
                  CUgraph g = nullptr;
                  CUgraphExec e = nullptr;
                  (void)cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
                  (void)cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
                  (void)cuLaunchKernel(kernel(1), 5000, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr);
                  (void)cuStreamEndCapture(s, &g);
                  (void)cuGraphInstantiate(&e, g, 0);
                  return e;
              }();
              return cuGraphLaunch(graph, nullptr);
          }).status == 0);
}

TEST_CASE("interposer: graphs are recorded whole while launches on other streams are paced") {
    for (bool const warm : {false, true}) { // the first recording of a process, or of streams that launched before
        auto const child = in_child({{"CUDA_DEVICE_SM_LIMIT", "60"}}, [warm] {
            open_context();
            CUstream s = nullptr;
            (void)cuStreamCreate(&s, 0);
            std::atomic<bool> done{false};
            std::thread other{[&] {
                open_context();
                CUstream t = nullptr;
                (void)cuStreamCreate(&t, CU_STREAM_NON_BLOCKING);
                while (!done)
                    if (cuLaunchKernel(kernel(1), 100, 1, 1, 1, 1, 1, 0, t, nullptr, nullptr) != CUDA_SUCCESS) _exit(2);
            }};
            int spoilt = 0;
            for (int i = 0; i != 20; ++i) {
                if (warm)
                    for (auto* const to : {s, CUstream{nullptr}})
                        if (cuLaunchKernel(kernel(1), 10, 1, 1, 1, 1, 1, 0, to, nullptr, nullptr) != CUDA_SUCCESS)
                            _exit(3);
                CUgraph g = nullptr;
                if (cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL) != CUDA_SUCCESS) _exit(4);
                if (cuLaunchKernel(kernel(1), 10, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr) != CUDA_SUCCESS) _exit(5);
                std::this_thread::sleep_for(std::chrono::milliseconds{3});
                spoilt += cuStreamEndCapture(s, &g) == CUDA_SUCCESS ? 0 : 1;
            }
            done = true;
            other.join();
            return spoilt == 0 ? 0 : 1;
        });
        CHECK(child.status == 0);
    }
}

TEST_CASE("interposer: a thread that is cancelled while it waits for its turn ends as it would without") {
    auto const child = in_child({{"CUDA_DEVICE_SM_LIMIT", "10"}}, [] {
        open_context();
        std::atomic<bool> started{false};
        pthread_t thread{};
        auto const work = [](void* flag) -> void* {
            open_context();
            static_cast<std::atomic<bool>*>(flag)->store(true);
            for (;;) {
                (void)cuLaunchKernel(kernel(1), 3000, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
                pthread_testcancel();
            }
        };
        if (pthread_create(&thread, nullptr, work, &started) != 0) return 2;
        while (!started) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        if (pthread_cancel(thread) != 0 || pthread_join(thread, nullptr) != 0) return 3;
        return cuLaunchKernel(kernel(1), 10, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == CUDA_SUCCESS ? 0 : 4;
    });
    CHECK(child.status == 0);
    auto const in_the_driver = in_child(limited, [] {
        open_context();
        pthread_t thread{};
        auto const work = [](void*) -> void* {
            open_context();
            CUevent e = nullptr;
            (void)cuEventCreate(&e, 0);
            (void)cuLaunchKernel(kernel(1), 10'000'000, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
            (void)cuEventRecord(e, nullptr);
            (void)cuEventSynchronize(e); // ten seconds, in a call that may be cancelled
            return nullptr;
        };
        if (pthread_create(&thread, nullptr, work, nullptr) != 0) return 2;
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        if (pthread_cancel(thread) != 0 || pthread_join(thread, nullptr) != 0) return 3;
        CUdeviceptr p = 0;
        return cuMemAlloc(&p, limit) == CUDA_SUCCESS ? 0 : 4;
    });
    CHECK(in_the_driver.status == 0);
}

TEST_CASE("interposer: streams and contexts may go while their launches are still to be paid for") {
    auto const child = in_child({{"CUDA_DEVICE_SM_LIMIT", "50"}}, [] {
        for (int round = 0; round != 20; ++round) {
            open_context();
            for (int i = 0; i != 20; ++i) {
                CUstream s = nullptr;
                if (cuStreamCreate(&s, 0) != CUDA_SUCCESS) return 2;
                if (cuLaunchKernel(kernel(1), 30, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr) != CUDA_SUCCESS) return 3;
                if (cuLaunchKernel(kernel(1), 30, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS)
                    return 4;
                if (cuStreamDestroy(s) != CUDA_SUCCESS) return 5;
            }
            if (round % 2 == 0 && cuDevicePrimaryCtxReset(0) != CUDA_SUCCESS) return 6;
        }
        return pretend_launches() == 800 ? 0 : 7;
    });
    CHECK(child.status == 0);
}
