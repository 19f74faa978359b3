#include <muster/ext/published.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("published: all get one table, and making it may wait for others who ask") {
    struct table {
        int value = 0;
    };
    std::atomic<table const*> slot{nullptr};
    std::atomic<int> made{0};
    std::vector<table const*> seen(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t != seen.size(); ++t)
        threads.emplace_back([&, t] {
            seen[t] = &muster::ext::published(slot, [&](table& x) {
                x.value = 7;
                ++made;
                while (made != 4) std::this_thread::yield(); // each waits for the others
            });
        });
    for (auto& t : threads) t.join();
    for (auto const* const s : seen) CHECK(s == seen.front());
    CHECK(seen.front()->value == 7);
    CHECK(&muster::ext::published(slot, [](table&) { FAIL("made twice"); }) == seen.front());
    delete slot.load();
}
