#include <muster/core/result.hpp>

#include <set>
#include <string_view>
#include <type_traits>

#include <doctest/doctest.h>

using muster::errc;

static_assert(std::is_trivially_copyable_v<muster::result<int>>, "returns in registers");
static_assert(muster::result<int>{muster::fail(errc::no_fit, 3)}.error() == muster::error{errc::no_fit, 3});
static_assert(muster::fail(errc::empty).value().at == 0);

TEST_CASE("result: every code has words of its own, without a final period") {
    std::set<std::string_view> words;
    for (auto code = static_cast<std::uint32_t>(errc::empty); code <= static_cast<std::uint32_t>(errc::other_version);
         ++code) {
        auto const text = message(static_cast<errc>(code));
        CHECK(text != "unknown error");
        CHECK(!text.empty());
        CHECK(text.back() != '.');
        CHECK(words.insert(text).second);
    }
    CHECK(message(errc{}) == "unknown error");
}
