#pragma once

/// \file
/// Policy binpack: fill the fullest node that still has room.

#include <cstdint>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/real.hpp>
#include <muster/policy/argument.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/resource/amounts.hpp>
#include <muster/resource/dimension.hpp>

namespace muster::policy {

/// Scores a node by how full the asked resources would be, 0 to 100 times the weight.
///
/// Source: volcano, pkg/scheduler/plugins/binpack/binpack.go, at ed72c7c8 (spec/volcano-core.md 7.6).
struct binpack {
    std::int64_t weight = 1; ///< of the whole score; zero switches it off
    std::int64_t cpu = 1;
    std::int64_t memory = 1;
    weight_list resources{}; ///< weights of other resources; one not named is not scored

    class state {
    public:
        state(binpack const& p, session_view view) : weight_(static_cast<double>(p.weight)) {
            auto const& dimensions = view.in().dimensions;
            for (auto const d : dimensions.walk()) {
                if (d == dimension::cpu)
                    weights_.push_back({d, p.cpu});
                else if (d == dimension::memory)
                    weights_.push_back({d, p.memory});
                else
                    for (auto const& [name, w] : p.resources)
                        if (name == dimensions.name(d)) weights_.push_back({d, w});
            }
        }

        [[nodiscard]] static locality reads(shape_view) noexcept { return locality::node; }

        [[nodiscard]] double score(node_view node, shape_view shape) const noexcept {
            if (weight_ == 0) return 0;
            double sum = 0;
            double weights = 0;
            for (auto const& [d, w] : weights_) {
                auto const asked = shape.request()[d];
                if (asked == 0) continue;
                auto const part = static_cast<double>(w);
                auto const room = node.allocatable(d);
                auto const full = asked + node.used(d);
                if (room != 0 && w != 0) {
                    if (full > room) return 0;
                    sum += rounded(static_cast<double>(full) * part) / static_cast<double>(room);
                }
                weights += part;
            }
            if (weights > 0) sum /= weights;
            return rounded(rounded(sum * 100.0) * weight_);
        }

    private:
        double weight_;
        column<dimension_amount> weights_; ///< in the order that sums follow
    };

    [[nodiscard]] state open(session_view view) const { return {*this, view}; }
};

} // namespace muster::policy

namespace muster {

template <>
inline constexpr auto arguments<policy::binpack> = boost::hana::make_tuple(
    argument<policy::binpack, std::int64_t>{"binpack.weight", &policy::binpack::weight, {}, 0},
    argument<policy::binpack, std::int64_t>{"binpack.cpu", &policy::binpack::cpu, {}, 0},
    argument<policy::binpack, std::int64_t>{"binpack.memory", &policy::binpack::memory, {}, 0},
    weights_argument<policy::binpack>{"binpack.resources", "binpack.resources.", &policy::binpack::resources});

} // namespace muster
