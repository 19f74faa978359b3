#pragma once

/// \file
/// Policy drf: dominant resource fairness between jobs.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/cluster/status.hpp>
#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/resource/vector.hpp>

namespace muster::policy {

/// Serves the job first whose largest share of any resource is smallest.
///
/// Source: volcano, pkg/scheduler/plugins/drf/drf.go, at ed72c7c8 (spec/volcano-queues.md 4); without hierarchy.
struct drf {
    /// The shares of one session.
    class state {
    public:
        explicit state(session_view view)
            : total_(view.dimensions()), held_(view.in().jobs.size() * view.dimensions()),
              share_(view.in().jobs.size()) {
            for (std::size_t d = 0; d != total_.size(); ++d)
                total_[d] = static_cast<double>(view.total(dimension_id{d}));
            for (auto const id : view.jobs()) {
                for (std::size_t d = 0; d != total_.size(); ++d) held(id)[d] = view.view(id).held(dimension_id{d});
                share_[id.index()] = dominant(held(id));
            }
        }

        [[nodiscard]] int job_order(job_view a, job_view b) const noexcept {
            auto const share_a = share_[a.id().index()];
            auto const share_b = share_[b.id().index()];
            return share_a == share_b ? 0 : (share_a < share_b ? -1 : 1);
        }

        void allocated(task_view task) noexcept { charge(task, +1); }
        void deallocated(task_view task) noexcept { charge(task, -1); }

        /// Tasks of jobs whose share, without them, stays at or above the preemptor's with what it asks.
        vote preemptable(session_view view, task_view preemptor, std::span<task_id const> candidates,
                         column<task_id>& victims) const {
            constexpr double delta = 1e-6;
            auto const job = preemptor.row().job;
            if (!job) return vote::permit;
            auto const held_by = held(job);
            column<std::int64_t> mine(held_by.data(), held_by.data() + held_by.size());
            for (auto const& [d, amount] : preemptor.shape().request) mine[d.index()] += amount;
            auto const wanted = dominant(mine);
            auto left = held_;
            for (auto const t : candidates) {
                auto const& row = view.view(t).row();
                if (!row.job) continue;
                auto const rest = std::span{left}.subspan(row.job.index() * total_.size(), total_.size());
                for (auto const& [d, amount] : view.view(t).shape().request) rest[d.index()] -= amount;
                auto const share = dominant(rest);
                if (wanted < share || std::abs(wanted - share) <= delta) victims.push_back(t);
            }
            return vote::permit;
        }

        /// The job's share of its dominant resource.
        [[nodiscard]] double share(job_id job) const noexcept { return share_[job.index()]; }

    private:
        [[nodiscard]] std::span<std::int64_t> held(job_id job) noexcept {
            return std::span{held_}.subspan(job.index() * total_.size(), total_.size());
        }
        [[nodiscard]] std::span<std::int64_t const> held(job_id job) const noexcept {
            return std::span{held_}.subspan(job.index() * total_.size(), total_.size());
        }

        [[nodiscard]] double dominant(std::span<std::int64_t const> amounts) const noexcept {
            double most = 0;
            for (std::size_t d = 0; d != total_.size(); ++d)
                if (total_[d] >= resource_vector::epsilon)
                    most = std::max(most, share_of(static_cast<double>(amounts[d]), total_[d]));
            return most;
        }

        void charge(task_view task, std::int64_t sign) noexcept {
            auto const job = task.row().job;
            if (!job) return;
            for (auto const& [d, amount] : task.shape().request) held(job)[d.index()] += sign * amount;
            share_[job.index()] = dominant(held(job));
        }

        column<double> total_;
        column<std::int64_t> held_; ///< `[job][dimension]`, with what is pipelined
        column<double> share_;
    };

    [[nodiscard]] state open(session_view view) const { return state{view}; }
};

} // namespace muster::policy
