#pragma once

/// \file
/// `volcano-jobs`: admission of VolcanoJobs and the first steps of their controllers.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <muster/ext/vcjob/admission.hpp>
#include <muster/ext/vcjob/controller.hpp>
#include <muster/ext/vcjob/plain_pod.hpp>

#include "conformance/family.hpp"

namespace conformance::jobs {

namespace vcjob = muster::ext::vcjob;

/// The steps before the first that is neither `sync` nor `podgroup`.
[[nodiscard]] inline std::size_t answered_steps(json const& line) {
    auto const& steps = line.at("steps");
    auto const later = std::find_if(steps.begin(), steps.end(),
                                    [](json const& s) { return s.at("op") != "sync" && s.at("op") != "podgroup"; });
    return static_cast<std::size_t>(later - steps.begin());
}

[[nodiscard]] inline bool is_blank(json const& value) {
    return value.is_string() && value.get_ref<std::string const&>().empty();
}

/// Copies members that are there and not empty.
inline void keep(json& to, json const& from, std::initializer_list<char const*> members) {
    for (auto const* member : members)
        if (auto const& value = vcjob::at(from, {member}); !value.empty() && !is_blank(value)) to[member] = value;
}

[[nodiscard]] inline json owner_of(json const& object) { return vcjob::controller_of(object); }

[[nodiscard]] inline json podgroup_shape(json const& group) {
    json out{{"owner", owner_of(group)}, {"spec", group.at("spec")}};
    keep(out, group.at("metadata"), {"labels", "annotations"});
    keep(out, vcjob::at(group, {"status"}), {"phase"});
    return out;
}

[[nodiscard]] inline json pod_shape(json const& pod) {
    json out{{"name", vcjob::key_of(pod) + "#1"}, {"owner", owner_of(pod)}};
    keep(out, pod.at("metadata"), {"labels", "annotations"});
    keep(out, pod.at("spec"),
         {"schedulerName", "priorityClassName", "restartPolicy", "dnsPolicy", "hostname", "subdomain", "volumes"});
    for (auto const* kind : {"containers", "initContainers"})
        for (auto const& container : vcjob::list(pod, {"spec", kind})) {
            json entry = json::object();
            keep(entry, container, {"name", "resources", "env", "volumeMounts", "ports", "command", "restartPolicy"});
            vcjob::append(out, kind, std::move(entry));
        }
    return out;
}

[[nodiscard]] inline json job_shape(vcjob::job_record const& record) {
    auto const& status = record.status;
    json out{{"phase", vcjob::to_string(status.phase)},
             {"pending", status.counts.pending},
             {"running", status.counts.running},
             {"succeeded", status.counts.succeeded},
             {"failed", status.counts.failed},
             {"unknown", status.counts.unknown},
             {"terminating", status.counts.terminating},
             {"minAvailable", status.min_available},
             {"version", status.version},
             {"retryCount", status.retry_count},
             {"taskStatusCount", json::object()},
             {"conditions", json::array()}};
    for (auto const& [task, phases] : status.counts.by_task) out["taskStatusCount"][task] = phases;
    for (auto const phase : status.conditions) out["conditions"].push_back(vcjob::to_string(phase));
    if (!status.resources.empty()) out["controlledResources"] = status.resources;
    keep(out, record.job.at("metadata"), {"annotations"});
    return out;
}

/// Equal events in a row are one, with their number.
[[nodiscard]] inline json events_shape(std::vector<vcjob::job_event> const& events, std::size_t from) {
    json out = json::array();
    for (auto first = from; first != events.size();) {
        auto last = first;
        while (last != events.size() && events[last] == events[first]) ++last;
        auto text = events[first].type + " " + events[first].reason + ": " + events[first].message;
        if (last - first > 1) text += " (x" + std::to_string(last - first) + ")";
        out.push_back(std::move(text));
        first = last;
    }
    return out;
}

/// Plugin objects by the member they are recorded under.
[[nodiscard]] inline json objects_shape(vcjob::job_record const& record) {
    json out = json::object();
    for (auto const& object : record.objects) {
        auto const kind = vcjob::text(object, "kind");
        auto const key = vcjob::key_of(object);
        if (kind == "Service") out["services"][key] = object.at("spec");
        if (kind == "NetworkPolicy") out["networkpolicies"][key] = object.at("spec");
        if (kind == "ConfigMap") out["configmaps"][key] = object.at("data");
        if (kind != "Secret") continue;
        auto& secret = out["secrets"][key];
        secret["config"] = object.at("stringData").at("config");
        for (auto const& [name, value] : object.at("stringData").items()) vcjob::append(secret, "keys", name);
    }
    for (auto const& claim : record.claims) out["persistentvolumeclaims"][vcjob::key_of(claim)] = claim.at("spec");
    return out;
}

/// Random ends of names are recorded as RANDOM.
[[nodiscard]] inline json without_numbers(json const& answer) {
    auto text = answer.dump();
    static std::string const mark = "RANDOM";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + mark.size()))
        while (std::isdigit(static_cast<unsigned char>(text.at(at + mark.size()))) != 0)
            text.erase(at + mark.size(), 1);
    return json::parse(text);
}

/// The cluster of one line: what exists, and what the controllers make of it.
class cluster {
public:
    explicit cluster(json const& line) : objects_(line.at("objects").get<std::vector<json>>()) {
        for (auto const& object : objects_) around_.add(object);
        for (auto const& object : objects_) {
            auto const version = vcjob::text(object, "apiVersion");
            if (vcjob::text(object, "kind") == "Job" && version.starts_with("batch.volcano.sh/")) add_job(object);
        }
        auto grouped = vcjob::group_plain_pods(objects_, around_);
        if (!grouped) throw std::runtime_error{"a pod's resources can't be added up"};
        plain_ = std::move(*grouped);
    }

    [[nodiscard]] json const& admission() const { return admission_; }

    [[nodiscard]] json step(json const& step) {
        if (step.at("op") == "podgroup") set_phase(vcjob::text(step, "phase"), vcjob::text(step, "name"));
        json out{{"jobs", json::object()}, {"podgroups", json::object()}, {"pods", json::object()}};
        json objects = json::object();
        for (auto& [key, job] : jobs_) show_job(key, job, out, objects);
        for (auto const& [key, group] : plain_.groups) out["podgroups"][key] = podgroup_shape(group);
        for (auto const& object : objects_) {
            if (vcjob::text(object, "kind") != "Pod") continue;
            auto const phase = vcjob::text(vcjob::at(object, {"status"}), "phase");
            auto& pod = out["pods"][vcjob::key_of(object)] = {{"gen", 1}, {"phase", phase.empty() ? "Pending" : phase}};
            keep(pod, object.at("metadata"), {"annotations"});
        }
        if (!plain_.refused.empty()) out["podgroupRetries"] = true;
        for (auto const& [member, value] : objects.items())
            if (vcjob::at(shown_, {member}) != value) out[member] = value;
        shown_ = std::move(objects);
        return out;
    }

private:
    void add_job(json const& object) {
        auto result = vcjob::admit(object, around_);
        auto& entry = admission_[vcjob::key_of(object)] = {{"allowed", result.allowed()}};
        if (!result.schema.empty()) entry["schema"] = result.schema;
        if (!result.webhook.empty()) entry["webhook"] = result.webhook;
        if (!result.allowed()) {
            entry["refusedBy"] = vcjob::to_string(result.refused_by);
            return;
        }
        entry["job"] = vcjob::defaulted_members(result.job);
        auto const tag = [](std::size_t i) { return "RANDOM" + std::to_string(i); };
        jobs_.emplace(vcjob::key_of(result.job), vcjob::job_controller{result.job, around_, tag});
    }

    void set_phase(std::string const& phase, std::string const& name) {
        auto const meant = [&](json const& group) {
            return name.empty() || vcjob::name_of(group) == name || vcjob::key_of(group) == name;
        };
        for (auto& [key, job] : jobs_)
            if (meant(job.record().podgroup)) job.set_podgroup_phase(phase);
        for (auto& [key, group] : plain_.groups)
            if (meant(group)) group["status"]["phase"] = phase;
    }

    static void show_job(std::string const& key, vcjob::job_controller& job, json& out, json& objects) {
        auto const before = job.record();
        if (!job.sync()) throw std::runtime_error{"a job's resources can't be added up"};
        auto const& record = job.record();
        out["jobs"][key] = job_shape(record);
        if (!record.podgroup.is_null())
            out["podgroups"][vcjob::key_of(record.podgroup)] = podgroup_shape(record.podgroup);
        for (auto const& [name, pod] : record.pods) {
            out["pods"][vcjob::key_of(pod)] = {{"gen", 1}, {"phase", pod.at("status").at("phase")}};
            if (!before.pods.contains(name)) vcjob::append(out, "created", pod_shape(pod));
        }
        for (auto& event : events_shape(record.events, before.events.size())) vcjob::append(out, "events", event);
        if (record.retries != before.retries) out["retries"] = record.retries - before.retries;
        for (auto const& one : record.waiting)
            vcjob::append(out, "waiting",
                          {{"action", one.action.action},
                           {"at", one.action.delay.value_or(0) / 1'000'000'000},
                           {"event", one.event},
                           {"pod", one.pod}});
        objects.merge_patch(objects_shape(record));
    }

    std::vector<json> objects_;
    vcjob::context around_{};
    json admission_ = json::object();
    std::map<std::string, vcjob::job_controller> jobs_{};
    vcjob::pod_groups plain_{};
    json shown_ = json::object(); ///< plugin objects as of the step before
};

[[nodiscard]] inline bool takes(json const& line) { return line.contains("steps") && !line.contains("conf"); }

[[nodiscard]] inline json answer(json const& line) {
    cluster around{line};
    json out{{"steps", json::array()}};
    if (!around.admission().empty()) out["admission"] = around.admission();
    for (std::size_t i = 0; i != answered_steps(line); ++i) out["steps"].push_back(around.step(line.at("steps")[i]));
    return without_numbers(out);
}

[[nodiscard]] inline json asked(json const& line) {
    json out = line.at("expect");
    auto& steps = out.at("steps");
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(answered_steps(line)), steps.end());
    return out;
}

inline constexpr family volcano_jobs{"volcano-jobs", takes, answer, asked};

} // namespace conformance::jobs
