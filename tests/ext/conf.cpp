#include <muster/ext/conf.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <muster/ext/read.hpp>

namespace ext = muster::ext;
using nlohmann::json;

namespace {

std::string refusal(std::string text, ext::conf_place const& place = {.file = "c"}) {
    try {
        static_cast<void>(ext::parse_conf(std::move(text), place));
    } catch (ext::bad_input const& wrong) {
        return wrong.what();
    }
    return {};
}

constexpr std::string_view whole = R"(actions: "enqueue, allocate ,backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
    enableJobOrder: yes
- plugins:
  - name: binpack
    arguments:
      binpack.weight: 10
      binpack.resources: nvidia.com/gpu
      binpack.cpu: 1.0
      thresholds: {cpu: 80}
configurations:
- name: enqueue
  arguments:
    overcommit-factor: "1.2"
metrics:
  type: prometheus
)";

} // namespace

TEST_CASE("conf: actions, tiers, switches and arguments come out with their lines") {
    auto const conf = ext::parse_conf(std::string{whole});
    REQUIRE(conf.actions.size() == 3);
    CHECK(conf.actions[1].name == "allocate");
    CHECK(conf.actions[1].line == 1);

    REQUIRE(conf.tiers.size() == 2);
    REQUIRE(conf.tiers[0].size() == 2);
    auto const& gang = conf.tiers[0][1];
    CHECK(gang.name == "gang");
    CHECK(gang.line == 5);
    REQUIRE(gang.switches.size() == 2);
    CHECK_FALSE(gang.switches.at("enablePreemptable").on);
    CHECK(gang.switches.at("enablePreemptable").line == 6);
    CHECK(gang.switches.at("enableJobOrder").on);
    CHECK(gang.arguments.empty());

    REQUIRE(conf.configurations.size() == 1);
    CHECK(conf.configurations[0].name == "enqueue");
    CHECK(conf.configurations[0].line == 16);
    CHECK(conf.configurations[0].arguments.at(0).value == "1.2");
    CHECK(conf.metrics.at(0).value == "prometheus");
}

TEST_CASE("conf: arguments keep their order and the type that YAML gave them") {
    auto const conf = ext::parse_conf(std::string{whole});
    auto const& binpack = conf.tiers.at(1).at(0);
    REQUIRE(binpack.arguments.size() == 4);
    CHECK(binpack.arguments[0].key == "binpack.weight");
    CHECK(binpack.arguments[0].value.is_number_integer());
    CHECK(binpack.arguments[0].line == 11);
    CHECK(binpack.arguments[1].value == "nvidia.com/gpu");
    CHECK(binpack.arguments[2].key == "binpack.cpu");
    CHECK(binpack.arguments[2].value.is_number_float());
    CHECK(binpack.arguments[3].value == json{{"cpu", 80}});
}

TEST_CASE("conf: tiers, arguments and configurations may be left out or empty") {
    for (std::string const text : {"actions: allocate\n", "actions: allocate\ntiers:\nconfigurations: []\n",
                                   "actions: allocate\ntiers:\n- plugins:\n", "{\"actions\": \"allocate\"}"}) {
        CAPTURE(text);
        auto const conf = ext::parse_conf(text);
        CHECK(conf.actions.size() == 1);
        CHECK(conf.configurations.empty());
    }
    auto const conf = ext::parse_conf("actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    arguments:\n");
    CHECK(conf.tiers.at(0).at(0).arguments.empty());
}

TEST_CASE("conf: mistakes are refused with their line, listing what is known") {
    struct row {
        std::string text;
        std::string_view refusal;
    };
    std::string const tier = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n";
    std::string const switches = "enableBestNode, enableHierarchy, enableJobEnqueued, enableJobOrder, "
                                 "enableJobPipelined, enableJobReady, enableJobStarving, enableNodeOrder, "
                                 "enablePredicate, enablePreemptable, enablePreemptive, enableQueueOrder, "
                                 "enableReclaimable, enableReservedNodes, enableTargetJob, enableTaskOrder, "
                                 "enabledAllocatable, enabledClusterOrder, enabledHyperNodeGradient, "
                                 "enabledHyperNodeOrder, enabledOverused, enabledSubJobOrder, "
                                 "enabledSubJobPipelined, enabledSubJobReady, enabledVictim";
    auto const unknown_switch = "c:5: tiers[0].plugins[0].enableJobOder: no such member of a plugin; "
                                "expected one of name, arguments, " +
                                switches;
    for (row const& c : std::vector<row>{
             {"", "c:1: the configuration is empty; expected actions and tiers"},
             {"\n- allocate\n", "c:2: expected a map, found a list"},
             {"tiers: []\n", "c:1: actions: expected a list such as \"enqueue, allocate, backfill\", found nothing"},
             {"actions: [allocate]\n",
              "c:1: actions: expected a list such as \"enqueue, allocate, backfill\", found a list"},
             {"actions: enqueue,,allocate\n",
              "c:1: actions: a name is missing; expected a list such as \"enqueue, allocate, backfill\""},
             {"actions: \"\"\n",
              "c:1: actions: a name is missing; expected a list such as \"enqueue, allocate, backfill\""},
             {"actions: allocate\ntires: []\n", "c:2: tires: no such member of a scheduler configuration; expected one "
                                                "of actions, tiers, configurations, metrics"},
             {"actions: allocate\ntiers: {}\n", "c:2: tiers: expected a list, found a map"},
             {"actions: allocate\ntiers:\n- name: gang\n",
              "c:3: tiers[0].name: no such member of a tier; expected one of plugins"},
             {"actions: allocate\ntiers:\n- plugins:\n  - gang\n",
              "c:4: tiers[0].plugins[0]: expected a map, found the string \"gang\""},
             {"actions: allocate\ntiers:\n- plugins:\n  - arguments: {}\n",
              "c:4: tiers[0].plugins[0].name: expected the plugin's name, found nothing"},
             {tier + "    enableJobOder: true\n", unknown_switch},
             {tier + "    enableJobOrder: 1\n",
              "c:5: tiers[0].plugins[0].enableJobOrder: expected true or false, found the number 1"},
             {tier + "    enableJobOrder: \"true\"\n",
              "c:5: tiers[0].plugins[0].enableJobOrder: expected true or false, found the string \"true\""},
             {tier + "    arguments: [a]\n", "c:5: tiers[0].plugins[0].arguments: expected a map, found a list"},
             {tier + "    name: drf\n", "c:5: the key \"name\" is set twice in one map"},
             {tier + "configurations:\n- arguments: {}\n",
              "c:6: configurations[0].name: expected the action's name, found nothing"},
             {tier + "configurations:\n- name: allocate\n  args: {}\n",
              "c:7: configurations[0].args: no such member of an action's configuration; expected one of name, "
              "arguments"},
             {"actions: allocate\ntiers: [\n", "c:3: broken YAML: end of sequence flow not found"},
             {"actions: allocate\n---\nactions: backfill\n",
              "c:3: a second document begins; expected one configuration"},
             {"actions: \"\x01\"\n", "c:1: found the control character 0x01; expected YAML or JSON text in UTF-8"},
         }) {
        CAPTURE(c.text);
        CHECK(refusal(c.text) == c.refusal);
    }
}

TEST_CASE("conf: lines count from where the text stands in its file") {
    CHECK(refusal("actions: a\ntiers: {}\n", {.file = "c", .first_line = 40}) ==
          "c:41: tiers: expected a list, found a map");
    CHECK(refusal("actions: a\ntiers: {}\n", {.file = "c", .first_line = 40, .line_by_line = false}) ==
          "c:40: tiers: expected a list, found a map");
    CHECK(refusal("actions: a\ntiers: [\n", {.file = "c", .first_line = 40}) ==
          "c:42: broken YAML: end of sequence flow not found");
}

TEST_CASE("conf: a ConfigMap's block text keeps the lines of its file") {
    auto const conf_of = [](std::string const& data) {
        auto const objects = ext::read_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: volcano-system}\ndata:\n" + data,
            "map.yaml");
        return ext::parse_conf(ext::field{objects.at(0)}["data"]["volcano-scheduler.conf"]);
    };
    auto const block =
        conf_of("  volcano-scheduler.conf: |\n    actions: allocate\n    tiers:\n    - plugins:\n      - name: gang\n");
    CHECK(block.actions.at(0).line == 6);
    CHECK(block.tiers.at(0).at(0).line == 9);
    auto const quoted =
        conf_of("  volcano-scheduler.conf: \"actions: allocate\\ntiers:\\n- plugins:\\n  - name: gang\\n\"\n");
    CHECK(quoted.tiers.at(0).at(0).line == 5);
    try {
        static_cast<void>(conf_of("  volcano-scheduler.conf: |\n    actions: allocate\n    tiers: 1\n"));
        FAIL("not refused");
    } catch (ext::bad_input const& wrong) {
        CHECK(std::string{wrong.what()} == "map.yaml:7: tiers: expected a list, found the number 1");
        CHECK(wrong.object == "ConfigMap volcano-system/c");
    }
}
