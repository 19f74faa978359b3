#include <muster/ext/world.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/ext/read.hpp>

#include "support/objects.hpp"

namespace ext = muster::ext;
using objects::gpu_node, objects::node, objects::pod, objects::podgroup, objects::queue;

namespace {

ext::world world_of(std::string const& text, std::vector<ext::warning>& warnings) {
    return ext::world{ext::read_text(text, "f"), warnings};
}
ext::world world_of(std::string const& text) {
    std::vector<ext::warning> ignored;
    return world_of(text, ignored);
}

/// What is told of a world and its first snapshot.
std::vector<std::string> told(std::string const& text) {
    std::vector<ext::warning> warnings;
    (void)world_of(text, warnings).snapshot(warnings);
    std::vector<std::string> texts;
    for (auto const& w : warnings) texts.push_back(to_string(w));
    return texts;
}
using strings = std::vector<std::string>;

} // namespace

TEST_CASE("world: the queues root and default are there, unless they are listed") {
    auto const w = world_of(node);
    CHECK(w.of("Queue").size() == 2);
    CHECK(w.of("Queue").at("default").value["spec"]["parent"] == "root");
    CHECK(w.of("Queue").at("root").value["spec"]["reclaimable"] == false);
    auto const own = world_of(queue("default", "weight: 7"));
    CHECK(own.of("Queue").at("default").value["spec"] == nlohmann::json{{"weight", 7}});
    CHECK(own.of("Queue").at("default").value["status"]["state"] == "Open");
}

TEST_CASE("world: the snapshot has nodes, queues and jobs by name in byte order") {
    auto const w = world_of(gpu_node("n10", "") + gpu_node("N2", "") + gpu_node("n2", "") + podgroup("b", "") +
                            podgroup("a", "") + pod("p", "b", "requests: {cpu: 1}"));
    std::vector<ext::warning> warnings;
    auto const c = w.snapshot(warnings);
    strings nodes, jobs;
    for (auto const& row : c.tables().nodes) nodes.push_back(c.tables().text(row.name));
    for (auto const& row : c.tables().jobs) jobs.push_back(c.tables().text(row.key));
    CHECK(nodes == strings{"N2", "n10", "n2"});
    CHECK(jobs == strings{"default/a", "default/b"});
    CHECK(c.task("default/p"));
}

TEST_CASE("world: an object without uid gets one of its name, the same each time") {
    auto const uid = [](std::string const& text) {
        return world_of(text).of("Pod").at("default/p").value["metadata"]["uid"].get<std::string>();
    };
    CHECK(uid(pod("p", "", "")) == ext::derived_uid("Pod", "default", "p"));
    CHECK(uid("apiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: own}\n") == "own");
}

TEST_CASE("world: time is the latest creation read") {
    CHECK(world_of(node).latest() == 946684800);
    CHECK(world_of(node + "apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: 2026-11-30T11:00:00Z}\n")
              .latest() == 1796036400);
}

TEST_CASE("world: kinds that play no part are counted and named at the first by place") {
    auto const frob = [](std::string const& name) {
        return "apiVersion: a/v1\nkind: Frob\nmetadata: {name: " + name + "}\n---\n";
    };
    CHECK(told(node + frob("z") + frob("a")) ==
          strings{"f:6: Frob default/z: kind Frob (a/v1) plays no part here; 2 objects are left out"});
    CHECK(told(node + "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n") ==
          strings{"f:6: Job default/j: kind Job (batch/v1) plays no part here; 1 object is left out"});
}

TEST_CASE("world: pods of other schedulers are left out and told by scheduler; where they run they count") {
    auto const other = [](std::string const& name, std::string const& rest) {
        return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {containers: [{name: c}]" + rest +
               "}\n---\n";
    };
    CHECK(told(node + other("a", "") + other("b", ", schedulerName: x") + other("c", "")) ==
          strings{"f:6: Pod default/a: its schedulerName is default-scheduler, not volcano; 2 such pods are left out",
                  "f:11: Pod default/b: its schedulerName is x, not volcano; 1 such pod is left out"});
    std::vector<ext::warning> warnings;
    auto const c = world_of(node + other("a", ", nodeName: n1")).snapshot(warnings);
    CHECK(warnings.empty());
    CHECK(c.task("default/a"));
}

TEST_CASE("world: cards that a pod holds and its node lacks are told") {
    auto const holder = [](std::string const& uuid) {
        return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {volcano.sh/vgpu-ids-new: \"" + uuid +
               ",NVIDIA,100,0:;\"}}\nspec: {nodeName: n1, containers: [{name: c}]}\n---\n";
    };
    auto const card = gpu_node("n1", "GPU-a,10,8192,NVIDIA-T,true,hami-core:");
    CHECK(told(card + holder("GPU-a")).empty());
    CHECK(told(card + holder("GPU-b")).size() == 1);
}
