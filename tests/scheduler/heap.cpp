#include <muster/scheduler/heap.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/law.hpp"

namespace {

using positions = std::vector<std::uint32_t>;

/// A lambda without state as a precedence.
template <class Before>
muster::precedence by(Before const& before) {
    return {&before, [](void const* who, std::uint32_t a, std::uint32_t b) noexcept {
                return (*static_cast<Before const*>(who))(a, b);
            }};
}

/// Pushes all in order, pops all.
template <class Before>
positions through(positions const& values, Before before) {
    muster::heap_set heaps;
    heaps.open({static_cast<std::uint32_t>(values.size())}, by(before));
    for (auto const v : values) heaps.push(0, v);
    positions popped;
    while (!heaps.empty(0)) popped.push_back(heaps.pop(0));
    return popped;
}

} // namespace

TEST_CASE("heap: a strict order pops sorted") {
    CHECK(test::holds([](std::set<std::uint32_t> const& distinct) {
        positions values(distinct.begin(), distinct.end());
        std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 3), values.end());
        auto const popped = through(values, std::less<>{});
        std::sort(values.begin(), values.end());
        RC_ASSERT(popped == values);
    }));
}

TEST_CASE("heap: ties, and orders that are none, pop as Go's container/heap sifts") {
    // Recorded with Go 1.26.8: heap.Push in this order, then heap.Pop of all.
    auto const tens = [](std::uint32_t a, std::uint32_t b) { return a / 10 < b / 10; };
    CHECK(through({10, 11, 12, 13}, tens) == positions{10, 13, 12, 11});
    CHECK(through({20, 10, 21, 11, 12}, tens) == positions{10, 12, 11, 21, 20});
    CHECK(through({20, 10, 21, 11, 12, 13, 22, 14, 23}, tens) == positions{10, 11, 14, 12, 13, 20, 23, 21, 22});
    auto const circle = [](std::uint32_t a, std::uint32_t b) {
        return (b + 3 - a) % 3 == 1;
    }; // 0 before 1 before 2 before 0
    CHECK(through({0, 1, 2}, circle) == positions{2, 0, 1});
    CHECK(through({2, 1, 0}, circle) == positions{0, 1, 2});
    CHECK(through({0, 1, 2, 0, 1, 2, 2, 1}, circle) == positions{2, 1, 2, 2, 0, 0, 1, 1});
}

TEST_CASE("heap: heaps stand side by side and are emptied together") {
    std::less<> const ascending;
    muster::heap_set heaps;
    heaps.open({0, 1, 2}, by(ascending));
    heaps.push(1, 7);
    heaps.push(2, 9);
    heaps.push(2, 8);
    CHECK(heaps.empty(0));
    CHECK(heaps.size(2) == 2);
    CHECK(heaps.pop(2) == 8);
    CHECK(heaps.pop(1) == 7);
    CHECK(heaps.size(2) == 1);
    heaps.clear();
    CHECK(heaps.empty(2));
}
