#include <muster/account/books.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <muster/workload/synthetic.hpp>

using muster::account::holding;
using muster::account::takings;
using muster::workload::random_numbers;

namespace {

/// An account with a limit a device.
struct limited {
    std::atomic<std::uint64_t> used[2]{};
    std::uint64_t limit = ~std::uint64_t{0};

    bool reserve(int device, std::uint64_t size) {
        auto seen = used[device].load();
        do {
            if (seen + size > limit) return false;
        } while (!used[device].compare_exchange_weak(seen, seen + size));
        return true;
    }
    void release(int device, std::uint64_t size) {
        auto const before = used[device].fetch_sub(size);
        CHECK(before >= size); // nothing is given back twice
    }
    void count(int device, std::uint64_t size) { used[device] += size; }
    [[nodiscard]] bool exceeds(int device) const { return used[device] > limit; }
};

enum class answer { good, bad, refused };
using books = muster::account::books<limited, answer, answer::good, answer::refused>;

auto const succeed = [] { return answer::good; };
auto const fail = [] { return answer::bad; };

} // namespace

TEST_CASE("books: a block is charged while it is there, and what fails leaves no trace") {
    limited a;
    a.limit = 100;
    books b{a};
    auto const key = [] { return std::uint64_t{7}; };
    CHECK(b.take({0, 60}, succeed, key) == answer::good);
    CHECK(b.take({0, 60}, succeed, key) == answer::refused);
    CHECK(b.take({1, 60}, fail, key) == answer::bad);
    CHECK(a.used[0] == 60);
    CHECK(a.used[1] == 0);
    CHECK(b.give_back(8, succeed) == answer::good); // none of ours: the driver's business
    CHECK(b.give_back(7, fail) == answer::bad);     // still there
    CHECK(a.used[0] == 60);
    b.correct(7, 80);
    CHECK(a.used[0] == 80);
    b.correct(7, 50);
    CHECK(a.used[0] == 50);
    CHECK(b.give_back(7, succeed) == answer::good);
    CHECK(b.give_back(7, succeed) == answer::good); // twice: gives back once
    CHECK(a.used[0] == 0);
}

TEST_CASE("books: with a context goes what was allocated in it, managed memory as well") {
    limited a;
    books b{a};
    int one = 0;
    int other = 0;
    for (std::uint64_t k = 1; k != 11; ++k) {
        holding const h{0, k, k % 2 == 0 ? &one : &other, k > 5 ? k : 0};
        CHECK(b.take(h, succeed, [k] { return k; }) == answer::good);
    }
    CHECK(b.managed() == 6 + 7 + 8 + 9 + 10);
    auto const gone = [](answer r) { return r == answer::good; };
    CHECK(b.give_back_context(&one, fail, gone) == answer::bad);
    CHECK(a.used[0] == 55);
    // One of its addresses comes again while it goes.
    auto const again = [&] { return b.take({1, 2, &other}, succeed, [] { return std::uint64_t{4}; }); };
    CHECK(b.give_back_context(&one, again, gone) == answer::good);
    CHECK(a.used[1] == 2);
    CHECK(a.used[0] == 1 + 3 + 5 + 7 + 9);
    CHECK(b.managed() == 7 + 9);
    CHECK(b.give_back(9, succeed) == answer::good);
    CHECK(b.managed() == 7);
    // An address comes again that nobody freed: what was there went in a way that no call tells.
    CHECK(b.take({0, 5, &other}, succeed, [] { return std::uint64_t{7}; }) == answer::good);
    CHECK(b.managed() == 0);
    CHECK(a.used[0] == 1 + 3 + 5 + 5);
}

TEST_CASE("books: a pool is charged what it keeps, whatever is handed out of it") {
    limited a;
    a.limit = 100;
    books b{a};
    std::map<std::uint64_t, std::uint64_t> kept;
    auto const ask = [&](std::uint64_t pool, std::uint64_t& bytes) { return bytes = kept[pool], true; };
    auto const from = [&](std::uint64_t pool, std::uint64_t size, std::uint64_t grows) {
        return b.take_kept(
            0, 32 + size, [&] { return grows; }, [&] { return kept[pool] += grows, answer::good; },
            [&] { b.pools.recount(pool, 0, ask); }, [&] { kept[pool] -= grows; });
    };
    CHECK(from(1, 10, 32) == answer::good);
    CHECK(a.used[0] == 32);
    CHECK(from(1, 10, 0) == answer::good); // there is room in what it keeps
    CHECK(a.used[0] == 32);
    CHECK(from(2, 50, 64) == answer::good);
    CHECK(from(2, 50, 64) == answer::refused);
    CHECK(a.used[0] == 96);
    CHECK(from(2, 50, 0) == answer::good); // no room for what it might need, but it needs nothing
    CHECK(from(2, 50, 4) == answer::good);
    // It grows by more than it should, since what isn't out can't be had yet.
    auto const more = b.take_kept(
        0, 60, [] { return 0; }, [&] { return kept[2] += 40, answer::good; }, [&] { b.pools.recount(2, 0, ask); },
        [&] { kept[2] -= 40; });
    CHECK(more == answer::refused);
    CHECK(a.used[0] == 100);
    try { // what unwinds leaves nothing behind
        (void)b.take(
            {1, 50}, []() -> answer { throw 1; }, [] { return std::uint64_t{1}; });
    } catch (int) {
    }
    CHECK(a.used[1] == 0);
    CHECK(a.used[0] == 100);
    kept[2] -= 4;
    kept[1] = 0;
    kept[2] = 32;
    b.pools.recount_all(ask);
    CHECK(a.used[0] == 32);
    b.pools.recount(2, 0, [](std::uint64_t, std::uint64_t&) { return false; }); // the driver doesn't tell
    CHECK(a.used[0] == 32);
    b.pools.learn(3, 1, false);
    CHECK(b.pools.device_of(3) == -1); // somebody else's
    CHECK(b.pools.device_of(2) == 0);
    CHECK_FALSE(b.pools.device_of(4));
    kept[3] = 50;
    b.pools.recount(3, 1, ask);
    CHECK(a.used[1] == 0);
    auto const good = [](answer r) { return r == answer::good; };
    CHECK(b.pools.give_back(2, fail, good) == answer::bad);
    CHECK(a.used[0] == 32);
    CHECK(b.pools.give_back(2, succeed, good) == answer::good);
    CHECK(a.used[0] == 0);
    CHECK_FALSE(b.pools.device_of(2));
    CHECK(from(5, 10, 32) == answer::good);
    // A new one of the same number, while the old one goes.
    auto const again = [&] { return b.pools.learn(5, 1), answer::good; };
    CHECK(b.pools.give_back(5, again, good) == answer::good);
    CHECK(b.pools.device_of(5) == 1);
    b.pools.recount(6, 1, [](std::uint64_t, std::uint64_t& bytes) { return bytes = 9, true; });
    CHECK(a.used[1] == 9);
    b.pools.forget(1);
    CHECK(a.used[1] == 0);
    CHECK(a.used[0] == 0);
}

TEST_CASE("books: a graph's memory is reserved at its first launch, and stays until it is trimmed") {
    limited a;
    a.limit = 100;
    books b{a};
    std::uint64_t kept[2]{};
    auto const recount = [&](int device) {
        b.graph_memory.recount(static_cast<std::uint64_t>(device), device,
                               [&](std::uint64_t d, std::uint64_t& bytes) { return bytes = kept[d], true; });
    };
    CHECK_FALSE(b.has_graphs());
    CHECK(b.launch(1, succeed, recount) == answer::good);
    b.instantiated(1, {});
    CHECK_FALSE(b.has_graphs());
    b.instantiated(1, {{0, 60}, {1, 30}});
    b.instantiated(2, {{1, 80}, {0, 50}});
    auto const launched = [&] { return kept[0] = 60, kept[1] = 30, answer::good; };
    CHECK(b.launch(1, fail, recount) == answer::bad);
    CHECK(a.used[0] == 0);
    CHECK(b.launch(1, launched, recount) == answer::good);
    CHECK(a.used[0] == 60);
    CHECK(a.used[1] == 30);
    CHECK(b.launch(1, launched, recount) == answer::good); // has what it needs
    CHECK(books::quiet{b}.lasted());
    b.instantiated(3, {{1, 30}});
    a.limit = 200;
    CHECK(b.launch(3, succeed, recount) == answer::good); // the same memory, since the other isn't running
    auto const both = [&] {                               // may be live now, which takes more
        CHECK(books::quiet{b}.lasted());                  // but for this thread's own
        std::thread{[&] { CHECK_FALSE(books::quiet{b}.lasted()); }}.join();
        CHECK(a.used[1] == 60);
        return answer::bad;
    };
    CHECK(b.launch(1, both, recount) == answer::bad);
    CHECK(b.launch(1, launched, recount) == answer::good);
    CHECK(b.give_back_graph(3, succeed) == answer::good);
    a.limit = 100;
    CHECK(b.launch(2, succeed, recount) == answer::refused);
    CHECK(a.used[0] == 60); // all of it or nothing
    CHECK(a.used[1] == 30);
    kept[0] = kept[1] = 0;
    recount(0);
    recount(1);
    b.trimmed();
    CHECK(b.launch(2, fail, recount) == answer::bad);
    a.count(0, 90);
    CHECK(b.launch(1, launched, recount) == answer::refused); // and needs it again
    CHECK(b.give_back_graph(1, fail) == answer::bad);
    CHECK(b.give_back_graph(2, succeed) == answer::good);
    CHECK(b.has_graphs());
    // A new one of the same number, while the old one goes.
    CHECK(b.give_back_graph(1, [&] { return b.instantiated(1, {{1, 101}}), answer::good; }) == answer::good);
    CHECK(b.launch(1, succeed, recount) == answer::refused);
    CHECK(b.give_back_graph(1, succeed) == answer::good);
    CHECK_FALSE(b.has_graphs());
    CHECK(a.used[1] == 0);
}

TEST_CASE("books: threads take and give back at random, and in the end nothing is held") {
    limited a;
    a.limit = 100'000;
    books b{a};
    std::atomic<std::uint64_t> next{1};
    std::atomic<std::uint64_t> kept{0};
    auto const ask = [&](std::uint64_t, std::uint64_t& bytes) { return bytes = kept.load(), true; };
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t != 8; ++t)
        threads.emplace_back([&, t] {
            random_numbers random{t};
            std::vector<std::uint64_t> mine;
            std::vector<std::uint64_t> handles;
            for (int i = 0; i != 3000; ++i) {
                auto const size = 1 + random.below(1000);
                auto const key = next++;
                switch (random.below(5)) {
                case 0:
                    if (b.take({0, size}, succeed, [&] { return key; }) == answer::good) mine.push_back(key);
                    break;
                case 1:
                    if (b.take_shared({1, size}, succeed, [&] { return key; }) == answer::good) {
                        b.map(key << 20U, 1, key);
                        handles.push_back(key);
                    }
                    break;
                case 2:
                    (void)b.take_kept(
                        0, size, [&] { return size; },
                        [&] {
                            kept = random.below(5000);
                            return answer::good;
                        },
                        [&] { b.pools.recount(1, 0, ask); }, [] {});
                    break;
                case 3:
                    if (mine.empty()) break;
                    if (random.below(2) == 0) (void)b.give_back(mine.back(), fail);
                    (void)b.give_back(mine.back(), succeed);
                    mine.pop_back();
                    break;
                default:
                    if (handles.empty()) break;
                    (void)b.give_back_handle(handles.back(), succeed);
                    b.unmap(handles.back() << 20U, 1);
                    handles.pop_back();
                }
                CHECK(a.used[1] <= a.limit);
            }
            for (auto const k : mine) (void)b.give_back(k, succeed);
            for (auto const h : handles) {
                b.unmap(h << 20U, 1);
                (void)b.give_back_handle(h, succeed);
            }
        });
    for (auto& t : threads) t.join();
    kept = 0;
    b.pools.recount(1, 0, ask);
    CHECK(a.used[0] == 0);
    CHECK(a.used[1] == 0);
}

TEST_CASE("books: a handle's number may come again while it is given back") {
    limited a;
    books b{a};
    CHECK(b.take_shared({0, 10}, succeed, [] { return std::uint64_t{5}; }) == answer::good);
    auto const again = [&] { return b.take_shared({0, 20}, succeed, [] { return std::uint64_t{5}; }); };
    CHECK(b.give_back_handle(5, fail) == answer::bad);
    CHECK(a.used[0] == 10);
    CHECK(b.give_back_handle(5, again) == answer::good);
    CHECK(a.used[0] == 20);
    CHECK(b.give_back_handle(5, succeed) == answer::good);
    CHECK(a.used[0] == 0);
}
