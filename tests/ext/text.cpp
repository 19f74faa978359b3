#include <muster/ext/text.hpp>

#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace muster::ext;

TEST_CASE("text: a list is joined by what stands between its parts, and by nothing where there is no between") {
    CHECK(joined(std::vector<std::string>{}, ", ").empty());
    CHECK(joined(std::vector<std::string>{"a"}, ", ") == "a");
    CHECK(joined(std::array<std::string_view, 3>{"a", "", "c"}, ", ") == "a, , c");
    CHECK(go_list(std::vector<std::string>{"a", "b"}) == "[a b]");
    CHECK(go_list(std::vector<std::string>{}) == "[]");
}

TEST_CASE("text: only capitals of ASCII are made small") {
    CHECK(lower_case("SoFt-42\xC3\x84") == "soft-42\xC3\x84");
    CHECK(lower_case("").empty());
}
