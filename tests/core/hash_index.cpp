#include <muster/core/hash_index.hpp>

#include <cstdint>
#include <map>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <muster/core/key_table.hpp>

#include "support/law.hpp"

TEST_CASE("hash_index: rows are found by what they hold, even where hashes collide") {
    CHECK(test::holds([](std::vector<std::uint16_t> const& values, std::uint16_t buckets) {
        muster::hash_index index;
        std::vector<std::uint16_t> rows;
        auto const hash = [&](std::uint16_t v) { return std::uint64_t{v} % (buckets % 5U + 1U); };
        auto const find = [&](std::uint16_t v) {
            return index.find(hash(v), [&](std::size_t position) { return rows[position] == v; });
        };
        std::map<std::uint16_t, std::uint32_t> model;
        for (auto const v : values) {
            auto const known = model.find(v);
            RC_ASSERT(find(v) == (known == model.end() ? muster::hash_index::nothing : known->second));
            if (known != model.end()) continue;
            model[v] = static_cast<std::uint32_t>(rows.size());
            index.insert(hash(v), static_cast<std::uint32_t>(rows.size()));
            rows.push_back(v);
        }
        for (auto const& [v, position] : model) RC_ASSERT(find(v) == position);
    }));
}

TEST_CASE("key_table: equal keys meet, others don't, and positions follow first sight") {
    CHECK(test::holds([](std::vector<std::pair<std::uint8_t, std::uint8_t>> const& pairs) {
        muster::key_table table;
        std::map<std::pair<std::uint8_t, std::uint8_t>, std::size_t> model;
        for (auto const& p : pairs) {
            std::uint64_t const key[]{p.first, std::uint64_t{p.second} << 56};
            auto const expected = model.try_emplace(p, model.size()).first->second;
            RC_ASSERT(table.intern(key) == expected);
        }
        RC_ASSERT(table.size() == model.size());
    }));
}
