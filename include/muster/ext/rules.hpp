#pragma once

/// \file
/// Selectors, affinity, taints, tolerations and host ports of Kubernetes objects.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/cluster/rules.hpp>
#include <muster/ext/field.hpp>

namespace muster::ext {

namespace detail {

[[nodiscard]] inline taint_effect read_effect(field const& f) {
    auto const& text = f.as_string();
    if (text == "NoSchedule") return taint_effect::no_schedule;
    if (text == "PreferNoSchedule") return taint_effect::prefer_no_schedule;
    if (text != "NoExecute") f.fail("expected NoSchedule, PreferNoSchedule or NoExecute, found \"" + text + "\"");
    return taint_effect::no_execute;
}

[[nodiscard]] inline label_operator read_operator(field const& f) {
    using enum label_operator;
    constexpr std::pair<std::string_view, label_operator> known[] = {
        {"In", in},      {"NotIn", not_in}, {"Exists", exists}, {"DoesNotExist", does_not_exist},
        {"Gt", greater}, {"Lt", less}};
    for (auto const& [name, op] : known)
        if (f.as_string() == name) return op;
    f.fail("expected In, NotIn, Exists, DoesNotExist, Gt or Lt, found \"" + f.as_string() + "\"");
}

[[nodiscard]] inline std::vector<requirement_spec> read_requirements(field const& list) {
    std::vector<requirement_spec> requirements;
    for (auto const& item : list.items()) {
        requirement_spec r{.key = item["key"].as_string(), .op = read_operator(item["operator"])};
        for (auto const& value : item["values"].items()) r.values.push_back(value.as_string());
        requirements.push_back(std::move(r));
    }
    return requirements;
}

[[nodiscard]] inline term_spec read_term(field const& f) {
    return {read_requirements(f["matchExpressions"]), read_requirements(f["matchFields"])};
}

} // namespace detail

[[nodiscard]] inline taint_spec read_taint(field const& f) {
    return {f["key"].as_string(), f["value"].string_or(""), detail::read_effect(f["effect"])};
}

[[nodiscard]] inline toleration_spec read_toleration(field const& f) {
    toleration_spec t;
    if (auto const key = f["key"].string_or(""); !key.empty()) t.key = key;
    auto const op = f["operator"].string_or("Equal");
    if (op != "Equal" && op != "Exists" && !op.empty())
        f["operator"].fail("expected Equal or Exists, found \"" + op + "\"");
    if (op != "Exists") t.value = f["value"].string_or("");
    if (!f["effect"].string_or("").empty()) t.effect = detail::read_effect(f["effect"]);
    return t;
}

/// An image's name with the tag that an absent one means.
[[nodiscard]] inline std::string with_tag(std::string const& name) {
    auto const slash = name.rfind('/');
    auto const colon = name.rfind(':');
    bool const tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
    return tagged ? name : name + ":latest";
}

/// What a pod's spec asks of its node.
[[nodiscard]] inline rules_spec read_rules(field const& spec) {
    rules_spec rules;
    for (auto const& [key, value] : spec["nodeSelector"].members())
        rules.selector.push_back({std::string{key}, value.as_string()});
    auto const affinity = spec["affinity"]["nodeAffinity"];
    if (auto const required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]) {
        rules.required.emplace();
        for (auto const& term : required["nodeSelectorTerms"].items())
            rules.required->push_back(detail::read_term(term));
    }
    for (auto const& item : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items())
        rules.preferred.push_back({item["weight"].as_int32(), detail::read_term(item["preference"])});
    for (auto const& item : spec["tolerations"].items()) rules.tolerations.push_back(read_toleration(item));
    for (auto const* list : {"containers", "initContainers"})
        for (auto const& container : spec[list].items()) {
            if (container["image"]) rules.images.push_back(with_tag(container["image"].as_string()));
            if (std::string_view{list} == "initContainers" && container["restartPolicy"].string_or("") != "Always")
                continue;
            for (auto const& p : container["ports"].items()) {
                auto const port = p["hostPort"].int32_or(0);
                if (port <= 0) continue;
                auto address = p["hostIP"].string_or("");
                rules.ports.push_back({address.empty() ? "0.0.0.0" : address, p["protocol"].string_or("TCP"), port});
            }
        }
    return rules;
}

} // namespace muster::ext
