#pragma once

/// \file
/// A cluster as a value: nodes, queues, jobs and tasks, added, updated and removed by name or id.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/cluster/demand.hpp>
#include <muster/cluster/names.hpp>
#include <muster/cluster/row_maker.hpp>
#include <muster/cluster/spec.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cluster/tables.hpp>
#include <muster/core/checked.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/result.hpp>

namespace muster {

/// Everything a session starts from. Copies are independent; a const cluster may be shared between threads.
///
/// Invariant: names are unique within their kind (a task's within its namespace), ids stay valid until `compact`, and
///            the state is what the rows make of it.
/// Errors:    every member that takes a spec fails without having changed anything: `duplicate` for a taken name,
///            `empty` for a missing one, `negative`, `overflow` for amounts (at: the position in the list),
///            `out_of_range` for a card or share beyond bounds, `wrong_state` for a removed id.
class cluster {
public:
    cluster() { state_.fit_to(tables_); }

    result<node_id> add_node(node_spec const& spec) {
        if (spec.name.empty()) return fail(errc::empty);
        if (node(spec.name)) return fail(errc::duplicate);
        node_row row;
        if (auto const made = make_node(spec, row); !made) return tl::unexpected{made.error()};
        node_id const id{tables_.nodes.size()};
        tables_.nodes.push_back(std::move(row));
        add_cards(tables_.nodes.back(), spec.cards);
        node_names_.set(tables_.nodes.back().name, id);
        settle(id);
        if (astray_ != 0) reattach_if([&](task_row const& t) { return t.node_name == tables_.nodes[id.index()].name; });
        return id;
    }

    /// Replaces a node; its tasks stay and find their cards again by uuid. The name stays.
    result<void> update_node(node_id id, node_spec const& spec) {
        if (!live(id)) return fail(errc::wrong_state);
        node_row row;
        if (auto const made = make_node(spec, row); !made) return tl::unexpected{made.error()};
        row.name = tables_.nodes[id.index()].name;
        auto const tasks = detach_all(id);
        count_in_total(id, -1);
        tables_.nodes[id.index()] = std::move(row);
        add_cards(tables_.nodes[id.index()], spec.cards);
        settle(id);
        for (auto const t : tasks) attach(t);
        return {};
    }

    /// Removes a node; its tasks stay, on no node.
    result<void> remove_node(node_id id) {
        if (!live(id)) return fail(errc::wrong_state);
        auto const tasks = detach_all(id);
        count_in_total(id, -1);
        tables_.nodes[id.index()].live = false;
        node_names_.erase(tables_.nodes[id.index()].name);
        for (auto const t : tasks) attach(t);
        return {};
    }

    result<queue_id> add_queue(queue_spec const& spec) {
        if (spec.name.empty()) return fail(errc::empty);
        if (queue(spec.name)) return fail(errc::duplicate);
        queue_row row;
        if (auto const made = make(spec, row); !made) return tl::unexpected{made.error()};
        queue_id const id{tables_.queues.size()};
        tables_.queues.push_back(std::move(row));
        queue_names_.set(tables_.queues.back().name, id);
        for (auto& job : tables_.jobs)
            if (job.live && job.queue_name == tables_.queues.back().name) job.queue = id;
        state_.fit_to(tables_);
        return id;
    }

    /// Replaces a queue; the name stays.
    result<void> update_queue(queue_id id, queue_spec const& spec) {
        if (!live(id)) return fail(errc::wrong_state);
        queue_row row;
        if (auto const made = make(spec, row); !made) return tl::unexpected{made.error()};
        row.name = tables_.queues[id.index()].name;
        tables_.queues[id.index()] = std::move(row);
        state_.fit_to(tables_);
        return {};
    }

    /// Removes a queue; its jobs stay and wait for one of that name.
    result<void> remove_queue(queue_id id) {
        if (!live(id)) return fail(errc::wrong_state);
        tables_.queues[id.index()].live = false;
        queue_names_.erase(tables_.queues[id.index()].name);
        for (auto& job : tables_.jobs)
            if (job.queue == id) job.queue = queue_id{};
        return {};
    }

    result<job_id> add_job(job_spec const& spec) {
        auto const key = spec.ns + '/' + spec.name;
        if (spec.name.empty()) return fail(errc::empty);
        if (job(key)) return fail(errc::duplicate);
        job_row row;
        if (auto const made = make_job(spec, row); !made) return tl::unexpected{made.error()};
        if (auto const sum = claimed_.replace({}, row.claim()); !sum) return tl::unexpected{sum.error()};
        job_id const id{tables_.jobs.size()};
        row.key = tables_.symbols.intern(key);
        tables_.jobs.push_back(std::move(row));
        job_keys_.set(tables_.jobs.back().key, id);
        demand_roles(id, spec);
        state_.fit_to(tables_);
        if (astray_ != 0) reattach_if([&](task_row const& t) { return t.group == tables_.jobs[id.index()].key; });
        return id;
    }

    /// Replaces a job; its tasks and its name stay, roles that it no longer names are forgotten.
    result<void> update_job(job_id id, job_spec const& spec) {
        if (!live(id)) return fail(errc::wrong_state);
        job_row row;
        if (auto const made = make_job(spec, row); !made) return tl::unexpected{made.error()};
        auto& old = tables_.jobs[id.index()];
        if (auto const sum = claimed_.replace(old.claim(), row.claim()); !sum) return tl::unexpected{sum.error()};
        auto const tasks = old.tasks;
        for (auto const t : tasks) detach(t);
        row.ns = old.ns;
        row.name = old.name;
        row.key = old.key;
        old = std::move(row);
        demand_roles(id, spec);
        state_.fit_to(tables_);
        for (auto const t : tasks) attach(t);
        return {};
    }

    /// Removes a job; its tasks stay and keep their nodes.
    result<void> remove_job(job_id id) {
        if (!live(id)) return fail(errc::wrong_state);
        auto const tasks = tables_.jobs[id.index()].tasks;
        for (auto const t : tasks) detach(t);
        (void)claimed_.replace(tables_.jobs[id.index()].claim(), {});
        tables_.jobs[id.index()].live = false;
        job_keys_.erase(tables_.jobs[id.index()].key);
        for (auto const t : tasks) attach(t);
        return {};
    }

    result<task_id> add_task(task_spec const& spec) {
        auto const key = spec.ns + '/' + spec.name;
        if (spec.name.empty()) return fail(errc::empty);
        if (task(key)) return fail(errc::duplicate);
        task_row row;
        if (auto const made = make(spec, row); !made) return tl::unexpected{made.error()};
        if (auto const sum = asked_.replace({}, request_of(row)); !sum) return tl::unexpected{sum.error()};
        task_id const id{tables_.tasks.size()};
        row.key = tables_.symbols.intern(key);
        tables_.tasks.push_back(std::move(row));
        task_keys_.set(tables_.tasks.back().key, id);
        attach(id);
        return id;
    }

    /// Replaces a task; the name stays.
    result<void> update_task(task_id id, task_spec const& spec) {
        if (!live(id)) return fail(errc::wrong_state);
        task_row row;
        if (auto const made = make(spec, row); !made) return tl::unexpected{made.error()};
        auto& old = tables_.tasks[id.index()];
        if (auto const sum = asked_.replace(request_of(old), request_of(row)); !sum) return tl::unexpected{sum.error()};
        detach(id);
        row.ns = old.ns;
        row.name = old.name;
        row.key = old.key;
        old = std::move(row);
        attach(id);
        return {};
    }

    result<void> remove_task(task_id id) {
        if (!live(id)) return fail(errc::wrong_state);
        detach(id);
        auto& row = tables_.tasks[id.index()];
        (void)asked_.replace(request_of(row), {});
        row.live = false;
        task_keys_.erase(row.key);
        return {};
    }

    [[nodiscard]] node_id node(std::string_view name) const { return node_names_.find(tables_.symbols.find(name)); }
    [[nodiscard]] queue_id queue(std::string_view name) const { return queue_names_.find(tables_.symbols.find(name)); }
    /// By "namespace/name", here and below.
    [[nodiscard]] job_id job(std::string_view key) const { return job_keys_.find(tables_.symbols.find(key)); }
    [[nodiscard]] task_id task(std::string_view key) const { return task_keys_.find(tables_.symbols.find(key)); }

    [[nodiscard]] bool live(node_id id) const noexcept { return is_live(tables_.nodes, id); }
    [[nodiscard]] bool live(queue_id id) const noexcept { return is_live(tables_.queues, id); }
    [[nodiscard]] bool live(job_id id) const noexcept { return is_live(tables_.jobs, id); }
    [[nodiscard]] bool live(task_id id) const noexcept { return is_live(tables_.tasks, id); }

    [[nodiscard]] muster::tables const& tables() const noexcept { return tables_; }
    [[nodiscard]] muster::state const& state() const noexcept { return state_; }

    /// Drops the rows of what was removed. Every id changes; names find the new ones.
    void compact() {
        cluster fresh;
        auto& t = fresh.tables_;
        auto const kept = [](auto const& rows, auto move_over) {
            column<std::uint32_t> place(rows.size(), node_id::nothing);
            for (std::size_t i = 0; i != rows.size(); ++i)
                if (rows[i].live) place[i] = move_over(rows[i]);
            return place;
        };
        t.symbols = tables_.symbols;
        t.dimensions = tables_.dimensions;
        t.shapes = tables_.shapes;
        fresh.rows_ = rows_;
        (void)kept(tables_.nodes, [&](node_row row) {
            auto const cards = row.cards;
            row.cards = {static_cast<std::uint32_t>(t.cards.size()), cards.count};
            for (auto i = std::size_t{cards.first}; i != cards.end(); ++i) t.cards.push_back(tables_.cards[i]);
            fresh.node_names_.set(row.name, node_id{t.nodes.size()});
            t.nodes.push_back(std::move(row));
            return static_cast<std::uint32_t>(t.nodes.size() - 1);
        });
        auto const queues = kept(tables_.queues, [&](queue_row const& row) {
            fresh.queue_names_.set(row.name, queue_id{t.queues.size()});
            t.queues.push_back(row);
            return static_cast<std::uint32_t>(t.queues.size() - 1);
        });
        (void)kept(tables_.jobs, [&](job_row row) {
            if (row.queue) row.queue.value = queues[row.queue.index()];
            auto const roles = std::exchange(row.roles, {});
            row.tasks.clear();
            job_id const id{t.jobs.size()};
            fresh.job_keys_.set(row.key, id);
            t.jobs.push_back(std::move(row));
            for (auto const r : roles)
                if (tables_.roles[r.index()].demanded) fresh.add_role(id, tables_.roles[r.index()]);
            return id.value;
        });
        fresh.state_.fit_to(t);
        for (node_id n{0}; n.index() != t.nodes.size(); ++n.value) fresh.settle(n);
        (void)kept(tables_.tasks, [&](task_row row) {
            task_id const id{t.tasks.size()};
            fresh.task_keys_.set(row.key, id);
            t.tasks.push_back(std::move(row));
            fresh.attach(id);
            return id.value;
        });
        fresh.asked_ = std::move(asked_);
        fresh.claimed_ = std::move(claimed_);
        *this = std::move(fresh);
    }

private:
    template <class Row, class Id>
    [[nodiscard]] static bool is_live(std::vector<Row> const& rows, Id id) noexcept {
        return id && id.index() < rows.size() && rows[id.index()].live;
    }

    [[nodiscard]] amounts const& request_of(task_row const& row) const noexcept {
        return tables_.shape_of(row).request;
    }

    /// A row of a spec. Names that are new stay known, even if the spec is refused, and the columns have room for them.
    template <class Row, class Spec>
    [[nodiscard]] result<void> make(Spec const& spec, Row& row) {
        auto const made = rows_.make(tables_, spec, row);
        if (state_.idle.size() != tables_.dimensions.size()) state_.fit_to(tables_);
        return made;
    }

    [[nodiscard]] result<void> make_node(node_spec const& spec, node_row& row) {
        if (auto const made = make(spec, row); !made) return made;
        totals_.resize(tables_.dimensions.size());
        for (auto const& [d, amount] : row.allocatable)
            if (!checked_add(totals_[d.index()], amount)) return fail(errc::overflow);
        return {};
    }

    [[nodiscard]] result<void> make_job(job_spec const& spec, job_row& row) {
        auto const made = make(spec, row);
        row.queue = queue(spec.queue);
        return made;
    }

    void add_cards(node_row& row, std::vector<card_spec> const& specs) {
        row.cards = {static_cast<std::uint32_t>(tables_.cards.size()), static_cast<std::uint32_t>(specs.size())};
        for (auto const& c : specs)
            tables_.cards.push_back({tables_.symbols.intern(c.uuid), tables_.symbols.intern(c.type), c.slots, c.memory,
                                     c.mode, c.healthy, c.faulty});
    }

    role_id add_role(job_id job, role_row const& role) {
        role_id const id{tables_.roles.size()};
        tables_.roles.push_back(role);
        tables_.jobs[job.index()].roles.push_back(id);
        return id;
    }

    void demand_roles(job_id job, job_spec const& spec) {
        for (auto const& [name, min] : spec.min_of_role) add_role(job, {tables_.symbols.intern(name), min, true});
    }

    [[nodiscard]] role_id role_of(job_id job, symbol name) {
        for (auto const r : tables_.jobs[job.index()].roles)
            if (tables_.roles[r.index()].name == name) return r;
        return add_role(job, {name, 0, false});
    }

    /// A node's columns as if it were empty.
    void settle(node_id id) {
        state_.fit_to(tables_);
        totals_.resize(tables_.dimensions.size());
        for (std::size_t d = 0; d != tables_.dimensions.size(); ++d)
            state_.idle[d][id.index()] = tables_.nodes[id.index()].allocatable[dimension_id{d}];
        count_in_total(id, +1);
    }

    void count_in_total(node_id id, std::int64_t sign) noexcept {
        for (auto const& [d, amount] : tables_.nodes[id.index()].allocatable) totals_[d.index()] += sign * amount;
    }

    /// A task that names a node or a job which is not there.
    [[nodiscard]] bool astray(task_id id) const noexcept {
        auto const& row = tables_.tasks[id.index()];
        return (row.group && !row.job) ||
               (row.node_name && statuses::on_node.has(row.status) && !state_.tasks[id.index()].node);
    }

    /// Joins a task to its job and node, as its row names them.
    void attach(task_id id) {
        auto& row = tables_.tasks[id.index()];
        row.job = job_keys_.find(row.group);
        if (row.job) {
            row.role = role_of(row.job, row.role_name);
            tables_.jobs[row.job.index()].tasks.push_back(id);
        }
        state_.fit_to(tables_);
        placement where;
        where.status = row.status;
        if (row.node_name && statuses::on_node.has(row.status)) where.node = node_names_.find(row.node_name);
        where.shares.first = static_cast<std::uint32_t>(state_.shares.size());
        if (where.node) {
            auto const cards = tables_.nodes[where.node.index()].cards;
            for (auto const& h : row.held)
                for (auto i = std::size_t{cards.first}; i != cards.end(); ++i)
                    if (tables_.cards[i].uuid == h.uuid) {
                        state_.shares.push_back({card_id{i}, h.container, h.memory, h.cores});
                        break;
                    }
        }
        where.shares.count = static_cast<std::uint32_t>(state_.shares.size()) - where.shares.first;
        state_.enter(tables_, id, where);
        if (astray(id)) ++astray_;
    }

    void detach(task_id id) {
        if (astray(id)) --astray_;
        state_.leave(tables_, id);
        auto& row = tables_.tasks[id.index()];
        if (row.job) erase_if(tables_.jobs[row.job.index()].tasks, [&](task_id t) { return t == id; });
        row.job = job_id{};
        row.role = role_id{};
    }

    template <class Test>
    void reattach_if(Test test) {
        for (task_id t{0}; t.index() != tables_.tasks.size(); ++t.value) {
            if (!live(t) || !test(tables_.tasks[t.index()])) continue;
            detach(t);
            attach(t);
        }
    }

    [[nodiscard]] column<task_id> detach_all(node_id id) {
        column<task_id> tasks;
        for (auto t = state_.first_on_node[id.index()]; t; t = state_.next_on_node[t.index()]) tasks.push_back(t);
        std::sort(tasks.begin(), tasks.end());
        for (auto const t : tasks) detach(t);
        return tasks;
    }

    muster::tables tables_;
    muster::state state_;
    detail::names<node_id> node_names_;
    detail::names<queue_id> queue_names_;
    detail::names<job_id> job_keys_;
    detail::names<task_id> task_keys_;
    detail::row_maker rows_;
    column<std::int64_t> totals_; ///< allocatable over all nodes, by dimension
    detail::demand asked_;        ///< by tasks
    detail::demand claimed_;      ///< by jobs' minimum resources
    std::size_t astray_ = 0;      ///< tasks whose node or job is missing
};

} // namespace muster
