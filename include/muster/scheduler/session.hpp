#pragma once

/// \file
/// A session: one cycle's working copy of a cluster, with the moves that actions make on it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <muster/cluster/cluster.hpp>
#include <muster/cluster/journal.hpp>
#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/policy/tiers.hpp>
#include <muster/scheduler/explain.hpp>
#include <muster/scheduler/memory.hpp>
#include <muster/scheduler/outcome.hpp>
#include <muster/scheduler/record.hpp>
#include <muster/scheduler/roster.hpp>
#include <muster/scheduler/scan.hpp>
#include <muster/scheduler/status.hpp>
#include <muster/scheduler/work_list.hpp>

namespace muster {

/// One cycle. The cluster must outlive it and not change meanwhile.
///
/// Shape: actions move tasks by `place`, `discard`, `commit`, `dispatch`; every move is a journal entry.
/// Cost:  opening copies the state's columns and sizes all room; with no record to fill, nothing after it allocates.
template <class States>
class session {
public:
    template <class Policies>
    session(cluster const& c, Policies const& policies, bool enqueues, record* sink, memory* carried)
        : in_(take(carried)), state_(c.state()), phases_(in_.roster.phases(c.tables())),
          facts_(c.tables().tasks.size()), tables_(&c.tables()), tiers_(open_tiers(policies, c)), sink_(sink),
          enqueues_(enqueues) {
        intern_shapes();
        auto const tasks = tables_->tasks.size();
        in_.scan.open(in_.roster.nodes().size());
        in_.roles_failed.assign(tables_->roles.size(), 0);
        in_.journal.clear();
        in_.journal.reserve(6 * tasks + 16);
        bound_.reserve(tasks);
        std::size_t shares = state_.shares.size();
        for (auto const& task : tables_->tasks)
            for (auto const& request : tables_->shape_of(task).devices.containers)
                shares += 2 * static_cast<std::size_t>(std::clamp<std::int64_t>(request.cards, 0, 64));
        state_.shares.reserve(shares);
        in_.refused.open(*tables_, in_.roster, state_, in_.shapes);
        in_.work.open(*tables_, in_.roster, {order<queue_id>(), order<job_id>(), order<task_id>()});
    }

    // A view points into the session.
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session() { in_.in_use = false; }

    [[nodiscard]] session_view view() const noexcept {
        return {*tables_, state_, in_.roster.nodes(), in_.roster.queues(), in_.roster.jobs(), phases_};
    }
    [[nodiscard]] muster::roster const& roster() const noexcept { return in_.roster; }
    [[nodiscard]] States const& tiers() const noexcept { return tiers_; }
    [[nodiscard]] muster::journal const& journal() const noexcept { return in_.journal; }
    [[nodiscard]] job_phase phase(job_id job) const noexcept { return phases_[job.index()]; }
    void set_phase(job_id job, job_phase phase) noexcept { phases_[job.index()] = phase; }

    // Orders, with the ties that no policy decides: the older first, then by name or uid.

    [[nodiscard]] bool before(queue_id a, queue_id b) const noexcept {
        auto const order = detail::tiers::compare(tiers_, view().view(a), view().view(b));
        return order != 0 ? order < 0 : in_.roster.older(*tables_, a, b);
    }
    [[nodiscard]] bool before(job_id a, job_id b) const noexcept {
        auto const order = detail::tiers::compare(tiers_, view().view(a), view().view(b));
        return order != 0 ? order < 0 : in_.roster.older(*tables_, a, b);
    }
    [[nodiscard]] bool before(task_id a, task_id b) const noexcept {
        auto const order = detail::tiers::compare(tiers_, view().view(a), view().view(b));
        return order != 0 ? order < 0 : in_.roster.older(*tables_, a, b);
    }

    // Questions about jobs and queues.

    /// Whether this scheduler has an action that lets jobs in; else allocate does it.
    [[nodiscard]] bool enqueues() const noexcept { return enqueues_; }

    [[nodiscard]] bool valid(job_id job) const noexcept { return detail::tiers::job_valid(tiers_, view().view(job)); }
    [[nodiscard]] bool ready(job_id job) const noexcept { return detail::tiers::job_ready(tiers_, view().view(job)); }
    [[nodiscard]] bool pipelined(job_id job) const noexcept {
        return detail::tiers::job_pipelined(tiers_, view().view(job));
    }
    [[nodiscard]] bool overused(queue_id queue) const noexcept {
        return detail::tiers::overused(tiers_, view().view(queue));
    }

    /// Whether the queue has room for the task; a no is recorded.
    [[nodiscard]] bool allocatable(job_id job, task_id task) {
        auto const queue = view().view(job).queue();
        if (detail::tiers::allocatable(tiers_, queue, view().view(task))) return true;
        if (sink_ != nullptr) {
            auto const first = sink_->reasons.size();
            detail::tiers::explain_allocatable(tiers_, queue, view().view(task), sink_->reasons);
            sink_->refusals.push_back({job, task, since(first, sink_->reasons.size())});
        }
        return false;
    }

    /// Lets a job in if no policy objects; a no is recorded.
    bool enqueue(job_id job) {
        auto const row = view().view(job);
        if (row.row().min_resources && !detail::tiers::job_enqueueable(tiers_, row)) {
            if (sink_ != nullptr) {
                auto const first = sink_->reasons.size();
                detail::tiers::explain_job_enqueueable(tiers_, row, sink_->reasons);
                sink_->refusals.push_back({job, task_id{}, since(first, sink_->reasons.size())});
            }
            return false;
        }
        detail::tiers::job_enqueued(tiers_, row);
        set_phase(job, job_phase::inqueue);
        return true;
    }

    // Moves.

    /// Starts a gang: its tasks may share what their roles' failures tell (`use_cache`).
    void begin(job_id job, bool use_cache) noexcept { in_.refused.begin(job, use_cache); }

    /// The best node for a task, or nothing; a no is remembered for its role and recorded.
    [[nodiscard]] pick find(task_id task, bool by_amounts = true) {
        auto const shape = shape_of(task);
        auto const nominated = nomination(task);
        pick best{};
        if (nominated && by_amounts) {
            in_.scan.consider(std::span{&nominated, 1});
            best = in_.scan.run(tiers_, view(), shape, by_amounts);
        }
        if (!best) {
            in_.scan.consider(in_.roster.nodes());
            in_.refused.mask(*tables_, task, in_.scan.alive());
            best = in_.scan.run(tiers_, view(), shape, by_amounts);
            if (by_amounts)
                in_.refused.note(
                    *tables_, task, in_.scan.alive(), [&](std::size_t at) { return why(at, shape, true); },
                    sink_ != nullptr);
            if (!in_.scan.any()) fail(task, shape, by_amounts);
        }
        if (best && sink_ != nullptr) {
            auto const first = sink_->candidates.size();
            if (sink_->keep_candidates) in_.scan.list(tiers_, view(), shape, sink_->candidates);
            sink_->decisions.push_back({task, best.node, best.now, since(first, sink_->candidates.size())});
        }
        return best;
    }

    /// Whether the last `find` saw a node that would do, although none was ranked.
    [[nodiscard]] bool found_any() const noexcept { return in_.scan.any(); }

    /// Marks a task as not tried, since a task of its role failed; false if none did.
    bool skip_by_role(task_id task) {
        auto const& row = tables_->tasks[task.index()];
        if (!row.role || tables_->text(row.role_name).empty() || in_.roles_failed[row.role.index()] == 0) return false;
        note_failure(task, {task, true, 0});
        return true;
    }

    /// Puts a task on a node, now or once others have left; false if its cards can't be had.
    bool place(task_id task, node_id node, bool now) {
        placement to{now ? task_status::allocated : task_status::pipelined, node, {}};
        to.shares.first = static_cast<std::uint32_t>(state_.shares.size());
        auto const cards = detail::tiers::assign(tiers_, view().view(node), shape_of(task), state_.shares);
        if (cards == assignment::refused) return false;
        facts_[task.index()].assigned = cards == assignment::chosen;
        to.shares.count = static_cast<std::uint32_t>(state_.shares.size()) - to.shares.first;
        move(task, to);
        detail::tiers::allocated(tiers_, view().view(task));
        return true;
    }

    /// Takes a task off its node.
    void unplace(task_id task) {
        detail::tiers::deallocated(tiers_, view().view(task));
        move(task, {});
    }

    /// Undoes all placements since a position of the journal; what was decided is remembered for the words.
    void discard(std::size_t from) {
        for (auto i = in_.journal.position(); i-- != from;) {
            auto const task = in_.journal[i].task;
            facts_[task.index()].tried = true;
            facts_[task.index()].last = in_.journal[i].to;
            unplace(task);
        }
    }

    /// Decides all placements since a position of the journal.
    void commit(std::size_t from) {
        auto const end = in_.journal.position();
        for (auto i = from; i != end; ++i) {
            auto const task = in_.journal[i].task;
            facts_[task.index()].tried = false;
            if (in_.journal[i].to.status == task_status::allocated) bind(task);
        }
    }

    /// Decides every task of a job that has a node.
    void dispatch(job_id job) {
        for (auto const task : in_.roster.tasks(job))
            if (state_.tasks[task.index()].status == task_status::allocated) bind(task);
    }

    /// Whether a gang that failed for one task may go on with the others.
    ///
    /// Source: volcano, pkg/scheduler/api/job_info.go, NeedContinueAllocating, at ed72c7c8.
    [[nodiscard]] bool may_go_on(job_id id) const noexcept {
        auto const job = view().view(id);
        auto const& row = job.row();
        if (std::int64_t{row.min_available} == static_cast<std::int64_t>(row.tasks.size())) return false;
        auto const failed = [&](role_id r) { return in_.roles_failed[r.index()] != 0; };
        if (row.min_available < row.min_of_roles) {
            std::int64_t left = 0;
            for (auto const r : row.roles)
                if (!failed(r)) left += status_set{task_status::pending}.of(job.counts(r));
            return job.gang().ready + left >= row.min_available;
        }
        return std::none_of(row.roles.begin(), row.roles.end(), [&](role_id r) {
            auto const min = std::int64_t{tables_->roles[r.index()].min};
            auto const placed =
                std::int64_t{statuses::ready.of(job.counts(r))} + state_.pending_best_effort_of_role[r.index()];
            return failed(r) && min != 0 && placed < min;
        });
    }

    /// What `find` makes of one node for a task.
    [[nodiscard]] verdict judge(task_id task, node_id node) noexcept {
        in_.scan.consider(std::span{&node, 1});
        auto const found = in_.scan.run(tiers_, view(), shape_of(task), true);
        if (!found) return {};
        return {found.now ? verdict::room::now : verdict::room::later,
                in_.scan.score(tiers_, view(), shape_of(task), node)};
    }

    /// How far the policies' answers about nodes reach for a task.
    [[nodiscard]] locality reads(task_id task) const noexcept { return detail::tiers::reads(tiers_, shape_of(task)); }

    // One task at a time, for embedders that drive the session themselves.

    /// Places one pending task on its best node. Errors: `wrong_state`, `no_fit`.
    [[nodiscard]] result<placement> one(task_id task) {
        if (state_.tasks[task.index()].status != task_status::pending)
            return muster::fail(errc::wrong_state, task.index());
        auto const best = find(task);
        if (!best || !place(task, best.node, best.now)) return muster::fail(errc::no_fit, task.index());
        return state_.tasks[task.index()];
    }

    /// Takes back a task that `one` placed. Errors: `wrong_state`.
    result<void> release(task_id task) {
        if (!status_set{task_status::allocated, task_status::pipelined}.has(state_.tasks[task.index()].status))
            return muster::fail(errc::wrong_state, task.index());
        unplace(task);
        return {};
    }

    /// Runs an action.
    template <class Action>
    void run(Action const& action) {
        in_.work.clear();
        action.run(*this);
        in_.refused.end();
    }

    /// Heaps for the action that runs.
    [[nodiscard]] work_list& work() noexcept { return in_.work; }

    /// Ends the session; nothing may be asked of it afterwards.
    [[nodiscard]] outcome close() {
        outcome out;
        detail::tiers::close(tiers_, view(), facts_, out.conditions);
        sort_by_job(out.conditions);
        auto const* said = out.conditions.begin();
        for (auto const job : in_.roster.jobs()) {
            auto const first = said;
            while (said != out.conditions.end() && said->job == job) ++said;
            phases_[job.index()] = phase_at_close(view().view(job), std::span{first, said});
        }
        for (task_id t{0}; t.index() != tables_->tasks.size(); ++t.value)
            if (tables_->tasks[t.index()].live && state_.tasks[t.index()].status == task_status::pipelined)
                out.pipelined.push_back(t);
        if (sink_ != nullptr) {
            out.queues.resize(tables_->queues.size());
            for (auto const q : in_.roster.queues())
                out.queues[q.index()] = detail::tiers::describe(tiers_, view().view(q));
            out.record = std::move(*sink_);
        }
        out.bound = std::move(bound_);
        out.jobs.append(in_.roster.jobs());
        out.phases = std::move(phases_);
        out.facts = std::move(facts_);
        out.state = std::move(state_);
        return out;
    }

private:
    [[nodiscard]] memory& take(memory* carried) noexcept {
        auto& m = carried == nullptr || carried->in_use ? own_ : *carried;
        m.in_use = true;
        return m;
    }

    template <class Policies>
    [[nodiscard]] auto open_tiers(Policies const& policies, cluster const& c) {
        in_.roster.open(c);
        return policies.open(view());
    }

    template <class Id>
    [[nodiscard]] precedence order() const noexcept {
        return {this, [](void const* self, std::uint32_t a, std::uint32_t b) noexcept {
                    return static_cast<session const*>(self)->before(Id{a}, Id{b});
                }};
    }

    void move(task_id task, placement const& to) {
        in_.journal.append({task, state_.tasks[task.index()], to});
        state_.move(*tables_, task, to);
    }

    void bind(task_id task) {
        auto to = state_.tasks[task.index()];
        to.status = task_status::binding;
        move(task, to);
        bound_.push_back(task);
    }

    [[nodiscard]] shape_view shape_of(task_id task) const noexcept {
        return {*tables_, state_, in_.shapes[task.index()], task};
    }

    /// The node an eviction made room on, if the task would fit there.
    [[nodiscard]] node_id nomination(task_id task) const noexcept {
        auto const name = tables_->tasks[task.index()].nominated;
        if (!name) return {};
        for (auto const n : in_.roster.nodes())
            if (tables_->nodes[n.index()].name == name) return n;
        return {};
    }

    /// Gathers what several policies said of a job, each one's words in their order.
    void sort_by_job(column<condition>& said) const {
        column<std::uint32_t> first(tables_->jobs.size() + 1);
        for (auto const& c : said) ++first[c.job.index() + 1];
        for (std::size_t j = 1; j != first.size(); ++j) first[j] += first[j - 1];
        auto sorted = said;
        for (auto const& c : said) sorted[first[c.job.index()]++] = c;
        said = std::move(sorted);
    }

    /// Tells apart tasks that look alike to the cluster but not to some policy.
    void intern_shapes() {
        in_.keys.clear();
        column<std::uint64_t> key;
        in_.shapes.resize(tables_->tasks.size());
        for (task_id task{0}; task.index() != in_.shapes.size(); ++task.value) {
            if (!tables_->tasks[task.index()].live) continue;
            key.assign(1, tables_->tasks[task.index()].shape.index());
            detail::tiers::shape_key(tiers_, view().view(task), key);
            in_.shapes[task.index()] = shape_id{in_.keys.intern(key)};
        }
    }

    [[nodiscard]] static range since(std::size_t first, std::size_t end) noexcept {
        return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
    }

    /// Records why a node refuses; only where there is a record.
    [[nodiscard]] range why(std::size_t at, shape_view shape, bool by_amounts) {
        auto const first = sink_->reasons.size();
        explain(tiers_, view().view(in_.roster.nodes()[at]), shape, by_amounts, sink_->reasons);
        return since(first, sink_->reasons.size());
    }

    void fail(task_id task, shape_view shape, bool by_amounts) {
        failure f{task, false, 0};
        if (sink_ != nullptr) {
            auto& all = sink_->explanations;
            bool const cached = by_amounts && in_.refused.active(*tables_, task);
            if (all.empty() || cached || all.back().shape != shape.id() ||
                all.back().position != in_.journal.position()) {
                auto& nodes = sink_->nodes;
                auto const first = nodes.size();
                for (std::size_t i = 0; i != in_.roster.nodes().size(); ++i)
                    nodes.push_back({in_.roster.nodes()[i],
                                     cached ? in_.refused.why(*tables_, task, i) : why(i, shape, by_amounts)});
                all.push_back({shape.id(), in_.journal.position(), since(first, nodes.size())});
            }
            f.explained = all.size() - 1;
        }
        note_failure(task, f);
    }

    void note_failure(task_id task, failure const& f) {
        if (auto const role = tables_->tasks[task.index()].role) in_.roles_failed[role.index()] = 1;
        if (sink_ == nullptr) return;
        facts_[task.index()].failure = static_cast<std::uint32_t>(sink_->failures.size());
        sink_->failures.push_back(f);
    }

    memory own_{}; ///< unless one is carried
    memory& in_;
    state state_;
    column<job_phase> phases_;
    column<task_facts> facts_;
    tables const* tables_;
    States tiers_;
    record* sink_;
    bool enqueues_;
    column<task_id> bound_;
};

} // namespace muster
