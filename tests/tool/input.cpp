// Ways to hand objects in and to read the answer.
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <muster/ext/read.hpp>

#include "support/objects.hpp"
#include "tool/tool.hpp"

namespace {

using nlohmann::json;
using objects::node, objects::pod, objects::podgroup;

std::string const group = podgroup("g", "minMember: 2");
std::string const pods = pod("p", "g", "requests: {cpu: 1}") + pod("q", "g", "requests: {cpu: 100m, memory: 1.5Gi}");

/// The objects of a text, one after another in JSON.
std::string as_json(std::string const& yaml) {
    std::string text;
    for (auto const& o : muster::ext::read_text(yaml, "f")) text += o.value.dump() + "\n";
    return text;
}

/// What YAML reads back, as JSON has it.
json of_yaml(YAML::Node const& read) {
    if (read.IsMap()) {
        json map = json::object();
        for (auto const& member : read) map[member.first.as<std::string>()] = of_yaml(member.second);
        return map;
    }
    if (read.IsSequence()) {
        json list = json::array();
        for (auto const& item : read) list.push_back(of_yaml(item));
        return list;
    }
    return read.Tag() == "!" ? json(read.as<std::string>()) : json::parse(read.as<std::string>());
}

} // namespace

TEST_CASE("input: files, a directory, standard input, JSON and lists give the same answer") {
    support::scratch const here{"input"};
    here.write("a.yaml", node + group);
    here.write("b.yaml", pods);
    std::filesystem::create_directory(here.path / "dir");
    here.write("dir/1.yaml", node);
    here.write("dir/2.json", as_json(group));
    here.write("dir/3.yml", pods);
    here.write("dir/notes.txt", "not read");
    here.write("list.json", json{{"apiVersion", "v1"},
                                 {"kind", "List"},
                                 {"items",
                                  [] {
                                      json items = json::array();
                                      for (auto const& o : muster::ext::read_text(node + group + pods, "f"))
                                          items.push_back(o.value);
                                      return items;
                                  }()}}
                                .dump());
    auto const in = [&](std::string const& files) {
        return tool::answer_of(tool::simulate_in(here.path.string(), files + " -o json", node + group + pods));
    };
    auto const whole = in("-f -");
    CHECK(whole.at("binds") == json{{"default/p", "n1"}, {"default/q", "n1"}});
    CHECK(whole.at("warnings").empty());
    CHECK(in("-f a.yaml -f b.yaml") == whole);
    CHECK(in("-f b.yaml -f a.yaml") == whole);
    CHECK(in("-f dir") == whole);
    CHECK(in("-f list.json") == whole);
    CHECK(tool::answer(as_json(node + group + pods)) == whole);
}

TEST_CASE("input: the answer is the same in every run and order of files, byte for byte") {
    auto const folder = tool::source + "/examples/article";
    std::string const files[] = {"node.yaml", "5-dialects.yaml", "4-queue.yaml", "2-gang.yaml"};
    for (std::string const format : {"table", "wide", "json", "yaml"}) {
        CAPTURE(format);
        auto const run = [&](std::string const& order) {
            return tool::simulate_in(folder, order + "-o " + format).out;
        };
        std::string forward, backward;
        for (auto const& file : files) forward += "-f " + file + " ", backward = "-f " + file + " " + backward;
        auto const first = run(forward);
        CHECK(first.size() > 500);
        CHECK(run(forward) == first);
        CHECK(run(backward) == first);
    }
}

TEST_CASE("output: YAML holds what JSON holds") {
    auto const objects = node + group + pods + pod("other", "", "", ", nodeName: \"caf\u00e9 \\\"1\\\"\"");
    auto const as_yaml = tool::simulate(objects, "-o yaml");
    REQUIRE(as_yaml.status == 0);
    CHECK(of_yaml(YAML::Load(as_yaml.out)) == tool::answer(objects));
}

TEST_CASE("output: the contract's members are there") {
    auto const got = tool::answer(node + group + pods);
    for (auto const* member : {"schema", "binds", "evicted", "pipelined", "pods", "podgroups", "jobs", "queues",
                               "nodes", "events", "warnings"})
        CHECK(got.contains(member));
    CHECK(got.at("schema") == 1);
    for (auto const* member : {"status", "node", "cards", "annotations", "env", "reason", "message", "nominated"})
        CHECK(got.at("pods").at("default/p").contains(member));
    for (auto const* member : {"phase", "queue", "minMember", "running", "succeeded", "failed", "conditions"})
        CHECK(got.at("podgroups").at("default/g").contains(member));
    for (auto const* member : {"state", "allocated", "deserved", "capability", "share", "inqueue"})
        CHECK(got.at("queues").at("default").contains(member));
    CHECK(got.at("queues").at("default").at("allocated").at("cpu") == "1100m");
    CHECK(got.at("queues").at("default").at("allocated").at("memory") == "1536Mi");
    CHECK(got.at("nodes").at("n1").at("idle").at("cpu") == "6900m");
}

TEST_CASE("output: a cluster without pods says so") { CHECK(tool::simulate(node).out == "No resources found\n"); }

TEST_CASE("output: namespaces are named where there are several") {
    auto other = pod("p", "", "");
    other.replace(other.find("name: p"), 7, "name: p, namespace: team");
    auto const out = tool::simulate(node + other + pod("p", "", "requests: {cpu: 99}")).out;
    CHECK(tool::has(out, "# kubectl get pod -A\nNAMESPACE   NAME   STATUS    NODE\n"));
    CHECK(tool::has(out, "why default/podgroup-"));
}

TEST_CASE("output: a reader that left is no fault, a full disk is told") {
    auto const arguments = "' simulate -f - -o json";
    auto const closed = support::run("{ '" + tool::binary + arguments + "; echo $? >&2; } | true", node);
    CHECK(closed.err == "0\n");
    auto const full = support::run("'" + tool::binary + arguments + " >/dev/full", node);
    CHECK(full.status == 2);
    CHECK(full.err == "error: <stdout>: can't write to it: No space left on device\n");
}

TEST_CASE("options: --now is the time of what is written, --cycles how often") {
    auto const objects = objects::gpu_node("n1", "GPU-a,10,8192,NVIDIA-T,true,hami-core:") +
                         pod("p", "", "limits: {volcano.sh/vgpu-number: 1}");
    auto const time = [&](std::string const& arguments) {
        return tool::answer(objects, arguments)["pods"]["default/p"]["annotations"]["volcano.sh/bind-time"];
    };
    CHECK(time("") == "946684800"); // 2000, as no object says when it was made
    CHECK(time("--now 2026-11-30T12:00:00+01:00") == "1796036400");
    CHECK(tool::answer(objects, "--cycles 1").at("pods").at("default/p").at("status") == "Bound");
    CHECK(tool::answer(objects, "--cycles 2").at("pods").at("default/p").at("status") == "Running");
    CHECK(tool::answer(objects, "--cycles 7").at("cycles") == 7);
}

TEST_CASE("options: --fail-on-pending exits with 1 if a pod waits") {
    auto const full = node + pod("p", "", "requests: {cpu: 9}");
    CHECK(tool::simulate(full).status == 0);
    CHECK(tool::simulate(full, "--fail-on-pending").status == 1);
    CHECK(tool::simulate(node + pod("p", "", "requests: {cpu: 8}"), "--fail-on-pending").status == 0);
}
