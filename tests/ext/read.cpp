#include <muster/ext/read.hpp>

#include <cstddef>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "support/scratch.hpp"

namespace ext = muster::ext;
using nlohmann::json;
using support::scratch;

namespace {

constexpr std::string_view pod_head = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

/// What a reader refuses; empty if it does not.
template <class Read>
std::string refusal_of(Read&& read) {
    try {
        static_cast<void>(read());
    } catch (ext::bad_input const& wrong) {
        return wrong.what();
    }
    return {};
}

std::string refusal(std::string text, ext::text_format format = ext::text_format::guess) {
    return refusal_of([&] { return ext::read_text(std::move(text), "f", format); });
}

/// What becomes of the member `x` of a pod, written as YAML.
json member(std::string const& yaml) { return ext::read_text(std::string{pod_head} + yaml, "f").at(0).value.at("x"); }
json scalar(std::string const& yaml) { return member("x: " + yaml + "\n"); }

/// The refusal of a pod whose fourth line is `yaml`.
std::string pod_refusal(std::string const& yaml) { return refusal(std::string{pod_head} + yaml); }

std::vector<std::string> labels(std::vector<ext::object> const& objects) {
    std::vector<std::string> all;
    all.reserve(objects.size());
    for (auto const& read : objects) all.push_back(read.label() + " @" + std::to_string(read.line()));
    return all;
}
using strings = std::vector<std::string>;

std::string repeated(std::string_view part, std::size_t times) {
    std::string text;
    text.reserve(part.size() * times);
    for (std::size_t i = 0; i != times; ++i) text += part;
    return text;
}

} // namespace

TEST_CASE("read: YAML documents are read in order, empty ones skipped, each with its line") {
    auto const objects = ext::read_text("# two objects\n"
                                        "---\n"
                                        "apiVersion: v1\n"
                                        "kind: Node\n"
                                        "metadata: {name: n1}\n"
                                        "---\n"
                                        "# nothing here\n"
                                        "---\n"
                                        "\n"
                                        "apiVersion: v1\n"
                                        "kind: Pod\n"
                                        "metadata:\n"
                                        "  name: p\n"
                                        "  namespace: team\n"
                                        "...\n",
                                        "f.yaml");
    CHECK(labels(objects) == strings{"Node n1 @3", "Pod team/p @10"});
    CHECK(objects[1].file() == "f.yaml");
    CHECK(objects[1].line_of("/metadata/namespace") == 14);
}

TEST_CASE("read: a text without objects gives none") {
    for (std::string const text : {"", "\n\n", "# a comment\n", "---\n---\n", "\xEF\xBB\xBF", "~\n"}) {
        CAPTURE(text);
        CHECK(ext::read_text(text, "f").empty());
    }
}

TEST_CASE("read: JSON values are read, one or several in a row") {
    auto const objects = ext::read_text(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
{"apiVersion": "v1", "kind": "Node",
 "metadata": {"name": "b"}, "x": [1, -2, 18446744073709551615, 0.5, true, null, "\u00e9\ud83d\ude00"]})",
                                        "f");
    CHECK(labels(objects) == strings{"Node a @1", "Node b @2"});
    CHECK(objects[1].value["x"].dump() == "[1,-2,18446744073709551615,0.5,true,null,\"\u00e9\U0001F600\"]");
    CHECK(objects[1].line_of("/x/3") == 3);
}

TEST_CASE("read: braces that are no JSON are read as YAML, as kubectl does") {
    CHECK(labels(ext::read_text("{apiVersion: v1, kind: Pod, metadata: {name: p},}", "f")) ==
          strings{"Pod default/p @1"});
    CHECK(refusal("{apiVersion: v1}", ext::text_format::json) ==
          "f:1: broken JSON: invalid literal; last read: '{a'; expected string literal");
}

TEST_CASE("read: lists are taken apart, each item with its line") {
    auto const objects = ext::read_text("apiVersion: v1\n"
                                        "kind: List\n"
                                        "items:\n"
                                        "- apiVersion: v1\n"
                                        "  kind: Node\n"
                                        "  metadata: {name: n1}\n"
                                        "- apiVersion: v1\n"
                                        "  kind: PodList\n"
                                        "  items:\n"
                                        "  - metadata:\n"
                                        "      name: p\n"
                                        "---\n"
                                        "apiVersion: v1\n"
                                        "kind: List\n",
                                        "f");
    CHECK(labels(objects) == strings{"Node n1 @4", "Pod default/p @7"});
    CHECK(objects[1].api_version() == "v1");
    CHECK(objects[1].line_of("/metadata/name") == 11);
    CHECK(refusal("apiVersion: v1\nkind: List\nitems:\n- 3\n") ==
          "f:4: expected a map with apiVersion, kind and metadata, found the number 3");
    CHECK(refusal("apiVersion: v1\nkind: List\nitems: {}\n") == "f:3: items: expected a list, found a map");
}

TEST_CASE("read: a plain YAML scalar means what kubectl takes it for") {
    struct row {
        std::string yaml;
        json value;
    };
    for (row const& c : std::vector<row>{
             {"", nullptr},
             {"~", nullptr},
             {"null", nullptr},
             {"yes", true},
             {"On", true},
             {"y", true},
             {"off", false},
             {"NO", false},
             {"12", 12},
             {"-12", -12},
             {"+12", 12},
             {"0x1F", 31},
             {"0o17", 15},
             {"0644", 420},
             {"0b101", 5},
             {"1_000", 1000},
             {"9223372036854775807", 9223372036854775807},
             {"-9223372036854775808", INT64_MIN},
             {"18446744073709551615", 18446744073709551615U},
             {"1.5", 1.5},
             {".5", 0.5},
             {"08", 8},
             {"1.0", 1},
             {"1e3", 1000},
             {"1e30", 1e30},
             {"1e", "1e"},
             {"0x", "0x"},
             {".", "."},
             {"-", json::array({nullptr})},
             {"1.2.3", "1.2.3"},
             {"100m", "100m"},
             {"1Gi", "1Gi"},
             {"+", "+"},
             {"nvidia.com/gpu", "nvidia.com/gpu"},
             {"2000-01-01", "2000-01-01"},
             {"2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"},
             {"\"12\"", "12"},
             {"'yes'", "yes"},
             {"'it''s'", "it's"},
             {"\"\\u00e9\\n\"", "\u00e9\n"},
             {"!!str 12", "12"},
             {"!!int \"12\"", 12},
             {"!!float 1.5", 1.5},
         }) {
        CAPTURE(c.yaml);
        auto const read = c.yaml == "-" ? member("x:\n-\n") : scalar(c.yaml);
        CHECK(read == c.value);
        CHECK(read.type_name() == c.value.type_name());
    }
}

TEST_CASE("read: keys that are numbers or booleans become text") {
    CHECK(member("x: {1: a, 0x10: b, true: c, 1.5: d}\n") ==
          json{{"1", "a"}, {"16", "b"}, {"true", "c"}, {"1.5", "d"}});
    CHECK(pod_refusal("x: {~: 1}\n") == "f:4: a map's key is empty; expected a string");
    CHECK(pod_refusal("x:\n  ? [a]\n  : 1\n") == "f:5: a map's key is a list or a map; expected a string");
}

TEST_CASE("read: members may go without a value") {
    CHECK(member("x: {a, b: , c: 1}\n") == json{{"a", nullptr}, {"b", nullptr}, {"c", 1}});
    CHECK(member("x:\n  a:\n  b:\n") == json{{"a", nullptr}, {"b", nullptr}});
    CHECK(member("x:\n  ? a\n  ? b\n") == json{{"a", nullptr}, {"b", nullptr}});
}

TEST_CASE("read: block scalars keep and fold their lines") {
    CHECK(member("x: |\n  a: [\n  b\n") == "a: [\nb\n");
    CHECK(member("x: >-\n  a\n  b\n") == "a b");
}

TEST_CASE("read: anchors, aliases and merge keys work") {
    CHECK(member("x: {a: &one {cpu: 1}, b: *one}\n") == json{{"a", {{"cpu", 1}}}, {"b", {{"cpu", 1}}}});
    CHECK(member("base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\nx: {b: 9, <<: [*base, *more]}\n") ==
          json{{"a", 1}, {"b", 9}, {"c", 4}});
    CHECK(member("base: &base {a: 1}\nx:\n  <<: *base\n  a: 2\n") == json{{"a", 2}});
    CHECK(member("x: {'<<': 1}\n") == json{{"<<", 1}});
    CHECK(pod_refusal("x: {<<: 1}\n") == "f:4: '<<' merges something else; expected a map or a list of maps");
    CHECK(pod_refusal("x: &a [*a]\n") == "f:4: an alias stands inside the value that it repeats");
    CHECK(pod_refusal("x: *gone\n") == "f:4: broken YAML: the referenced anchor is not defined");
}

TEST_CASE("read: an alias's fields stand where the anchor wrote them") {
    auto const objects = ext::read_text(std::string{pod_head} + "a: &a\n  cpu: 1\nx:\n  b: *a\n  c: {<<: *a}\n", "f");
    CHECK(objects.at(0).line_of("/x/b") == 7);
    CHECK(objects.at(0).line_of("/x/b/cpu") == 5);
    CHECK(objects.at(0).line_of("/x/c/cpu") == 5);
}

TEST_CASE("read: a key set twice is refused") {
    CHECK(pod_refusal("spec: 1\nspec: 2\n") == "f:5: the key \"spec\" is set twice in one map");
    CHECK(pod_refusal("x: {1: a, \"1\": b}\n") == "f:4: the key \"1\" is set twice in one map");
    CHECK(refusal("{\"a\": 1,\n\"a\": 2}") == "f:2: the key \"a\" is set twice in one map");
}

TEST_CASE("read: broken text is refused with its line") {
    struct row {
        std::string text;
        std::string_view refusal;
    };
    for (row const& c : std::vector<row>{
             {"a: b: c\n", "f:1: broken YAML: illegal map value"},
             {"a: 1\nb: [1,\n", "f:3: broken YAML: end of sequence flow not found"},
             {"a: 1\nb: [[1,\n", "f:2: broken YAML: a '[' has no end"},
             {"a: 1\nb: \"x\n", "f:2: broken YAML: a string in quotes has no end"},
             {"a: 1\nb: 'it''s''\n", "f:2: broken YAML: a string in quotes has no end"},
             {"a: 1\nb: &x !!str \"x\\\"\n", "f:2: broken YAML: a string in quotes has no end"},
             {"a: 1\n]\n", "f:2: broken YAML: illegal flow end"},
             {"a: 1\nmetadata\n  name: p\n", "f:3: broken YAML: illegal map value"},
             {"a: 1\nb\n", "f:2: broken YAML: no ':' follows the key \"b\""},
             {"a:\n- b\n- c: 1\n  d\n", "f:4: broken YAML: no ':' follows the key \"d\""},
             {"a: `b`\n", "f:1: broken YAML: unknown token"},
             {"- a\nb: c\n", "f:2: text follows the end of a document; expected a line '---' between documents"},
             {",\n", "f:1: text follows the end of a document; expected a line '---' between documents"},
             {"...\n,\n", "f:2: text follows the end of a document; expected a line '---' between documents"},
             {"a: !mine b\n", "f:1: the text \"b\" can't be read under the tag !mine"},
             {"a: !!int b\n", "f:1: the text \"b\" can't be read under the tag tag:yaml.org,2002:int"},
             {"a: !!omap {b: 1}\n", "f:1: a list or map has the tag tag:yaml.org,2002:omap; expected none"},
             {"a: .nan\n", "f:1: found .nan, which JSON can't hold; expected a finite number"},
             {"a: -.INF\n", "f:1: found -.INF, which JSON can't hold; expected a finite number"},
             {"%YAML 3.0\n---\na: 1\n", "f:1: broken YAML: YAML major version too large"},
             {"{\"a\":\n", "f:1: broken JSON: unexpected end of input; expected '[', '{', or a literal"},
             {"[\"a\",\n \"\\q\"]",
              "f:2: broken JSON: invalid string: forbidden character after backslash; last read: '\"\\q'"},
         }) {
        CAPTURE(c.text);
        CHECK(refusal(c.text) == c.refusal);
    }
    CHECK(refusal("{\"a\": 1e999}", ext::text_format::json) == "f:1: broken JSON: number overflow parsing '1e999'");
}

TEST_CASE("read: what is no Kubernetes object is refused") {
    struct row {
        std::string text;
        std::string_view refusal;
    };
    for (row const& c : std::vector<row>{
             {"\nhello\n", "f:2: expected a map with apiVersion, kind and metadata, found the string \"hello\""},
             {"- 1\n", "f:1: expected a map with apiVersion, kind and metadata, found a list"},
             {"a: 1\n", "f:1: apiVersion is missing; expected a Kubernetes object"},
             {"apiVersion: v1\n", "f:1: kind is missing; expected a Kubernetes object"},
             {"apiVersion: v1\nkind: 7\n", "f:2: kind: expected a string (in quotes), found the number 7"},
             {"apiVersion: v1\nkind: ''\n", "f:2: kind: expected a name, found an empty string"},
             {"apiVersion: v1\nkind: Pod\n", "f:1: metadata.name is missing; expected the Pod's name"},
             {"apiVersion: v1\nkind: Pod\nmetadata: p\n", "f:3: metadata: expected a map, found the string \"p\""},
             {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 12\n",
              "f:4: metadata.name: expected a string (in quotes), found the number 12"},
             {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: n\n",
              "f:5: metadata.namespace: expected a string (in quotes), found false"},
         }) {
        CAPTURE(c.text);
        CHECK(refusal(c.text) == c.refusal);
    }
}

TEST_CASE("read: bytes that are no text are refused") {
    CHECK(pod_refusal(std::string{"x: a"} + '\0' + "b\n") ==
          "f:4: found a NUL byte; expected YAML or JSON text in UTF-8");
    CHECK(pod_refusal("x: \x1B[1m\n") == "f:4: found the control character 0x1B; expected YAML or JSON text in UTF-8");
    CHECK(refusal("\xFF\xFEk") == "f:1: the text is UTF-16; expected YAML or JSON text in UTF-8");
    for (std::string const bytes : {"\xFF", "\xC0\x80", "\xC3", "\xED\xA0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80",
                                    "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "\xE2\x82"}) {
        CHECK(pod_refusal("x: " + bytes).ends_with("which is no UTF-8; expected YAML or JSON text in UTF-8"));
    }
    CHECK(scalar("\u00e9\u20ac\U0001F600") == "\u00e9\u20ac\U0001F600");
}

TEST_CASE("read: a byte order mark and Windows line ends are accepted") {
    auto const objects =
        ext::read_text("\xEF\xBB\xBF"
                       "apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: p\r\nx: |\r\n  a\r\n  b\r\n",
                       "f");
    CHECK(labels(objects) == strings{"Pod default/p @1"});
    CHECK(objects[0].value["x"] == "a\nb\n");
    CHECK(objects[0].line_of("/metadata/name") == 4);
}

TEST_CASE("read: nesting is bounded, in block and flow style and in JSON") {
    auto const nested = [](std::size_t times) { return repeated("[", times) + repeated("]", times); };
    CHECK(scalar(nested(199)).is_array()); // the pod is a level itself
    CHECK(pod_refusal("x: " + nested(200)) == "f:4: lists and maps nest deeper than 200 levels");
    CHECK(refusal("{\"x\":\n" + nested(199) + "}") == "f:1: apiVersion is missing; expected a Kubernetes object");
    CHECK(refusal("{\"x\":\n" + nested(200) + "}") == "f:2: lists and maps nest deeper than 200 levels");
}

TEST_CASE("read: hostile nesting is refused at once") {
    auto const deep = std::string{"lists and maps nest deeper than 200 levels"};
    for (std::size_t const times : {201U, 10'000U, 1'000'000U}) {
        for (std::string_view const part : {"[", "{\"a\":", "[\n"}) {
            CAPTURE(part);
            CHECK(refusal(repeated(part, times)).ends_with(deep));
            CHECK(refusal(repeated(part, times), ext::text_format::json).ends_with(deep));
        }
        for (std::string_view const part : {"- ", "[", "{a: "}) {
            CAPTURE(part);
            CHECK(pod_refusal("x:\n  " + repeated(part, times)).ends_with(deep));
        }
    }
    std::string block = "x:\n";
    for (std::size_t i = 1; i != 400; ++i) block += std::string(i, ' ') + "a:\n";
    CHECK(pod_refusal(block).ends_with(deep));
}

TEST_CASE("read: aliases that multiply are refused at once") {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i != 12; ++i) {
        auto const name = std::to_string(i);
        auto const before = "*a" + std::to_string(i - 1) + ", ";
        text.append("a")
            .append(name)
            .append(": &a")
            .append(name)
            .append(" [")
            .append(repeated(before, 10))
            .append("]\n");
    }
    CHECK(pod_refusal(text) == "f:9: anchors and aliases multiply into more than 64 MiB; write the values out");

    std::string chain = "a0: &a0 {x: 1}\n";
    for (int i = 1; i != 250; ++i) {
        auto const name = std::to_string(i);
        auto const before = std::to_string(i - 1);
        chain.append("a").append(name).append(": &a").append(name).append(" {x: *a").append(before).append("}\n");
    }
    CHECK(pod_refusal(chain).ends_with("lists and maps nest deeper than 200 levels"));
}

TEST_CASE("read: noise is read or refused with a place, never a crash") {
    constexpr std::string_view soup = ":-[]{},\"'#&*!|>%@`?\n\n  \tab1~\\.";
    CHECK(rc::check("any text of YAML's own characters", [&] {
        auto const text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string{soup}));
        auto const why = refusal(text);
        RC_ASSERT(why.empty() || why.starts_with("f:"));
    }));
    std::mt19937 random{1};
    for (int i = 0; i != 3; ++i) {
        std::string text(std::size_t{1} << 20U, ' ');
        for (char& c : text) c = static_cast<char>(random());
        CHECK(refusal(text).starts_with("f:"));
        for (char& c : text) c = soup[random() % soup.size()];
        CHECK(refusal(text).starts_with("f:"));
    }
}

TEST_CASE("read: every prefix of a good text is read or refused with a place") {
    std::string const yaml = std::string{pod_head} +
                             "x: &a {b: \"c\\n\", d: [1, 2]}\ny: {<<: *a}\nz: |\n  text\n---\n" + std::string{pod_head};
    std::string const as_json = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"x":[1.5,true,"\u00e9"]})";
    for (auto const& text : {yaml, as_json}) {
        for (std::size_t size = 0; size <= text.size(); ++size) {
            auto const why = refusal(text.substr(0, size));
            CHECK((why.empty() || why.starts_with("f:")));
        }
    }
}

TEST_CASE("read: files and directories are read, in byte order of the names") {
    scratch const files{"order"};
    std::string const node = "apiVersion: v1\nkind: Node\nmetadata: {name: ";
    files.write("b.yaml", node + "b}\n");
    files.write("a.yml", node + "a}\n");
    files.write("B.json", R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "B"}})");
    files.write("notes.txt", "no YAML: [");
    std::filesystem::create_directories(files.path / "c.yaml");
    CHECK(labels(ext::read_directory(files.path.string())) == strings{"Node B @1", "Node a @1", "Node b @1"});
    CHECK(labels(ext::read_file((files.path / "b.yaml").string())) == strings{"Node b @1"});

    std::istringstream in{node + "s}\n"};
    auto const objects = ext::read_stdin(in);
    CHECK(labels(objects) == strings{"Node s @1"});
    CHECK(objects[0].file() == "<stdin>");
}

TEST_CASE("read: files that can't be read are refused by name") {
    scratch const files{"refused"};
    auto const here = files.path.string();
    auto const gone = (files.path / "gone.yaml").string();
    CHECK(refusal_of([&] { return ext::read_file(gone); }) == gone + ": can't open it: No such file or directory");
    CHECK(refusal_of([&] { return ext::read_file(here); }) == here + ": it is a directory; expected a file");
    CHECK(refusal_of([&] { return ext::read_directory(here); }) ==
          here + ": the directory has no *.yaml, *.yml or *.json file");
    CHECK(refusal_of([&] { return ext::read_directory(gone); }) ==
          gone + ": can't read the directory: No such file or directory");
    auto const large = files.write("large.yaml", "# " + std::string(100, 'x'));
    CHECK(refusal_of([&] { return ext::read_file(large, 50); }) == large + ": it holds more than 50 bytes; split it");
    CHECK(ext::read_file(large, 102).empty());
}
