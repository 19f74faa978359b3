#pragma once

/// \file
/// The Services, ConfigMaps, NetworkPolicies and Secrets that plugins make beside a job's pods.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/distributed.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/plugin.hpp>
#include <muster/ext/vcjob/plugin_pods.hpp>

namespace muster::ext::vcjob {

namespace detail {

[[nodiscard]] inline json owned_object(json const& job, char const* version, char const* kind, std::string name) {
    return {{"apiVersion", version},
            {"kind", kind},
            {"metadata",
             {{"name", std::move(name)},
              {"namespace", namespace_of(job)},
              {"ownerReferences", json::array({controlled_by(job)})}}}};
}

[[nodiscard]] inline json pods_of(json const& job) {
    return {{key::job_name, name_of(job)}, {key::job_namespace, namespace_of(job)}};
}

/// The hosts of each task, as a file and as variables.
[[nodiscard]] inline json host_file(json const& job) {
    json data = json::object();
    for (auto const& task : list(job, {"spec", "tasks"})) {
        auto const name = text(task, "name");
        auto const variable = "VC_" + variable_name(name, true);
        data[variable_name(name, false) + ".host"] = joined_hosts(job, task, "\n");
        data[variable + "_HOSTS"] = joined_hosts(job, task, ",");
        data[variable + "_NUM"] = std::to_string(host_count(task));
    }
    return data;
}

/// The client's configuration: every host of the job by its short name.
[[nodiscard]] inline std::string ssh_config(json const& job, plugin_flags const& flags) {
    std::string out = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n";
    for (auto const& task : list(job, {"spec", "tasks"}))
        for (std::int64_t i = 0; i < host_count(task); ++i)
            out += "Host " + host_name(job, task, i) + "\n  HostName " + domain_name(job, task, i) + "\n  Port " +
                   std::to_string(flags.count("ssh-port", 22)) + "\n";
    return out;
}

[[nodiscard]] inline json headless_service(json const& job, plugin_flags const& flags) {
    auto service = owned_object(job, "v1", "Service", name_of(job));
    service["spec"] = {{"clusterIP", "None"}, {"selector", pods_of(job)}};
    if (flags.on("publish-not-ready-addresses", false)) service["spec"]["publishNotReadyAddresses"] = true;
    return service;
}

[[nodiscard]] inline json network_policy(json const& job) {
    auto policy = owned_object(job, "networking.k8s.io/v1", "NetworkPolicy", name_of(job));
    json const selector{{"matchLabels", pods_of(job)}};
    json peer{{"podSelector", selector}};
    json rule{{"from", json::array({std::move(peer)})}};
    policy["spec"] = {{"podSelector", selector},
                      {"ingress", json::array({std::move(rule)})},
                      {"policyTypes", json::array({"Ingress"})}};
    return policy;
}

/// The head's ports under the job's name; svc's headless Service of that name, made before, stands in its way.
[[nodiscard]] inline json ray_service(json const& job, plugin_flags const& flags) {
    auto service = owned_object(job, "v1", "Service", name_of(job));
    auto selector = pods_of(job);
    selector[key::task_spec] = flags.word("head", "head");
    auto const port = [](char const* name, std::int64_t number) {
        return json{{"name", name}, {"port", number}, {"targetPort", name}, {"protocol", "TCP"}};
    };
    service["spec"] = {{"selector", std::move(selector)},
                       {"ports", json::array({port("gcs", flags.count("port", 6379)),
                                              port("dashboard", flags.count("dashboardPort", 8265)),
                                              port("client-server", flags.count("clientPort", 10001))})}};
    return service;
}

} // namespace detail

/// What a job's plugins make when the job is added: complete objects. Keys of the ssh plugin's Secret are empty texts:
/// no key is made here.
///
/// Source: Volcano, pkg/controllers/job/plugins, svc/svc.go, ssh/ssh.go, ray/ray.go, OnJobAdd, at ed72c7c8.
[[nodiscard]] inline std::vector<json> plugin_objects(json const& job) {
    std::vector<json> out;
    auto const& plugins = map(job, {"spec", "plugins"});
    if (plugins.contains("ssh")) {
        auto secret = detail::owned_object(job, "v1", "Secret", name_of(job) + "-ssh");
        for (auto const* file : {"id_rsa", "id_rsa.pub", "authorized_keys"}) secret["stringData"][file] = "";
        secret["stringData"]["config"] = detail::ssh_config(job, plugin_flags{plugins, "ssh"});
        out.push_back(std::move(secret));
    }
    if (plugins.contains("svc")) {
        plugin_flags const flags{plugins, "svc"};
        auto config = detail::owned_object(job, "v1", "ConfigMap", name_of(job) + "-svc");
        config["data"] = detail::host_file(job);
        out.push_back(std::move(config));
        out.push_back(detail::headless_service(job, flags));
        if (!flags.on("disable-network-policy", false)) out.push_back(detail::network_policy(job));
    } else if (plugins.contains("ray")) {
        out.push_back(detail::ray_service(job, plugin_flags{plugins, "ray"}));
    }
    return out;
}

} // namespace muster::ext::vcjob
