#include <muster/account/footprint.hpp>

#include <doctest/doctest.h>

using namespace muster::account;

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

} // namespace

TEST_CASE("footprint: blocks share pages up to half of one, and take whole ones beyond") {
    CHECK(footprint(0) == 0);
    CHECK(footprint(1) == 512);
    CHECK(footprint(4 * kib) == 4 * kib);
    CHECK(footprint(mib) == mib);
    CHECK(footprint(mib + 1) == 2 * mib);
    CHECK(footprint(2 * mib + 1) == 4 * mib);
    CHECK(footprint(beyond_all) == beyond_all);
    CHECK(footprint(beyond_all - page_size + 2) == beyond_all);
}

TEST_CASE("footprint: arrays take what an H200 was seen to give") {
    // Shape, bits of an element, bytes that cuMemGetInfo fell by.
    CHECK(footprint(array_shape{1000, 1000, 0, 32}) == 4 * mib);
    CHECK(footprint(array_shape{1, 30000, 0, 32}) == 2 * mib);
    CHECK(footprint(array_shape{100, 8192, 0, 32}) == 4 * mib);
    CHECK(footprint(array_shape{4096, 4096, 0, 32}) == 64 * mib);
    CHECK(footprint(array_shape{1, 1, 2048, 32, true}) == mib);
    CHECK(footprint(array_shape{64, 64, 0, 32}) == 16 * kib);
    CHECK(footprint(array_shape{30000, 1, 0, 32}) == rounded_up(30000 * 4, 64) * 8);
}

TEST_CASE("footprint: levels halve each side, layers stay, and nothing wraps") {
    auto const one = footprint(array_shape{4096, 4096, 0, 32});
    auto const all = footprint(array_shape{4096, 4096, 0, 32, false, 13});
    CHECK(all > one + one / 4);
    CHECK(all < one + one / 2);
    auto const layered = footprint(array_shape{1024, 1024, 64, 32, true, 2});
    auto const cube = footprint(array_shape{1024, 1024, 64, 32, false, 2});
    CHECK(layered == 64 * 4 * mib + 64 * mib);
    CHECK(cube == 64 * 4 * mib + 32 * mib);
    CHECK(footprint(array_shape{beyond_all, 2, 2, 32}) == beyond_all);
    CHECK(footprint(array_shape{beyond_all / 4, beyond_all / 4, beyond_all / 4, 32, false, 40}) == beyond_all);
}

TEST_CASE("footprint: a pool grows by whole chunks, when what it keeps isn't enough") {
    CHECK(pool_growth(0, 0, 1) == 32 * mib);
    CHECK(pool_growth(32 * mib, 31 * mib, mib) == 0);
    CHECK(pool_growth(32 * mib, 31 * mib, mib + 1) == 32 * mib);
    CHECK(pool_growth(320 * mib, 0, 64 * mib) == 0);
    CHECK(pool_growth(32 * mib, 31 * mib, beyond_all) == beyond_all - 32 * mib);
}
