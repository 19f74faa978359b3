#pragma once

/// \file
/// A cluster over several cycles: the scheduler decides, then the world follows as Kubernetes would.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/cluster/cluster.hpp>
#include <muster/ext/dialect.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/job_set.hpp>
#include <muster/ext/world.hpp>
#include <muster/report/message.hpp>
#include <muster/scheduler/outcome.hpp>
#include <muster/wire/volcano.hpp>

namespace muster::ext {

/// An event on a PodGroup.
struct podgroup_event {
    std::size_t cycle = 0;
    std::string podgroup;
    std::string type;
    std::string reason;
    std::string message;
};

/// A PodGroup's status between cycles.
struct podgroup_status {
    std::string phase{};
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::vector<condition_text> conditions{}; ///< status True, all of them

    /// What the scheduler compares before it writes.
    [[nodiscard]] bool same_as(podgroup_status const& other) const {
        return phase == other.phase && running == other.running && succeeded == other.succeeded &&
               failed == other.failed &&
               std::equal(conditions.begin(), conditions.end(), other.conditions.begin(), other.conditions.end(),
                          [](condition_text const& a, condition_text const& b) {
                              return a.type == b.type && a.reason == b.reason && a.message == b.message;
                          });
    }
};

/// What was said of a pod that waits.
struct pod_note {
    std::size_t cycle = 0; ///< in which it was first said
    std::string reason{};
    std::string message{};
    std::string nominated{};
};

/// What one cycle decided, by name.
struct cycle_result {
    std::map<std::string, std::string> binds{};
    std::vector<std::string> evicted{};
    std::map<std::string, std::string> pipelined{};
    std::map<std::string, podgroup_status> podgroups{};
};

/// One cycle of some scheduler, composed either way.
using scheduling = std::function<outcome(cluster const&, record*)>;

/// The cycles of a scheduler.
template <class Scheduler>
[[nodiscard]] scheduling cycles_of(Scheduler scheduler) {
    return [s = std::move(scheduler)](cluster const& c, record* sink) { return s.run(c, sink); };
}

/// Settings of a simulation.
struct simulation_options {
    std::optional<std::size_t> cycles{}; ///< absent: until nothing changes, at most `settle_limit`
    std::optional<std::int64_t> now{};   ///< seconds since 1970; absent: the latest creation time read

    static constexpr std::size_t settle_limit = 10;
};

/// Runs cycles over a world.
///
/// Between cycles a bound pod becomes Running on its node with its annotations, an evicted one is deleted, what the
/// scheduler wrote stays, and controllers make the PodGroups and pods of VolcanoJobs.
class simulation {
public:
    /// Errors: `bad_input` for what can't be read or is refused by admission.
    simulation(ext::world w, scheduling scheduler, simulation_options const& options, std::vector<warning>& warnings)
        : world_(std::move(w)), scheduler_(std::move(scheduler)), options_(options), warnings_(&warnings),
          now_(options.now.value_or(world_.latest())), jobs_(world_, now_, warnings) {
        for (auto const& [key, o] : world_.of("PodGroup")) status_[key] = read_status(o);
        for (auto const& [key, o] : world_.of("Node")) check_dialect(o, warnings);
        for (auto const& [key, o] : world_.of("Pod"))
            check_dialect(field{o}["spec"], ext::world::scheduler_of(o), warnings);
    }

    // Its jobs point into its world.
    simulation(simulation const&) = delete;
    simulation& operator=(simulation const&) = delete;

    /// Runs the cycles that were asked for.
    void run() {
        auto const most = options_.cycles.value_or(simulation_options::settle_limit);
        while (cycles_.size() != most)
            if (!step() && !options_.cycles) break;
    }

    /// One cycle; whether anything changed in it.
    bool step() {
        bool changed = start_pods();
        std::vector<warning> found;
        cluster_.emplace(world_.snapshot(found));
        if (cycles_.empty()) {
            warnings_->insert(warnings_->end(), found.begin(), found.end());
            warn_of_strays();
        }
        record sink;
        outcome_ = scheduler_(*cluster_, &sink);
        cycles_.emplace_back();
        changed = write_decisions() || changed;
        changed = write_groups() || changed;
        write_notes();
        changed = jobs_.sync(world_) || changed;
        for (auto const& [key, o] : world_.of("PodGroup"))
            if (!status_.contains(key)) status_[key] = read_status(o);
        return changed;
    }

    [[nodiscard]] ext::world const& world() const noexcept { return world_; }
    /// The cluster and the decisions of the last cycle.
    [[nodiscard]] muster::cluster const& cluster() const noexcept { return *cluster_; }
    [[nodiscard]] outcome const& last() const noexcept { return outcome_; }
    [[nodiscard]] std::vector<cycle_result> const& cycles() const noexcept { return cycles_; }
    [[nodiscard]] std::vector<podgroup_event> const& events() const noexcept { return events_; }
    [[nodiscard]] std::map<std::string, podgroup_status> const& podgroups() const noexcept { return status_; }
    [[nodiscard]] std::map<std::string, pod_note> const& notes() const noexcept { return notes_; }
    [[nodiscard]] job_set const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] std::vector<warning> const& warnings() const noexcept { return *warnings_; }

private:
    [[nodiscard]] static podgroup_status read_status(object const& o) {
        auto const status = field{o}["status"];
        podgroup_status s;
        s.phase = status["phase"].string_or("");
        s.running = status["running"].int_or(0);
        s.succeeded = status["succeeded"].int_or(0);
        s.failed = status["failed"].int_or(0);
        for (auto const& c : status["conditions"].items())
            if (c["status"].string_or("True") == "True")
                s.conditions.push_back(
                    {c["type"].string_or(""), c["reason"].string_or(""), c["message"].string_or("")});
        return s;
    }

    /// Pods bound in the last cycle run now.
    bool start_pods() {
        for (auto const& key : starting_) {
            world_.of("Pod").at(key).value["status"]["phase"] = "Running";
            jobs_.pod_runs(key);
        }
        bool const any = !starting_.empty();
        starting_.clear();
        if (any) (void)jobs_.sync(world_);
        return any;
    }

    [[nodiscard]] std::string key_of(task_id t) const {
        auto const& tables = cluster_->tables();
        auto const& row = tables.tasks[t.index()];
        return tables.text(row.ns) + '/' + tables.text(row.name);
    }
    [[nodiscard]] std::string const& node_of(task_id t) const {
        auto const& tables = cluster_->tables();
        return tables.text(tables.nodes[outcome_.state.tasks[t.index()].node.index()].name);
    }
    [[nodiscard]] std::string const& key_of(job_id j) const {
        return cluster_->tables().text(cluster_->tables().jobs[j.index()].key);
    }

    bool write_decisions() {
        auto& result = cycles_.back();
        for (auto const t : outcome_.bound) {
            auto const key = key_of(t);
            result.binds[key] = node_of(t);
            auto& pod = world_.of("Pod").at(key).value;
            pod["spec"]["nodeName"] = node_of(t);
            annotate(t, pod["metadata"]["annotations"]);
            starting_.push_back(key);
            notes_.erase(key);
        }
        for (auto const t : outcome_.evicted) {
            result.evicted.push_back(key_of(t));
            world_.of("Pod").erase(key_of(t));
        }
        for (auto const t : outcome_.pipelined) result.pipelined[key_of(t)] = node_of(t);
        return !outcome_.bound.empty() || !outcome_.evicted.empty();
    }

    /// What the scheduler writes on a pod with cards when it is bound.
    void annotate(task_id t, nlohmann::json& annotations) const {
        namespace key = wire::volcano;
        auto const& tables = cluster_->tables();
        auto const held = outcome_.state.shares_of(t);
        if (!outcome_.facts[t.index()].assigned) return;
        std::vector<std::vector<wire::volcano::share>> containers;
        std::uint32_t last = 0;
        for (auto const& s : held) {
            if (containers.empty() || s.container != last) containers.emplace_back();
            last = s.container;
            containers.back().push_back(
                {tables.text(tables.cards[s.card.index()].uuid), s.memory.value, s.cores.value});
        }
        auto const text = wire::volcano::encode_pod(containers);
        if (!text.empty()) {
            annotations[std::string{key::shares_key}] = text;
            annotations[std::string{key::shares_to_allocate_key}] = text;
        }
        annotations[std::string{key::node_key}] = node_of(t);
        annotations[std::string{key::bind_phase_key}] = "allocating";
        annotations[std::string{key::time_key}] = std::to_string(now_);
        annotations[std::string{key::bind_time_key}] = std::to_string(now_);
    }

    /// Phases, counts, conditions and events of all jobs that took part.
    bool write_groups() {
        message_maker const say{*cluster_, outcome_};
        auto const cycle = cycles_.size();
        for (auto const& r : outcome_.record.refusals)
            if (auto const why = outcome_.record.why(r);
                !r.task &&
                std::any_of(why.begin(), why.end(), [](reason const& w) { return w.code == reason_code::queue_quota; }))
                events_.push_back({cycle, key_of(r.job), "Normal", "Unschedulable", say.refusal_event(r)});
        bool any = false;
        for (auto const j : outcome_.jobs) {
            auto& status = status_[key_of(j)];
            auto const before = status;
            auto const& counts = outcome_.state.jobs[j.index()];
            status.phase = name_of(outcome_.phases[j.index()]);
            status.running = counts[static_cast<std::size_t>(task_status::running)];
            status.succeeded = counts[static_cast<std::size_t>(task_status::succeeded)];
            status.failed = counts[static_cast<std::size_t>(task_status::failed)];
            for (auto const& c : outcome_.conditions)
                if (c.job == j) set_condition(status.conditions, say.of(c));
            bool const updated = !status.same_as(before);
            any = any || updated;
            auto const phase = outcome_.phases[j.index()];
            if (phase != job_phase::running && phase != job_phase::completed)
                events_.push_back({cycle, key_of(j), "Warning", "Unschedulable", say.waiting_event(j)});
            else if (updated)
                events_.push_back({cycle, key_of(j), "Normal", "Scheduled", "pod group is ready"});
            world_.of("PodGroup").at(key_of(j)).value["status"]["phase"] = status.phase;
            jobs_.phase_is(key_of(j), status.phase);
        }
        for (auto const& [key, status] : status_) cycles_.back().podgroups[key] = status;
        return any;
    }

    static void set_condition(std::vector<condition_text>& all, condition_text fresh) {
        auto const same = std::find_if(all.begin(), all.end(), [&](auto const& c) { return c.type == fresh.type; });
        if (same != all.end())
            *same = std::move(fresh);
        else
            all.push_back(std::move(fresh));
    }

    /// The PodScheduled conditions of pods that were not bound.
    void write_notes() {
        message_maker const say{*cluster_, outcome_};
        for (auto const j : outcome_.jobs)
            for (auto const t : cluster_->tables().jobs[j.index()].tasks) {
                auto const status = outcome_.state.tasks[t.index()].status;
                bool const waits = status == task_status::allocated || status == task_status::pending ||
                                   status == task_status::pipelined;
                if (!waits || cluster_->tables().tasks[t.index()].gate != scheduling_gate::none) continue;
                auto text = say.of(t);
                auto const [at, fresh] = notes_.try_emplace(key_of(t));
                auto& note = at->second;
                bool const same = !fresh && note.reason == text.reason && note.message == text.message;
                note = {same ? note.cycle : cycles_.size(), std::move(text.reason), std::move(text.message),
                        text.nominated.empty() ? note.nominated : text.nominated};
                if (!note.nominated.empty())
                    world_.of("Pod").at(key_of(t)).value["status"]["nominatedNodeName"] = note.nominated;
            }
    }

    /// What takes no part although it is there.
    void warn_of_strays() {
        auto const& t = cluster_->tables();
        auto const warn = [&](object const& o, std::string text) {
            warnings_->push_back({o.file(), o.line(), o.label(), std::move(text)});
        };
        for (auto const& job : t.jobs) {
            auto const& o = world_.of("PodGroup").at(t.text(job.key));
            if (!job.queue)
                warn(o, "its queue " + t.text(job.queue_name) + " is not there; it is left untouched");
            else if (job.tasks.empty() && !jobs_.owns(t.text(job.key)))
                warn(o, "it has no pods");
            if (field{o}["spec"]["subGroupPolicy"])
                warn(o, "subGroupPolicy is not supported yet; its pods are placed as one group");
            if (field{o}["spec"]["networkTopology"])
                warn(o, "networkTopology is not supported yet; its pods are placed anywhere");
        }
        for (auto const& task : t.tasks) {
            auto const key = t.text(task.ns) + '/' + t.text(task.name);
            auto const& o = world_.of("Pod").at(key);
            if (task.group && !task.job)
                warn(o, "its PodGroup " + t.text(task.group) + " is not there; it only takes room on its node");
            if (task.node_name && !cluster_->node(t.text(task.node_name)))
                warn(o, "its node " + t.text(task.node_name) + " is not there; what it holds is not counted");
        }
    }

    ext::world world_;
    scheduling scheduler_;
    simulation_options options_;
    std::vector<warning>* warnings_;
    std::int64_t now_;
    job_set jobs_;
    std::optional<muster::cluster> cluster_{};
    outcome outcome_{};
    std::vector<cycle_result> cycles_{};
    std::vector<podgroup_event> events_{};
    std::map<std::string, podgroup_status> status_{};
    std::map<std::string, pod_note> notes_{};
    std::vector<std::string> starting_{};
};

} // namespace muster::ext
