#pragma once

/// \file
/// PodGroups for pods that come without one: bare pods, and pods of ReplicaSets, StatefulSets and the like.

#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/core/result.hpp>
#include <muster/ext/text.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/context.hpp>
#include <muster/ext/vcjob/lifecycle.hpp>
#include <muster/ext/vcjob/names.hpp>
#include <muster/ext/vcjob/pod_defaults.hpp>
#include <muster/ext/vcjob/podgroup.hpp>
#include <muster/ext/vcjob/usage.hpp>

namespace muster::ext::vcjob {

/// Whether the PodGroup controller takes care of a pod: it is Volcano's and belongs to no group yet.
[[nodiscard]] inline bool needs_podgroup(json const& pod) {
    return text(pod, "kind") == "Pod" && text(at(pod, {"spec"}), "schedulerName") == scheduler_name &&
           text(at(pod, {"metadata", "annotations"}), key::group_name).empty();
}

/// `podgroup-UID`, of the pod's controller if it has one.
[[nodiscard]] inline std::string podgroup_name_of_pod(json const& pod) {
    auto const& controller = controller_of(pod);
    return "podgroup-" + (controller.is_null() ? uid_of(pod) : text(controller, "uid"));
}

namespace detail {

/// The annotations of a pod's owners, the first owner's before the others'.
///
/// Shape: of `objects`, those of the pod's namespace with the owner's kind and name.
[[nodiscard]] inline json owner_annotations(json const& pod, std::span<json const> objects) {
    static constexpr std::array<std::string_view, 4> kinds{"ReplicaSet", "DaemonSet", "StatefulSet", "Job"};
    json out = json::object();
    for (auto const& owner : list(pod, {"metadata", "ownerReferences"})) {
        auto const kind = text(owner, "kind");
        if (!is_one_of(kinds, kind)) continue;
        for (auto const& object : objects) {
            bool const is_builtin = text(object, "apiVersion") == (kind == "Job" ? "batch/v1" : "apps/v1");
            if (!is_builtin || text(object, "kind") != kind || name_of(object) != text(owner, "name") ||
                namespace_of(object) != namespace_of(pod))
                continue;
            for (auto const& [name, value] : map(object, {"metadata", "annotations"}).items())
                if (!out.contains(name)) out[name] = value;
        }
    }
    return out;
}

/// The owner's wish for the size of the gang; what is no number from 0 to 2^31 - 1 counts as 1.
[[nodiscard]] inline std::int64_t wished_min_member(json const& annotations) {
    auto const written = text(annotations, key::group_min_member);
    std::int32_t wish = 0;
    auto const* const end = written.data() + written.size();
    auto const [stop, failure] = std::from_chars(written.data() + (written.starts_with('+') ? 1 : 0), end, wish);
    return written.empty() || failure != std::errc{} || stop != end || wish < 0 ? 1 : wish;
}

[[nodiscard]] inline json pod_topology(json const& annotations) {
    auto const mode = lower_case(text(annotations, key::topology_mode));
    json out{{"mode", mode == "soft" ? "soft" : "hard"}};
    auto const tier = text(annotations, key::topology_highest_tier);
    std::int64_t value = 0;
    auto const* const end = tier.data() + tier.size();
    auto const [stop, failure] = std::from_chars(tier.data() + (tier.starts_with('+') ? 1 : 0), end, value);
    if (!tier.empty() && failure == std::errc{} && stop == end) out["highestTierAllowed"] = value;
    return out;
}

[[nodiscard]] inline json group_annotations(json const& own, json const& owners) {
    json out = json::object();
    for (auto const& [name, value] : owners.items())
        if (name.starts_with("volcano.sh/")) out[name] = value;
    for (auto const* name : {key::preemptable, key::cooldown_time, key::revocable_zone})
        if (own.contains(name)) out[name] = own.at(name);
    auto const* budget = own.contains(key::jdb_min_available) ? key::jdb_min_available : key::jdb_max_unavailable;
    if (own.contains(budget)) out[budget] = own.at(budget);
    return out;
}

} // namespace detail

/// The PodGroup for a pod that needs one: a complete object in phase Pending.
///
/// Shape:  `objects` holds the pod's owners among others.
/// Errors: those of `quota_usage`.
/// Source: Volcano, pkg/controllers/podgroup/pg_controller_handler.go, buildPodGroupFromPod, at ed72c7c8, then the
///         PodGroup's mutating webhook.
[[nodiscard]] inline result<json> make_podgroup_of_pod(json const& pod, std::span<json const> objects,
                                                       context const& around) {
    auto const stored = with_pod_defaults(pod);
    auto const& own = map(pod, {"metadata", "annotations"});
    auto const owners = detail::owner_annotations(pod, objects);
    auto const members = detail::wished_min_member(owners);
    auto const resources = quota_usage(at(stored, {"spec"}), members);
    if (!resources) return tl::unexpected{resources.error()};

    json spec{{"queue", group_queue(text(own, key::group_queue), namespace_of(pod), around)},
              {"minResources", to_json(*resources)}};
    if (members != 0) spec["minMember"] = members;
    if (auto const priority = text(at(pod, {"spec"}), "priorityClassName"); !priority.empty())
        spec["priorityClassName"] = priority;
    if (own.contains(key::topology_mode) || own.contains(key::topology_highest_tier))
        spec["networkTopology"] = detail::pod_topology(own);

    json metadata{{"name", podgroup_name_of_pod(pod)}, {"namespace", namespace_of(pod)}};
    metadata["ownerReferences"] =
        controller_of(pod).is_null() ? json::array({controlled_by(pod)}) : list(pod, {"metadata", "ownerReferences"});
    if (auto annotations = detail::group_annotations(own, owners); !annotations.empty())
        metadata["annotations"] = std::move(annotations);
    for (auto const* name : {key::preemptable, key::cooldown_time})
        if (auto const& label = at(pod, {"metadata", "labels", name}); label.is_string())
            metadata["labels"][name] = label;
    return json{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                {"kind", "PodGroup"},
                {"metadata", std::move(metadata)},
                {"spec", std::move(spec)},
                {"status", {{"phase", "Pending"}}}};
}

/// PodGroups made, and pods that could get none.
struct pod_groups {
    std::map<std::string, json> groups{}; ///< by NAMESPACE/NAME
    std::vector<std::string> refused{};   ///< NAMESPACE/NAME of pods whose PodGroup the webhook refuses
};

/// Gives every pod that needs a PodGroup one, in the order of the objects; the pods of one controller share it. A pod
/// with a group gets its name as an annotation.
///
/// Errors: those of `quota_usage`; pods before the fault keep their annotation.
/// Source: Volcano, pkg/controllers/podgroup/pg_controller_handler.go, createNormalPodPGIfNotExist, at ed72c7c8. It
///         tries a refused pod again for ever.
[[nodiscard]] inline result<pod_groups> group_plain_pods(std::span<json> objects, context const& around) {
    pod_groups out;
    for (auto& pod : objects) {
        if (!needs_podgroup(pod)) continue;
        auto const name = podgroup_name_of_pod(pod);
        auto const place = namespace_of(pod) + "/" + name;
        if (!out.groups.contains(place)) {
            auto group = make_podgroup_of_pod(pod, objects, around);
            if (!group) return tl::unexpected{group.error()};
            if (!podgroup_fault(*group, around).empty()) {
                out.refused.push_back(key_of(pod));
                continue;
            }
            out.groups.emplace(place, std::move(*group));
        }
        pod["metadata"]["annotations"][key::group_name] = name;
    }
    return out;
}

} // namespace muster::ext::vcjob
