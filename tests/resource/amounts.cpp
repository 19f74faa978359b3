#include <muster/resource/amounts.hpp>

#include <limits>
#include <map>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/world.hpp"

using muster::amounts;
using muster::dimension_id;
using muster::errc;

// Source: volcano, pkg/scheduler/api/resource_info_test.go, at ed72c7c8.
TEST_CASE("amounts: quantities become whole numbers, rounded up (R1)") {
    struct row {
        char const* name;
        char const* quantity;
        std::int64_t amount;
    };
    for (row const& r : {
             row{"cpu", "4m", 4},
             row{"memory", "2000", 2000},
             row{"example.com/scalar", "1", 1000},
             row{"hugepages-1Gi", "2", 2000},
             row{"ephemeral-storage", "3", 3000},
             row{"cpu", "0.5", 500},
             row{"cpu", "100u", 1},
             row{"memory", "0.5", 1},
             row{"memory", "1500m", 2},
             row{"memory", "1Gi", 1 << 30},
             row{"pods", "110", 110},
         }) {
        CAPTURE(r.name);
        CAPTURE(r.quantity);
        muster::dimension_table dimensions;
        auto const counted = count({{r.name, test::quantity(r.quantity)}}, dimensions);
        REQUIRE(counted.has_value());
        CHECK((*counted)[dimensions.find(r.name)] == r.amount);
    }
}

TEST_CASE("amounts: a list says where it is wrong, and leaves out what takes no part") {
    muster::dimension_table dimensions;
    auto const counting = [&](char const* name, char const* quantity) {
        return count({{"cpu", test::quantity("1")}, {name, test::quantity(quantity)}}, dimensions);
    };
    CHECK(counting("memory", "-1").error() == muster::error{errc::negative, 1});
    CHECK(counting("cpu", "9E").error() == muster::error{errc::overflow, 1});
    CHECK(counting("count/pods", "-1").has_value());
    CHECK(!dimensions.find("count/pods"));
    CHECK((*counting("cpu", "1"))[muster::dimension::cpu] == 2000);
}

TEST_CASE("amounts: cpu and memory are always there, an absent amount is no zero") {
    amounts a;
    CHECK(a.has(muster::dimension::cpu));
    CHECK(a.has(muster::dimension::memory));
    CHECK(!a.has(muster::dimension::pods));
    CHECK(a[muster::dimension::pods] == 0);
    CHECK(a.is_empty());
    amounts zero;
    zero.set(muster::dimension::pods, 0);
    CHECK(zero != a);
    zero.set(muster::dimension::pods, 5);
    CHECK(zero.is_empty());
    zero.set(dimension_id{3U}, 1);
    CHECK(!zero.is_empty());
}

TEST_CASE("amounts: they add up like a map, ascending by dimension") {
    CHECK(rc::check([] {
        amounts a;
        std::map<std::uint32_t, std::int64_t> model{{0, 0}, {1, 0}};
        for (int i = *rc::gen::inRange(0, 20); i != 0; --i) {
            auto const d = *rc::gen::inRange<std::uint32_t>(0, 6);
            auto const amount = *rc::gen::inRange<std::int64_t>(0, 100);
            if (*rc::gen::arbitrary<bool>()) {
                RC_ASSERT(a.add(dimension_id{d}, amount).has_value());
                model[d] += amount;
            } else {
                a.set(dimension_id{d}, amount);
                model[d] = amount;
            }
        }
        std::map<std::uint32_t, std::int64_t> got;
        std::uint32_t last = 0;
        for (auto const& [d, amount] : a) {
            RC_ASSERT(d.value >= last);
            last = d.value;
            got[d.value] = amount;
        }
        RC_ASSERT(got == model);
    }));
    amounts a;
    CHECK(a.add(muster::dimension::cpu, std::numeric_limits<std::int64_t>::max()).has_value());
    CHECK(a.add(muster::dimension::cpu, 1).error().code == errc::overflow);
}
