#include <muster/core/real.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <rapidcheck.h>

TEST_CASE("real: rounding keeps every double as it is") {
    CHECK(rc::check([](double x) { RC_ASSERT(muster::rounded(x) == x); }));
    CHECK(std::isnan(muster::rounded(std::nan(""))));
    CHECK(std::signbit(muster::rounded(-0.0)));
    CHECK(muster::rounded(std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::infinity());
}

TEST_CASE("real: a rounded product does not fuse with a sum") {
    // x * x rounds down here: fused, the difference would show what was cut off.
    double const volatile one_third = 1.0 / 3.0;
    double const x = one_third;
    CHECK(muster::rounded(x * x) - muster::rounded(x * x) == 0.0);
    double const product = x * x;
    CHECK(muster::rounded(x * x) == product);
    CHECK(std::fma(x, x, -product) != 0.0); // what contraction would give
}
