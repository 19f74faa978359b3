#include <muster/core/checked.hpp>

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

using muster::errc;

TEST_CASE("checked: sums, differences and products are exact or an error") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    constexpr auto bottom = std::numeric_limits<std::int64_t>::min();
    CHECK(*muster::checked_add(top - 1, 1) == top);
    CHECK(muster::checked_add(top, 1).error().code == errc::overflow);
    CHECK(*muster::checked_sub(bottom + 1, 1) == bottom);
    CHECK(muster::checked_sub(bottom, 1).error().code == errc::overflow);
    CHECK(*muster::checked_mul(top, -1) == bottom + 1);
    CHECK(muster::checked_mul(top, 2).error().code == errc::overflow);
}
