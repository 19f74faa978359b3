#pragma once

/// \file
/// What the device plugin gives a container for its shares: environment variables and mounts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/core/checked.hpp>
#include <muster/core/result.hpp>
#include <muster/device/card.hpp>
#include <muster/wire/volcano/pod.hpp>

namespace muster::wire::volcano {

/// The device plugin's configuration, as far as a container sees it.
struct plugin_settings {
    sharing mode = sharing::slices;
    std::int64_t memory_factor = 1;                 ///< gpuMemoryFactor: MiB in a block of a share's memory
    bool oversubscribe = false;                     ///< deviceCoreScaling is above 1
    std::string_view host_path = "/usr/local/vgpu"; ///< HOOK_PATH: where the node keeps the limiter
};

/// A variable of a container's environment: name and value.
using variable = std::pair<std::string, std::string>;

/// The environment of a container that holds `shares`.
///
/// Shape:  in order: a memory limit a share, by position; CUDA_DEVICE_SM_LIMIT, which is the first share's cores, 0
///         for no limit; the cache; NVIDIA_VISIBLE_DEVICES, each card once; the features that are on by default. A node
///         that shares instances sets no limits; its shares must name the instances' own UUIDs. No share, no variables.
/// Units:  memory limits in MiB, with the suffix m.
/// Errors: `overflow` if blocks times `memory_factor` leave 64 bits, `at` the position of the share.
/// Source: volcano-vgpu-device-plugin, pkg/plugin/server.go, Allocate, at 4fb76ba. There the product wraps at 32 bits,
///         and `cache_id` is a random UUID.
[[nodiscard]] inline result<std::vector<variable>> environment(std::span<share const> shares, std::string_view cache_id,
                                                               plugin_settings const& settings = {}) {
    std::vector<variable> variables;
    if (shares.empty()) return variables;
    if (settings.mode == sharing::slices) {
        for (std::size_t i = 0; i != shares.size(); ++i) {
            auto const limit = checked_mul(shares[i].memory, settings.memory_factor);
            if (!limit) return fail(limit.error().code, i);
            variables.emplace_back("CUDA_DEVICE_MEMORY_LIMIT_" + std::to_string(i), std::to_string(*limit) + "m");
        }
        variables.emplace_back("CUDA_DEVICE_SM_LIMIT", std::to_string(shares.front().cores));
        variables.emplace_back("CUDA_DEVICE_MEMORY_SHARED_CACHE",
                               std::string{"/tmp/vgpu/"}.append(cache_id).append(".cache"));
        if (settings.oversubscribe) variables.emplace_back("CUDA_OVERSUBSCRIBE", "true");
    }
    std::string visible;
    for (std::size_t i = 0; i != shares.size(); ++i) {
        auto const earlier = shares.first(i);
        if (std::ranges::find(earlier, shares[i].uuid, &share::uuid) != earlier.end()) continue;
        if (i != 0) visible += ',';
        visible += shares[i].uuid;
    }
    variables.emplace_back("NVIDIA_VISIBLE_DEVICES", std::move(visible));
    for (auto const* feature : {"NVIDIA_GDRCOPY", "NVIDIA_GDS", "NVIDIA_MOFED"})
        variables.emplace_back(feature, "enabled");
    return variables;
}

/// A file or folder of the node that a container sees.
struct mount {
    std::string container; ///< path in the container
    std::string host;      ///< path on the node
    bool read_only = false;

    friend bool operator==(mount const&, mount const&) noexcept = default;
};

/// The mounts that put the limiter into a container.
///
/// Shape:  the library, the container's cache, the lock folder and, unless `uncontrolled`, the list that preloads the
///         library. A node that shares instances mounts nothing.
/// Source: volcano-vgpu-device-plugin, pkg/plugin/server.go, Allocate, at 4fb76ba. A container is uncontrolled when
///         its own environment has CUDA_DISABLE_CONTROL, whatever its value.
[[nodiscard]] inline std::vector<mount> mounts(std::string_view pod_uid, std::string_view container, bool uncontrolled,
                                               plugin_settings const& settings = {}) {
    if (settings.mode != sharing::slices) return {};
    auto const on_host = [&](std::string_view path) { return std::string{settings.host_path}.append(path); };
    std::vector<mount> list{
        {"/usr/local/vgpu/libvgpu.so", on_host("/libvgpu.so"), true},
        {"/tmp/vgpu", on_host("/vgpu/containers/").append(pod_uid).append("_").append(container), false},
        {"/tmp/vgpulock", "/tmp/vgpulock", false}};
    if (!uncontrolled) list.push_back({"/etc/ld.so.preload", on_host("/ld.so.preload"), true});
    return list;
}

} // namespace muster::wire::volcano
