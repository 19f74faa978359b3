#include <muster/account/holdings.hpp>

#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/workload/synthetic.hpp>

using muster::account::holdings;
using muster::account::shared_holdings;
using muster::workload::random_numbers;

TEST_CASE("holdings: what is kept is taken once") {
    holdings<int> h;
    CHECK_FALSE(h.keep(1, 10));
    CHECK_FALSE(h.keep(2, 20));
    CHECK(h.keep(2, 21) == 20); // its owner never came back
    CHECK(h.take(1) == 10);
    CHECK_FALSE(h.take(1));
    CHECK_FALSE(h.take(3));
    CHECK_FALSE(h.keep(65, 30));
    auto const taken = h.take_if([](int v) { return v != 30; });
    CHECK(taken == std::vector{std::pair{std::uint64_t{2}, 21}});
    CHECK_FALSE(h.take(2));
    CHECK(h.take(65) == 30);
}

TEST_CASE("holdings: threads that take the same keys get each once") {
    holdings<int> h;
    constexpr int keys = 20'000;
    for (int i = 0; i != keys; ++i) (void)h.keep(static_cast<std::uint64_t>(i) * 512, 1);
    std::atomic<int> taken = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t != 8; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i != keys; ++i)
                if (h.take(static_cast<std::uint64_t>(i) * 512)) ++taken;
        });
    for (auto& t : threads) t.join();
    CHECK(taken == keys);
}

namespace {

/// Lets a handle go as a driver does that says yes.
std::optional<int> release(shared_holdings<int>& s, std::uint64_t handle) {
    auto const of = s.detach(handle);
    return of ? s.drop(*of) : std::nullopt;
}

} // namespace

TEST_CASE("shared holdings: a block lives until neither a handle nor a mapping refers to it") {
    shared_holdings<int> s;
    s.add(100, 7);
    s.map(0x1000, 0x1000, 100);
    CHECK_FALSE(release(s, 100)); // still mapped
    CHECK_FALSE(release(s, 100));
    s.retain(200, 0x1800); // a handle of another number for what is mapped there
    CHECK(s.unmap(0x1000, 0x1000).empty());
    CHECK(release(s, 200) == 7);
    CHECK_FALSE(release(s, 200));

    s.add(1, 1);
    s.add(2, 2);
    s.map(0x1000, 0x1000, 1);
    s.map(0x2000, 0x1000, 1);
    s.map(0x3000, 0x1000, 2);
    s.retain(2, 0x3000); // twice the same number
    CHECK_FALSE(release(s, 1));
    CHECK_FALSE(release(s, 2));
    CHECK(s.unmap(0x1000, 0x2000) == std::vector{1}); // one call, two mappings
    CHECK(s.unmap(0x1000, 0x9000).empty());
    CHECK(release(s, 2) == 2);
    CHECK(s.unmap(0, ~0ULL).empty());

    s.map(0x1000, 0x1000, 9); // somebody else's handle
    s.retain(9, 0x1000);
    CHECK_FALSE(release(s, 9));

    s.add(3, 3);
    auto const of = s.detach(3);
    s.add(3, 4); // the number comes again before the first is gone
    CHECK(s.drop(*of) == 3);
    CHECK(release(s, 3) == 4);
    s.add(5, 5);
    s.attach(5, *s.detach(5)); // the driver refused
    CHECK(release(s, 5) == 5);
}

TEST_CASE("shared holdings: like counting by hand, whatever the order") {
    random_numbers random{20261201};
    for (int round = 0; round != 200; ++round) {
        shared_holdings<int> s;
        struct block {
            int handles = 1;
            std::map<std::uint64_t, int> mapped{};
            bool gone = false;
        };
        std::map<std::uint64_t, block> all;
        std::uint64_t next = 1;
        for (int step = 0; step != 100; ++step) {
            auto const which = all.empty() ? 0 : 1 + random.below(all.size());
            auto* const b = which == 0 ? nullptr : &all[which];
            switch (random.below(4)) {
            case 0:
                s.add(all.size() + 1, static_cast<int>(all.size() + 1));
                all[all.size() + 1] = {};
                break;
            case 1:
                if (b == nullptr || b->gone || b->handles == 0) break;
                s.map(next * 0x1000, 0x1000, which);
                b->mapped[next++ * 0x1000] = 1;
                break;
            case 2: {
                if (b == nullptr || b->gone || b->handles == 0) break;
                --b->handles;
                b->gone = b->handles == 0 && b->mapped.empty();
                CHECK(release(s, which).has_value() == b->gone);
                break;
            }
            default: {
                if (b == nullptr || b->mapped.empty()) break;
                auto const at = b->mapped.begin()->first;
                b->mapped.erase(at);
                b->gone = b->handles == 0 && b->mapped.empty();
                CHECK(s.unmap(at, 0x1000).size() == (b->gone ? 1U : 0U));
            }
            }
        }
    }
}
