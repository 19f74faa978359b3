#pragma once

/// \file
/// The messages of conditions and events, word for word as Volcano writes them.
///
/// Source: volcano, pkg/scheduler/api/job_info.go, unschedule_info.go and cache/cache.go, at ed72c7c8
///         (spec/volcano-core.md 4.3 to 5.3).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/cluster/cluster.hpp>
#include <muster/cluster/view.hpp>
#include <muster/report/words.hpp>
#include <muster/scheduler/outcome.hpp>

namespace muster {

/// A condition of a PodGroup, in words.
struct condition_text {
    std::string type;
    std::string reason;
    std::string message;
};

/// What is said of a pod that was not bound.
struct task_text {
    std::string reason;
    std::string message;
    std::string nominated; ///< the node that an eviction made room on
};

/// Makes the messages of one cycle.
///
/// Shape: borrows the cluster and the outcome.
class message_maker {
public:
    message_maker(cluster const& c, outcome const& o) : tables_(&c.tables()), outcome_(&o) {}

    [[nodiscard]] condition_text of(condition const& c) const {
        if (c.scheduled) return {"Scheduled", "tasks in gang are ready to be scheduled", ""};
        return {"Unschedulable", "NotEnoughResources",
                std::to_string(c.missing) + "/" + std::to_string(job(c.job).row().tasks.size()) +
                    " tasks in gang unschedulable: " + fit_error(c.job)};
    }

    /// The event of a job that waits.
    [[nodiscard]] std::string waiting_event(job_id id) const {
        auto const pending = job(id).counts()[static_cast<std::size_t>(task_status::pending)];
        return std::to_string(pending) + "/" + std::to_string(job(id).row().tasks.size()) +
               " tasks in gang unschedulable: " + fit_error(id);
    }

    /// The event of a job, or the reason of a task, that its queue refused at the door.
    [[nodiscard]] std::string refusal_event(queue_refusal const& r) const {
        std::string text = "queue resource quota insufficient: ";
        bool first = true;
        for (auto const& why : outcome_->record.why(r)) {
            if (why.code != reason_code::queue_quota) continue;
            text += (first ? "insufficient " : ", insufficient ") + tables_->dimensions.name(why.dimension);
            first = false;
        }
        return text;
    }

    /// Why a job is not (wholly) running.
    [[nodiscard]] std::string fit_error(job_id id) const {
        auto const view = job(id);
        std::vector<std::string> parts{std::to_string(view.row().min_available) + " minAvailable"};
        for (std::size_t s = 0; s != task_statuses; ++s)
            if (view.counts()[s] != 0)
                parts.push_back(std::to_string(view.counts()[s]) + " " +
                                std::string{name_of(static_cast<task_status>(s))});
        std::string text = view.gang().is_ready() ? "pod group is ready, " : "pod group is not ready, ";
        text += sorted(std::move(parts));
        std::vector<std::string> words;
        for (auto const t : view.row().tasks)
            if (where(t).status == task_status::pending) words.push_back(reason_of(t));
        if (!words.empty()) text += "; Pending: " + counted(std::move(words));
        if (auto const culprit = first_failed(view))
            text += ". Origin reason is " + name(culprit) + ": " + failure_of(culprit);
        return text;
    }

    /// What is said of a task that was allocated, pipelined or left pending.
    [[nodiscard]] task_text of(task_id t) const {
        auto const& facts = outcome_->facts[t.index()];
        auto const context = facts.tried ? facts.last : where(t);
        task_text text{reason_of(t), {}, {}};
        auto const pod = "Pod " + tables_->text(row(t).ns) + "/" + name(t) + " can possibly be assigned to ";
        if (context.status == task_status::allocated) {
            text.message = pod + node(context.node) + ", once minAvailable is satisfied";
        } else if (context.status == task_status::pipelined) {
            text.message = pod + node(context.node) + ", once resource is released and minAvailable is satisfied";
            if (facts.eviction) text.nominated = node(context.node);
        } else if (context.status == task_status::pending && has_failure(t)) {
            text.message = failure_of(t);
        }
        if (text.message.empty()) text.message = fit_error(row(t).job);
        return text;
    }

    /// In plain sentences, why a task or its gang was refused; one a node or queue, with the numbers.
    [[nodiscard]] std::vector<std::string> explanations(job_id id) const {
        std::vector<std::string> lines;
        for (auto const& r : outcome_->record.refusals) {
            if (r.job != id) continue;
            auto const queue = tables_->text(job(id).row().queue_name);
            for (auto const& why : outcome_->record.why(r))
                lines.push_back((r.task ? "pod " + name(r.task) + ": " : "job: ") + explain(why, queue, *tables_));
        }
        for (auto const& f : outcome_->record.failures) {
            if (row(f.task).job != id) continue;
            if (f.by_role) {
                lines.push_back("pod " + name(f.task) + ": a task of its role found no node");
                continue;
            }
            for (auto const& n : refusals(f))
                for (auto const& why : outcome_->record.why(n))
                    lines.push_back("pod " + name(f.task) + ": " + explain(why, node(n.node), *tables_));
        }
        return lines;
    }

private:
    [[nodiscard]] job_view job(job_id id) const noexcept {
        return {*tables_, outcome_->state, id, outcome_->phases[id.index()]};
    }
    [[nodiscard]] task_row const& row(task_id t) const noexcept { return tables_->tasks[t.index()]; }
    [[nodiscard]] placement const& where(task_id t) const noexcept { return outcome_->state.tasks[t.index()]; }
    [[nodiscard]] std::string const& name(task_id t) const noexcept { return tables_->text(row(t).name); }
    [[nodiscard]] std::string const& node(node_id n) const noexcept {
        return tables_->text(tables_->nodes[n.index()].name);
    }

    [[nodiscard]] bool has_failure(task_id t) const noexcept {
        return outcome_->facts[t.index()].failure < outcome_->record.failures.size();
    }

    [[nodiscard]] std::string reason_of(task_id t) const {
        auto const& facts = outcome_->facts[t.index()];
        auto const status = facts.tried ? facts.last.status : where(t).status;
        if (status == task_status::allocated) return "Schedulable";
        if (status == task_status::pipelined || status == task_status::pending) return "Unschedulable";
        return std::string{name_of(status)};
    }

    /// Of the tasks that found no node, the one with the lowest uid.
    [[nodiscard]] task_id first_failed(job_view view) const noexcept {
        task_id lowest;
        for (auto const t : view.row().tasks)
            if (has_failure(t) && (!lowest || row(t).uid < row(lowest).uid)) lowest = t;
        return lowest;
    }

    [[nodiscard]] std::string failure_of(task_id t) const {
        auto const& f = outcome_->record.failures[outcome_->facts[t.index()].failure];
        if (f.by_role)
            return "Task " + name(t) + " with role spec " + tables_->text(row(t).role_name) +
                   " has already predicated failed, skip";
        auto const nodes = refusals(f);
        std::vector<std::string> words;
        for (auto const& n : nodes)
            for (auto const& why : outcome_->record.why(n)) words.push_back(words_of(why, *tables_));
        std::string text = "0/" + std::to_string(nodes.size()) + " nodes are unavailable";
        if (!words.empty()) text += ": " + counted(std::move(words)) + ".";
        return text;
    }

    [[nodiscard]] std::span<node_refusal const> refusals(failure const& f) const noexcept {
        return outcome_->record.nodes_of(outcome_->record.explanations[f.explained]);
    }

    /// Each text once, with how often it came before it.
    [[nodiscard]] static std::string counted(std::vector<std::string> words) {
        std::sort(words.begin(), words.end());
        std::vector<std::string> parts;
        for (auto first = words.begin(); first != words.end();) {
            auto const end = std::upper_bound(first, words.end(), *first);
            parts.push_back(std::to_string(end - first) + " " + *first);
            first = end;
        }
        return sorted(std::move(parts));
    }

    /// Byte order, so that "10 Pending" comes before "2 minAvailable".
    [[nodiscard]] static std::string sorted(std::vector<std::string> parts) {
        std::sort(parts.begin(), parts.end());
        std::string text;
        for (auto const& part : parts) text += (text.empty() ? "" : ", ") + part;
        return text;
    }

    tables const* tables_;
    outcome const* outcome_;
};

} // namespace muster
