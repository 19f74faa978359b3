#pragma once

/// \file
/// Policy nodeorder: the rankings of the Kubernetes scheduler, each with a weight.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <muster/cluster/rules.hpp>
#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/real.hpp>
#include <muster/policy/argument.hpp>
#include <muster/policy/hooks.hpp>

namespace muster::policy {

/// Ranks nodes 0 to 100 by several measures and sums them, weighted.
///
/// Source: volcano, pkg/scheduler/plugins/nodeorder, at ed72c7c8 (spec/volcano-core.md 7.5), over the scores of
///         Kubernetes 1.36. Not yet: inter-pod affinity and topology spread (they add the same to all nodes for pods
///         without such rules).
struct nodeorder {
    std::int64_t least_requested = 1;
    std::int64_t most_requested = 0;
    std::int64_t balanced = 1;
    std::int64_t node_affinity = 2;
    std::int64_t taint_toleration = 3;
    std::int64_t image_locality = 1;

    class state;
    [[nodiscard]] state open(session_view view) const;
};

class nodeorder::state {
public:
    state(nodeorder const& p, session_view view)
        : weights_(p), gpu_(view.in().dimensions.find("nvidia.com/gpu")), requested_(view.in().nodes.size()),
          counts_(view.in().nodes.size()) {
        for (auto const n : view.nodes()) {
            view.view(n).each_task([&](task_view t) { charge(t, +1); });
            for (auto const& t : view.view(n).row().taints)
                repelled_ = repelled_ || t.effect == taint_effect::prefer_no_schedule;
        }
        spread_images(view);
    }

    void allocated(task_view task) noexcept { charge(task, +1); }
    void deallocated(task_view task) noexcept { charge(task, -1); }

    /// How much of the pod's images is there already, larger and rarer ones counting more.
    [[nodiscard]] double score(node_view node, shape_view shape) const noexcept {
        auto const& wanted = shape.shape().placement.images;
        if (images_.empty() || wanted.empty() || weights_.image_locality == 0) return 0;
        constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
        constexpr std::int64_t least_bytes = 23 * mebibyte;
        auto const most_bytes = 1000 * mebibyte * static_cast<std::int64_t>(wanted.size());
        std::int64_t bytes = 0;
        auto const there = images_[node.id().index()];
        for (std::size_t i = there.first; i != there.end(); ++i)
            for (auto const name : wanted)
                if (name == spread_[i].name) bytes += spread_[i].bytes;
        auto const counted = std::clamp(bytes, least_bytes, most_bytes);
        auto const hundredths_of_most = 100 * (counted - least_bytes) / (most_bytes - least_bytes);
        return static_cast<double>(weights_.image_locality * hundredths_of_most);
    }

    /// Preferences and taints are scaled by the candidates' largest.
    [[nodiscard]] locality reads(shape_view shape) const noexcept {
        bool const scaled = (weights_.node_affinity != 0 && !shape.shape().placement.preferred.empty()) ||
                            (weights_.taint_toleration != 0 && repelled_);
        return scaled ? locality::candidates : locality::node;
    }

    void rank(session_view view, std::span<node_id const> candidates, shape_view shape,
              std::span<double> sums) const noexcept {
        auto const& s = shape.shape();
        bool const balances = weights_.balanced != 0 && asks_anything(s);
        for (std::size_t i = 0; i != candidates.size(); ++i) {
            auto const node = view.view(candidates[i]);
            std::int64_t sum = 0;
            if (weights_.least_requested != 0) sum += weights_.least_requested * least(node, s);
            if (weights_.most_requested != 0) sum += weights_.most_requested * most(node, s);
            if (balances) sum += weights_.balanced * balance(node, s);
            sums[i] += static_cast<double>(sum);
        }
        if (weights_.node_affinity != 0 && !s.placement.preferred.empty()) {
            for (std::size_t i = 0; i != candidates.size(); ++i)
                counts_[i] = preference(view.view(candidates[i]), s.placement);
            normalise(candidates.size(), weights_.node_affinity, false, sums);
        }
        if (weights_.taint_toleration != 0) {
            for (std::size_t i = 0; i != candidates.size(); ++i)
                counts_[i] = repelled_ ? repelling(view.view(candidates[i]), s.placement) : 0;
            normalise(candidates.size(), weights_.taint_toleration, true, sums);
        }
    }

private:
    /// An image on few nodes counts for less: else all its pods would meet there. As in the original, each node counts
    /// itself and those before it only.
    void spread_images(session_view view) {
        column<std::uint32_t> nodes_with;
        for (auto const n : view.nodes()) {
            auto const& images = view.view(n).row().images;
            if (images.empty()) continue;
            nodes_with.resize(view.in().symbols.size());
            images_.resize(view.in().nodes.size());
            images_[n.index()] = {static_cast<std::uint32_t>(spread_.size()),
                                  static_cast<std::uint32_t>(images.size())};
            for (auto const& i : images) {
                auto const part =
                    static_cast<double>(++nodes_with[i.name.index()]) / static_cast<double>(view.nodes().size());
                spread_.push_back({i.name, static_cast<std::int64_t>(static_cast<double>(i.bytes) * part)});
            }
        }
    }

    /// What the pods of a node ask for, as the Kubernetes scores count it.
    struct load {
        std::int64_t cpu = 0;    ///< thousandths
        std::int64_t memory = 0; ///< bytes
        std::int64_t gpu = 0;
        std::int64_t scoring_cpu = 0; ///< with something for pods that ask for nothing
        std::int64_t scoring_memory = 0;
    };

    void charge(task_view task, std::int64_t sign) noexcept {
        auto const& s = task.shape();
        auto& l = requested_[task.where().node.index()];
        l.cpu += sign * s.request[dimension::cpu];
        l.memory += sign * s.request[dimension::memory];
        if (gpu_) l.gpu += sign * s.request[gpu_];
        l.scoring_cpu += sign * s.scoring_cpu;
        l.scoring_memory += sign * s.scoring_memory;
    }

    [[nodiscard]] bool asks_anything(shape const& s) const noexcept {
        return s.request[dimension::cpu] != 0 || s.request[dimension::memory] != 0 || (gpu_ && s.request[gpu_] != 0);
    }

    /// Whole-number mean of `score(asked, allocatable)` over cpu and memory; a resource without any is left out.
    template <class Score>
    [[nodiscard]] std::int64_t mean(node_view node, shape const& s, Score score) const noexcept {
        auto const& l = requested_[node.id().index()];
        auto const cpu = node.allocatable(dimension::cpu);
        auto const memory = node.allocatable(dimension::memory);
        std::int64_t sum = 0;
        std::int64_t parts = 0;
        if (cpu != 0) sum += score(l.scoring_cpu + s.scoring_cpu, cpu), ++parts;
        if (memory != 0) sum += score(l.scoring_memory + s.scoring_memory, memory), ++parts;
        return parts == 0 ? 0 : sum / parts;
    }

    [[nodiscard]] std::int64_t least(node_view node, shape const& s) const noexcept {
        return mean(node, s, [](std::int64_t asked, std::int64_t all) {
            return asked > all ? 0 : hundredths(all - asked, all);
        });
    }

    [[nodiscard]] std::int64_t most(node_view node, shape const& s) const noexcept {
        return mean(node, s,
                    [](std::int64_t asked, std::int64_t all) { return hundredths(std::min(asked, all), all); });
    }

    /// `part * 100 / whole` in whole numbers, whatever the size.
    [[nodiscard]] static std::int64_t hundredths(std::int64_t part, std::int64_t whole) noexcept {
        std::int64_t product = 0;
        if (!__builtin_mul_overflow(part, 100, &product)) return product / whole;
        return static_cast<std::int64_t>(static_cast<long double>(part) / static_cast<long double>(whole) * 100.0L);
    }

    /// How much more even the node gets: 50 where nothing changes.
    [[nodiscard]] std::int64_t balance(node_view node, shape const& s) const noexcept {
        auto const with = evenness(node, s, 1);
        auto const without = evenness(node, s, 0);
        return 50 + (50 + with - without) / 2;
    }

    /// 100 less the deviation of the used fractions, with `times` the shape added.
    [[nodiscard]] std::int64_t evenness(node_view node, shape const& s, std::int64_t times) const noexcept {
        auto const& l = requested_[node.id().index()];
        std::array<double, 3> fractions{};
        std::size_t n = 0;
        double total = 0;
        auto const add = [&](std::int64_t asked, std::int64_t all) {
            if (all == 0) return;
            fractions[n] = std::min(1.0, static_cast<double>(asked) / static_cast<double>(all));
            total += fractions[n++];
        };
        add(l.cpu + times * s.request[dimension::cpu], node.allocatable(dimension::cpu));
        add(l.memory + times * s.request[dimension::memory], node.allocatable(dimension::memory));
        if (gpu_ && s.request[gpu_] != 0) add(l.gpu + times * s.request[gpu_], node.allocatable(gpu_));
        double deviation = 0;
        if (n == 2) deviation = std::abs((fractions[0] - fractions[1]) / 2);
        if (n > 2) {
            auto const mean_fraction = total / static_cast<double>(n);
            for (std::size_t i = 0; i != n; ++i) {
                auto const off = fractions[i] - mean_fraction;
                deviation += rounded(off * off);
            }
            deviation = std::sqrt(deviation / static_cast<double>(n));
        }
        return static_cast<std::int64_t>((1.0 - deviation) * 100.0);
    }

    /// The summed weights of the preferences that a node meets.
    [[nodiscard]] static std::int64_t preference(node_view node, rules const& r) noexcept {
        std::int64_t sum = 0;
        for (auto const& p : r.preferred) {
            bool const any = p.term.labels.empty() && p.term.fields.empty();
            if (any || meets(node.row().labels, node.row().name, p.term)) sum += p.weight;
        }
        return sum;
    }

    /// How many taints would rather not have the pod.
    [[nodiscard]] static std::int64_t repelling(node_view node, rules const& r) noexcept {
        return std::count_if(node.row().taints.begin(), node.row().taints.end(), [&](taint const& t) {
            return t.effect == taint_effect::prefer_no_schedule &&
                   std::none_of(r.tolerations.begin(), r.tolerations.end(),
                                [&](auto const& toleration) { return toleration.tolerates(t); });
        });
    }

    /// Adds the counts, scaled so that the largest is 100, or so that none is, weighted.
    void normalise(std::size_t n, std::int64_t weight, bool fewest_best, std::span<double> sums) const noexcept {
        auto const largest =
            n == 0 ? 0 : *std::max_element(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(n));
        for (std::size_t i = 0; i != n; ++i) {
            auto const scaled = largest == 0 ? 0 : counts_[i] * 100 / largest;
            sums[i] += static_cast<double>(weight * (fewest_best ? 100 - scaled : scaled));
        }
    }

    nodeorder weights_;
    dimension_id gpu_;
    bool repelled_ = false; ///< some node has a taint that only repels
    column<range> images_;  ///< a node: its part of `spread_`; empty if no node has any
    column<image> spread_;
    column<load> requested_;              ///< a node
    mutable column<std::int64_t> counts_; ///< room for one normalisation
};

inline nodeorder::state nodeorder::open(session_view view) const { return {*this, view}; }

} // namespace muster::policy

namespace muster {

template <>
inline constexpr auto arguments<policy::nodeorder> = boost::hana::make_tuple(
    argument<policy::nodeorder, std::int64_t>{"leastrequested.weight", &policy::nodeorder::least_requested, {}, {}},
    argument<policy::nodeorder, std::int64_t>{"mostrequested.weight", &policy::nodeorder::most_requested, {}, {}},
    argument<policy::nodeorder, std::int64_t>{"balancedresource.weight", &policy::nodeorder::balanced, {}, {}},
    argument<policy::nodeorder, std::int64_t>{"nodeaffinity.weight", &policy::nodeorder::node_affinity, {}, {}},
    argument<policy::nodeorder, std::int64_t>{"tainttoleration.weight", &policy::nodeorder::taint_toleration, {}, {}},
    argument<policy::nodeorder, std::int64_t>{"imagelocality.weight", &policy::nodeorder::image_locality, {}, {}},
    inert_argument{"podaffinity.weight"}, inert_argument{"podtopologyspread.weight"});

} // namespace muster
