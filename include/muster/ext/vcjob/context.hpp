#pragma once

/// \file
/// What Volcano's webhooks and controllers look up besides the object in hand.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/names.hpp>

namespace muster::ext::vcjob {

/// A queue, as far as jobs and PodGroups depend on it.
struct queue_facts {
    std::string state;
    std::string parent{};
    bool forwards = false; ///< jobs go to other clusters (spec.extendClusters)
};

/// The cluster around a job.
struct context {
    std::map<std::string, queue_facts, std::less<>> queues{};
    std::map<std::string, std::int64_t, std::less<>> priorities{};      ///< PriorityClass name to value
    std::map<std::string, std::string, std::less<>> namespace_queues{}; ///< namespace to its queue-name annotation
    std::set<std::string, std::less<>> claims{};                        ///< NAMESPACE/NAME of PersistentVolumeClaims

    /// Takes note of an object if it is of a kind that matters here.
    void add(json const& object) {
        auto const kind = text(object, "kind");
        auto const name = name_of(object);
        if (kind == "Queue") {
            auto const& spec = at(object, {"spec"});
            queues[name] = {text(at(object, {"status"}), "state"), text(spec, "parent"),
                            !list(spec, {"extendClusters"}).empty()};
        } else if (kind == "PriorityClass") {
            priorities[name] = number(object, "value");
        } else if (kind == "Namespace") {
            auto const& queue = at(object, {"metadata", "annotations", key::group_queue});
            if (queue.is_string()) namespace_queues[name] = queue.get<std::string>();
        } else if (kind == "PersistentVolumeClaim") {
            claims.insert(key_of(object));
        }
    }

    [[nodiscard]] queue_facts const* queue(std::string_view name) const {
        auto const found = queues.find(name);
        return found == queues.end() ? nullptr : &found->second;
    }

    [[nodiscard]] std::size_t children_of(std::string_view name) const {
        std::size_t count = 0;
        for (auto const& [child, facts] : queues) count += facts.parent == name ? 1U : 0U;
        return count;
    }

    /// The value of a priority class; one that is unknown counts as 0.
    [[nodiscard]] std::int64_t priority(std::string_view name) const {
        auto const found = priorities.find(name);
        return found == priorities.end() ? 0 : found->second;
    }
};

} // namespace muster::ext::vcjob
