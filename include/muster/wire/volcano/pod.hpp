#pragma once

/// \file
/// The pod annotations that say which shares of which cards its containers hold.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/config.hpp>
#include <muster/core/result.hpp>
#include <muster/wire/volcano/field.hpp>
#include <muster/wire/volcano/keys.hpp>

namespace muster::wire::volcano {

/// The part of one card that one container holds.
struct share {
    std::string_view uuid;   ///< borrowed; `GPU-a`, or `GPU-a[GROUP-POSITION]` for an instance
    std::int64_t memory = 0; ///< as asked for, in blocks of gpuMemoryFactor MiB; 0 is no limit
    std::int64_t cores = 0;  ///< percent of the card; 0 is no limit
    std::string_view type = vendor;

    friend bool operator==(share const&, share const&) noexcept = default;
};

/// The most that a share's number may be: the scheduler reads 32 bits without sign, the device plugin with it.
inline constexpr std::int64_t share_limit = std::numeric_limits<std::int32_t>::max();

/// Decodes `volcano.sh/vgpu-ids-new` or `devices-to-allocate`: `UUID,TYPE,MEMORY,CORES:` a share, ';' between
/// containers.
///
/// Shape:  [container][share]; pieces without a comma are ignored, and so are fields past the fourth. No text, no
///         containers. The scheduler writes only the containers that hold shares.
/// Errors: `missing_field` at the share's end; `bad_field`, `negative` and `out_of_range` (past `share_limit`) at the
///         number.
/// Cost:   one pass, one vector a container; the result borrows from `text`.
/// Source: Volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go, DecodePodDevices, which skips a share that it
///         can't read (and loses its accounting); volcano-vgpu-device-plugin, pkg/util/util.go, DecodePodDevices, at
///         4fb76ba, which stops on a short one, takes garbage for 0 and clamps. Here all these are errors.
[[nodiscard]] inline result<std::vector<std::vector<share>>> decode_pod(std::string_view text) {
    std::vector<std::vector<share>> containers;
    if (text.empty()) return containers;
    std::optional rest{detail::piece{text}};
    while (rest) {
        auto& shares = containers.emplace_back();
        std::optional entries{detail::take(rest, ';')};
        while (entries) {
            auto const entry = detail::take(entries, ':');
            if (entry.text.find(',') == std::string_view::npos) continue;
            auto const fields = detail::fields<4>(entry);
            if (!fields) return tl::unexpected{fields.error()};
            auto const& [uuid, type, memory, cores] = *fields;
            auto const blocks = detail::number(memory, share_limit);
            if (!blocks) return tl::unexpected{blocks.error()};
            auto const hundredths = detail::number(cores, share_limit);
            if (!hundredths) return tl::unexpected{hundredths.error()};
            shares.push_back({.uuid = uuid.text, .memory = *blocks, .cores = *hundredths, .type = type.text});
        }
    }
    return containers;
}

/// Writes the annotation that `decode_pod` reads.
///
/// Shape:  UUID and type hold no ',', ':' or ';', which nothing decoded does. A single container without shares is
///         written as no text, which reads as no container.
/// Source: Volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go, encodePodDevices.
[[nodiscard]] inline std::string encode_pod(std::span<std::vector<share> const> containers) {
    std::string text;
    bool first = true;
    for (auto const& shares : containers) {
        if (!first) text += ';';
        first = false;
        for (auto const& held : shares) {
            MUSTER_ASSERT(held.uuid.find_first_of(",:;") == std::string_view::npos);
            MUSTER_ASSERT(held.type.find_first_of(",:;") == std::string_view::npos);
            text.append(held.uuid).append(",").append(held.type).append(",");
            text.append(std::to_string(held.memory)).append(",").append(std::to_string(held.cores)).append(":");
        }
    }
    return text;
}

} // namespace muster::wire::volcano
