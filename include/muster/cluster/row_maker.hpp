#pragma once

/// \file
/// Rows of the tables, made from specs: amounts counted, texts interned, shapes found.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <muster/cluster/rules.hpp>
#include <muster/cluster/shape.hpp>
#include <muster/cluster/spec.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/hash_index.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/result.hpp>

namespace muster::detail {

/// Makes rows and remembers which shapes there are; ids of other rows are left to the cluster.
///
/// Errors: those of `cluster`; names met before one stay interned.
class row_maker {
public:
    [[nodiscard]] result<void> make(tables& t, node_spec const& spec, node_row& row) {
        auto allocatable = count(spec.allocatable, t.dimensions);
        if (!allocatable) return tl::unexpected{allocatable.error()};
        for (std::size_t i = 0; i != spec.cards.size(); ++i) {
            auto const& c = spec.cards[i];
            if (c.slots < 0 || c.memory < mib{0} || c.memory > card_memory_limit) return fail(errc::out_of_range, i);
        }
        interning const interned{t.symbols};
        row.name = interned(spec.name);
        row.labels = intern(spec.labels, t.symbols);
        row.taints = interned(spec.taints);
        for (std::size_t i = 0; i != spec.images.size(); ++i)
            if (spec.images[i].second < 0 || spec.images[i].second > image_limit) return fail(errc::out_of_range, i);
        for (auto const& [name, bytes] : spec.images) row.images.push_back({interned(name), bytes});
        std::sort(row.images.begin(), row.images.end(), [](image const& a, image const& b) { return a.name < b.name; });
        row.allocatable = std::move(*allocatable);
        row.unschedulable = spec.unschedulable;
        return {};
    }

    [[nodiscard]] result<void> make(tables& t, queue_spec const& spec, queue_row& row) {
        if (spec.weight < 0) return fail(errc::negative);
        for (auto const& [from, to] :
             {std::pair{&spec.capability, &row.capability}, std::pair{&spec.deserved, &row.deserved},
              std::pair{&spec.guarantee, &row.guarantee}}) {
            if (auto const made = make(t, *from, *to); !made) return made;
        }
        if (spec.capability && spec.capability->empty()) row.capability.reset();
        row.name = t.symbols.intern(spec.name);
        if (!spec.parent.empty()) row.parent = t.symbols.intern(spec.parent);
        row.created = spec.created;
        row.weight = spec.weight;
        row.priority = spec.priority;
        row.reclaimable = spec.reclaimable;
        row.open = spec.open;
        return {};
    }

    [[nodiscard]] result<void> make(tables& t, job_spec const& spec, job_row& row) {
        if (auto const made = make(t, spec.min_resources, row.min_resources); !made) return made;
        row.ns = t.symbols.intern(spec.ns);
        row.name = t.symbols.intern(spec.name);
        row.queue_name = t.symbols.intern(spec.queue);
        row.created = spec.created;
        row.min_available = spec.min_available;
        for (auto const& [role, min] : spec.min_of_role) row.min_of_roles += min;
        row.priority = spec.priority;
        row.phase = spec.phase;
        return {};
    }

    [[nodiscard]] result<void> make(tables& t, task_spec const& spec, task_row& row) {
        auto request = count(spec.requests, t.dimensions);
        if (!request) return tl::unexpected{request.error()};
        if (!request->add(dimension::pods, 1)) return fail(errc::overflow);
        for (std::size_t i = 0; i != spec.shares.size(); ++i)
            if (!sensible(spec.shares[i].memory, spec.shares[i].cores)) return fail(errc::out_of_range, i);
        for (std::size_t i = 0; i != spec.devices.containers.size(); ++i) {
            auto const& c = spec.devices.containers[i];
            if (c.cards < 0 || !sensible(c.memory, c.cores) || !sensible({}, c.memory_percent.value_or(percent{0})))
                return fail(errc::out_of_range, i);
        }
        if (spec.scoring_cpu.value_or(0) < 0 || spec.scoring_memory.value_or(0) < 0) return fail(errc::negative);
        interning const interned{t.symbols};
        shape s;
        s.request = std::move(*request);
        auto const asked = [&](dimension_id d, std::int64_t otherwise) {
            return s.request[d] != 0 ? s.request[d] : otherwise;
        };
        s.scoring_cpu = spec.scoring_cpu.value_or(asked(dimension::cpu, 100));
        s.scoring_memory = spec.scoring_memory.value_or(asked(dimension::memory, std::int64_t{200} << 20));
        s.devices = spec.devices;
        s.placement = interned(spec.rules);
        row.ns = interned(spec.ns);
        row.name = interned(spec.name);
        row.uid = spec.uid.empty() ? spec.ns + '/' + spec.name : spec.uid;
        if (!spec.job.empty()) row.group = interned(spec.job);
        row.role_name = interned(spec.role);
        row.best_effort = s.best_effort();
        row.shape = intern_shape(t, std::move(s));
        row.created = spec.created;
        row.number = number_of(spec.name);
        row.priority = spec.priority;
        row.status = spec.status;
        if (!spec.node.empty()) row.node_name = interned(spec.node);
        if (!spec.nominated.empty()) row.nominated = interned(spec.nominated);
        for (auto const& h : spec.shares) row.held.push_back({interned(h.uuid), h.container, h.memory, h.cores});
        row.labels = intern(spec.labels, t.symbols);
        row.gate = spec.gate;
        row.critical = spec.critical;
        row.preemptable = spec.preemptable;
        return {};
    }

private:
    /// The most bytes of an image: sums over a node's stay inside 64 bits.
    static constexpr std::int64_t image_limit = std::int64_t{1} << 50;

    [[nodiscard]] static result<void> make(tables& t, std::optional<resource_list> const& list,
                                           std::optional<amounts>& sums) {
        if (!list) return {};
        auto counted = count(*list, t.dimensions);
        if (!counted) return tl::unexpected{counted.error()};
        sums = std::move(*counted);
        return {};
    }

    /// Whether a share is no debt, and small enough for sums of many.
    [[nodiscard]] static bool sensible(mib memory, percent of_card) noexcept {
        return memory >= mib{0} && memory <= card_memory_limit && of_card >= percent{0} &&
               of_card <= card_percent_limit;
    }

    /// The number after the last dash of a name that has two or more.
    [[nodiscard]] static std::optional<std::int64_t> number_of(std::string_view name) noexcept {
        auto const last = name.rfind('-');
        if (last == std::string_view::npos || name.find('-') == last) return std::nullopt;
        return whole_number(name.substr(last + 1));
    }

    [[nodiscard]] shape_id intern_shape(tables& t, shape s) {
        auto const hash = hash_of(s);
        shape_id found;
        found.value = index_.find(hash, [&](std::size_t position) { return t.shapes[position] == s; });
        if (found) return found;
        index_.insert(hash, static_cast<std::uint32_t>(t.shapes.size()));
        t.shapes.push_back(std::move(s));
        return shape_id{t.shapes.size() - 1};
    }

    hash_index index_; ///< of shapes
};

} // namespace muster::detail
