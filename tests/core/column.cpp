#include <muster/core/column.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/law.hpp"

using muster::column;
using muster::grid;

namespace {

std::vector<int> as_vector(column<int> const& c) { return {c.begin(), c.end()}; }

/// One random change, made to both.
void change(column<int>& c, std::vector<int>& v) {
    int const value = *rc::gen::arbitrary<int>();
    auto const count = *rc::gen::inRange<std::size_t>(0, 40);
    auto const at = [&] { return *rc::gen::inRange<std::size_t>(0, v.size()); };
    switch (*rc::gen::inRange(0, 11)) {
    case 0:
        return c.push_back(value), v.push_back(value);
    case 1: {
        auto const position = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, v.size() + 1));
        c.insert(c.begin() + position, value);
        v.insert(v.begin() + position, value);
        return;
    }
    case 2:
        return c.resize(count, value), v.resize(count, value);
    case 3:
        return c.assign(count, value), v.assign(count, value);
    case 4:
        return c.reserve(count), v.reserve(count);
    case 5: {
        std::vector<int> const more(count, value);
        c.append(more);
        v.insert(v.end(), more.begin(), more.end());
        return;
    }
    case 6:
        erase_if(c, [&](int x) { return x % 3 == value % 3; });
        std::erase_if(v, [&](int x) { return x % 3 == value % 3; });
        return;
    case 7:
        if (*rc::gen::inRange(0, 4) == 0) c.clear(), v.clear();
        return;
    default:
        break;
    }
    if (v.empty()) return;
    auto const position = static_cast<std::ptrdiff_t>(at());
    switch (*rc::gen::inRange(0, 3)) {
    case 0:
        return c.pop_back(), v.pop_back();
    case 1:
        c.erase(c.begin() + position);
        v.erase(v.begin() + position);
        return;
    default:
        c[static_cast<std::size_t>(position)] = value;
        v[static_cast<std::size_t>(position)] = value;
    }
}

} // namespace

TEST_CASE("column: any changes leave what a vector would hold, and copies don't see them") {
    CHECK(test::holds([] {
        column<int> c;
        std::vector<int> v;
        auto const steps = *rc::gen::inRange(0, 60);
        for (int i = 0; i != steps; ++i) {
            auto const copy = c;
            auto const before = v;
            change(c, v);
            RC_ASSERT(as_vector(c) == v);
            RC_ASSERT(as_vector(copy) == before);
            RC_ASSERT((copy == c) == (before == v));
        }
        auto moved = std::move(c);
        RC_ASSERT(as_vector(moved) == v);
        column<int> assigned{1, 2, 3};
        assigned = moved;
        moved = column<int>{4};
        RC_ASSERT(as_vector(assigned) == v);
        RC_ASSERT(as_vector(moved) == std::vector{4});
    }));
}

TEST_CASE("column: a value of its own may be added while it grows") {
    column<int> c{7};
    for (int i = 0; i != 100; ++i) c.push_back(c[0]);
    c.insert(c.begin(), c.back());
    CHECK(std::all_of(c.begin(), c.end(), [](int x) { return x == 7; }));
    CHECK(c.size() == 102);
}

TEST_CASE("grid: what was there stays, what is new is zero, however rows and width grow") {
    CHECK(test::holds([] {
        grid<std::int64_t> g;
        std::vector<std::vector<std::int64_t>> model;
        std::size_t width = 0;
        for (int step = 0; step != 12; ++step) {
            auto const rows = model.size() + *rc::gen::inRange<std::size_t>(0, 3);
            width += *rc::gen::inRange<std::size_t>(0, 5);
            auto const copy = g;
            g.resize(rows, width);
            model.resize(rows);
            for (auto& row : model) row.resize(width);
            RC_ASSERT(g.size() == rows);
            RC_ASSERT(g.width() == width);
            for (std::size_t r = 0; r != rows; ++r)
                for (std::size_t at = 0; at != width; ++at) {
                    RC_ASSERT(g[r][at] == model[r][at]);
                    g[r][at] = model[r][at] = *rc::gen::arbitrary<std::int64_t>();
                }
            auto twin = g;
            RC_ASSERT(twin == g);
            if (rows != 0 && width != 0) {
                ++twin[rows - 1][width - 1];
                RC_ASSERT(!(twin == g));
            }
            RC_ASSERT(copy.size() <= rows);
        }
    }));
}
