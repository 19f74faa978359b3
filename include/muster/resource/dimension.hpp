#pragma once

/// \file
/// The dimensions of a cluster: which resource names count, in which unit, and in which order they are walked.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>

namespace muster {

/// How the amounts of one resource are counted.
enum class counting : std::uint8_t {
    whole,      ///< units, rounded up: memory in bytes, pods
    thousandth, ///< thousandths, rounded up: cpu and every other scalar (one GPU is 1000)
};

/// How Volcano counts a resource name, or nothing if it takes no part in scheduling.
///
/// Source: volcano, pkg/scheduler/api/resource_info.go, NewResource, at ed72c7c8; scalar names as Kubernetes'
///         IsScalarResourceName.
[[nodiscard]] constexpr std::optional<counting> counting_of(std::string_view name) noexcept {
    if (name == "memory" || name == "pods") return counting::whole;
    if (name == "cpu" || name == "ephemeral-storage") return counting::thousandth;
    if (name.starts_with("count/") || name.starts_with("requests.")) return std::nullopt;
    bool const scalar = name.starts_with("hugepages-") || name.starts_with("attachable-volumes-") ||
                        name.find('/') != std::string_view::npos;
    if (scalar) return counting::thousandth;
    return std::nullopt;
}

namespace dimension {
inline constexpr dimension_id cpu{0};
inline constexpr dimension_id memory{1};
inline constexpr dimension_id pods{2};
} // namespace dimension

/// The dimensions that a cluster has met; cpu, memory and pods are always there.
///
/// Invariant: `walk()` is a permutation of all ids: cpu, memory, then the others by name in byte order. Sums of
/// doubles and lists in messages follow it, whatever order the names came in.
class dimension_table {
public:
    dimension_table() {
        for (auto const* name : {"cpu", "memory", "pods"}) (void)intern(name);
    }

    [[nodiscard]] dimension_id intern(std::string_view name) {
        if (auto const known = find(name)) return known;
        dimension_id const fresh{names_.size()};
        names_.emplace_back(name);
        auto place = walk_.end();
        if (walk_.size() >= 2) {
            place = std::lower_bound(walk_.begin() + 2, walk_.end(), name,
                                     [&](dimension_id d, std::string_view text) { return names_[d.index()] < text; });
        }
        walk_.insert(place, fresh);
        return fresh;
    }

    /// The name's dimension, or none. Linear: a cluster has a dozen.
    [[nodiscard]] dimension_id find(std::string_view name) const noexcept {
        auto const found = std::find(names_.begin(), names_.end(), name);
        return found == names_.end() ? dimension_id{} : dimension_id{static_cast<std::size_t>(found - names_.begin())};
    }

    [[nodiscard]] std::string const& name(dimension_id d) const noexcept { return names_[d.index()]; }
    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] column<dimension_id> const& walk() const noexcept { return walk_; }

private:
    std::vector<std::string> names_;
    column<dimension_id> walk_;
};

} // namespace muster
