#pragma once

/// \file
/// What the plugins for distributed frameworks add to a job's pods: tensorflow, pytorch, mpi, ray, hcclrank.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/plugin.hpp>

namespace muster::ext::vcjob::detail {

template <class Action>
void for_each_container(json& spec, std::initializer_list<char const*> kinds, Action action) {
    for (auto const* kind : kinds)
        if (at(spec, {kind}).is_array())
            for (auto& container : spec[kind]) action(container);
}

inline void open_port(json& container, char const* name, std::int64_t port) {
    for (auto const& open : list(container, {"ports"}))
        if (number(open, "containerPort") == port) return;
    append(container, "ports", {{"name", name}, {"containerPort", port}});
}

inline void set_variable(json& container, char const* name, std::string value) {
    append(container, "env", {{"name", name}, {"value", std::move(value)}});
}

/// How many hosts a task has: its pods, or one if the template gives all of them the same name.
[[nodiscard]] inline std::int64_t host_count(json const& task) {
    auto const replicas = std::max(std::int64_t{0}, number(task, "replicas"));
    return text(at(task, {"template", "spec"}), "hostname").empty() ? replicas : std::min(std::int64_t{1}, replicas);
}

/// The hosts of a task with their domains.
[[nodiscard]] inline std::string joined_hosts(json const& job, json const& task, char const* between) {
    std::string out;
    for (std::int64_t i = 0; i < host_count(task); ++i) out += (i == 0 ? "" : between) + domain_name(job, task, i);
    return out;
}

/// Source: Volcano, pkg/controllers/job/plugins/distributed-framework/tensorflow/tensorflow.go, as the following.
inline void apply_tensorflow(json& spec, json const& job, json const& task, std::int64_t index,
                             plugin_flags const& flags) {
    auto const& tasks = list(job, {"spec", "tasks"});
    if (tasks.size() == 1 && number(tasks[0], "replicas") == 1) return;
    std::string cluster;
    std::string type = text(task, "name");
    for (auto const* role : {"ps", "worker", "chief", "evaluator"}) { // TF_CONFIG's members in this order
        auto const name = flags.word(role, role);
        if (text(task, "name") == name) type = role;
        auto const* member = find_task(tasks, name);
        if (member == nullptr || number(*member, "replicas") == 0) continue;
        json hosts = json::array();
        for (std::int64_t i = 0; i < number(*member, "replicas"); ++i)
            hosts.push_back(domain_name(job, *member, i) + ":" + std::to_string(flags.count("port", 2222)));
        cluster += (cluster.empty() ? "" : ",") + json(role).dump() + ":" + hosts.dump();
    }
    auto const config = "{\"cluster\":{" + cluster + "},\"task\":{\"type\":" + json(type).dump() +
                        ",\"index\":" + std::to_string(index) + "}}";
    for_each_container(spec, {"containers"}, [&](json& container) { set_variable(container, "TF_CONFIG", config); });
}

inline void apply_pytorch(json& spec, json const& job, json const& task, std::int64_t index,
                          plugin_flags const& flags) {
    auto const& tasks = list(job, {"spec", "tasks"});
    auto const master_name = flags.word("master", "master");
    auto const* master = find_task(tasks, master_name);
    if (master == nullptr) return;
    std::int64_t world = 0;
    for (auto const& one : tasks) world += number(one, "replicas");
    auto const port = flags.count("port", 23456);
    auto const name = text(task, "name");
    for_each_container(spec, {"containers"}, [&](json& container) {
        open_port(container, "pytorchjob-port", port);
        set_variable(container, "MASTER_ADDR", domain_name(job, *master, 0));
        set_variable(container, "MASTER_PORT", std::to_string(port));
        set_variable(container, "WORLD_SIZE", std::to_string(world));
        if (name == flags.word("worker", "worker")) {
            set_variable(container, "RANK", std::to_string(index + 1));
        } else if (name == master_name) {
            set_variable(container, "RANK", "0");
        }
    });
}

inline void apply_mpi(json& spec, json const& job, json const& task, plugin_flags const& flags) {
    bool const is_master = text(task, "name") == flags.word("master", "master");
    auto const* workers = find_task(list(job, {"spec", "tasks"}), flags.word("worker", "worker"));
    if (is_master && workers == nullptr) return;
    std::string hosts;
    if (is_master) hosts = joined_hosts(job, *workers, ",");
    for_each_container(spec, {"initContainers", "containers"}, [&](json& container) {
        open_port(container, "mpijob-port", flags.count("port", 22));
        if (is_master) set_variable(container, "MPI_HOST", hosts);
    });
}

inline void apply_ray(json& spec, json const& job, json const& task, plugin_flags const& flags) {
    auto const head_name = flags.word("head", "head");
    auto const* head = find_task(list(job, {"spec", "tasks"}), head_name);
    if (head == nullptr) return;
    auto const port = flags.count("port", 6379);
    auto const dashboard = flags.count("dashboardPort", 8265);
    auto const client = flags.count("clientPort", 10001);
    auto const name = text(task, "name");
    for_each_container(spec, {"containers"}, [&](json& container) {
        auto const own = text(container, "name");
        if (name == head_name && own == flags.word("headContainer", "head")) {
            open_port(container, "gcs", port);
            open_port(container, "dashboard", dashboard);
            open_port(container, "client-server", client);
            container["command"] = {"sh", "-c",
                                    "ray start --head --block --dashboard-host=0.0.0.0 --port=" + std::to_string(port) +
                                        " --dashboard-port=" + std::to_string(dashboard) +
                                        " --ray-client-server-port=" + std::to_string(client)};
        }
        if (name == flags.word("worker", "worker") && own == flags.word("workerContainer", "worker"))
            container["command"] = {
                "sh", "-c", "ray start --block --address=" + domain_name(job, *head, 0) + ":" + std::to_string(port)};
    });
}

inline void apply_hcclrank(json& pod, json const& job, json const& task, std::int64_t index,
                           plugin_flags const& flags) {
    static constexpr char rank_key[] = "hccl/rankIndex";
    auto& annotations = pod["metadata"]["annotations"];
    if (!text(annotations, rank_key).empty()) return;
    for (auto const& container : list(pod, {"spec", "containers"}))
        for (auto const& variable : list(container, {"env"}))
            if (text(variable, "name") == "RANK" && !text(variable, "value").empty()) {
                annotations[rank_key] = text(variable, "value");
                return;
            }
    auto const master_name = flags.word("master", "master");
    auto const name = text(task, "name");
    if (name == master_name) {
        annotations[rank_key] = std::to_string(index);
    } else if (name == flags.word("worker", "worker")) {
        auto const* master = find_task(list(job, {"spec", "tasks"}), master_name);
        auto const before = master == nullptr ? 0 : number(*master, "replicas");
        annotations[rank_key] = std::to_string(before + index);
    }
}

} // namespace muster::ext::vcjob::detail
