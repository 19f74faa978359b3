#pragma once

/// \file
/// The objects of a cluster as they stand between cycles, and the cluster value made of them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/cluster/cluster.hpp>
#include <muster/ext/convert.hpp>
#include <muster/ext/detail/document.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/object.hpp>
#include <muster/ext/time.hpp>
#include <muster/ext/vcjob/context.hpp>

namespace muster::ext {

/// Objects by kind and name.
///
/// Invariant: one object a kind, namespace and name; every queue's parents are there and lead to an end.
class world {
public:
    using table = std::map<std::string, object, std::less<>>;

    /// Takes what was read. Errors: `bad_input` for no object at all, one that stands twice, or queue parents that are
    /// missing or go round. Warnings: kinds that play no part.
    world(std::vector<object> objects, std::vector<warning>& warnings) {
        if (objects.empty())
            throw bad_input{"", 0, "", "found no object; expected Nodes, Queues, PodGroups, Pods or Jobs"};
        std::map<std::string, std::vector<object const*>, std::less<>> unknown;
        for (auto& o : objects) {
            auto const kind = kind_of(o);
            if (kind.empty()) {
                auto const& version = o.api_version();
                unknown[std::string{o.kind()} + (version.empty() ? "" : " (" + std::string{version} + ")")].push_back(
                    &o);
                continue;
            }
            add(kind, std::move(o));
        }
        for (auto const& [kind, list] : unknown) {
            auto const& first = **std::min_element(list.begin(), list.end(), stands_before);
            warnings.push_back({first.file(), first.line(), first.label(),
                                "kind " + kind + " plays no part here; " + std::to_string(list.size()) +
                                    (list.size() == 1 ? " object is" : " objects are") + " left out"});
        }
        add_default_queue("root", false);
        add_default_queue("default", true);
        check_parents();
    }

    [[nodiscard]] table& of(std::string_view kind) { return tables_[std::string{kind}]; }
    [[nodiscard]] table const& of(std::string_view kind) const {
        static table const nothing;
        auto const found = tables_.find(kind);
        return found == tables_.end() ? nothing : found->second;
    }

    /// Adds an object, of a kind that counts.
    object& add(std::string_view kind, object o) {
        check_shape(field{o});
        if (kind == "Pod") detail::check_amounts(field{o}["spec"]);
        if (o.name().empty()) field{o}["metadata"]["name"].fail("expected a name");
        auto const key = cluster_scoped(kind) ? std::string{o.name()} : o.key();
        if (!cluster_scoped(kind)) o.value["metadata"]["namespace"] = std::string{o.ns()};
        if (kind == "Queue" && !field{o}["status"]["state"])
            o.value["status"]["state"] = "Open"; // the queue controller
        if (!field{o}["metadata"]["uid"]) o.value["metadata"]["uid"] = derived_uid(kind, o.ns(), o.name());
        auto const [at, fresh] = of(kind).try_emplace(key, std::move(o));
        if (!fresh)
            throw bad_input{o.file(), o.line(), at->second.label(),
                            at->second.label() + " stands here a second time; the first is at " + place_of(at->second)};
        return at->second;
    }

    /// The latest creation time read; 2000-01-01 without any.
    [[nodiscard]] std::int64_t latest() const {
        std::int64_t latest = 946684800;
        for (auto const& [kind, objects] : tables_)
            for (auto const& [key, o] : objects) latest = std::max(latest, read_created(field{o}));
        return latest;
    }

    /// What admission and controllers look up.
    [[nodiscard]] vcjob::context context() const {
        vcjob::context around;
        for (auto const* kind : {"Queue", "PriorityClass", "Namespace", "PersistentVolumeClaim"})
            for (auto const& [key, o] : of(kind)) around.add(o.value);
        return around;
    }

    /// The cluster as a scheduler sees it: nodes, queues and jobs by name in byte order, then pods.
    ///
    /// Errors: `bad_input` for fields that can't be read.
    [[nodiscard]] cluster snapshot(std::vector<warning>& warnings) const {
        reading around;
        around.warnings = &warnings;
        read_names(around);
        for (auto const& [key, o] : of("PriorityClass")) {
            auto const value = field{o}["value"].int32_or(0);
            around.priorities.emplace(key, value);
            if (field{o}["globalDefault"].bool_or(false)) around.default_priority = value;
        }
        std::vector<std::pair<object const*, task_spec>> pods;
        std::set<std::string, std::less<>> unreadable;
        std::map<std::string, std::vector<object const*>> strangers;
        for (auto const& [key, o] : of("Pod")) {
            bool broken = false;
            auto pod = read_pod(o, around, broken);
            if (broken && !pod.node.empty()) unreadable.insert(pod.node);
            bool const ours = pod.status != task_status::pending || scheduler_of(o) == "volcano";
            if (ours)
                pods.emplace_back(&o, std::move(pod));
            else
                strangers[std::string{scheduler_of(o)}].push_back(&o);
        }
        for (auto const& [scheduler, list] : strangers)
            warnings.push_back({list.front()->file(), list.front()->line(), list.front()->label(),
                                "its schedulerName is " + (scheduler.empty() ? "default-scheduler" : scheduler) +
                                    ", not volcano; " + std::to_string(list.size()) +
                                    (list.size() == 1 ? " such pod is" : " such pods are") + " left out"});
        cluster c;
        for (auto const& [key, o] : of("Node")) {
            auto node = read_node(o, around);
            if (unreadable.contains(key))
                for (auto& card : node.cards) card.faulty = true;
            expect(c.add_node(node), o);
        }
        for (auto const& [key, o] : of("Queue")) expect(c.add_queue(read_queue(o)), o);
        for (auto const& [key, o] : of("PodGroup")) expect(c.add_job(read_podgroup(o, around)), o);
        for (auto const& [o, pod] : pods) {
            expect(c.add_task(pod), *o);
            warn_of_lost_cards(c, pod, *o, warnings);
        }
        return c;
    }

    [[nodiscard]] static std::string_view scheduler_of(object const& pod) {
        auto const spec = pod.value.find("spec");
        if (spec == pod.value.end()) return {};
        auto const name = spec->find("schedulerName");
        return name == spec->end() || !name->is_string() ? std::string_view{} : name->get_ref<std::string const&>();
    }

private:
    /// The kind, if objects of it and its API group play a part; else empty.
    [[nodiscard]] static std::string_view kind_of(object const& o) noexcept {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 14> known{{
            {"Node", ""},
            {"Pod", ""},
            {"Namespace", ""},
            {"ConfigMap", ""},
            {"ResourceQuota", ""},
            {"PersistentVolumeClaim", ""},
            {"Queue", "scheduling.volcano.sh/"},
            {"PodGroup", "scheduling.volcano.sh/"},
            {"Job", "batch.volcano.sh/"},
            {"PriorityClass", "scheduling.k8s.io/"},
            {"ReplicaSet", "apps/"},
            {"StatefulSet", "apps/"},
            {"DaemonSet", "apps/"},
            {"Service", ""},
        }};
        for (auto const& [kind, group] : known)
            if (o.kind() == kind && (group.empty() ? o.api_version() == "v1" : o.api_version().starts_with(group)))
                return kind;
        return {};
    }

    [[nodiscard]] static bool stands_before(object const* a, object const* b) {
        return std::pair{std::string_view{a->file()}, a->line()} < std::pair{std::string_view{b->file()}, b->line()};
    }

    /// Refuses values of another type where schedulers and controllers look and write.
    static void check_shape(field const& root) {
        auto const metadata = root["metadata"];
        for (auto const* name : {"uid", "namespace"}) (void)metadata[name].string_or("");
        for (auto const* map : {"annotations", "labels"})
            for (auto const& [key, text] : metadata[map].members()) (void)text.string_or("");
        for (auto const& owner : metadata["ownerReferences"].items()) (void)owner.members();
        for (auto const* part : {"spec", "status"}) (void)root[part].members();
    }

    /// Warns of cards that a pod holds by its annotation and that its node does not have.
    static void warn_of_lost_cards(cluster const& c, task_spec const& pod, object const& o,
                                   std::vector<warning>& warnings) {
        auto const node = c.node(pod.node);
        if (!node) return;
        auto const& cards = c.tables().nodes[node.index()].cards;
        for (auto const& share : pod.shares) {
            bool known = false;
            for (auto i = std::size_t{cards.first}; i != cards.end(); ++i)
                known = known || c.tables().text(c.tables().cards[i].uuid) == share.uuid;
            if (known) continue;
            warnings.push_back({o.file(), o.line(), o.label(),
                                "it holds card " + share.uuid + ", which its node " + pod.node +
                                    " does not have; what it holds there is not counted"});
        }
    }

    [[nodiscard]] static std::string place_of(object const& o) {
        return o.file() + (o.line() != 0 ? ":" + std::to_string(o.line()) : std::string{});
    }

    void add_default_queue(char const* name, bool reclaimable) {
        if (of("Queue").contains(std::string_view{name})) return;
        nlohmann::json queue{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                             {"kind", "Queue"},
                             {"metadata", {{"name", name}, {"creationTimestamp", "2000-01-01T00:00:00Z"}}},
                             {"spec", {{"weight", 1}, {"reclaimable", reclaimable}}},
                             {"status", {{"state", "Open"}}}};
        if (reclaimable) queue["spec"]["parent"] = "root";
        add("Queue", object{std::move(queue)});
    }

    void check_parents() const {
        auto const& queues = of("Queue");
        for (auto const& [name, o] : queues) {
            std::set<std::string_view> seen{name};
            for (auto const* at = &o;;) {
                auto const f = field{*at}["spec"]["parent"];
                auto const parent = f.string_or("");
                if (parent.empty()) break;
                auto const up = queues.find(parent);
                if (up == queues.end())
                    f.fail("expected the name of a queue, found \"" + parent + "\", which is not there");
                if (!seen.insert(up->first).second) f.fail("queue " + parent + " is its own ancestor");
                at = &up->second;
            }
        }
    }

    /// The names of vGPU resources, from the device configuration if the cluster has one.
    void read_names(reading& around) const {
        auto const found = of("ConfigMap").find("kube-system/volcano-vgpu-device-config");
        if (found == of("ConfigMap").end()) return;
        auto const text = field{found->second}["data"]["device-config.yaml"];
        if (!text) return;
        auto const& o = found->second;
        auto read =
            detail::parse_documents(detail::guarded(text.as_string(), o.file()), o.file(), text_format::yaml, 0);
        if (read.documents.empty()) return;
        object const config{std::move(read.documents.front().value), o.file(), text.line()};
        auto const nvidia = field{config}["nvidia"];
        around.names = {nvidia["resourceCountName"].string_or(""), nvidia["resourceMemoryName"].string_or(""),
                        nvidia["resourceCoreName"].string_or(""), nvidia["resourceMemoryPercentageName"].string_or("")};
    }

    template <class Id>
    static void expect(result<Id> const& added, object const& o) {
        if (added) return;
        auto const why =
            added.error().code == errc::overflow
                ? std::string{"its amounts and those of the objects before it sum up to more than can be counted"}
                : std::string{message(added.error().code)};
        throw bad_input{o.file(), o.line(), o.label(), o.label() + " can't be taken: " + why};
    }

    std::map<std::string, table, std::less<>> tables_;
};

} // namespace muster::ext
