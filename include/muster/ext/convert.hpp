#pragma once

/// \file
/// Kubernetes objects as the values that a cluster is told: nodes, queues, PodGroups and pods.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/cluster/spec.hpp>
#include <muster/ext/amounts.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/rules.hpp>
#include <muster/ext/time.hpp>
#include <muster/ext/vcjob/pod_defaults.hpp>
#include <muster/ext/vcjob/usage.hpp>
#include <muster/ext/vgpu.hpp>

namespace muster::ext {

/// What objects mean depends on others of the cluster: names of resources, values of priority classes.
struct reading {
    vgpu_names names{};
    std::map<std::string, std::int32_t, std::less<>> priorities{};
    std::int32_t default_priority = 0;
    std::vector<warning>* warnings = nullptr;
};

[[nodiscard]] inline label_list read_labels(field const& map) {
    label_list labels;
    for (auto const& [key, f] : map.members()) labels.emplace_back(key, f.as_string());
    return labels;
}

[[nodiscard]] inline node_spec read_node(object const& o, reading const& around) {
    field const root{o};
    node_spec node;
    node.name = o.name();
    auto const status = root["status"];
    auto const capacity = read_amounts(status["capacity"]);
    node.allocatable = status["allocatable"] ? read_amounts(status["allocatable"]) : capacity;
    node.labels = read_labels(root["metadata"]["labels"]);
    for (auto const& t : root["spec"]["taints"].items()) node.taints.push_back(read_taint(t));
    for (auto const& image : status["images"].items())
        for (auto const& name : image["names"].items())
            node.images.emplace_back(name.as_string(), image["sizeBytes"].int_or(0));
    node.unschedulable = root["spec"]["unschedulable"].bool_or(false);
    node.cards = read_cards(root, node.allocatable, *around.warnings);
    return node;
}

[[nodiscard]] inline queue_spec read_queue(object const& o) {
    field const root{o};
    auto const spec = root["spec"];
    queue_spec queue;
    queue.name = o.name();
    queue.created = read_created(root);
    queue.weight = spec["weight"].int32_or(1);
    if (queue.weight < 0) spec["weight"].fail("expected a weight of zero or more");
    queue.priority = spec["priority"].int32_or(0);
    if (spec["capability"]) queue.capability = read_amounts(spec["capability"]);
    if (spec["deserved"]) queue.deserved = read_amounts(spec["deserved"]);
    if (spec["guarantee"]["resource"]) queue.guarantee = read_amounts(spec["guarantee"]["resource"]);
    queue.parent = spec["parent"].string_or("");
    queue.reclaimable = spec["reclaimable"].bool_or(true);
    queue.open = root["status"]["state"].string_or("Open") == "Open"; // a state that is written empty is none
    return queue;
}

[[nodiscard]] inline job_phase read_phase(std::string_view text) noexcept {
    for (auto const phase : {job_phase::inqueue, job_phase::running, job_phase::unknown, job_phase::completed})
        if (text == name_of(phase)) return phase;
    return job_phase::pending;
}

/// The value of a priority class; for none, or one that is not known, the cluster's default.
[[nodiscard]] inline std::int32_t priority_of(std::string_view name, reading const& around) {
    auto const known = around.priorities.find(name);
    return known == around.priorities.end() ? around.default_priority : known->second;
}

[[nodiscard]] inline job_spec read_podgroup(object const& o, reading const& around) {
    field const root{o};
    auto const spec = root["spec"];
    job_spec job;
    job.ns = o.ns();
    job.name = o.name();
    job.queue = spec["queue"].string_or("default");
    if (job.queue.empty()) job.queue = "default";
    job.created = read_created(root);
    job.min_available = spec["minMember"].int32_or(0);
    if (job.min_available < 0) spec["minMember"].fail("expected a number of zero or more");
    for (auto const& [role, min] : spec["minTaskMember"].members()) job.min_of_role.emplace_back(role, min.as_int32());
    if (spec["minResources"]) job.min_resources = read_amounts(spec["minResources"]);
    job.priority = priority_of(spec["priorityClassName"].string_or(""), around);
    job.phase = read_phase(root["status"]["phase"].string_or(""));
    return job;
}

namespace detail {

/// What rankings count for a pod: a container that does not ask counts as 100m of cpu and 200Mi of memory.
[[nodiscard]] inline nlohmann::json with_scoring_requests(nlohmann::json spec) {
    for (auto const* list : {"containers", "initContainers"}) {
        if (!spec.contains(list)) continue;
        for (auto& container : spec[list]) {
            auto& requests = container["resources"]["requests"];
            if (!requests.contains("cpu")) requests["cpu"] = "100m";
            if (!requests.contains("memory")) requests["memory"] = "200Mi";
        }
    }
    return spec;
}

/// Checks every amount of a pod where it was written.
inline void check_amounts(field const& spec) {
    for (auto const* list : {"containers", "initContainers"})
        for (auto const& container : spec[list].items())
            for (auto const* side : {"requests", "limits"}) (void)read_amounts(container["resources"][side]);
    (void)read_amounts(spec["overhead"]);
}

[[nodiscard]] inline resource_list requests_of(nlohmann::json const& spec, field const& where) {
    auto const amounts = vcjob::pod_amounts(spec, "requests");
    if (!amounts) where.fail("the sum of its requests can't be counted: " + std::string{message(amounts.error().code)});
    resource_list list(amounts->begin(), amounts->end());
    for (auto const& [name, amount] : list)
        if (auto const how = counting_of(name); how && !count(amount, *how))
            where.fail("the sum of its requests of " + name + " is too large for 64 bits");
    return list;
}

[[nodiscard]] inline task_status status_of(field const& root) {
    auto const phase = root["status"]["phase"].string_or("Pending");
    bool const leaving = bool(root["metadata"]["deletionTimestamp"]);
    bool const placed = !root["spec"]["nodeName"].string_or("").empty();
    if (phase == "Running") return leaving ? task_status::releasing : task_status::running;
    if (phase == "Pending")
        return leaving ? task_status::releasing : (placed ? task_status::bound : task_status::pending);
    if (phase == "Succeeded") return task_status::succeeded;
    return phase == "Failed" ? task_status::failed : task_status::unknown;
}

[[nodiscard]] inline scheduling_gate gate_of(field const& gates) {
    auto gate = scheduling_gate::none;
    auto const list = gates.items();
    if (list.empty()) return gate;
    gate = scheduling_gate::held;
    if (list.size() == 1 && list[0]["name"].string_or("") == "scheduling.volcano.sh/queue-allocation-gate")
        gate = scheduling_gate::queue;
    return gate;
}

/// A flag of an annotation or label, as Go reads it; what can't be read is false.
[[nodiscard]] inline bool go_bool(std::string_view text) noexcept {
    constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "TRUE", "true", "True"};
    return std::find(yes.begin(), yes.end(), text) != yes.end();
}

} // namespace detail

/// A pod. `broken` is set if its device annotation can't be read: what it holds of its node's cards is not known.
[[nodiscard]] inline task_spec read_pod(object const& o, reading const& around, bool& broken) {
    field const root{o};
    auto const spec = root["spec"];
    auto const annotations = root["metadata"]["annotations"];
    auto const labels = root["metadata"]["labels"];
    auto const either = [&](std::string_view key) {
        return annotations[key] ? annotations[key].as_string() : labels[key].string_or("");
    };
    if (!spec["containers"] || spec["containers"].items().empty()) spec.fail("expected at least one container");
    detail::check_amounts(spec);
    auto const stored = vcjob::with_pod_defaults(o.value);
    auto const& stored_spec = stored.at("spec");
    task_spec task;
    task.ns = o.ns();
    task.name = o.name();
    task.uid = root["metadata"]["uid"].string_or("");
    if (auto const group = annotations["scheduling.k8s.io/group-name"].string_or(""); !group.empty())
        task.job = task.ns + '/' + group;
    task.role = either("volcano.sh/task-spec");
    task.created = read_created(root);
    auto const class_name = spec["priorityClassName"].string_or("");
    if (spec["priority"])
        task.priority = spec["priority"].as_int32();
    else if (auto const known = around.priorities.find(class_name); known != around.priorities.end())
        task.priority = known->second;
    if (auto const text = annotations["volcano.sh/task-priority"].string_or(""); !text.empty()) {
        std::int32_t value = 0;
        auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (failure == std::errc{} && end == text.data() + text.size()) task.priority = value;
    }
    task.requests = detail::requests_of(stored_spec, spec);
    auto const scoring = detail::requests_of(detail::with_scoring_requests(stored_spec), spec);
    task.scoring_cpu = *count(*find(scoring, "cpu"), counting::thousandth);
    task.scoring_memory = *count(*find(scoring, "memory"), counting::whole);
    task.devices = read_device_request(root, around.names);
    task.rules = read_rules(spec);
    task.labels = read_labels(labels);
    task.status = detail::status_of(root);
    task.node = spec["nodeName"].string_or("");
    task.nominated = root["status"]["nominatedNodeName"].string_or("");
    bool const holds =
        !task.node.empty() && task.status != task_status::succeeded && task.status != task_status::failed;
    if (holds) task.shares = read_shares(root, task.devices, broken, *around.warnings);
    task.gate = detail::gate_of(spec["schedulingGates"]);
    task.critical = class_name == "system-cluster-critical" || class_name == "system-node-critical";
    if (auto const text = either("volcano.sh/preemptable"); !text.empty()) task.preemptable = detail::go_bool(text);
    return task;
}

} // namespace muster::ext
