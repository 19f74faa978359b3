// Scenarios by the line.
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/lines.hpp"
#include "tool/tool.hpp"

namespace {

using nlohmann::json;

std::vector<json> answers(std::string const& lines) {
    auto const done = tool::simulate_in("/", "--batch -", lines);
    CHECK(done.status == 0);
    CHECK(done.err == "");
    std::vector<json> all;
    std::istringstream out{done.out};
    for (std::string line; std::getline(out, line);) all.push_back(json::parse(line));
    return all;
}

std::string scenario(std::string const& name) {
    return json{{"name", name}, {"objects", {{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n"}}}}}}}
               .dump() +
           "\n";
}

} // namespace

TEST_CASE("batch: a bad line is answered by its error, and the next goes on") {
    auto const got = answers(scenario("a") + "{\"name\": \"b\"\n" + "{\"name\": \"c\", \"cycles\": 0}\n" + "\n" +
                             "{\"name\": \"d\", \"objects\": []}\n" +
                             "{\"name\": \"e\", \"conf\": \"x: 1\", \"objects\": [{\"kind\": \"Pod\"}]}\n" +
                             "{\"name\": \"f\", \"objects\": " + std::string(100000, '[') + "\n" + scenario("g"));
    REQUIRE(got.size() == 7);
    auto const error = [&](std::size_t i) { return got[i].at("error").get<std::string>(); };
    CHECK(got[0].at("name") == "a");
    CHECK(got[0].at("schema") == 1);
    CHECK(error(1) == "<stdin>:2: broken JSON: unexpected end of input; expected '}'");
    CHECK(got[2].at("name") == "c");
    CHECK(error(2) == "<stdin>:3: cycles: expected a number of cycles from 1 to 100000");
    CHECK(tool::has(error(3), "<stdin>:5: objects: found no object"));
    CHECK(tool::has(error(4), "<stdin>:6: x: no such member of a scheduler configuration"));
    CHECK(tool::has(error(5), "<stdin>:7: lists and maps nest deeper than 200 levels"));
    CHECK(got[6].at("name") == "g");
}

TEST_CASE("batch: a saved run is answered alike") {
    support::scratch const here{"save"};
    auto const saved = (here.path / "gang.jsonl").string();
    for (std::string const files :
         {"-f 2-gang.yaml", "-f 3-gang-waits.yaml --cycles 2", "-f 4-queue.yaml -f 4-small.yaml",
          "-f 5-dialects.yaml --now 2026-11-30T12:00:00Z"}) {
        CAPTURE(files);
        auto ran = tool::answer_of(tool::simulate_in(tool::source + "/examples/article",
                                                     "-f node.yaml " + files + " -o json --save " + saved));
        auto again = answers(support::contents(saved));
        REQUIRE(again.size() == 1);
        CHECK(again[0].at("name") == "gang");
        again[0].erase("name");
        ran.erase("warnings"), again[0].erase("warnings"); // they name another file
        CHECK(again[0] == ran);
    }
}

TEST_CASE("batch: lines of golden/ are read as they are") {
    std::string text;
    std::size_t lines = 0;
    while (lines < 400) // the same ones again and again
        for (auto const& line : support::lines_of(tool::source + "/tests/golden/volcano-seed.jsonl.gz"))
            text += line + '\n', ++lines;
    auto const start = std::chrono::steady_clock::now();
    auto const got = answers(text);
    auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK(got.size() == lines);
    for (auto const& answer : got) CHECK_FALSE(answer.contains("error"));
    MESSAGE("scenarios a second: " << static_cast<double>(lines) / seconds);
}
