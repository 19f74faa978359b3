#include <muster/ext/field.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <muster/ext/read.hpp>

namespace ext = muster::ext;
using nlohmann::json;

namespace {

ext::object pod() {
    return ext::read_text("apiVersion: v1\n"
                          "kind: Pod\n"
                          "metadata:\n"
                          "  name: p\n"
                          "  annotations:\n"
                          "    volcano.sh/queue: q\n"
                          "spec:\n"
                          "  minMember: \"two\"\n"
                          "  priority: 7\n"
                          "  big: 3000000000\n"
                          "  huge: 18446744073709551615\n"
                          "  ratio: 1.5\n"
                          "  hostNetwork: yes\n"
                          "  nothing:\n"
                          "  containers:\n"
                          "  - name: c\n"
                          "    resources:\n"
                          "      limits: {cpu: 2, memory: 1Gi, share: 0.25, tiny: 1e-7, vast: 1e+30}\n",
                          "pod.yaml")
        .at(0);
}

template <class Read>
std::string refusal(Read&& read) {
    try {
        static_cast<void>(read());
    } catch (ext::bad_input const& wrong) {
        CHECK(wrong.object == "Pod default/p");
        return wrong.what();
    }
    return {};
}

} // namespace

TEST_CASE("field: members and items are reached by key and index") {
    auto const object = pod();
    ext::field const root{object};
    auto const container = root["spec"]["containers"][0];
    CHECK(container["name"].as_string() == "c");
    CHECK(container["resources"].path() == "spec.containers[0].resources");
    CHECK(container["resources"].line() == 17);
    CHECK(root["metadata"]["annotations"]["volcano.sh/queue"].path() == "metadata.annotations[\"volcano.sh/queue\"]");
    CHECK(root["metadata"]["annotations"]["volcano.sh/queue"].line() == 6);
    CHECK(root.path().empty());
    CHECK(&root.root() == &object);
}

TEST_CASE("field: what is absent or null is false, keeps its path and stands where it should be") {
    auto const object = pod();
    ext::field const root{object};
    auto const absent = root["spec"]["affinity"]["terms"][2];
    CHECK_FALSE(absent);
    CHECK(absent.path() == "spec.affinity.terms[2]");
    CHECK(absent.line() == 7);
    CHECK(absent.value().is_null());
    CHECK_FALSE(root["spec"]["nothing"]);
    CHECK_FALSE(root["spec"]["nothing"]["deeper"]);
    CHECK(root["spec"]["nothing"]["deeper"].path() == "spec.nothing.deeper");
    CHECK_FALSE(root["spec"]["containers"][1]);
    CHECK(root["spec"]["nothing"].items().empty());
    CHECK(absent.members().empty());
    CHECK(absent.string_or("none") == "none");
    CHECK(absent.int_or(3) == 3);
    CHECK(absent.int32_or(4) == 4);
    CHECK(absent.bool_or(true));
}

TEST_CASE("field: values come out typed") {
    auto const object = pod();
    auto const spec = ext::field{object}["spec"];
    CHECK(spec["priority"].as_int32() == 7);
    CHECK(spec["big"].as_int64() == 3'000'000'000);
    CHECK(spec["big"].int_or(0) == 3'000'000'000);
    CHECK(spec["hostNetwork"].as_bool());
    CHECK(spec["hostNetwork"].bool_or(false));
    CHECK(spec["minMember"].string_or("") == "two");
    CHECK(spec["containers"].items().size() == 1);
    std::string keys;
    for (auto const& [key, amount] : spec["containers"][0]["resources"]["limits"].members()) {
        keys += std::string{key} + "=" + amount.quantity() + " ";
    }
    CHECK(keys == "cpu=2 memory=1Gi share=0.25 tiny=1e-7 vast=1e+30 ");
}

TEST_CASE("field: a quantity keeps the digits that were written") {
    for (auto const& [number, text] : std::vector<std::pair<json, std::string>>{{INT64_MIN, "-9223372036854775808"},
                                                                                {UINT64_MAX, "18446744073709551615"},
                                                                                {"100m", "100m"},
                                                                                {0.1, "0.1"},
                                                                                {1e20, "100000000000000000000"},
                                                                                {1e21, "1e+21"},
                                                                                {0.000001, "0.000001"},
                                                                                {-2.5, "-2.5"}}) {
        ext::object const object{json{{"x", number}}};
        CHECK(ext::field{object}["x"].quantity() == text);
    }
}

TEST_CASE("field: a wrong type tells the place, what was expected and what was found") {
    auto const object = pod();
    ext::field const root{object};
    auto const spec = root["spec"];
    CHECK(refusal([&] { return spec["minMember"].as_int64(); }) ==
          "pod.yaml:8: spec.minMember: expected an integer, found the string \"two\"");
    CHECK(refusal([&] { return spec["ratio"].as_int64(); }) ==
          "pod.yaml:12: spec.ratio: expected an integer, found the number 1.5");
    CHECK(refusal([&] { return spec["big"].as_int32(); }) ==
          "pod.yaml:10: spec.big: expected an integer from -2147483648 to 2147483647, found the number 3000000000");
    CHECK(refusal([&] { return spec["huge"].as_int64(); }) ==
          "pod.yaml:11: spec.huge: expected an integer from -9223372036854775808 to 9223372036854775807, "
          "found the number 18446744073709551615");
    CHECK(refusal([&] { return spec["priority"].as_string(); }) ==
          "pod.yaml:9: spec.priority: expected a string (in quotes), found the number 7");
    CHECK(refusal([&] { return spec["containers"].as_string(); }) ==
          "pod.yaml:15: spec.containers: expected a string, found a list");
    CHECK(refusal([&] { return spec["minMember"].as_bool(); }) ==
          "pod.yaml:8: spec.minMember: expected true or false, found the string \"two\"");
    CHECK(refusal([&] { return spec["hostNetwork"].quantity(); }) ==
          "pod.yaml:13: spec.hostNetwork: expected a quantity, found true");
    CHECK(refusal([&] { return spec["queue"].as_string(); }) ==
          "pod.yaml:7: spec.queue: expected a string, found nothing");
    CHECK(refusal([&] { return spec["containers"]["name"]; }) ==
          "pod.yaml:15: spec.containers: expected a map, found a list");
    CHECK(refusal([&] { return root["metadata"][0]; }) == "pod.yaml:3: metadata: expected a list, found a map");
    CHECK(refusal([&] { return root["metadata"].items(); }) == "pod.yaml:3: metadata: expected a list, found a map");
    CHECK(refusal([&] { return spec["ratio"].members(); }) ==
          "pod.yaml:12: spec.ratio: expected a map, found the number 1.5");
    CHECK(refusal([&]() -> int { spec["priority"].fail("expected less"); }) ==
          "pod.yaml:9: spec.priority: expected less");
}

TEST_CASE("field: a long string is shown cut, between characters") {
    std::string text;
    for (int i = 0; i != 40; ++i) text += "\u20ac";
    ext::object const object{json{{"x", text}}};
    try {
        static_cast<void>(ext::field{object}["x"].as_bool());
        FAIL("not refused");
    } catch (ext::bad_input const& wrong) {
        CHECK(wrong.message == "x: expected true or false, found the string \"" + text.substr(0, 60) + "\"...");
    }
}

TEST_CASE("field: objects made in code have no place, only a name") {
    ext::object const object{
        json{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}}}, {"spec", {{"a~/b", "x"}}}}};
    CHECK(object.line_of("/spec") == 0);
    CHECK(refusal([&] { return ext::field{object}["spec"]["a~/b"].as_bool(); }) ==
          "Pod default/p: spec[\"a~/b\"]: expected true or false, found the string \"x\"");
}

TEST_CASE("field: objects read elsewhere tell the line that they were given") {
    ext::object const object{json{{"kind", "Pod"}, {"metadata", {{"name", "p"}}}, {"spec", 1}}, "batch.jsonl", 12};
    CHECK(refusal([&] { return ext::field{object}["spec"].as_string(); }) ==
          "batch.jsonl:12: spec: expected a string (in quotes), found the number 1");
}

TEST_CASE("field: a warning carries the same place as a refusal") {
    auto const object = pod();
    auto const warning = ext::field{object}["spec"]["priority"].warn("is ignored");
    CHECK(warning.file == "pod.yaml");
    CHECK(warning.line == 9);
    CHECK(warning.object == "Pod default/p");
    CHECK(warning.message == "spec.priority: is ignored");
}

TEST_CASE("field: keys with slashes and tildes have lines too") {
    auto const objects =
        ext::read_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nx:\n  a~/b:\n    - 1\n    - 2\n", "f");
    auto const items = ext::field{objects.at(0)}["x"]["a~/b"].items();
    REQUIRE(items.size() == 2);
    CHECK(items[1].line() == 7);
    CHECK(items[1].path() == "x[\"a~/b\"][1]");
}

TEST_CASE("field: it is known whether a string is a literal block") {
    auto const objects = ext::read_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: |-  # text\n"
                                        "    x\n  b: \"x |\"\n  c: >\n    x\n",
                                        "f");
    auto const data = ext::field{objects.at(0)}["data"];
    CHECK(data["a"].is_block());
    CHECK_FALSE(data["b"].is_block());
    CHECK_FALSE(data["c"].is_block());
    CHECK_FALSE(data["d"].is_block());
}

TEST_CASE("object: kinds without a namespace are named without one") {
    auto const named = [](char const* kind, json metadata) {
        return ext::object{json{{"apiVersion", "v1"}, {"kind", kind}, {"metadata", std::move(metadata)}}};
    };
    CHECK(named("Node", {{"name", "n"}}).label() == "Node n");
    CHECK(named("Pod", {{"name", "p"}}).label() == "Pod default/p");
    CHECK(named("Pod", {{"name", "p"}, {"namespace", "team"}}).key() == "team/p");
    CHECK(named("Pod", json::object()).label() == "Pod");
    CHECK(named("Pod", 3).ns() == "default");
    CHECK(ext::object{json{}}.label().empty());
    CHECK(named("Pod", {{"name", "p"}}).api_version() == "v1");
}
