// What is odd but does not stop a run: exit status 0 and a warning; with --strict an error.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/objects.hpp"
#include "tool/tool.hpp"

namespace {

using objects::gpu_node, objects::node, objects::pod, objects::podgroup;

std::string const share = "limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 100}";
std::string const good_card = "GPU-a,10,8192,NVIDIA-T,true,hami-core:";

/// A running pod on node n1 whose annotation says what it holds.
std::string holder(std::string const& annotation, std::string const& phase = "Running") {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: old, annotations: {volcano.sh/vgpu-ids-new: \"" + annotation +
           "\"}}\nspec: {schedulerName: volcano, nodeName: n1, containers: [{name: c, resources: {" + share +
           "}}]}\nstatus: {phase: " + phase + "}\n---\n";
}

struct odd {
    std::string text;
    char const* says;
};

} // namespace

TEST_CASE("warning: what is odd is told, and with --strict refused") {
    auto const widget = [](std::string const& name) {
        return "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: " + name + "}\n---\n";
    };
    for (odd const& c : {
             odd{node + podgroup("g", "minMember: 1, queue: nowhere") + pod("p", "g", ""),
                 "<stdin>:6: PodGroup default/g: its queue nowhere is not there; it is left untouched"},
             odd{node + podgroup("g", "minMember: 1"), "<stdin>:6: PodGroup default/g: it has no pods"},
             odd{node + pod("p", "g", ""), "<stdin>:6: Pod default/p: its PodGroup default/g is not there"},
             odd{node + widget("a") + widget("b"), "<stdin>:6: Widget default/a: kind Widget (example.com/v1) plays no "
                                                   "part here; 2 objects are left out"},
             odd{node + "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n",
                 "its schedulerName is default-scheduler, not volcano; 1 such pod is left out"},
             odd{gpu_node("n1", ""), "1 card is derived from the capacity of 10 shares and 8192 MiB"},
             odd{gpu_node("n1", "garbage"), "the node's cards take no share until it is repaired"},
             odd{gpu_node("n1", "GPU-a,x,8192,NVIDIA,true,hami-core:"), "card GPU-a: a field can't be read at byte 6"},
             odd{gpu_node("n1", good_card) + holder("GPU-a,NVIDIA,x,0:;"),
                 "a field can't be read at byte 13; the cards of"},
             odd{gpu_node("n1", good_card) + holder("GPU-b,NVIDIA,100,0:;"),
                 "it holds card GPU-b, which its node n1 does not have"},
             odd{pod("p", "", "", ", nodeName: n9"), "its node n9 is not there; what it holds is not counted"},
         }) {
        CAPTURE(c.text);
        auto const done = tool::simulate(c.text);
        CHECK(done.status == 0);
        CHECK(done.err == "");
        CHECK(tool::has(done.out, "# warnings\n"));
        CHECK(tool::has(done.out, c.says));

        auto const strict = tool::simulate(c.text, "--strict");
        CHECK(strict.status == 2);
        CHECK(strict.out == "");
        CHECK(tool::has(strict.err, "error: "));
        CHECK(tool::has(strict.err, c.says));
    }
}

TEST_CASE("warning: a PodGroup of an unknown queue is left as it was") {
    auto const got = tool::answer(node + podgroup("g", "minMember: 1, queue: nowhere") + pod("p", "g", ""));
    auto const& group = got.at("podgroups").at("default/g");
    CHECK(group.at("phase") == "");
    CHECK(group.at("conditions").empty());
    CHECK(got.at("binds").empty());
    CHECK(got.at("events").empty());
}

TEST_CASE("warning: cards whose annotation can't be read take no new share") {
    struct row {
        std::string objects;
        char const* status;
    };
    auto const asks = pod("p", "", share);
    for (row const& c : {
             row{gpu_node("n1", good_card), "Running"},
             row{gpu_node("n1", "garbage"), "Pending"},
             row{gpu_node("n1", "GPU-a,x,8192,NVIDIA,true,hami-core:"), "Pending"},
             row{gpu_node("n1", "GPU-x,x,1,NVIDIA,true,hami-core:" + good_card), "Running"},
             row{gpu_node("n1", good_card) + holder("GPU-a,NVIDIA,100,0:;"), "Running"},
             row{gpu_node("n1", good_card) + holder("GPU-a,NVIDIA,8100,0:;"), "Pending"},
             row{gpu_node("n1", good_card) + holder("garbage"), "Pending"},
             row{gpu_node("n1", good_card) + holder("GPU-a,NVIDIA,-5,0:;"), "Pending"},
             row{gpu_node("n1", good_card) + holder("garbage", "Succeeded"), "Running"},
             row{gpu_node("n1", good_card) + holder("garbage") +
                     gpu_node("n2", "GPU-b,10,8192,NVIDIA-T,true,hami-core:"),
                 "Running"},
         }) {
        CAPTURE(c.objects);
        CHECK(tool::answer(c.objects + asks).at("pods").at("default/p").at("status") == c.status);
    }
}

TEST_CASE("warning: an argument of the wrong type keeps the default, a plugin listed twice counts once") {
    support::scratch const here{"argument"};
    here.write("objects.yaml", node);
    here.write("conf", "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: gang\n"
                       "  - name: binpack\n    arguments:\n      binpack.weight: heavy\n");
    auto const done = tool::simulate_in(here.path.string(), "-f objects.yaml --conf conf -o json");
    auto const warnings = tool::answer_of(done).at("warnings");
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0].at("line") == 5);
    CHECK(warnings[0].at("message") == "plugin gang is listed twice in a tier; the first counts");
    CHECK(warnings[1].at("line") == 8);
    CHECK(warnings[1].at("message") ==
          "binpack.weight: expected a whole number, found the string \"heavy\"; the default is kept");
    CHECK(tool::simulate_in(here.path.string(), "-f objects.yaml --conf conf --strict").status == 2);
}
