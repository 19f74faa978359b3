#pragma once

/// \file
/// Kubernetes objects in a few words: YAML documents, each with the line `---` that ends it.

#include <string>

namespace objects {

/// A node with a card, registered by `registration` unless that is empty.
[[nodiscard]] inline std::string gpu_node(std::string const& name, std::string const& registration) {
    auto const annotations =
        registration.empty() ? "" : ", annotations: {volcano.sh/node-vgpu-register: \"" + registration + "\"}";
    return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + annotations +
           "}\nstatus: {capacity: {cpu: 8, memory: 16Gi, pods: 110, volcano.sh/vgpu-number: 10,\n"
           "  volcano.sh/vgpu-memory: 8192, volcano.sh/vgpu-cores: 100}}\n---\n";
}
/// Eight cpus, 16Gi. Like the next two, it has five lines.
inline std::string const node = "apiVersion: v1\n"
                                "kind: Node\n"
                                "metadata: {name: n1}\n"
                                "status: {capacity: {cpu: 8, memory: 16Gi, pods: 110}}\n"
                                "---\n";
[[nodiscard]] inline std::string queue(std::string const& name, std::string const& spec) {
    return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: {" + spec +
           "}\n---\n";
}
[[nodiscard]] inline std::string podgroup(std::string const& name, std::string const& spec) {
    return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " + name + "}\nspec: {" + spec +
           "}\n---\n";
}
/// A pod of a group (none if empty) with one container.
[[nodiscard]] inline std::string pod(std::string const& name, std::string const& group, std::string const& resources,
                                     std::string const& rest = {}) {
    auto const annotations = group.empty() ? "" : ", annotations: {scheduling.k8s.io/group-name: " + group + "}";
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + annotations +
           "}\nspec: {schedulerName: volcano, containers: [{name: c, resources: {" + resources + "}}]" + rest +
           "}\n---\n";
}
/// A VolcanoJob with one task of one container.
[[nodiscard]] inline std::string job(std::string const& name, std::string const& spec, std::string const& task) {
    return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + name + "}\nspec: {" + spec +
           ", tasks: [{name: t, " + task + "}]}\n---\n";
}

} // namespace objects
