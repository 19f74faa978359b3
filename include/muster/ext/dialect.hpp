#pragma once

/// \file
/// GPU dialects: what happens to pods and nodes that speak the wrong one, or two at once.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>

namespace muster::ext {

namespace detail {

/// The first resource name that any container asks for and that begins with one of the prefixes; empty if none does.
template <std::size_t N>
[[nodiscard]] std::string first_asked(field const& pod_spec, std::array<std::string_view, N> const& prefixes) {
    for (auto const* list : {"containers", "initContainers"})
        for (auto const& container : pod_spec[list].items())
            for (auto const* side : {"limits", "requests"})
                for (auto const& [name, amount] : container["resources"][side].members())
                    for (auto const prefix : prefixes)
                        if (name.starts_with(prefix)) return std::string{name};
    return {};
}

inline constexpr std::array<std::string_view, 1> volcano_names{"volcano.sh/vgpu-"};
inline constexpr std::array<std::string_view, 2> nvidia_names{"nvidia.com/gpu", "nvidia.com/mig-"};
inline constexpr std::array<std::string_view, 2> hami_names{"nvidia.com/gpumem", "nvidia.com/gpucores"};

} // namespace detail

/// Warns of a pod's spec (or a template's) that asks for cards in two dialects, or in one that Volcano does not speak.
inline void check_dialect(field const& pod_spec, std::string_view scheduler, std::vector<warning>& warnings) {
    auto const volcano = detail::first_asked(pod_spec, detail::volcano_names);
    auto const nvidia = detail::first_asked(pod_spec, detail::nvidia_names);
    if (!volcano.empty() && !nvidia.empty()) {
        warnings.push_back(
            pod_spec.warn("asks for " + nvidia + " and " + volcano +
                          "; two device plugins would each hand it a card: use volcano.sh/vgpu-* alone"));
        return;
    }
    auto const hami = detail::first_asked(pod_spec, detail::hami_names);
    if (scheduler == "volcano" && !hami.empty())
        warnings.push_back(pod_spec.warn("asks for " + hami +
                                         ", which HAMi's scheduler reads, but schedulerName is volcano: use "
                                         "volcano.sh/vgpu-memory and volcano.sh/vgpu-cores, or schedulerName "
                                         "hami-scheduler"));
}

/// Warns of a node whose cards two device plugins hand out.
inline void check_dialect(object const& node, std::vector<warning>& warnings) {
    auto const status = field{node}["status"];
    auto const offered = status["allocatable"] ? status["allocatable"] : status["capacity"];
    if (offered["nvidia.com/gpu"] && offered["volcano.sh/vgpu-number"])
        warnings.push_back(
            offered.warn("offers both nvidia.com/gpu and volcano.sh/vgpu-number: two device plugins "
                         "hand out the same cards, and neither sees the other's shares; run one of them"));
}

} // namespace muster::ext
