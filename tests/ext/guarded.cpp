#include <muster/ext/guarded.hpp>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include <doctest/doctest.h>

using muster::ext::guarded;

TEST_CASE("guarded: an exception is an answer") {
    CHECK(guarded(7, [] { return 1; }) == 1);
    CHECK(guarded(7, []() -> int { throw std::runtime_error{"no"}; }) == 7);
    CHECK(guarded(7, []() -> int { throw 5; }) == 7);
}

TEST_CASE("guarded: a thread that is cancelled ends, and takes down what it has") {
    static std::atomic<int> left{0};
    struct leaving {
        ~leaving() { ++left; }
    };
    pthread_t thread{};
    auto const work = [](void*) -> void* {
        leaving const outer;
        (void)guarded(7, [] {
            leaving const inner;
            pause();
            return 1;
        });
        left = 100; // not reached
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, nullptr, work, nullptr) == 0);
    usleep(20'000);
    CHECK(pthread_cancel(thread) == 0);
    void* how = nullptr;
    CHECK(pthread_join(thread, &how) == 0);
    CHECK(how == PTHREAD_CANCELED);
    CHECK(left == 2);
}
