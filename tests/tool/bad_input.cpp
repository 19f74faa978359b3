// What can't be used: exit status 2, and where and what on standard error.
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/objects.hpp"
#include "tool/tool.hpp"

namespace {

using objects::job, objects::node, objects::pod, objects::podgroup, objects::queue;

/// Refused in words: no output, no trace of an exception that nobody expected.
void check_refused(support::finished const& done, std::string const& says) {
    CAPTURE(done.err.substr(0, 500));
    CHECK(done.status == 2);
    CHECK(done.out == "");
    CHECK(done.err.size() < 2000);
    CHECK(tool::has(done.err, says));
    for (auto const* trace : {"terminate", "exception", "what()", "Sanitizer", "Segmentation", "Aborted"})
        CHECK_FALSE(tool::has(done.err, trace));
}

std::string repeated(std::string const& part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i != times; ++i) text += part;
    return text;
}

struct bad_text {
    std::string text;
    char const* says;
};

void check_each(std::vector<bad_text> const& texts) {
    for (auto const& c : texts) {
        CAPTURE(c.text);
        check_refused(tool::simulate(c.text), c.says);
    }
}

std::string const eight_exa = "9000000000000000"; // of cpu: fits, but not twice

} // namespace

TEST_CASE("bad input: text that is no YAML and fields of the wrong type are told with line and path") {
    check_each({
        {"a: [1, 2\nb: {", "<stdin>:2: broken YAML: "},
        {"{\"apiVersion\": \"v1\",\n \"kind\" \"Pod\"}", "<stdin>:2: broken JSON: "},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: 7}\n", "<stdin>:3: metadata.name: expected a string"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 7}\n",
         "<stdin>:4: spec.containers: expected a list, found the number 7"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: 7}\nspec: {schedulerName: volcano}\n",
         "<stdin>:3: metadata.annotations: expected a map"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, ownerReferences: [x]}\n",
         "<stdin>:3: metadata.ownerReferences[0]: expected a map"},
        {node + pod("p", "g", "requests: {cpu: [1]}"),
         ":9: spec.containers[0].resources.requests.cpu: expected a quantity"},
        {node + pod("p", "", "limits: many"), ":9: spec.containers[0].resources.limits: expected a map"},
        {node + podgroup("g", "minMember: one"), ":9: spec.minMember: expected an integer, found the string \"one\""},
        {node + podgroup("g", "minMember: -1"), ":9: spec.minMember: expected a number of zero or more"},
        {node + queue("q", "weight: 99999999999"), ":9: spec.weight: expected an integer from"},
        {node + queue("q", "capability: {cpu: lots}"), ":9: spec.capability.cpu: expected a quantity such as"},
        {"apiVersion: v1\nkind: Node\nmetadata: {name: n1, creationTimestamp: yesterday}\n",
         ":3: metadata.creationTimestamp: expected a time such as"},
        {"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {taints: [{key: k, effect: Frob}]}\n",
         ":4: spec.taints[0].effect: expected NoSchedule"},
    });
}

TEST_CASE("bad input: negative and overflowing quantities are refused, sums included") {
    auto const many = "requests: {cpu: " + eight_exa + "}";
    auto const two_containers = "requests: {cpu: " + eight_exa + "}}}, {name: d, resources: {" + many;
    check_each({
        {node + pod("p", "g", "requests: {cpu: -1}"),
         ":9: spec.containers[0].resources.requests.cpu: expected an amount "
         "of zero or more, found -1"},
        {"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {memory: -1Gi}}\n",
         ":4: status.capacity.memory: expected an amount of zero or more"},
        {node + pod("p", "g", "requests: {cpu: 9223372036854775807}"), "expected an amount that 64 bits can count"},
        {node + pod("p", "g", "requests: {cpu: \"99999999999999999999999\"}"), "the number is too large"},
        {node + pod("p", "g", two_containers), "spec: the sum of its requests of cpu is too large for 64 bits"},
        {node + pod("p", "g", many) + pod("q", "g", many), "Pod default/p can't be taken: "},
        {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {capacity: {memory: 7Ei}}\n---\n"
         "apiVersion: v1\nkind: Node\nmetadata: {name: b}\nstatus: {capacity: {memory: 7Ei}}\n",
         "<stdin>:6: Node b can't be taken: its amounts and those of the objects before it sum up"},
        {node + job("j", "minAvailable: 1",
                    "replicas: 2, template: {spec: {containers: [{name: c, image: i, resources: {" + many + "}}]}}"),
         "<stdin>:6: PodGroup default/j-"},
    });
}

TEST_CASE("bad input: names that stand twice and queues without a root are refused") {
    check_each({
        {node + node, "<stdin>:6: Node n1 stands here a second time; the first is at <stdin>:1"},
        {pod("p", "g", "") + pod("p", "h", ""), "Pod default/p stands here a second time"},
        {queue("a", "parent: nowhere"), "<stdin>:4: spec.parent: expected the name of a queue, found \"nowhere\""},
        {queue("a", "parent: b") + queue("b", "parent: a"), "spec.parent: queue a is its own ancestor"},
        {queue("a", "parent: a"), "<stdin>:4: spec.parent: queue a is its own ancestor"},
    });
}

TEST_CASE("bad input: files that hold nothing, or can't be read, are named") {
    support::scratch const here{"files"};
    here.write("empty.yaml", "");
    here.write("blank.yaml", "# nothing\n---\n");
    std::filesystem::create_directory(here.path / "dir");
    here.write("dir/notes.txt", "hello");
    auto const in = [&](std::string const& arguments) { return tool::simulate_in(here.path.string(), arguments); };
    check_refused(in("-f empty.yaml"), "empty.yaml: found no object; expected Nodes, Queues");
    check_refused(in("-f empty.yaml -f blank.yaml"), "empty.yaml, blank.yaml: found no object");
    check_refused(in("-f nowhere.yaml"), "nowhere.yaml: can't open it: No such file or directory");
    check_refused(in("-f dir"), "dir: the directory has no *.yaml, *.yml or *.json file");
    check_refused(in("-f /proc/self/mem"), "/proc/self/mem: can't read it: ");
    check_refused(in("-f empty.yaml/x"), "empty.yaml/x: can't open it: Not a directory");
    check_refused(in("--batch nowhere.jsonl"),
                  "nowhere.jsonl: can't be read; expected a file with one scenario a line");
    check_refused(in("--batch dir"), "dir: can't be read");
}

TEST_CASE("bad input: random bytes and deep nesting are refused at once") {
    support::scratch const here{"bytes"};
    std::mt19937 random{20261130};
    std::string noise;
    for (int i = 0; i != 1000000; ++i) noise += static_cast<char>(random() & 0xffU);
    here.write("noise", noise);
    constexpr std::size_t deep = 10000;
    here.write("flow.yaml", repeated("[", deep) + repeated("]", deep));
    here.write("maps.yaml", repeated("{a: ", deep) + repeated("}", deep));
    here.write("dashes.yaml", repeated("- ", deep) + "x");
    std::string block;
    for (std::size_t i = 0; i != deep; ++i) block += std::string(i, ' ') + "a:\n";
    here.write("block.yaml", block);
    here.write("lists.json", repeated("[", deep) + repeated("]", deep));
    here.write("maps.json", repeated("{\"a\":", deep) + "1" + repeated("}", deep));
    auto const in = [&](std::string const& arguments) { return tool::simulate_in(here.path.string(), arguments); };
    check_refused(in("-f noise"), "noise:1: found the byte");
    for (std::string const file : {"flow.yaml", "maps.yaml", "dashes.yaml", "lists.json", "maps.json"}) {
        CAPTURE(file);
        check_refused(in("-f " + file), file + ":1: lists and maps nest deeper than 200 levels");
    }
    check_refused(in("-f block.yaml"), "block.yaml:201: lists and maps nest deeper than 200 levels");
}

TEST_CASE("bad input: a VolcanoJob that admission refuses is told in the webhook's words") {
    auto const task = std::string{"replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}"};
    check_each({
        {node + job("j", "minAvailable: 3", task),
         "<stdin>:6: job j is refused: job 'minAvailable' should not be greater than total replicas in tasks;"},
        {node + job("j", "queue: nowhere", task),
         "job j is refused: unable to find job queue: queue.scheduling.volcano.sh \"nowhere\" not found;"},
        {node + job("j", "minAvailable: x", task), "spec.minAvailable in body must be of type integer"},
        {node + job("j", "minAvailable: 1", "replicas: 200000, template: {spec: {containers: [{name: c, image: i}]}}"),
         "spec.tasks: expected at most 100000 pods in one job, found 200000"},
    });
}

TEST_CASE("bad input: a configuration's mistakes are told with the line and what is known") {
    support::scratch const here{"conf"};
    here.write("objects.yaml", node);
    std::string const tiers = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n";
    for (bad_text const& c : {
             bad_text{tiers + "  - name: frob\n",
                      "conf:5: unknown plugin \"frob\"; known are: binpack, conformance, "
                      "deviceshare, drf, gang, nodeorder, predicates, priority, proportion"},
             bad_text{"actions: \"enqueue, frob\"\n",
                      "conf:1: unknown action \"frob\"; known are: allocate, backfill, enqueue"},
             bad_text{
                 tiers + "  - name: binpack\n    arguments:\n      binpack.frob: 1\n",
                 "conf:7: plugin binpack has no argument \"binpack.frob\"; known are: binpack.cpu, binpack.memory"},
             bad_text{tiers + "    enableFrob: true\n", "conf:5: tiers[0].plugins[0].enableFrob: no such member"},
             bad_text{tiers + "    enableJobOrder: 7\n",
                      "conf:5: tiers[0].plugins[0].enableJobOrder: expected true or false"},
             bad_text{"actions: [\n", "conf:2: broken YAML: "},
             bad_text{"", "conf:1: the configuration is empty; expected actions and tiers"},
             bad_text{"tiers: []\n", "conf:1: actions: expected a list such as \"enqueue, allocate, backfill\""},
         }) {
        CAPTURE(c.text);
        here.write("conf", c.text);
        check_refused(tool::simulate_in(here.path.string(), "-f objects.yaml --conf conf"), c.says);
    }
    check_refused(tool::simulate(node, "--conf /nowhere"), "/nowhere: can't open it: No such file or directory");
    check_refused(tool::simulate(node, "--conf /"), "/: it is a directory; expected a file");
}

TEST_CASE("bad input: options that are wrong are told") {
    struct row {
        char const* arguments;
        char const* says;
    };
    for (row const& c :
         {row{"--now yesterday", "--now: expected a time such as 2024-01-01T00:00:00Z, found \"yesterday\""},
          row{"--now ''", "--now: expected a time"}, row{"--cycles 0", "--cycles: Value 0 not in range 1"},
          row{"--cycles x", "--cycles: Value x not in range"}, row{"-o xml", "--output: xml not in"},
          row{"--frob", "not expected: --frob"}, row{"--batch x", "excludes"},
          row{"--save /nowhere/x", "/nowhere/x: can't be written"}}) {
        CAPTURE(c.arguments);
        check_refused(tool::simulate(node, c.arguments), c.says);
    }
    check_refused(support::run("'" + tool::binary + "' simulate"), "name files by -f, or scenarios by --batch");
}
