#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "conformance/cycles.hpp"
#include "conformance/jobs.hpp"
#include "golden/compositions.hpp"
#include "golden/scope.hpp"
#include "support/lines.hpp"

namespace {

using nlohmann::json;

std::string const folder = MUSTER_SOURCE_DIR "/tests/golden";

std::vector<json> recorded(char const* family) {
    std::vector<json> lines;
    for (auto const& line : support::lines_of(folder + "/volcano-" + family + ".jsonl.gz"))
        lines.push_back(json::parse(line));
    return lines;
}

constexpr char const* families[] = {"basics", "seed", "fit", "gang"};

} // namespace

TEST_CASE("golden: every recorded line in scope is answered as Volcano did, or as the divergences say") {
    auto const divergent = golden::divergences(folder);
    std::map<std::string, json> own;
    for (auto const& line : support::lines_of(folder + "/diverging.jsonl")) {
        auto const parsed = json::parse(line);
        own[parsed.at("name")] = parsed.at("expect");
    }
    CHECK(divergent.size() == own.size());
    std::map<std::string, std::size_t> out;
    std::size_t compared = 0;
    for (auto const* family : families)
        for (auto const& line : recorded(family)) {
            if (auto const why = golden::left_out(line); !why.empty()) {
                ++out[std::string{family} + ": " + why];
                continue;
            }
            auto const name = line.at("name").get<std::string>();
            CAPTURE(name);
            auto const got = conformance::cycles::answer(line);
            ++compared;
            if (divergent.contains(name)) {
                CHECK(got == own[name]);
                CHECK(got != line.at("expect")); // a listed line that agrees must leave the list
            } else {
                CHECK(got == line.at("expect"));
            }
        }
    std::cout << compared << " recorded lines compared, " << divergent.size() << " of them listed as divergences\n";
    for (auto const& [why, count] : out) std::cout << "left out, " << why << ": " << count << '\n';
    CHECK(compared >= 227);
}

TEST_CASE("golden: composed at compile time, a scheduler decides the same as one read from text") {
    auto const compositions = golden::compositions();
    std::size_t compared = 0;
    std::size_t without_type = 0;
    for (auto const* family : families)
        for (auto const& line : recorded(family)) {
            if (!golden::left_out(line).empty()) continue;
            auto const text = golden::signature(muster::ext::parse_conf(line.at("conf").get<std::string>()));
            auto const found =
                std::find_if(compositions.begin(), compositions.end(), [&](auto const& c) { return c.text == text; });
            if (found == compositions.end()) {
                ++without_type;
                continue;
            }
            CAPTURE(line.at("name").get<std::string>());
            CHECK(conformance::cycles::answer_with(line, found->make) == conformance::cycles::answer(line));
            ++compared;
        }
    std::cout << compared << " recorded lines run through a type too, " << without_type << " have no type here\n";
    CHECK(compared >= 200);
}

TEST_CASE("golden: the first steps of every recorded VolcanoJob are as its controllers took them") {
    for (auto const& line : recorded("jobs")) {
        CAPTURE(line.at("name").get<std::string>());
        CHECK(conformance::jobs::answer(line) == conformance::jobs::asked(line));
    }
}
