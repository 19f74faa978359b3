#pragma once

/// \file
/// The names of Volcano's vGPU annotations and resources.

#include <string_view>

namespace muster::wire::volcano {

/// The word for the vendor in a pod's shares; the device plugin serves no other.
inline constexpr std::string_view vendor = "NVIDIA";

// Annotations.
inline constexpr std::string_view node_register_key = "volcano.sh/node-vgpu-register"; ///< node: its cards

inline constexpr std::string_view shares_key = "volcano.sh/vgpu-ids-new";                    ///< pod: what it holds
inline constexpr std::string_view shares_to_allocate_key = "volcano.sh/devices-to-allocate"; ///< pod: what it waits for
inline constexpr std::string_view node_key = "volcano.sh/vgpu-node";        ///< pod: where it was placed
inline constexpr std::string_view time_key = "volcano.sh/vgpu-time";        ///< pod: when, in Unix seconds
inline constexpr std::string_view bind_phase_key = "volcano.sh/bind-phase"; ///< pod: allocating, success or failed
inline constexpr std::string_view bind_time_key = "volcano.sh/bind-time";   ///< pod: Unix seconds

inline constexpr std::string_view use_uuid_key = "volcano.sh/vgpu-use-gpuuuid";     ///< pod asks: only these cards
inline constexpr std::string_view avoid_uuid_key = "volcano.sh/vgpu-nouse-gpuuuid"; ///< pod asks: not these cards
inline constexpr std::string_view use_type_key = "nvidia.com/use-gputype";          ///< pod asks: only these models
inline constexpr std::string_view avoid_type_key = "nvidia.com/nouse-gputype";      ///< pod asks: not these models
inline constexpr std::string_view mode_key = "volcano.sh/vgpu-mode";                ///< pod asks: hami-core or mig
inline constexpr std::string_view podgroup_policy_key = "volcano.sh/vgpu-podgroup-policy"; ///< pod asks: spread or pack

// Resources, by their default names.
inline constexpr std::string_view number_resource = "volcano.sh/vgpu-number"; ///< cards
inline constexpr std::string_view memory_resource = "volcano.sh/vgpu-memory"; ///< memory blocks a card
inline constexpr std::string_view memory_percentage_resource =
    "volcano.sh/vgpu-memory-percentage";                                    ///< instead of blocks
inline constexpr std::string_view cores_resource = "volcano.sh/vgpu-cores"; ///< percent of a card

} // namespace muster::wire::volcano
