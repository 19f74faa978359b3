#pragma once

/// \file
/// Clusters made of numbers that look random: the same ones for the same seed, on every machine.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/cluster/cluster.hpp>
#include <muster/cluster/spec.hpp>
#include <muster/config.hpp>
#include <muster/device/card.hpp>
#include <muster/device/request.hpp>
#include <muster/resource/amounts.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/resource/units.hpp>

namespace muster::workload {

/// Numbers from a seed; the standard's distributions differ between libraries, so there are none here.
///
/// Source: S. Vigna, splitmix64.c (public domain).
class random_numbers {
public:
    explicit constexpr random_numbers(std::uint64_t seed) noexcept : state_(seed) {}

    [[nodiscard]] constexpr std::uint64_t next() noexcept {
        auto z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    /// One of 0 to `end - 1`; `end` is far below 2^32, so the bias is too small to matter.
    [[nodiscard]] constexpr std::size_t below(std::size_t end) noexcept {
        return static_cast<std::size_t>(((next() >> 32U) * end) >> 32U);
    }

private:
    std::uint64_t state_;
};

/// What one kind of pod asks for.
struct pod_kind {
    std::int64_t cards;
    std::int64_t memory_percent; ///< of each card's memory
    std::int64_t cores;          ///< of each card
    std::int64_t cpu;
    std::int64_t memory_gib;
};

/// Eight kinds, from a notebook to a trainer on four whole cards.
inline constexpr std::array<pod_kind, 8> pod_kinds{{{1, 10, 5, 1, 4},
                                                    {1, 15, 10, 2, 8},
                                                    {1, 25, 20, 2, 16},
                                                    {1, 30, 30, 4, 16},
                                                    {1, 50, 40, 4, 32},
                                                    {2, 20, 25, 6, 32},
                                                    {2, 50, 50, 8, 48},
                                                    {4, 100, 100, 16, 96}}};

/// The measures of a synthetic cluster.
struct synthetic {
    std::uint64_t seed = 1;
    std::size_t nodes = 100;
    std::size_t cards = 8; ///< of each node
    mib card_memory{81'920};
    std::size_t running = 4; ///< the most pods that already hold a share on a node
    std::size_t gangs = 100;
    std::size_t gang_size = 10;
    std::size_t kinds = pod_kinds.size(); ///< how many of `pod_kinds` the gangs are drawn from
};

namespace detail {

[[nodiscard]] inline resource_list amounts_of(std::int64_t cpu, std::int64_t memory_gib) {
    return {{"cpu", quantity::from_units(cpu)}, {"memory", quantity::from_units(memory_gib << 30)}};
}

[[nodiscard]] inline mib part_of(mib whole, std::int64_t percent) noexcept { return mib{whole.value * percent / 100}; }

} // namespace detail

/// Nodes of 128 cpus and 1 TiB, some with pods that run, and gangs of one kind of pod each that wait in one queue.
///
/// Shape: nodes "node-I" with cards "card-I-J" of 10 slots; running pods "running-I-K" without a job, the K-th on card
///        K, of the single-card kinds; jobs "gang-I" in queue "default", whose pods "gang-I-K" all must start.
/// Cost:  one pass.
[[nodiscard]] inline cluster make_cluster(synthetic const& s) {
    MUSTER_ASSERT(s.kinds != 0 && s.kinds <= pod_kinds.size());
    random_numbers random{s.seed};
    cluster c;
    [[maybe_unused]] bool added = c.add_queue({.name = "default"}).has_value();
    for (std::size_t n = 0; n != s.nodes; ++n) {
        auto const number = std::to_string(n);
        node_spec node{.name = "node-" + number, .allocatable = detail::amounts_of(128, 1024)};
        node.allocatable.emplace_back("pods", quantity::from_units(110));
        for (std::size_t i = 0; i != s.cards; ++i)
            node.cards.push_back({.uuid = "card-" + number + "-" + std::to_string(i),
                                  .type = "NVIDIA-A100",
                                  .slots = 10,
                                  .memory = s.card_memory});
        added = c.add_node(node).has_value() && added;
        auto const running = std::min(random.below(s.running + 1), s.cards);
        for (std::size_t i = 0; i != running; ++i) {
            auto const& kind = pod_kinds[random.below(5)];
            container_request const ask{.memory = detail::part_of(s.card_memory, kind.memory_percent),
                                        .cores = percent{kind.cores}};
            task_spec pod{.name = "running-" + number + "-" + std::to_string(i)};
            pod.requests = detail::amounts_of(kind.cpu, kind.memory_gib);
            pod.devices.containers.push_back(ask);
            pod.status = task_status::running;
            pod.node = node.name;
            pod.shares.push_back({node.cards[i].uuid, 0, ask.memory, ask.cores});
            added = c.add_task(pod).has_value() && added;
        }
    }
    for (std::size_t g = 0; g != s.gangs; ++g) {
        auto const name = "gang-" + std::to_string(g);
        auto const& kind = pod_kinds[random.below(s.kinds)];
        job_spec job{.name = name};
        job.created = static_cast<std::int64_t>(g);
        job.min_available = static_cast<std::int32_t>(s.gang_size);
        added = c.add_job(job).has_value() && added;
        for (std::size_t i = 0; i != s.gang_size; ++i) {
            task_spec pod{.name = name + "-" + std::to_string(i)};
            pod.job = "default/" + name;
            pod.role = "worker";
            pod.requests = detail::amounts_of(kind.cpu, kind.memory_gib);
            pod.devices.containers.push_back({.cards = kind.cards,
                                              .memory = detail::part_of(s.card_memory, kind.memory_percent),
                                              .cores = percent{kind.cores}});
            added = c.add_task(pod).has_value() && added;
        }
    }
    MUSTER_ASSERT(added);
    return c;
}

} // namespace muster::workload
