#pragma once

/// \file
/// What the API server fills into a pod when it stores it.

#include <string>
#include <utility>

#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/resource_name.hpp>
#include <muster/resource/quantity.hpp>

namespace muster::ext::vcjob {

namespace detail {

inline void fill(json& object, char const* key, json value) {
    if (at(object, {key}).is_null()) object[key] = std::move(value);
}

/// Amounts in canonical text, rounded up to thousandths; what can't be read stays.
inline void canonical_amounts(json& amounts) {
    if (!amounts.is_object()) return;
    for (auto& [name, value] : amounts.items()) {
        auto amount = read_quantity(value);
        if (!amount) continue;
        if (amount->nano_magnitude() % 1'000'000 != 0)
            if (auto const milli = amount->milli()) amount = quantity::from_milli(*milli, amount->format());
        value = to_string(*amount);
    }
}

/// Requests that are not written are the limits.
inline void default_resources(json& resources) {
    if (!resources.is_object()) return;
    for (auto const* side : {"limits", "requests"})
        if (resources.contains(side)) canonical_amounts(resources[side]);
    auto const limits = map(resources, {"limits"});
    for (auto const& [name, amount] : limits.items())
        if (!map(resources, {"requests"}).contains(name)) resources["requests"][name] = amount;
}

inline void default_container(json& container) {
    if (container.contains("resources")) default_resources(container["resources"]);
    if (at(container, {"ports"}).is_array())
        for (auto& port : container["ports"]) fill(port, "protocol", "TCP");
    if (!at(container, {"env"}).is_array()) return;
    for (auto& variable : container["env"])
        if (at(variable, {"valueFrom", "fieldRef"}).is_object())
            fill(variable["valueFrom"]["fieldRef"], "apiVersion", "v1");
}

inline constexpr int default_file_mode = 0644;

inline void default_volume(json& volume) {
    for (auto const* source : {"configMap", "secret", "projected", "downwardAPI"})
        if (at(volume, {source}).is_object()) fill(volume[source], "defaultMode", default_file_mode);
    if (at(volume, {"hostPath"}).is_object()) fill(volume["hostPath"], "type", "");
    if (volume.size() == 1) volume["emptyDir"] = json::object();
}

} // namespace detail

/// A pod with the defaults that matter to scheduling: requests from limits, policies, modes, canonical amounts.
///
/// Source: kubernetes, pkg/apis/core/v1/defaults.go, SetDefaults_Pod and its like, at v1.36.
[[nodiscard]] inline json with_pod_defaults(json pod) {
    if (!at(pod, {"spec"}).is_object()) return pod;
    auto& spec = pod["spec"];
    detail::fill(spec, "restartPolicy", "Always");
    detail::fill(spec, "dnsPolicy", "ClusterFirst");
    detail::fill(spec, "schedulerName", "default-scheduler");
    if (spec.contains("overhead")) detail::canonical_amounts(spec["overhead"]);
    if (spec.contains("resources")) detail::default_resources(spec["resources"]);
    for (auto const* kind : {"containers", "initContainers"})
        if (at(spec, {kind}).is_array())
            for (auto& container : spec[kind]) detail::default_container(container);
    if (at(spec, {"volumes"}).is_array())
        for (auto& volume : spec["volumes"]) detail::default_volume(volume);
    return pod;
}

} // namespace muster::ext::vcjob
