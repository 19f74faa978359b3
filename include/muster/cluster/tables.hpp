#pragma once

/// \file
/// The rows of a cluster: what is known of each node, queue, job and task, with every name a number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/cluster/rules.hpp>
#include <muster/cluster/shape.hpp>
#include <muster/cluster/spec.hpp>
#include <muster/cluster/status.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/symbol_table.hpp>
#include <muster/device/card.hpp>
#include <muster/resource/amounts.hpp>
#include <muster/resource/dimension.hpp>

namespace muster {

/// A stretch of a table: `count` rows from `first` on.
struct range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] constexpr std::size_t end() const noexcept { return std::size_t{first} + count; }
    friend constexpr bool operator==(range, range) noexcept = default;
};

/// A container image that a node has.
struct image {
    symbol name;
    std::int64_t bytes = 0;
};

struct node_row {
    symbol name;
    column<label> labels{};
    column<taint> taints{};
    column<image> images{}; ///< ascending by name
    amounts allocatable{};
    range cards{};
    bool unschedulable = false;
    bool live = true;
};

struct queue_row {
    symbol name;
    symbol parent;
    std::int64_t created = 0;
    std::int32_t weight = 1;
    std::int32_t priority = 0;
    std::optional<amounts> capability{};
    std::optional<amounts> deserved{};
    std::optional<amounts> guarantee{};
    bool reclaimable = true;
    bool open = true;
    bool live = true;
};

/// What a job demands of one of its roles.
struct role_row {
    symbol name;
    std::int32_t min = 0;
    bool demanded = false; ///< named by the job, not only met among its tasks
};

struct job_row {
    symbol ns;
    symbol name;
    symbol key; ///< "namespace/name"
    symbol queue_name;
    queue_id queue; ///< none while no queue has that name
    std::int64_t created = 0;
    std::int32_t min_available = 1;
    std::int64_t min_of_roles = 0; ///< summed
    std::optional<amounts> min_resources{};
    std::int32_t priority = 0;
    job_phase phase = job_phase::pending;
    column<role_id> roles{};
    column<task_id> tasks{}; ///< live ones, in order of adding or of their last change
    bool live = true;

    /// Its minimum resources, nothing where it has none.
    [[nodiscard]] amounts claim() const { return min_resources.value_or(amounts{}); }
};

/// A share by the card's name, which a node may not (or no longer) have.
struct named_share {
    symbol uuid;
    std::uint32_t container = 0;
    mib memory{};
    percent cores{};
};

struct task_row {
    symbol ns;
    symbol name;
    symbol key; ///< "namespace/name"
    std::string uid{};
    symbol group; ///< "namespace/name" of its PodGroup
    job_id job;   ///< none while there is no such job
    symbol role_name;
    role_id role; ///< none without job
    shape_id shape;
    std::int64_t created = 0;
    std::optional<std::int64_t> number{}; ///< the index that ends a name of two dashes or more
    std::int32_t priority = 1;
    task_status status = task_status::pending;
    symbol node_name;
    symbol nominated;
    column<named_share> held{};
    column<label> labels{};
    scheduling_gate gate = scheduling_gate::none;
    bool best_effort = false;
    bool critical = false;
    bool preemptable = true;
    bool live = true;
};

/// All rows; ids are positions in these vectors.
struct tables {
    symbol_table symbols{};
    dimension_table dimensions{};
    std::vector<node_row> nodes{};
    column<card> cards{};
    std::vector<queue_row> queues{};
    std::vector<job_row> jobs{};
    column<role_row> roles{};
    std::vector<task_row> tasks{};
    std::vector<shape> shapes{};

    [[nodiscard]] std::string const& text(symbol s) const noexcept { return symbols.text(s); }
    [[nodiscard]] shape const& shape_of(task_row const& task) const noexcept { return shapes[task.shape.index()]; }
};

} // namespace muster
