#pragma once

/// \file
/// What pods count for in a quota, and so in a PodGroup's minResources.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <muster/core/result.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/resource_name.hpp>
#include <muster/resource/quantity.hpp>

namespace muster::ext::vcjob {

/// Amounts by resource name.
using amount_map = std::map<std::string, quantity, std::less<>>;

/// `to += what`, name by name.
///
/// Errors: `overflow`; `to` is then partly changed.
[[nodiscard]] inline result<void> add_to(amount_map& to, amount_map const& what) {
    for (auto const& [name, amount] : what) {
        auto const [entry, fresh] = to.emplace(name, amount);
        if (fresh) continue;
        auto const sum = entry->second.add(amount);
        if (!sum) return tl::unexpected{sum.error()};
        entry->second = *sum;
    }
    return {};
}

/// Amounts as Kubernetes writes them.
[[nodiscard]] inline json to_json(amount_map const& amounts) {
    json out = json::object();
    for (auto const& [name, amount] : amounts) out[name] = to_string(amount);
    return out;
}

namespace detail {

[[nodiscard]] inline result<amount_map> amounts_of(json const& written) {
    amount_map out;
    if (!written.is_object()) return out;
    for (auto const& [name, value] : written.items()) {
        auto const amount = read_quantity(value);
        if (!amount) return tl::unexpected{amount.error()};
        out.emplace(name, *amount);
    }
    return out;
}

inline void raise_to(amount_map& to, amount_map const& floor) {
    for (auto const& [name, amount] : floor) {
        auto const [entry, fresh] = to.emplace(name, amount);
        if (!fresh && entry->second < amount) entry->second = amount;
    }
}

/// The peak of the init containers: each runs beside the sidecars started before it. Sidecars also stay beside the
/// containers, so they are added to `total`.
[[nodiscard]] inline result<amount_map> init_peak(json const& spec, std::string_view side, amount_map& total) {
    amount_map peak;
    amount_map sidecars;
    for (auto const& container : list(spec, {"initContainers"})) {
        auto own = amounts_of(at(container, {"resources", side}));
        if (!own) return own;
        if (text(container, "restartPolicy") == "Always") {
            if (auto const done = add_to(total, *own); !done) return tl::unexpected{done.error()};
            if (auto const done = add_to(sidecars, *own); !done) return tl::unexpected{done.error()};
            raise_to(peak, sidecars);
            continue;
        }
        if (auto const done = add_to(*own, sidecars); !done) return tl::unexpected{done.error()};
        raise_to(peak, *own);
    }
    return peak;
}

/// What is set for the pod as a whole takes the place of its containers' sum.
[[nodiscard]] inline result<void> replace_by_pod_level(amount_map& total, json const& spec, std::string_view side) {
    auto const pod_level = amounts_of(at(spec, {"resources", side}));
    if (!pod_level) return tl::unexpected{pod_level.error()};
    for (auto const& [name, amount] : *pod_level)
        if (name == "cpu" || name == "memory" || is_huge_page(name)) total.insert_or_assign(name, amount);
    return {};
}

/// Overhead is asked for always, and adds to limits that are there.
[[nodiscard]] inline result<void> add_overhead(amount_map& total, json const& spec, std::string_view side) {
    auto overhead = amounts_of(at(spec, {"overhead"}));
    if (!overhead) return tl::unexpected{overhead.error()};
    if (side == "limits") std::erase_if(*overhead, [&](auto const& entry) { return !total.contains(entry.first); });
    return add_to(total, *overhead);
}

} // namespace detail

/// What a pod asks for (`requests`) or may take (`limits`).
///
/// Errors: those of `parse_quantity`, and `overflow` of sums.
/// Source: kubernetes, component-helpers/resource/helpers.go, PodRequests and PodLimits, at v1.36.
[[nodiscard]] inline result<amount_map> pod_amounts(json const& spec, std::string_view side) {
    amount_map total;
    for (auto const& container : list(spec, {"containers"})) {
        auto const own = detail::amounts_of(at(container, {"resources", side}));
        if (!own) return tl::unexpected{own.error()};
        if (auto const done = add_to(total, *own); !done) return tl::unexpected{done.error()};
    }
    auto const peak = detail::init_peak(spec, side, total);
    if (!peak) return tl::unexpected{peak.error()};
    detail::raise_to(total, *peak);
    if (auto const done = detail::replace_by_pod_level(total, spec, side); !done) return tl::unexpected{done.error()};
    if (auto const done = detail::add_overhead(total, spec, side); !done) return tl::unexpected{done.error()};
    return total;
}

/// What `count` pods of one spec count for: the pods themselves; each request as X and requests.X; cpu, memory and
/// ephemeral-storage limits as limits.X. Limits of extended resources count for nothing.
///
/// Errors: those of `pod_amounts`.
/// Source: kubernetes, pkg/quota/v1/evaluator/core/pods.go, podComputeUsageHelper, at v1.36; Volcano,
///         pkg/controllers/util/util.go, GetPodQuotaUsage and CalTaskRequests, at ed72c7c8.
[[nodiscard]] inline result<amount_map> quota_usage(json const& spec, std::int64_t count) {
    amount_map usage;
    if (count <= 0) return usage;
    auto const requests = pod_amounts(spec, "requests");
    if (!requests) return tl::unexpected{requests.error()};
    auto const limits = pod_amounts(spec, "limits");
    if (!limits) return tl::unexpected{limits.error()};
    auto const is_basic = [](std::string_view name) {
        return name == "cpu" || name == "memory" || name == "ephemeral-storage";
    };

    usage.emplace("pods", quantity::from_units(1));
    usage.emplace("count/pods", quantity::from_units(1));
    for (auto const& [name, amount] : *requests) {
        if (!is_basic(name) && !is_huge_page(name) && !is_extended_resource(name)) continue;
        usage.emplace(name, amount);
        usage.emplace("requests." + name, amount);
    }
    for (auto const& [name, amount] : *limits)
        if (is_basic(name)) usage.emplace("limits." + name, amount);
    for (auto& [name, amount] : usage) {
        auto const product = amount.mul(count);
        if (!product) return tl::unexpected{product.error()};
        amount = *product;
    }
    return usage;
}

} // namespace muster::ext::vcjob
