#pragma once

/// \file
/// What a cluster is told of its nodes, queues, jobs and tasks: plain values with names.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cluster/rules.hpp>
#include <muster/cluster/status.hpp>
#include <muster/device/card.hpp>
#include <muster/device/request.hpp>
#include <muster/resource/amounts.hpp>

namespace muster {

/// A machine. Creation times are seconds since 1970, here and below.
struct node_spec {
    std::string name{};
    resource_list allocatable{};
    std::vector<card_spec> cards{};
    label_list labels{};
    std::vector<taint_spec> taints{};
    std::vector<std::pair<std::string, std::int64_t>> images{}; ///< names of container images that are there, and bytes
    bool unschedulable = false;
};

/// A queue: a name, its weight and what it is granted.
struct queue_spec {
    std::string name{};
    std::int64_t created = 0;
    std::int32_t weight = 1;
    std::int32_t priority = 0;
    std::optional<resource_list> capability{}; ///< absent or empty: unlimited
    std::optional<resource_list> deserved{};
    std::optional<resource_list> guarantee{};
    std::string parent{};
    bool reclaimable = true;
    bool open = true;
};

/// A gang: a PodGroup and what it demands of its tasks.
struct job_spec {
    std::string ns = "default";
    std::string name{};
    std::string queue = "default";
    std::int64_t created = 0;
    std::int32_t min_available = 1;
    std::vector<std::pair<std::string, std::int32_t>> min_of_role{};
    std::optional<resource_list> min_resources{};
    std::int32_t priority = 0;
    job_phase phase = job_phase::pending;
};

/// A share that a task already holds, by the card's uuid.
struct held_share {
    std::string uuid{};
    std::uint32_t container = 0;
    mib memory{};
    percent cores{};
};

/// Why a task may not start yet although it is there.
enum class scheduling_gate : std::uint8_t {
    none,
    queue, ///< the scheduler's own gate, opened once the queue has room
    held   ///< somebody else's
};

/// A pod.
struct task_spec {
    std::string ns = "default";
    std::string name{};
    std::string uid{}; ///< breaks ties of order; names it where empty
    std::string job{}; ///< "namespace/name" of its PodGroup; empty: none
    std::string role{};
    std::int64_t created = 0;
    std::int32_t priority = 1;
    resource_list requests{};                     ///< of the whole pod; one of `pods` is added
    std::optional<std::int64_t> scoring_cpu{};    ///< thousandths that rankings count; else from `requests`
    std::optional<std::int64_t> scoring_memory{}; ///< bytes, likewise
    device_request devices{};
    rules_spec rules{};
    label_list labels{};
    task_status status = task_status::pending;
    std::string node{};      ///< where it is
    std::string nominated{}; ///< where an eviction made room for it
    std::vector<held_share> shares{};
    scheduling_gate gate = scheduling_gate::none;
    bool critical = false; ///< of the system: never evicted by policy conformance
    bool preemptable = true;
};

} // namespace muster
