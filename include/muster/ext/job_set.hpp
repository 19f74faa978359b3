#pragma once

/// \file
/// The controllers of a simulated cluster: VolcanoJobs and bare pods get their PodGroups and pods.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/dialect.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/text.hpp>
#include <muster/ext/vcjob/admission.hpp>
#include <muster/ext/vcjob/controller.hpp>
#include <muster/ext/vcjob/plain_pod.hpp>
#include <muster/ext/world.hpp>

namespace muster::ext {

/// A VolcanoJob in words, for reports.
struct job_report {
    std::string phase{};
    std::string podgroup{};
    std::int64_t min_available = 0;
    std::int64_t pending = 0;
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
};

/// All VolcanoJobs of a world, each with its controller.
class job_set {
public:
    /// Admits the jobs and makes their first PodGroups; groups the bare pods.
    ///
    /// Errors: `bad_input` with the webhook's text for a job that is refused. Warnings: pods without a group for whom
    ///         none may be made.
    job_set(world& w, std::int64_t now, std::vector<warning>& warnings)
        : around_(std::make_unique<vcjob::context>(w.context())), now_(now) {
        for (auto& [key, o] : w.of("Job")) admit(key, o, w, warnings);
        (void)sync(w);
        group_bare_pods(w, warnings);
    }

    /// Lets every controller look at its job; adds the objects that it makes. Whether any were made.
    bool sync(world& w) {
        bool made = false;
        for (auto& [key, job] : jobs_) {
            if (!job.sync()) continue;
            auto const& record = job.record();
            if (!record.podgroup.is_null()) made = take(w, "PodGroup", record.podgroup) || made;
            for (auto const& [name, pod] : record.pods) made = take(w, "Pod", pod) || made;
        }
        return made;
    }

    /// A PodGroup's phase was written.
    void phase_is(std::string const& podgroup, std::string const& phase) {
        if (auto const job = owner_of_group_.find(podgroup); job != owner_of_group_.end())
            jobs_.at(job->second).set_podgroup_phase(phase);
    }

    /// A pod runs now.
    void pod_runs(std::string const& key) {
        if (auto const job = owner_of_pod_.find(key); job != owner_of_pod_.end())
            jobs_.at(job->second).set_pod_status(key.substr(key.find('/') + 1), {{"phase", "Running"}});
    }

    /// Whether a job's controller is to give the PodGroup its pods.
    [[nodiscard]] bool owns(std::string const& podgroup) const { return owner_of_group_.contains(podgroup); }

    /// By "namespace/name".
    [[nodiscard]] std::map<std::string, job_report> report() const {
        std::map<std::string, job_report> all;
        for (auto const& [key, job] : jobs_) {
            auto const& r = job.record();
            auto const& c = r.status.counts;
            all[key] = {std::string{vcjob::to_string(r.status.phase)},
                        r.podgroup.is_null() ? std::string{} : vcjob::key_of(r.podgroup),
                        r.status.min_available,
                        c.pending,
                        c.running,
                        c.succeeded,
                        c.failed};
        }
        return all;
    }

private:
    void admit(std::string const& key, object& o, world& w, std::vector<warning>& warnings) {
        auto verdict = vcjob::admit(o.value, *around_);
        if (!verdict.allowed()) {
            auto const why =
                verdict.refused_by == vcjob::refusal::schema ? joined(verdict.schema, "; ") : verdict.webhook;
            throw bad_input{o.file(), o.line(), o.label(), "job " + std::string{o.name()} + " is refused: " + why};
        }
        auto const group =
            std::string{o.ns()} + '/' + std::string{o.name()} + '-' + field{o}["metadata"]["uid"].as_string();
        if (w.of("PodGroup").contains(group)) {
            warnings.push_back({o.file(), o.line(), o.label(),
                                "its PodGroup is among the objects; it is taken as it runs, without new pods"});
            return;
        }
        o.value = verdict.job;
        auto const scheduler = field{o}["spec"]["schedulerName"].string_or("volcano");
        std::int64_t pods = 0;
        for (auto const& task : field{o}["spec"]["tasks"].items()) {
            check_dialect(task["template"]["spec"], scheduler, warnings);
            pods += task["replicas"].int32_or(0);
        }
        if (pods > most_pods)
            field{o}["spec"]["tasks"].fail("expected at most " + std::to_string(most_pods) +
                                           " pods in one job, found " + std::to_string(pods));
        jobs_.emplace(key, vcjob::job_controller{std::move(verdict.job), *around_});
    }

    /// Adds an object that a controller made, unless it is there.
    bool take(world& w, char const* kind, nlohmann::json const& made) {
        auto const key = vcjob::key_of(made);
        if (w.of(kind).contains(key)) return false;
        auto value = made;
        value["metadata"]["creationTimestamp"] = print_time(now_);
        auto const& name = made.at("metadata").at("ownerReferences").at(0).at("name").get_ref<std::string const&>();
        auto const owner = key.substr(0, key.find('/') + 1) + name;
        auto const& job = w.of("Job").at(owner);
        w.add(kind, object{std::move(value), job.file(), job.line()}); // what is wrong in it stands in the job
        (std::string_view{kind} == "Pod" ? owner_of_pod_ : owner_of_group_)[key] = owner;
        return true;
    }

    void group_bare_pods(world& w, std::vector<warning>& warnings) {
        std::vector<nlohmann::json> objects;
        std::vector<object*> pods;
        for (auto& [key, o] : w.of("Pod")) {
            if (!vcjob::needs_podgroup(o.value) || owner_of_pod_.contains(key)) continue;
            pods.push_back(&o);
            objects.push_back(o.value);
        }
        if (pods.empty()) return;
        for (auto const* kind : {"ReplicaSet", "StatefulSet", "DaemonSet"})
            for (auto const& [key, o] : w.of(kind)) objects.push_back(o.value);
        auto groups = vcjob::group_plain_pods(objects, *around_);
        if (!groups)
            throw bad_input{pods.front()->file(), pods.front()->line(), pods.front()->label(),
                            "its requests can't be counted: " + std::string{message(groups.error().code)}};
        for (std::size_t i = 0; i != pods.size(); ++i) pods[i]->value = std::move(objects[i]);
        for (auto const& key : groups->refused) {
            auto const& o = w.of("Pod").at(key);
            warnings.push_back(
                {o.file(), o.line(), o.label(), "no PodGroup can be made for it: its queue is not open"});
        }
        for (auto& [key, group] : groups->groups) {
            if (w.of("PodGroup").contains(key)) continue;
            group["metadata"]["creationTimestamp"] = print_time(now_);
            w.add("PodGroup", object{std::move(group)});
        }
    }

    static constexpr std::int64_t most_pods = 100000; ///< of a job; each is an object in memory

    std::unique_ptr<vcjob::context> around_; ///< controllers point to it
    std::int64_t now_;
    std::map<std::string, vcjob::job_controller> jobs_{};
    std::map<std::string, std::string> owner_of_group_{};
    std::map<std::string, std::string> owner_of_pod_{};
};

} // namespace muster::ext
