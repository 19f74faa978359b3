#include <muster/core/symbol_table.hpp>

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

TEST_CASE("symbol_table: equal texts have one symbol, in order of first sight") {
    muster::symbol_table t;
    auto const a = t.intern("a");
    auto const empty = t.intern("");
    CHECK(t.intern("a") == a);
    CHECK(a == muster::symbol{0U});
    CHECK(empty == muster::symbol{1U});
    CHECK(t.text(empty).empty());
    CHECK(t.find("a") == a);
    CHECK(!t.find("b"));
    CHECK(t.size() == 2);
}

TEST_CASE("symbol_table: any texts come back as they went in") {
    CHECK(rc::check([](std::vector<std::string> const& texts) {
        muster::symbol_table t;
        std::map<std::string, muster::symbol> known;
        for (auto const& text : texts) {
            auto const s = t.intern(text);
            auto const [at, fresh] = known.emplace(text, s);
            RC_ASSERT(at->second == s);
            RC_ASSERT(t.text(s) == text);
        }
        auto const copy = t;
        RC_ASSERT(copy.size() == known.size());
        for (auto const& [text, s] : known) RC_ASSERT(copy.find(text) == s);
    }));
}
