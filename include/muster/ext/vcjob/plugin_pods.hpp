#pragma once

/// \file
/// What the plugins env, svc and ssh add to a job's pods.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/distributed.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/plugin.hpp>

namespace muster::ext::vcjob {

/// A task's name inside the svc plugin's variables: `my-role` is `my_role`, in variables `MY_ROLE`.
[[nodiscard]] inline std::string variable_name(std::string task, bool upper) {
    for (char& c : task) {
        if (c == '-') c = '_';
        if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return task;
}

namespace detail {

inline constexpr char host_file_directory[] = "/etc/volcano";
inline constexpr char root_key_directory[] = "/root/.ssh";

/// Source: Volcano, pkg/controllers/job/plugins/env/env.go, OnPodCreate, at ed72c7c8.
inline void apply_env(json& spec, std::int64_t index) {
    for_each_container(spec, {"containers", "initContainers"}, [&](json& container) {
        for (auto const* name : {"VK_TASK_INDEX", "VC_TASK_INDEX"})
            append(container, "env", {{"name", name}, {"value", std::to_string(index)}});
    });
}

/// Source: Volcano, pkg/controllers/job/plugins/svc/svc.go, OnPodCreate, at ed72c7c8.
inline void apply_svc(json& spec, json const& job, std::string const& pod, plugin_flags const& flags) {
    if (text(spec, "hostname").empty()) spec["hostname"] = pod;
    if (text(spec, "subdomain").empty()) spec["subdomain"] = name_of(job);
    auto const config = name_of(job) + "-svc";
    append(spec, "volumes", {{"name", config}, {"configMap", {{"name", config}}}});
    for_each_container(spec, {"containers", "initContainers"}, [&](json& container) {
        if (flags.on("inject-hosts-env", true)) {
            for (auto const& task : list(job, {"spec", "tasks"})) {
                for (auto const* what : {"_HOSTS", "_NUM"}) {
                    auto const name = "VC_" + variable_name(text(task, "name"), true) + what;
                    append(container, "env",
                           {{"name", name}, {"valueFrom", {{"configMapKeyRef", {{"name", config}, {"key", name}}}}}});
                }
            }
        }
        append(container, "volumeMounts", {{"name", config}, {"mountPath", host_file_directory}});
    });
}

/// Source: Volcano, pkg/controllers/job/plugins/ssh/ssh.go, mountRsaKey, at ed72c7c8.
inline void apply_ssh(json& spec, json const& job, plugin_flags const& flags) {
    auto const secret = name_of(job) + "-ssh";
    auto directory = flags.word("ssh-key-file-path", root_key_directory);
    if (flags.on("no-root", false) && directory == root_key_directory)
        directory = std::string{host_file_directory} + "/.ssh";
    json source{{"secretName", secret}, {"items", json::array()}};
    for (auto const* file : {"id_rsa", "id_rsa.pub", "authorized_keys", "config"})
        append(source, "items", {{"key", file}, {"path", std::string{".ssh/"} + file}});
    if (directory == root_key_directory)
        source["defaultMode"] = 0600; // elsewhere another user than root has to read the keys
    append(spec, "volumes", {{"name", secret}, {"secret", std::move(source)}});
    for_each_container(spec, {"containers"}, [&](json& container) {
        append(container, "volumeMounts", {{"name", secret}, {"mountPath", directory}, {"subPath", ".ssh"}});
    });
}

inline void sort_by_name(json& object, char const* key) {
    if (!at(object, {key}).is_array()) return;
    auto items = object[key].get<std::vector<json>>();
    std::stable_sort(items.begin(), items.end(),
                     [](json const& a, json const& b) { return text(a, "name") < text(b, "name"); });
    object[key] = std::move(items);
}

} // namespace detail

/// Applies a job's plugins to a pod of it.
///
/// Shape: in the order of the plugins' names; with more than one, variables, mounts and volumes end up sorted by name
///        (Volcano: in the order of a Go map).
inline void apply_plugins(json& pod, json const& job, json const& task, std::int64_t index) {
    auto const& plugins = map(job, {"spec", "plugins"});
    auto& spec = pod["spec"];
    for (auto const& [name, arguments] : plugins.items()) {
        plugin_flags const flags{plugins, name.c_str()};
        if (name == "env") detail::apply_env(spec, index);
        if (name == "svc") detail::apply_svc(spec, job, name_of(pod), flags);
        if (name == "ssh") detail::apply_ssh(spec, job, flags);
        if (name == "tensorflow") detail::apply_tensorflow(spec, job, task, index, flags);
        if (name == "pytorch") detail::apply_pytorch(spec, job, task, index, flags);
        if (name == "mpi") detail::apply_mpi(spec, job, task, flags);
        if (name == "ray") detail::apply_ray(spec, job, task, flags);
        if (name == "hcclrank") detail::apply_hcclrank(pod, job, task, index, flags);
    }
    if (plugins.size() < 2) return;
    detail::sort_by_name(spec, "volumes");
    detail::for_each_container(spec, {"containers", "initContainers"}, [](json& container) {
        detail::sort_by_name(container, "env");
        detail::sort_by_name(container, "volumeMounts");
    });
}

} // namespace muster::ext::vcjob
