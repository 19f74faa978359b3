#include <muster/resource/vector.hpp>

#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/world.hpp"

using muster::absent;
using muster::dimension_id;
using muster::resource_vector;

namespace {

/// cpu and memory, then what is given of the others; none: absent.
resource_vector vec(double cpu, double memory, std::vector<std::optional<double>> others = {}) {
    resource_vector v(5);
    v.set(muster::dimension::cpu, cpu);
    v.set(muster::dimension::memory, memory);
    for (std::size_t i = 0; i != others.size(); ++i)
        if (others[i]) v.set(dimension_id{i + 2}, *others[i]);
    return v;
}

resource_vector any() {
    auto const number = [] { return *rc::gen::element(0.0, 0.05, 1.0, 7.0, 1000.0, 1e12); };
    auto const maybe = [&] { return *rc::gen::arbitrary<bool>() ? std::optional{number()} : std::nullopt; };
    return vec(number(), number(), {maybe(), maybe(), maybe()});
}

} // namespace

// Source: volcano, pkg/scheduler/api/resource_info_test.go, at ed72c7c8.
TEST_CASE("vector: at most, where what the right side lacks is zero (R2)") {
    CHECK(!less_equal(vec(4000, 2000, {{}, 1000}), vec(0, 0)));
    CHECK(less_equal(vec(0, 0), vec(4000, 2000, {{}, 1000})));
    CHECK(less_equal(vec(4000, 2000, {{}, 1000}), vec(4000, 2000, {{}, 1000})));
    CHECK(!less_equal(vec(9000, 2000), vec(8000, 2000)));
    CHECK(less_equal(vec(1.05, 0), vec(1, 0)));
    CHECK(!less_equal(vec(1.2, 0), vec(1, 0)));
    CHECK(less_equal(vec(0, 0, {{}, 0.05}), vec(0, 0)));
}

TEST_CASE("vector: sums take over what one side lacks") {
    auto v = vec(1, 2, {{}, 3});
    v.add(vec(10, 20, {5}));
    CHECK(v == vec(11, 22, {5, 3}));
    v.add_scaled(vec(2, 2, {{}, {}, 2}), 0.5);
    CHECK(v == vec(12, 23, {5, 3, 1}));
    muster::amounts a;
    a.set(muster::dimension::cpu, 2);
    a.set(dimension_id{3U}, 3);
    v.subtract(a);
    CHECK(v == vec(10, 23, {5, 0, 1}));
    CHECK(v != vec(10, 23, {5, {}, 1})); // zero is not absent
}

TEST_CASE("vector: lowering and raising") {
    auto v = vec(10, 1, {5, 6});
    v.lower_to(vec(3, 3, {{}, 9}), absent::infinite);
    CHECK(v == vec(3, 1, {5, 6}));
    v.lower_to(vec(3, 3, {{}, 2}), absent::zero);
    CHECK(v == vec(3, 1, {0, 2}));
    v.raise_to(vec(1, 4, {7, {}, 8}));
    CHECK(v == vec(3, 4, {7, 2, 8}));
}

TEST_CASE("vector: what exceeds is there, what does not is absent") {
    CHECK(resource_vector::exceeded(vec(5, 1, {4, 2, 9}), vec(3, 1, {{}, 2, 10})) == vec(2, 0, {4}));
    CHECK(vec(0, 0, {99}).is_empty()); // pods do not count
    CHECK(vec(0.05, 0.09, {{}, 0.01}).is_empty());
    CHECK(!vec(0, 0.1).is_empty());
    CHECK(!vec(0, 0, {{}, 1}).is_empty());
}

TEST_CASE("vector: laws of lowering, raising and exceeding") {
    CHECK(rc::check([] {
        auto const a = any();
        auto const b = any();
        auto low = a;
        low.lower_to(b, absent::zero);
        RC_ASSERT(less_equal(low, a));
        RC_ASSERT(less_equal(low, b));
        auto high = a;
        high.raise_to(b);
        RC_ASSERT(less_equal(a, high));
        RC_ASSERT(less_equal(b, high));
        auto sum = low;
        sum.add(resource_vector::exceeded(a, low));
        for (std::size_t d = 0; d != a.size(); ++d) RC_ASSERT(sum[dimension_id{d}] == a[dimension_id{d}]);
        RC_ASSERT(less_equal(a, a));
    }));
}

static_assert(muster::share_of(0, 0) == 0);
static_assert(muster::share_of(3, 0) == 1);
static_assert(muster::share_of(1, 4) == 0.25);
