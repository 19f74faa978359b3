#pragma once

/// \file
/// Policy proportion: queues share the cluster by weight, within their capability.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <muster/cluster/status.hpp>
#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/resource/amounts.hpp>
#include <muster/resource/vector.hpp>

namespace muster::policy {

/// Gives each queue with jobs what it deserves: its weight's part of what others leave, at most its request and its
/// capability, at least its guarantee. Fixed when the session opens.
///
/// Source: volcano, pkg/scheduler/plugins/proportion/proportion.go, at ed72c7c8 (spec/volcano-queues.md 2).
struct proportion {
    class state {
    public:
        explicit state(session_view view) : shares_(view.in().queues.size()), dimensions_(view.dimensions()) {
            resource_vector total(dimensions_);
            for (auto const n : view.nodes()) total.add(view.view(n).row().allocatable);
            open_queues(view, total);
            for (auto const id : view.jobs()) count_job(view.view(id));
            fill(view, total);
        }

        [[nodiscard]] int queue_order(queue_view a, queue_view b) const noexcept {
            if (a.row().priority != b.row().priority) return a.row().priority > b.row().priority ? -1 : 1;
            auto const share_a = shares_[a.id().index()].share;
            auto const share_b = shares_[b.id().index()].share;
            return share_a == share_b ? 0 : (share_a < share_b ? -1 : 1);
        }

        /// In every dimension it deserves, the queue holds as much.
        [[nodiscard]] bool overused(queue_view queue) const noexcept {
            auto const& q = shares_[queue.id().index()];
            for (std::size_t d = 0; d != dimensions_; ++d) {
                dimension_id const id{d};
                if (q.deserved.has(id) && q.deserved[id] - static_cast<double>(q.held[d]) >= resource_vector::epsilon)
                    return false;
            }
            return true;
        }

        [[nodiscard]] bool allocatable(queue_view queue, task_view task) const noexcept {
            if (!queue.row().open) return false;
            auto const& q = shares_[queue.id().index()];
            for (auto const& [d, amount] : task.shape().request)
                if (counts(d, amount) && static_cast<double>(q.held[d.index()] + amount) > q.deserved[d]) return false;
            return true;
        }

        [[nodiscard]] vote job_enqueueable(job_view job) const noexcept {
            if (!job.queue().row().open) return vote::reject;
            if (!job.row().min_resources) return vote::permit;
            auto const& q = shares_[job.row().queue.index()];
            for (auto const& [d, amount] : *job.row().min_resources)
                if (counts(d, amount) && static_cast<double>(claimed(q, d) + amount) > q.allowed[d])
                    return vote::reject;
            return vote::permit;
        }

        void job_enqueued(job_view job) noexcept {
            if (!job.row().min_resources) return;
            auto& q = shares_[job.row().queue.index()];
            for (auto const& [d, amount] : *job.row().min_resources)
                q.inqueue[d.index()] += without_gated(job, d, amount);
        }

        void allocated(task_view task) noexcept { charge(task, +1); }
        void deallocated(task_view task) noexcept { charge(task, -1); }

        /// Tasks of queues that hold more than they deserve, as long as they do.
        vote reclaimable(session_view view, task_view, std::span<task_id const> candidates,
                         column<task_id>& victims) const {
            column<std::int64_t> left;
            for (auto const& q : shares_) left.append(q.held);
            for (auto const t : candidates) {
                auto const job = view.view(t).row().job;
                if (!job || !view.view(job).row().queue) continue;
                auto const queue = view.view(job).row().queue.index();
                auto const rest = std::span{left}.subspan(queue * dimensions_, dimensions_);
                bool over = false;
                for (std::size_t d = 0; d != dimensions_; ++d)
                    over = over || static_cast<double>(rest[d]) - shares_[queue].deserved[dimension_id{d}] >=
                                       resource_vector::epsilon;
                if (!over) continue;
                victims.push_back(t);
                for (auto const& [d, amount] : view.view(t).shape().request) rest[d.index()] -= amount;
            }
            return vote::permit;
        }

        void explain_allocatable(queue_view queue, task_view task, reasons& out) const {
            if (!queue.row().open) return out.push_back({.code = reason_code::queue_closed});
            auto const& q = shares_[queue.id().index()];
            for (auto const d : queue.in().dimensions.walk()) {
                auto const amount = task.shape().request[d];
                auto const held = q.held[d.index()];
                if (counts(d, amount) && static_cast<double>(held + amount) > q.deserved[d])
                    out.push_back({reason_code::queue_quota, limited(queue, q, d), d, amount, held, q.deserved[d]});
            }
        }

        void explain_job_enqueueable(job_view job, reasons& out) const {
            if (!job.queue().row().open) return out.push_back({.code = reason_code::queue_closed});
            auto const& q = shares_[job.row().queue.index()];
            for (auto const d : job.in().dimensions.walk()) {
                auto const amount = (*job.row().min_resources)[d];
                auto const held = claimed(q, d);
                if (counts(d, amount) && static_cast<double>(held + amount) > q.allowed[d])
                    out.push_back({reason_code::queue_quota, limit_kind::capability, d, amount, held, q.allowed[d]});
            }
        }

        void describe(queue_view queue, queue_facts& out) const {
            auto const& q = shares_[queue.id().index()];
            out = {q.asked_for, q.deserved, q.share, q.inqueue};
        }

        [[nodiscard]] resource_vector const& deserved(queue_id q) const noexcept { return shares_[q.index()].deserved; }
        [[nodiscard]] double share(queue_id q) const noexcept { return shares_[q.index()].share; }

    private:
        /// What one queue has, may have and deserves. Amounts are `[dimension]`.
        struct queue_share {
            bool asked_for = false;    ///< some job is in it
            bool met = false;          ///< its share is settled
            resource_vector allowed{}; ///< capability, and what other queues' guarantees leave
            resource_vector guarantee{};
            resource_vector request{};
            resource_vector deserved{};
            column<std::int64_t> held{};
            column<std::int64_t> inqueue{}; ///< promised to jobs that were let in
            column<std::int64_t> elastic{}; ///< held beyond the minima of its jobs
            double share = 0;
        };

        /// A requested dimension that limits apply to.
        [[nodiscard]] static bool counts(dimension_id d, std::int64_t amount) noexcept {
            return amount > 0 && d != dimension::pods;
        }

        [[nodiscard]] static std::int64_t claimed(queue_share const& q, dimension_id d) noexcept {
            return q.held[d.index()] + q.inqueue[d.index()] - q.elastic[d.index()];
        }

        [[nodiscard]] static limit_kind limited(queue_view queue, queue_share const& q, dimension_id d) noexcept {
            auto const& capability = queue.row().capability;
            bool const by_capability =
                capability && capability->has(d) && static_cast<double>((*capability)[d]) <= q.deserved[d];
            return by_capability ? limit_kind::capability : limit_kind::deserved;
        }

        void open_queues(session_view view, resource_vector const& total) {
            resource_vector guaranteed(dimensions_);
            for (auto const id : view.queues())
                if (auto const& g = view.view(id).row().guarantee) guaranteed.add(*g);
            auto const free = resource_vector::exceeded(total, guaranteed);
            for (auto const id : view.queues()) {
                auto const& row = view.view(id).row();
                auto& q = shares_[id.index()];
                q.guarantee =
                    row.guarantee ? resource_vector(dimensions_, *row.guarantee) : resource_vector(dimensions_);
                q.request = q.deserved = resource_vector(dimensions_);
                q.held.resize(dimensions_);
                q.inqueue.resize(dimensions_);
                q.elastic.resize(dimensions_);
                q.allowed = free;
                q.allowed.add(q.guarantee);
                if (row.capability) q.allowed.lower_to(capability_of(*row.capability), absent::infinite);
            }
        }

        /// A capability whose cpu or memory is not given leaves it unlimited.
        [[nodiscard]] resource_vector capability_of(amounts const& given) const {
            resource_vector capability(dimensions_, given);
            for (auto const d : {dimension::cpu, dimension::memory})
                if (capability[d] <= 0) capability.set(d, std::numeric_limits<double>::max());
            return capability;
        }

        void count_job(job_view job) {
            auto& q = shares_[job.row().queue.index()];
            q.asked_for = true;
            for (auto const t : job.row().tasks) {
                task_view const task{job.in(), job.now(), t};
                if (statuses::held.has(task.status()))
                    for (auto const& [d, amount] : task.shape().request) q.held[d.index()] += amount;
                if (statuses::held.has(task.status()) || task.status() == task_status::pending)
                    q.request.add(task.shape().request);
            }
            for (std::size_t d = 0; d != dimensions_; ++d) {
                dimension_id const id{d};
                auto const minimum = job.row().min_resources ? (*job.row().min_resources)[id] : 0;
                q.elastic[d] += std::max<std::int64_t>(job.held(id) - minimum, 0);
            }
            auto const placed = std::int64_t{statuses::held.of(job.counts())};
            bool const claims = job.phase() == job_phase::inqueue ||
                                (job.phase() == job_phase::running && placed >= job.row().min_available);
            if (!claims || !job.row().min_resources) return;
            for (auto const& [d, amount] : *job.row().min_resources)
                q.inqueue[d.index()] += without_gated(job, d, std::max<std::int64_t>(amount - job.held(d), 0));
        }

        /// A claim less what its gated tasks ask for, which can't start yet.
        [[nodiscard]] static std::int64_t without_gated(job_view job, dimension_id d, std::int64_t claim) noexcept {
            std::int64_t gated = 0;
            for (auto const t : job.row().tasks) {
                task_view const task{job.in(), job.now(), t};
                if (task.row().gate == scheduling_gate::held) gated += task.shape().request[d];
            }
            return std::max<std::int64_t>(claim - gated, 0);
        }

        /// Pours what the cluster has into the queues by weight, round by round, until it or their wants are used up.
        void fill(session_view view, resource_vector const& total) {
            auto remaining = total;
            for (;;) {
                std::int64_t weights = 0;
                for (auto const id : view.queues())
                    if (open_want(id)) weights += view.view(id).row().weight;
                if (weights == 0) break;
                auto const before = remaining;
                resource_vector more(dimensions_);
                resource_vector less(dimensions_);
                for (auto const id : view.queues()) {
                    if (!open_want(id)) continue;
                    auto& q = shares_[id.index()];
                    auto const previous = q.deserved;
                    q.deserved.add_scaled(remaining, static_cast<double>(view.view(id).row().weight) /
                                                         static_cast<double>(weights));
                    q.deserved.lower_to(q.allowed, absent::infinite);
                    q.deserved.lower_to(q.request, absent::zero);
                    q.deserved.raise_to(q.guarantee);
                    settle_share(q);
                    q.met = less_equal(q.request, q.deserved) || q.deserved == previous;
                    more.add(resource_vector::exceeded(q.deserved, previous));
                    less.add(resource_vector::exceeded(previous, q.deserved));
                }
                remaining.add(less);
                remaining = resource_vector::exceeded(remaining, more);
                if (remaining.is_empty() || remaining == before) break;
            }
        }

        [[nodiscard]] bool open_want(queue_id id) const noexcept {
            return shares_[id.index()].asked_for && !shares_[id.index()].met;
        }

        void settle_share(queue_share& q) const noexcept {
            q.share = 0;
            for (std::size_t d = 0; d != dimensions_; ++d) {
                auto const whole = q.deserved[dimension_id{d}];
                if (whole >= resource_vector::epsilon)
                    q.share = std::max(q.share, share_of(static_cast<double>(q.held[d]), whole));
            }
        }

        void charge(task_view task, std::int64_t sign) noexcept {
            auto const job = task.row().job;
            auto const queue = job ? task.in().jobs[job.index()].queue : queue_id{};
            if (!queue) return;
            auto& q = shares_[queue.index()];
            for (auto const& [d, amount] : task.shape().request) q.held[d.index()] += sign * amount;
            settle_share(q);
        }

        std::vector<queue_share> shares_;
        std::size_t dimensions_;
    };

    [[nodiscard]] state open(session_view view) const { return state{view}; }
};

} // namespace muster::policy
