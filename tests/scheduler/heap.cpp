#include <muster/scheduler/heap.hpp>

#include <algorithm>
#include <functional>
#include <set>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/law.hpp"

namespace {

/// Pushes all in order, pops all.
template <class Before>
std::vector<int> through(std::vector<int> const& values, Before before) {
    muster::heap_set<int> heaps;
    heaps.open(1, [&](std::size_t) { return values.size(); });
    for (int const v : values) heaps.push(0, v, before);
    std::vector<int> popped;
    while (!heaps.empty(0)) popped.push_back(heaps.pop(0, before));
    return popped;
}

} // namespace

TEST_CASE("heap: a strict order pops sorted") {
    CHECK(test::holds([](std::set<int> const& distinct) {
        std::vector<int> values(distinct.begin(), distinct.end());
        std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 3), values.end());
        auto const popped = through(values, std::less<>{});
        std::sort(values.begin(), values.end());
        RC_ASSERT(popped == values);
    }));
}

TEST_CASE("heap: ties, and orders that are none, pop as Go's container/heap sifts") {
    // Recorded with Go 1.26.8: heap.Push in this order, then heap.Pop of all.
    auto const tens = [](int a, int b) { return a / 10 < b / 10; };
    CHECK(through({10, 11, 12, 13}, tens) == std::vector{10, 13, 12, 11});
    CHECK(through({20, 10, 21, 11, 12}, tens) == std::vector{10, 12, 11, 21, 20});
    CHECK(through({20, 10, 21, 11, 12, 13, 22, 14, 23}, tens) == std::vector{10, 11, 14, 12, 13, 20, 23, 21, 22});
    auto const circle = [](int a, int b) { return (b - a + 3) % 3 == 1; }; // 0 before 1 before 2 before 0
    CHECK(through({0, 1, 2}, circle) == std::vector{2, 0, 1});
    CHECK(through({2, 1, 0}, circle) == std::vector{0, 1, 2});
    CHECK(through({0, 1, 2, 0, 1, 2, 2, 1}, circle) == std::vector{2, 1, 2, 2, 0, 0, 1, 1});
}

TEST_CASE("heap: heaps stand side by side and are emptied together") {
    muster::heap_set<int> heaps;
    heaps.open(3, [](std::size_t g) { return g; });
    heaps.push(1, 7, std::less<>{});
    heaps.push(2, 9, std::less<>{});
    heaps.push(2, 8, std::less<>{});
    CHECK(heaps.empty(0));
    CHECK(heaps.size(2) == 2);
    CHECK(heaps.pop(2, std::less<>{}) == 8);
    CHECK(heaps.pop(1, std::less<>{}) == 7);
    CHECK(heaps.size(2) == 1);
    heaps.clear();
    CHECK(heaps.empty(2));
}
