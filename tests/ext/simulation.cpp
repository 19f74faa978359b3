#include <muster/ext/simulation.hpp>

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "ext/simulated.hpp"
#include "support/objects.hpp"

using objects::gpu_node, objects::job, objects::node, objects::pod, objects::podgroup;
using simulated::run;

namespace {

using names = std::map<std::string, std::string>;

std::string const group =
    podgroup("g", "minMember: 2") + pod("p", "g", "requests: {cpu: 1}") + pod("q", "g", "requests: {cpu: 1}");
std::string const card = gpu_node("n1", "GPU-a,10,8192,NVIDIA-T,true,hami-core:");
std::string const task =
    "replicas: 2, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}";

} // namespace

TEST_CASE("simulation: a bound pod is bound in its cycle and runs in the next, on its node") {
    run const first{node + group, 1};
    CHECK(first->cycles().front().binds == names{{"default/p", "n1"}, {"default/q", "n1"}});
    CHECK(first->podgroups().at("default/g").phase == "Inqueue");
    CHECK(first.pod("default/p")["spec"]["nodeName"] == "n1");

    run const second{node + group, 2};
    CHECK(second.pod("default/p")["status"]["phase"] == "Running");
    CHECK(second->podgroups().at("default/g").phase == "Running");
    CHECK(second->podgroups().at("default/g").running == 2);
    CHECK(second->cycles().back().binds.empty());
}

TEST_CASE("simulation: a bound pod carries what the scheduler writes") {
    run const r{card + pod("p", "", "limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 100}")};
    auto const& annotations = r.pod("default/p")["metadata"]["annotations"];
    CHECK(annotations["volcano.sh/vgpu-ids-new"] == "GPU-a,NVIDIA,100,0:");
    CHECK(annotations["volcano.sh/devices-to-allocate"] == "GPU-a,NVIDIA,100,0:");
    CHECK(annotations["volcano.sh/vgpu-node"] == "n1");
    CHECK(annotations["volcano.sh/bind-phase"] == "allocating");
    run const without{node + pod("p", "", "requests: {cpu: 1}")};
    CHECK_FALSE(without.pod("default/p")["metadata"]["annotations"].contains("volcano.sh/vgpu-ids-new"));
}

TEST_CASE("simulation: without a number of cycles it stops when nothing changes, and after ten at most") {
    CHECK(run { node } -> cycles().size() == 1);
    CHECK(run { node + group } -> cycles().size() == 3);
    CHECK(run { node + podgroup("g", "minMember: 3") + pod("p", "g", "") } -> cycles().size() == 2);
    CHECK(run { node + group, 7 } -> cycles().size() == 7);
    static_assert(muster::ext::simulation_options::settle_limit == 10);
}

TEST_CASE("simulation: a VolcanoJob is let in, then placed, then runs") {
    auto const at = [](std::size_t cycles) { return run{node + job("j", "minAvailable: 2", task), cycles}; };
    auto const one = at(1);
    REQUIRE(one->podgroups().size() == 1);
    auto const key = one->podgroups().begin()->first;
    CHECK(key == "default/j-" + muster::ext::derived_uid("Job", "default", "j"));
    CHECK(one->podgroups().at(key).phase == "Inqueue");
    CHECK(one->cycles().back().binds.empty());
    CHECK(one->events().front().message == "0/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable");
    CHECK(at(2)->cycles().back().binds == names{{"default/j-t-0", "n1"}, {"default/j-t-1", "n1"}});
    auto const three = at(3);
    CHECK(three->podgroups().at(key).phase == "Running");
    CHECK(three->jobs().report().at("default/j").running == 2);
    CHECK(three->jobs().report().at("default/j").podgroup == key);
}

TEST_CASE("simulation: what was said of a group and its pods stays until it changes") {
    run const r{node + podgroup("g", "minMember: 2") + pod("p", "g", "requests: {cpu: 5}") +
                    pod("q", "g", "requests: {cpu: 5}"),
                3};
    auto const& status = r->podgroups().at("default/g");
    CHECK(status.phase == "Inqueue");
    REQUIRE(status.conditions.size() == 1);
    CHECK(status.conditions[0].reason == "NotEnoughResources");
    CHECK(r->notes().at("default/p").cycle == 1); // said in the first cycle, the same since
    // One would have a place; which one, the uids decide.
    CHECK(r->notes().at("default/p").reason != r->notes().at("default/q").reason);
    CHECK(r->events().size() == 3); // events repeat
}

TEST_CASE("simulation: a PodGroup of an unknown queue is not touched") {
    run const r{node + podgroup("g", "minMember: 1, queue: nowhere") + pod("p", "g", "")};
    CHECK(r->podgroups().at("default/g").phase == "");
    CHECK(r->events().empty());
    CHECK(r.pod("default/p").contains("status") == false);
}

TEST_CASE("simulation: bare pods of one owner share a PodGroup, others get their own") {
    auto const owned = [](std::string const& name) {
        return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name +
               "\n  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]\n"
               "spec: {schedulerName: volcano, containers: [{name: c}]}\n---\n";
    };
    run const r{node + owned("a") + owned("b") + pod("c", "", "")};
    CHECK(r->podgroups().size() == 2);
    CHECK(r->podgroups().contains("default/podgroup-u"));
    CHECK(r->podgroups().contains("default/podgroup-" + muster::ext::derived_uid("Pod", "default", "c")));
}
