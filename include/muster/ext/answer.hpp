#pragma once

/// \file
/// A simulation's answer as one JSON object: the tool's contract. Members are added, never changed.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/cluster/view.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/simulation.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/wire/volcano.hpp>

namespace muster::ext {

namespace detail {

/// An amount in canonical Kubernetes text.
[[nodiscard]] inline std::string canonical(std::int64_t amount, dimension_id d, dimension_table const& dimensions) {
    if (d == dimension::memory) return to_string(quantity::from_units(amount, quantity_format::binary_si));
    bool const whole = counting_of(dimensions.name(d)) == counting::whole;
    return to_string(whole ? quantity::from_units(amount) : quantity::from_milli(amount));
}

/// Makes the parts of an answer.
class answer_maker {
public:
    explicit answer_maker(simulation const& s) : s_(&s), tables_(&s.cluster().tables()) {}

    [[nodiscard]] nlohmann::json answer() const {
        nlohmann::json out{{"schema", 1},
                           {"binds", nlohmann::json::object()},
                           {"evicted", nlohmann::json::array()},
                           {"pipelined", s_->cycles().back().pipelined},
                           {"pods", pods()},
                           {"podgroups", podgroups()},
                           {"jobs", jobs()},
                           {"queues", queues()},
                           {"nodes", nodes()},
                           {"events", nlohmann::json::array()},
                           {"warnings", nlohmann::json::array()},
                           {"cycles", s_->cycles().size()}};
        for (auto const& cycle : s_->cycles()) {
            for (auto const& [pod, node] : cycle.binds) out["binds"][pod] = node;
            for (auto const& pod : cycle.evicted) out["evicted"].push_back(pod);
        }
        for (auto const& e : s_->events())
            out["events"].push_back({{"cycle", e.cycle},
                                     {"podgroup", e.podgroup},
                                     {"type", e.type},
                                     {"reason", e.reason},
                                     {"message", e.message}});
        for (auto const& w : s_->warnings())
            out["warnings"].push_back(
                {{"file", w.file}, {"line", w.line}, {"object", w.object}, {"message", w.message}});
        return out;
    }

    /// The environment that the device plugin gives each container of a pod with cards, by the container's name.
    [[nodiscard]] nlohmann::json environment(task_id t) const {
        nlohmann::json out = nlohmann::json::object();
        auto const& row = tables_->tasks[t.index()];
        std::map<std::uint32_t, std::vector<wire::volcano::share>> by_container;
        for (auto const& share : s_->last().state.shares_of(t))
            by_container[share.container].push_back(
                {tables_->text(tables_->cards[share.card.index()].uuid), share.memory.value, share.cores.value});
        for (auto const& [container, shares] : by_container) {
            auto const cache = derived_uid("cache", row.uid, std::to_string(container));
            auto const variables = wire::volcano::environment(shares, cache);
            if (!variables) continue;
            auto& env = out[container_name(t, container)];
            for (auto const& [name, value] : *variables) env[name] = value;
        }
        return out;
    }

private:
    [[nodiscard]] std::string key_of(task_id t) const {
        auto const& row = tables_->tasks[t.index()];
        return tables_->text(row.ns) + '/' + tables_->text(row.name);
    }

    [[nodiscard]] std::string container_name(task_id t, std::uint32_t position) const {
        auto const containers = field{s_->world().of("Pod").at(key_of(t))}["spec"]["containers"];
        return containers[position]["name"].string_or(std::to_string(position));
    }

    [[nodiscard]] nlohmann::json amounts_by_name(grid<std::int64_t> const& columns, std::size_t row) const {
        nlohmann::json out = nlohmann::json::object();
        for (auto const d : tables_->dimensions.walk())
            if (d == dimension::cpu || d == dimension::memory || columns[d.index()][row] != 0)
                out[tables_->dimensions.name(d)] = canonical(columns[d.index()][row], d, tables_->dimensions);
        return out;
    }

    [[nodiscard]] nlohmann::json pods() const {
        nlohmann::json out = nlohmann::json::object();
        auto const& state = s_->last().state;
        for (task_id t{std::size_t{0}}; t.index() != tables_->tasks.size(); ++t.value) {
            auto const key = key_of(t);
            auto const found = s_->world().of("Pod").find(key);
            if (found == s_->world().of("Pod").end()) continue; // evicted
            auto const& where = state.tasks[t.index()];
            bool const bound = where.status == task_status::binding;
            auto const shown = bound ? task_status::bound
                               : where.status == task_status::allocated || where.status == task_status::pipelined
                                   ? task_status::pending
                                   : where.status;
            nlohmann::json pod{{"status", name_of(shown)},
                               {"node", ""},
                               {"cards", nlohmann::json::array()},
                               {"annotations", device_annotations(found->second)},
                               {"env", nlohmann::json::object()},
                               {"reason", ""},
                               {"message", ""},
                               {"nominated", ""}};
            if (shown != task_status::pending) {
                if (where.node) pod["node"] = tables_->text(tables_->nodes[where.node.index()].name);
                for (auto const& share : state.shares_of(t))
                    pod["cards"].push_back({{"container", container_name(t, share.container)},
                                            {"uuid", tables_->text(tables_->cards[share.card.index()].uuid)},
                                            {"memory", share.memory.value},
                                            {"cores", share.cores.value}});
                pod["env"] = environment(t);
            }
            if (auto const note = s_->notes().find(key); note != s_->notes().end()) {
                pod["reason"] = note->second.reason;
                pod["message"] = note->second.message;
                pod["nominated"] = note->second.nominated;
            }
            out[key] = std::move(pod);
        }
        return out;
    }

    [[nodiscard]] static nlohmann::json device_annotations(object const& pod) {
        namespace key = wire::volcano;
        nlohmann::json out = nlohmann::json::object();
        auto const annotations = field{pod}["metadata"]["annotations"];
        for (auto const name : {key::shares_key, key::shares_to_allocate_key, key::node_key, key::bind_phase_key,
                                key::time_key, key::bind_time_key})
            if (annotations[name]) out[std::string{name}] = annotations[name].value();
        return out;
    }

    [[nodiscard]] nlohmann::json podgroups() const {
        nlohmann::json out = nlohmann::json::object();
        for (auto const& [key, status] : s_->podgroups()) {
            auto const spec = field{s_->world().of("PodGroup").at(key)}["spec"];
            nlohmann::json conditions = nlohmann::json::array();
            for (auto const& c : status.conditions)
                conditions.push_back(
                    {{"type", c.type}, {"status", "True"}, {"reason", c.reason}, {"message", c.message}});
            out[key] = {{"phase", status.phase},
                        {"queue", spec["queue"].string_or("default")},
                        {"minMember", spec["minMember"].int_or(0)},
                        {"running", status.running},
                        {"succeeded", status.succeeded},
                        {"failed", status.failed},
                        {"conditions", std::move(conditions)},
                        {"why", why(key)}};
        }
        return out;
    }

    /// In plain sentences, what kept the group waiting in the last cycle.
    [[nodiscard]] std::vector<std::string> why(std::string const& key) const {
        auto const job = s_->cluster().job(key);
        return job ? message_maker{s_->cluster(), s_->last()}.explanations(job) : std::vector<std::string>{};
    }

    [[nodiscard]] nlohmann::json jobs() const {
        nlohmann::json out = nlohmann::json::object();
        for (auto const& [key, job] : s_->jobs().report())
            out[key] = {{"phase", job.phase},     {"podgroup", job.podgroup}, {"minAvailable", job.min_available},
                        {"pending", job.pending}, {"running", job.running},   {"succeeded", job.succeeded},
                        {"failed", job.failed}};
        return out;
    }

    [[nodiscard]] nlohmann::json queues() const {
        nlohmann::json out = nlohmann::json::object();
        auto const& last = s_->last();
        for (std::size_t q = 0; q != tables_->queues.size(); ++q) {
            auto const& row = tables_->queues[q];
            grid<std::int64_t> allocated;
            allocated.resize(tables_->dimensions.size(), 1);
            for (auto const j : last.jobs)
                if (tables_->jobs[j.index()].queue.index() == q)
                    for (std::size_t d = 0; d != allocated.size(); ++d)
                        allocated[d][0] += last.state.held[d][j.index()];
            nlohmann::json queue{{"state", state_of_queue(tables_->text(row.name))},
                                 {"allocated", amounts_by_name(allocated, 0)},
                                 {"deserved", nlohmann::json::object()},
                                 {"capability", nlohmann::json::object()},
                                 {"share", 0.0},
                                 {"inqueue", nlohmann::json::object()}};
            if (row.capability) queue["capability"] = present(*row.capability);
            if (q < last.queues.size() && last.queues[q].known) {
                auto const& facts = last.queues[q];
                queue["share"] = facts.share;
                for (auto const d : tables_->dimensions.walk()) {
                    auto const& name = tables_->dimensions.name(d);
                    if (facts.deserved.has(d))
                        queue["deserved"][name] =
                            canonical(static_cast<std::int64_t>(facts.deserved[d]), d, tables_->dimensions);
                    if (facts.inqueue[d.index()] != 0)
                        queue["inqueue"][name] = canonical(facts.inqueue[d.index()], d, tables_->dimensions);
                }
            }
            out[tables_->text(row.name)] = std::move(queue);
        }
        return out;
    }

    [[nodiscard]] std::string state_of_queue(std::string const& name) const {
        return field{s_->world().of("Queue").at(name)}["status"]["state"].string_or("Open");
    }

    /// The amounts that were given, without the zeros that every vector has.
    [[nodiscard]] nlohmann::json present(amounts const& given) const {
        nlohmann::json out = nlohmann::json::object();
        for (auto const& [d, amount] : given)
            if (amount != 0 || d.index() > dimension::memory.index())
                out[tables_->dimensions.name(d)] = canonical(amount, d, tables_->dimensions);
        return out;
    }

    [[nodiscard]] nlohmann::json nodes() const {
        nlohmann::json out = nlohmann::json::object();
        auto const& state = s_->last().state;
        for (std::size_t n = 0; n != tables_->nodes.size(); ++n) {
            auto const& row = tables_->nodes[n];
            nlohmann::json cards = nlohmann::json::array();
            for (auto c = std::size_t{row.cards.first}; c != row.cards.end(); ++c) {
                auto const& card = tables_->cards[c];
                auto const& used = state.cards[c];
                cards.push_back(
                    {{"uuid", tables_->text(card.uuid)},
                     {"slots", card.slots},
                     {"memory", card.memory.value},
                     {"cores", 100},
                     {"used", {{"slots", used.slots}, {"memory", used.memory.value}, {"cores", used.cores.value}}}});
            }
            out[tables_->text(row.name)] = {{"used", amounts_by_name(state.used, n)},
                                            {"idle", amounts_by_name(state.idle, n)},
                                            {"cards", std::move(cards)}};
        }
        return out;
    }

    simulation const* s_;
    tables const* tables_;
};

} // namespace detail

/// The whole answer; members sort by key.
[[nodiscard]] inline nlohmann::json answer(simulation const& s) { return detail::answer_maker{s}.answer(); }

} // namespace muster::ext
