#pragma once

/// \file
/// Tiers as a list: policies composed at run time, each behind one virtual call a hook or block of nodes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/policy/tiers.hpp>

namespace muster {

/// A state of some policy, with the hooks as virtual functions.
///
/// A hook that the policy lacks is never called: `hooks` says which it has.
class erased_state {
public:
    erased_state() = default;
    erased_state(erased_state const&) = delete;
    erased_state& operator=(erased_state const&) = delete;
    virtual ~erased_state() = default;

    [[nodiscard]] virtual hook_mask hooks() const noexcept = 0;

    [[nodiscard]] virtual int queue_order(queue_view a, queue_view b) const noexcept = 0;
    [[nodiscard]] virtual int job_order(job_view a, job_view b) const noexcept = 0;
    [[nodiscard]] virtual int task_order(task_view a, task_view b) const noexcept = 0;
    [[nodiscard]] virtual bool job_valid(job_view job) const noexcept = 0;
    [[nodiscard]] virtual bool job_ready(job_view job) const noexcept = 0;
    [[nodiscard]] virtual vote job_pipelined(job_view job) const noexcept = 0;
    [[nodiscard]] virtual bool job_starving(job_view job) const noexcept = 0;
    [[nodiscard]] virtual vote job_enqueueable(job_view job) const noexcept = 0;
    virtual void job_enqueued(job_view job) noexcept = 0;
    [[nodiscard]] virtual bool overused(queue_view queue) const noexcept = 0;
    [[nodiscard]] virtual bool allocatable(queue_view queue, task_view task) const noexcept = 0;
    [[nodiscard]] virtual bool fits(node_view node, shape_view shape) const noexcept = 0;
    [[nodiscard]] virtual bool fits_at_once(node_view node, shape_view shape) const noexcept = 0;
    virtual void fits_block(session_view view, std::span<node_id const> nodes, shape_view shape,
                            std::span<std::uint8_t> alive) const noexcept = 0;
    virtual void score_block(session_view view, std::span<node_id const> nodes, shape_view shape,
                             std::span<double> sums) const noexcept = 0;
    virtual void rank(session_view view, std::span<node_id const> nodes, shape_view shape,
                      std::span<double> sums) const noexcept = 0;
    virtual vote preemptable(session_view view, task_view task, std::span<task_id const> candidates,
                             column<task_id>& victims) const = 0;
    virtual vote reclaimable(session_view view, task_view task, std::span<task_id const> candidates,
                             column<task_id>& victims) const = 0;
    [[nodiscard]] virtual assignment assign(node_view node, shape_view shape, column<share>& out) = 0;
    [[nodiscard]] virtual std::uint64_t shape_key(task_view task) const noexcept = 0;
    virtual void allocated(task_view task) noexcept = 0;
    virtual void deallocated(task_view task) noexcept = 0;
    virtual void close(session_view view, std::span<task_facts const> facts, column<condition>& out) const = 0;
    virtual void describe(queue_view queue, queue_facts& out) const = 0;
    [[nodiscard]] virtual locality reads(shape_view shape) const noexcept = 0;
    virtual void explain_fits(node_view node, shape_view shape, reasons& out) const = 0;
    virtual void explain_allocatable(queue_view queue, task_view task, reasons& out) const = 0;
    virtual void explain_job_enqueueable(job_view job, reasons& out) const = 0;
};

namespace detail {

/// One policy's state behind the virtual functions.
template <class S>
class state_model final : public erased_state {
public:
    explicit state_model(S state) : state_(std::move(state)) {}

    [[nodiscard]] hook_mask hooks() const noexcept override {
        hook_mask mask = 0;
        all_hooks::each([&]<class Hook>(Hook) {
            if constexpr (Hook::template in<S>) mask |= hook_bit<Hook>;
        });
        return mask;
    }

    [[nodiscard]] int queue_order(queue_view a, queue_view b) const noexcept override {
        if constexpr (has_queue_order<S>)
            return state_.queue_order(a, b);
        else
            return 0;
    }
    [[nodiscard]] int job_order(job_view a, job_view b) const noexcept override {
        if constexpr (has_job_order<S>)
            return state_.job_order(a, b);
        else
            return 0;
    }
    [[nodiscard]] int task_order(task_view a, task_view b) const noexcept override {
        if constexpr (has_task_order<S>)
            return state_.task_order(a, b);
        else
            return 0;
    }
    [[nodiscard]] bool job_valid(job_view job) const noexcept override {
        if constexpr (has_job_valid<S>)
            return state_.job_valid(job);
        else
            return true;
    }
    [[nodiscard]] bool job_ready(job_view job) const noexcept override {
        if constexpr (has_job_ready<S>)
            return state_.job_ready(job);
        else
            return true;
    }
    [[nodiscard]] vote job_pipelined(job_view job) const noexcept override {
        if constexpr (has_job_pipelined<S>)
            return state_.job_pipelined(job);
        else
            return vote::abstain;
    }
    [[nodiscard]] bool job_starving(job_view job) const noexcept override {
        if constexpr (has_job_starving<S>)
            return state_.job_starving(job);
        else
            return false;
    }
    [[nodiscard]] vote job_enqueueable(job_view job) const noexcept override {
        if constexpr (has_job_enqueueable<S>)
            return state_.job_enqueueable(job);
        else
            return vote::abstain;
    }
    void job_enqueued(job_view job) noexcept override {
        if constexpr (has_job_enqueued<S>) state_.job_enqueued(job);
    }
    [[nodiscard]] bool overused(queue_view queue) const noexcept override {
        if constexpr (has_overused<S>)
            return state_.overused(queue);
        else
            return false;
    }
    [[nodiscard]] bool allocatable(queue_view queue, task_view task) const noexcept override {
        if constexpr (has_allocatable<S>)
            return state_.allocatable(queue, task);
        else
            return true;
    }
    [[nodiscard]] bool fits(node_view node, shape_view shape) const noexcept override {
        if constexpr (has_fits<S>)
            return state_.fits(node, shape);
        else
            return true;
    }
    [[nodiscard]] bool fits_at_once(node_view node, shape_view shape) const noexcept override {
        if constexpr (has_fits_at_once<S>)
            return state_.fits_at_once(node, shape);
        else
            return true;
    }
    void fits_block(session_view view, std::span<node_id const> nodes, shape_view shape,
                    std::span<std::uint8_t> alive) const noexcept override {
        if constexpr (has_fits<S>)
            for (std::size_t i = 0; i != nodes.size(); ++i)
                if (alive[i] != 0 && !state_.fits(view.view(nodes[i]), shape)) alive[i] = 0;
    }
    void score_block(session_view view, std::span<node_id const> nodes, shape_view shape,
                     std::span<double> sums) const noexcept override {
        if constexpr (has_score<S>)
            for (std::size_t i = 0; i != nodes.size(); ++i) sums[i] += state_.score(view.view(nodes[i]), shape);
    }
    void rank(session_view view, std::span<node_id const> nodes, shape_view shape,
              std::span<double> sums) const noexcept override {
        if constexpr (has_rank<S>) state_.rank(view, nodes, shape, sums);
    }
    vote preemptable(session_view view, task_view task, std::span<task_id const> candidates,
                     column<task_id>& victims) const override {
        if constexpr (has_preemptable<S>)
            return state_.preemptable(view, task, candidates, victims);
        else
            return vote::abstain;
    }
    vote reclaimable(session_view view, task_view task, std::span<task_id const> candidates,
                     column<task_id>& victims) const override {
        if constexpr (has_reclaimable<S>)
            return state_.reclaimable(view, task, candidates, victims);
        else
            return vote::abstain;
    }
    [[nodiscard]] assignment assign(node_view node, shape_view shape, column<share>& out) override {
        if constexpr (has_assign<S>)
            return state_.assign(node, shape, out);
        else
            return assignment::none;
    }
    [[nodiscard]] std::uint64_t shape_key(task_view task) const noexcept override {
        if constexpr (has_shape_key<S>)
            return state_.shape_key(task);
        else
            return 0;
    }
    void allocated(task_view task) noexcept override {
        if constexpr (has_allocated<S>) state_.allocated(task);
    }
    void deallocated(task_view task) noexcept override {
        if constexpr (has_deallocated<S>) state_.deallocated(task);
    }
    void close(session_view view, std::span<task_facts const> facts, column<condition>& out) const override {
        if constexpr (has_close<S>) state_.close(view, facts, out);
    }
    [[nodiscard]] locality reads(shape_view shape) const noexcept override { return locality_of(state_, shape); }
    void describe(queue_view queue, queue_facts& out) const override {
        if constexpr (has_describe<S>) state_.describe(queue, out);
    }
    void explain_fits(node_view node, shape_view shape, reasons& out) const override {
        if constexpr (has_explain_fits<S>) state_.explain_fits(node, shape, out);
    }
    void explain_allocatable(queue_view queue, task_view task, reasons& out) const override {
        if constexpr (has_explain_allocatable<S>) state_.explain_allocatable(queue, task, out);
    }
    void explain_job_enqueueable(job_view job, reasons& out) const override {
        if constexpr (has_explain_job_enqueueable<S>) state_.explain_job_enqueueable(job, out);
    }

private:
    S state_;
};

} // namespace detail

/// A policy with its parameters, ready to open sessions.
class erased_policy {
public:
    /// `mask` switches hooks off, beside those that the policy's type does.
    template <class P>
    explicit erased_policy(P policy, hook_mask mask = every_hook)
        : open_([p = std::move(policy)](session_view view) -> std::unique_ptr<erased_state> {
              return std::make_unique<detail::state_model<state_of_t<P>>>(open_policy(p, view));
          }),
          mask_(mask & detail::mask_of<P>) {}

    [[nodiscard]] std::unique_ptr<erased_state> open(session_view view) const { return open_(view); }
    [[nodiscard]] hook_mask mask() const noexcept { return mask_; }

private:
    std::function<std::unique_ptr<erased_state>(session_view)> open_;
    hook_mask mask_;
};

/// The states of one session, in tier order.
class dynamic_states {
public:
    struct entry {
        std::unique_ptr<erased_state> state;
        std::size_t tier = 0;
        hook_mask mask = 0;
    };

    explicit dynamic_states(std::vector<entry> entries) : entries_(std::move(entries)) {}

    template <class Hook, class F>
    void walk(F&& f) const {
        for (auto const& e : entries_)
            if ((e.mask & hook_bit<Hook>) != 0 && !f(static_cast<erased_state const&>(*e.state), e.tier)) return;
    }

    template <class Hook, class F>
    void walk(F&& f) {
        for (auto const& e : entries_)
            if ((e.mask & hook_bit<Hook>) != 0 && !f(*e.state, e.tier)) return;
    }

private:
    std::vector<entry> entries_;
};

/// Tiers of policies, chosen at run time.
class dynamic_tiers {
public:
    using states = dynamic_states;

    /// Adds a policy to a tier; tiers come in ascending order.
    void add(std::size_t tier, erased_policy policy) { policies_.emplace_back(tier, std::move(policy)); }

    [[nodiscard]] dynamic_states open(session_view view) const {
        std::vector<dynamic_states::entry> entries;
        for (auto const& [tier, policy] : policies_) {
            auto state = policy.open(view);
            auto const mask = state->hooks() & policy.mask();
            entries.push_back({std::move(state), tier, mask});
        }
        return dynamic_states{std::move(entries)};
    }

private:
    std::vector<std::pair<std::size_t, erased_policy>> policies_;
};

} // namespace muster
