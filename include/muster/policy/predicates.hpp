#pragma once

/// \file
/// Policy predicates: what a node demands of a pod, and a pod of its node, beyond amounts.

#include <algorithm>
#include <cstdint>

#include <muster/cluster/rules.hpp>
#include <muster/cluster/view.hpp>
#include <muster/policy/argument.hpp>
#include <muster/policy/hooks.hpp>

namespace muster::policy {

/// Refuses nodes that are full of pods, cordoned, unselected, tainted or whose host ports are taken.
///
/// Source: volcano, pkg/scheduler/plugins/predicates/predicates.go, at ed72c7c8 (spec/volcano-core.md 7.4), over the
///         filters of Kubernetes 1.36. Not yet: inter-pod affinity, topology spread, volumes.
struct predicates {
    bool node_affinity = true;
    bool ports = true;
    bool taints = true;

    class state;
    [[nodiscard]] state open(session_view view) const;
};

class predicates::state {
public:
    state(predicates const& p, session_view view)
        : switches_(p),
          any_address_(view.in().symbols.find("0.0.0.0")), cordon_{view.in().symbols.find(
                                                                       "node.kubernetes.io/unschedulable"),
                                                                   view.in().symbols.find(""),
                                                                   taint_effect::no_schedule} {
        for (auto const n : view.nodes()) {
            auto const& row = view.view(n).row();
            cordoned_ = cordoned_ || row.unschedulable;
            tainted_ = tainted_ || !row.taints.empty();
        }
    }

    [[nodiscard]] static locality reads(shape_view) noexcept { return locality::node; }

    [[nodiscard]] bool fits(node_view node, shape_view shape) const noexcept {
        auto const& rules = shape.shape().placement;
        return room_for_pod(node) && schedulable(node, rules) && matches(node, rules) && tolerated(node, rules) &&
               taken_port(node, rules) == nullptr;
    }

    /// A full node does not hide what else is wrong; every other reason but a taken port ends the list.
    void explain_fits(node_view node, shape_view shape, reasons& out) const {
        auto const& rules = shape.shape().placement;
        if (!room_for_pod(node))
            out.push_back({.code = reason_code::pod_count,
                           .dimension = dimension::pods,
                           .asked = 1,
                           .held = std::int64_t{node.now().tasks_on_node[node.id().index()]},
                           .limit = static_cast<double>(node.allocatable(dimension::pods))});
        if (!schedulable(node, rules)) return out.push_back({.code = reason_code::unschedulable});
        if (!matches(node, rules)) return out.push_back({.code = reason_code::node_affinity});
        if (!tolerated(node, rules)) return out.push_back({.code = reason_code::untolerated});
        if (auto const* const p = taken_port(node, rules))
            out.push_back({.code = reason_code::port_taken, .asked = p->port});
    }

private:
    [[nodiscard]] static bool room_for_pod(node_view node) noexcept {
        return std::int64_t{node.now().tasks_on_node[node.id().index()]} < node.allocatable(dimension::pods);
    }

    [[nodiscard]] bool schedulable(node_view node, rules const& r) const noexcept {
        if (!cordoned_ || !node.row().unschedulable) return true;
        return std::any_of(r.tolerations.begin(), r.tolerations.end(),
                           [&](auto const& t) { return t.tolerates(cordon_); });
    }

    [[nodiscard]] bool matches(node_view node, rules const& r) const noexcept {
        if (!switches_.node_affinity) return true;
        auto const& labels = node.row().labels;
        for (auto const& [key, value] : r.selector) {
            auto const* const has = find(labels, key);
            if (has == nullptr || has->value != value) return false;
        }
        return !r.required || std::any_of(r.required->begin(), r.required->end(),
                                          [&](auto const& term) { return meets(labels, node.row().name, term); });
    }

    [[nodiscard]] bool tolerated(node_view node, rules const& r) const noexcept {
        if (!switches_.taints || !tainted_) return true;
        return std::all_of(node.row().taints.begin(), node.row().taints.end(), [&](taint const& t) {
            return t.effect == taint_effect::prefer_no_schedule ||
                   std::any_of(r.tolerations.begin(), r.tolerations.end(),
                               [&](auto const& toleration) { return toleration.tolerates(t); });
        });
    }

    [[nodiscard]] port const* taken_port(node_view node, rules const& r) const noexcept {
        if (!switches_.ports || r.ports.empty()) return nullptr;
        port const* taken = nullptr;
        node.each_task([&](task_view other) {
            for (auto const& theirs : other.shape().placement.ports)
                for (auto const& mine : r.ports)
                    if (collide(mine, theirs, any_address_)) taken = &mine;
        });
        return taken;
    }

    predicates switches_;
    symbol any_address_;
    taint cordon_;          ///< a cordon counts as this taint
    bool cordoned_ = false; ///< some node is; else no row need be read
    bool tainted_ = false;
};

inline predicates::state predicates::open(session_view view) const { return {*this, view}; }

} // namespace muster::policy

namespace muster {

template <>
inline constexpr auto arguments<policy::predicates> = boost::hana::make_tuple(
    argument<policy::predicates, bool>{"predicate.NodeAffinityEnable", &policy::predicates::node_affinity, {}, {}},
    argument<policy::predicates, bool>{"predicate.NodePortsEnable", &policy::predicates::ports, {}, {}},
    argument<policy::predicates, bool>{"predicate.TaintTolerationEnable", &policy::predicates::taints, {}, {}},
    inert_argument{"predicate.PodAffinityEnable"}, inert_argument{"predicate.NodeVolumeLimitsEnable"},
    inert_argument{"predicate.VolumeZoneEnable"}, inert_argument{"predicate.PodTopologySpreadEnable"},
    inert_argument{"predicate.VolumeBindingEnable"}, inert_argument{"predicate.DynamicResourceAllocationEnable"},
    inert_argument{"predicate.CacheEnable"}, inert_argument{"volumebinding.weight"},
    inert_argument{"dynamicresources.weight"});

} // namespace muster
