#include <muster/ext/scenario.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <muster/ext/read.hpp>

namespace ext = muster::ext;

namespace {

std::string refusal(std::string const& line) {
    try {
        (void)ext::parse_scenario(line, "f", 7);
    } catch (ext::bad_input const& wrong) {
        return wrong.what();
    }
    return {};
}

} // namespace

TEST_CASE("scenario: what is printed is read back") {
    ext::scenario s{"name", "actions: \"enqueue\"\n", 3, 1796036400, {}};
    s.objects.emplace_back(
        nlohmann::json{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "caf\u00e9"}}}});
    auto const line = ext::print_scenario(s);
    CHECK(line.find('\n') == std::string::npos);
    auto const back = ext::parse_scenario(line, "f", 1);
    CHECK(back.name == s.name);
    CHECK(back.conf == s.conf);
    CHECK(back.cycles == s.cycles);
    CHECK(back.now == s.now);
    REQUIRE(back.objects.size() == 1);
    CHECK(back.objects[0].value == s.objects[0].value);
    CHECK(back.objects[0].line() == 1);
}

TEST_CASE("scenario: one cycle and the default configuration unless it says otherwise; other members are ignored") {
    auto const s = ext::parse_scenario(R"({"objects": [{"kind": "Node"}], "expect": {}, "family": "seed"})", "f", 1);
    CHECK(s.name == "");
    CHECK(s.conf == "");
    CHECK(s.cycles == 1U);
    CHECK_FALSE(s.now);
}

TEST_CASE("scenario: a line that is none is refused with its number") {
    struct row {
        char const* line;
        char const* says;
    };
    for (row const& c : {
             row{"", "f:7: expected one JSON object in the line"},
             row{"{} {}", "f:7: expected one JSON object in the line"},
             row{"{", "f:7: broken JSON: unexpected end of input; expected string literal"},
             row{"[]", "f:7: expected a map, found a list"},
             row{R"({"name": 1})", "f:7: name: expected a string (in quotes), found the number 1"},
             row{R"({"cycles": 0})", "f:7: cycles: expected a number of cycles from 1 to 100000"},
             row{R"({"cycles": "2"})", "f:7: cycles: expected an integer, found the string \"2\""},
             row{R"({"now": "noon"})", "f:7: now: expected a time such as 2024-01-01T00:00:00Z, found \"noon\""},
             row{R"({"objects": [1]})", "f:7: objects[0]: expected a Kubernetes object"},
             row{R"({"objects": [{}]})", "f:7: objects[0]: expected an object with a kind"},
             row{R"({"name": "a"})", "f:7: objects: found no object; expected Nodes, Queues, PodGroups, Pods or Jobs"},
         }) {
        CAPTURE(c.line);
        CHECK(refusal(c.line) == c.says);
    }
}

TEST_CASE("scenario: of several ConfigMaps with a configuration, the first by name counts") {
    auto const map = [](std::string const& name, std::string const& data) {
        return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {" + data + "}\n---\n";
    };
    auto const b = map("b", "volcano-scheduler.conf: two"), a = map("a", "volcano-scheduler.conf: one");
    for (auto const& text : {b + a, a + b, map("0a", "other: x") + a + b}) {
        auto const objects = ext::read_text(text, "f");
        auto const found = ext::find_conf(objects);
        REQUIRE(found);
        CHECK(found->as_string() == "one");
    }
    CHECK_FALSE(ext::find_conf({}));
}
