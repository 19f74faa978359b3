#include <muster/ext/convert.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/ext/read.hpp>

#include "support/objects.hpp"

namespace ext = muster::ext;
using muster::scheduling_gate, muster::task_status;

namespace {

/// Reads the first object of a text by `read(object, reading, broken)`.
template <class Read>
auto one(std::string const& text, Read read, ext::reading around = {}) {
    std::vector<ext::warning> warnings;
    around.warnings = &warnings;
    auto const objects = ext::read_text(text, "f");
    return read(objects.at(0), around);
}

muster::task_spec pod(std::string const& metadata, std::string const& spec, std::string const& status = "",
                      ext::reading const& around = {}) {
    return one(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p" + metadata + "}\nspec: {" +
            (spec.starts_with("containers") ? "" : "containers: [{name: c}], ") + spec + "}\nstatus: {" + status +
            "}\n",
        [](ext::object const& o, ext::reading const& r) {
            bool broken = false;
            return ext::read_pod(o, r, broken);
        },
        around);
}

std::string amount(muster::resource_list const& list, char const* name) {
    auto const* const found = ext::find(list, name);
    return found == nullptr ? "" : to_string(*found);
}

} // namespace

TEST_CASE("convert: a pod's status is its phase, where it is and whether it leaves") {
    struct row {
        char const* metadata;
        char const* spec;
        char const* status;
        task_status is;
    };
    char const* const leaving = ", deletionTimestamp: 2024-01-01T00:00:00Z";
    for (row const& c : {
             row{"", "", "", task_status::pending},
             row{"", "nodeName: n1", "", task_status::bound},
             row{"", "nodeName: n1", "phase: Running", task_status::running},
             row{leaving, "nodeName: n1", "phase: Running", task_status::releasing},
             row{leaving, "", "phase: Pending", task_status::releasing},
             row{"", "nodeName: n1", "phase: Succeeded", task_status::succeeded},
             row{"", "nodeName: n1", "phase: Failed", task_status::failed},
             row{"", "nodeName: n1", "phase: Unknown", task_status::unknown},
         }) {
        CAPTURE(c.status);
        CHECK(pod(c.metadata, c.spec, c.status).status == c.is);
    }
}

TEST_CASE("convert: what a pod asks is the sum of its containers or its largest init container; limits stand in") {
    auto const asked = pod("", "containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}}},\n"
                               "  {name: b, resources: {limits: {cpu: 500m}}}],\n"
                               " initContainers: [{name: i, resources: {requests: {memory: 3Gi}}}]")
                           .requests;
    CHECK(amount(asked, "cpu") == "1500m");
    CHECK(amount(asked, "memory") == "3Gi");
    auto const scored = pod("", "containers: [{name: a}, {name: b, resources: {requests: {cpu: 2}}}]");
    CHECK(scored.scoring_cpu == 2100);
    CHECK(scored.scoring_memory == std::int64_t{400} << 20);
}

TEST_CASE("convert: priority is the pod's, else its class's; an annotation wins") {
    ext::reading around;
    around.priorities = {{"high", 9}};
    CHECK(pod("", "").priority == 1);
    CHECK(pod("", "priority: 5, priorityClassName: high", "", around).priority == 5);
    CHECK(pod("", "priorityClassName: high", "", around).priority == 9);
    CHECK(pod(", annotations: {volcano.sh/task-priority: \"3\"}", "priority: 5").priority == 3);
    CHECK(pod(", annotations: {volcano.sh/task-priority: many}", "priority: 5").priority == 5);
}

TEST_CASE("convert: gates, roles and the wish not to be preempted") {
    CHECK(pod("", "").gate == scheduling_gate::none);
    CHECK(pod("", "schedulingGates: [{name: mine}]").gate == scheduling_gate::held);
    CHECK(pod("", "schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}]").gate ==
          scheduling_gate::queue);
    CHECK(pod(", annotations: {volcano.sh/task-spec: worker}", "").role == "worker");
    CHECK(pod(", labels: {volcano.sh/task-spec: worker}", "").role == "worker");
    CHECK(pod("", "").preemptable);
    CHECK_FALSE(pod(", annotations: {volcano.sh/preemptable: \"false\"}", "").preemptable);
    CHECK(pod(", annotations: {volcano.sh/preemptable: \"T\"}", "").preemptable);
    CHECK(pod("", "priorityClassName: system-node-critical").critical);
    CHECK(pod(", namespace: team, annotations: {scheduling.k8s.io/group-name: g}", "").job == "team/g");
}

TEST_CASE("convert: only a pod on a node that is not done holds its cards") {
    std::string const held = ", annotations: {volcano.sh/vgpu-ids-new: \"GPU-a,NVIDIA,1,1:;\"}";
    CHECK(pod(held, "nodeName: n1", "phase: Running").shares.size() == 1);
    CHECK(pod(held, "nodeName: n1", "phase: Succeeded").shares.empty());
    CHECK(pod(held, "", "").shares.empty());
}

TEST_CASE("convert: a node offers what it can allocate, else its capacity") {
    auto const node = [](std::string const& status) {
        return one(
            "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {zone: a}}\nspec: {unschedulable: true, taints: "
            "[{key: k, effect: NoExecute}]}\nstatus: {" +
                status + "}\n",
            [](ext::object const& o, ext::reading const& r) { return ext::read_node(o, r); });
    };
    CHECK(amount(node("capacity: {cpu: 2}").allocatable, "cpu") == "2");
    CHECK(amount(node("capacity: {cpu: 2}, allocatable: {cpu: 1900m}").allocatable, "cpu") == "1900m");
    auto const n = node("");
    CHECK(n.allocatable.empty());
    CHECK(n.unschedulable);
    CHECK(n.labels == muster::label_list{{"zone", "a"}});
    REQUIRE(n.taints.size() == 1);
    CHECK(n.taints[0].effect == muster::taint_effect::no_execute);
}

TEST_CASE("convert: queues and PodGroups have the API server's defaults") {
    auto const queue = [](std::string const& spec, std::string const& state) {
        return one("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\nspec: {" + spec +
                       "}\nstatus: {state: " + state + "}\n",
                   [](ext::object const& o, ext::reading const&) { return ext::read_queue(o); });
    };
    CHECK(queue("", "Open").weight == 1);
    CHECK(queue("", "Open").reclaimable);
    CHECK_FALSE(queue("", "Open").capability);
    CHECK(queue("capability: {cpu: 1}", "Open").capability->size() == 1);
    CHECK(queue("", "Open").open);
    CHECK_FALSE(queue("", "Closing").open);

    auto const group = [](std::string const& spec) {
        ext::reading around;
        around.priorities = {{"high", 9}};
        around.default_priority = 4;
        return one(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {" + spec + "}\n",
            [](ext::object const& o, ext::reading const& r) { return ext::read_podgroup(o, r); }, around);
    };
    CHECK(group("").queue == "default");
    CHECK(group("queue: \"\"").queue == "default");
    CHECK(group("").min_available == 0);
    CHECK(group("").priority == 4);
    CHECK(group("priorityClassName: high").priority == 9);
    CHECK_FALSE(group("").min_resources);
    CHECK(group("minTaskMember: {a: 1, b: 2}").min_of_role.size() == 2);
}
