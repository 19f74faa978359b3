#pragma once

/// \file
/// Checks a task's pod template as Kubernetes checks pods.

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <muster/ext/text.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/field.hpp>
#include <muster/ext/vcjob/kube_names.hpp>
#include <muster/ext/vcjob/resource_name.hpp>
#include <muster/resource/quantity.hpp>

namespace muster::ext::vcjob {

namespace detail {

/// Collects what Kubernetes has against one template, in its order.
///
/// Source: kubernetes, pkg/apis/core/validation/validation.go, ValidatePodTemplateSpec, at v1.36, as far as names,
///         resources, ports, environment, mounts and the closed sets of words go.
class template_check {
public:
    void check(json const& pod_template) {
        for (auto const& [key, value] : map(pod_template, {"metadata", "labels"}).items()) {
            field::report(found_, "template.labels", key, qualified_name_faults(key));
            if (value.is_string())
                field::report(found_, "template.labels", value.get<std::string>(),
                              label_value_faults(value.get<std::string>()));
        }
        for (auto const& [key, value] : map(pod_template, {"metadata", "annotations"}).items())
            field::report(found_, "template.annotations", key, qualified_name_faults(lower_case(key)));
        check_pod(at(pod_template, {"spec"}));
    }

    [[nodiscard]] faults take() { return std::move(found_); }

private:
    void check_pod(json const& spec) {
        static std::string const path = "template.spec";
        check_volumes(list(spec, {"volumes"}), path + ".volumes");
        auto const& containers = list(spec, {"containers"});
        if (containers.empty()) found_.push_back(field::required(path + ".containers"));
        check_containers(containers, path + ".containers");
        check_containers(list(spec, {"initContainers"}), path + ".initContainers");

        static constexpr std::array<std::string_view, 3> restarts{"Always", "OnFailure", "Never"};
        static constexpr std::array<std::string_view, 4> resolvers{"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                                                   "None"};
        check_word(spec, "restartPolicy", restarts, path);
        check_word(spec, "dnsPolicy", resolvers, path);
        for (auto const& [key, value] : map(spec, {"nodeSelector"}).items()) {
            field::report(found_, path + ".nodeSelector", key, qualified_name_faults(key));
            if (value.is_string())
                field::report(found_, path + ".nodeSelector", value.get<std::string>(),
                              label_value_faults(value.get<std::string>()));
        }
        check_name(spec, "nodeName", path, dns_subdomain_faults);
        check_name(spec, "hostname", path, dns_label_faults);
        check_name(spec, "subdomain", path, dns_label_faults);
        check_name(spec, "priorityClassName", path, dns_subdomain_faults);
    }

    template <class Words>
    void check_word(json const& spec, std::string const& key, Words const& words, std::string const& path) {
        auto const word = text(spec, key);
        if (word.empty() || std::find(words.begin(), words.end(), word) != words.end()) return;
        found_.push_back(field::unsupported(path + "." + key, word, words));
    }

    template <class Rule>
    void check_name(json const& spec, std::string const& key, std::string const& path, Rule rule) {
        if (auto const name = text(spec, key); !name.empty()) field::report(found_, path + "." + key, name, rule(name));
    }

    void check_volumes(json const& volumes, std::string const& path) {
        for (std::size_t i = 0; i != volumes.size(); ++i) {
            auto const name = text(volumes[i], "name");
            auto const name_path = field::index(path, i) + ".name";
            if (name.empty()) {
                found_.push_back(field::required(name_path));
            } else {
                field::report(found_, name_path, name, dns_label_faults(name));
            }
            if (!name.empty() && !volumes_.insert(name).second) found_.push_back(field::duplicate(name_path, name));
        }
    }

    void check_containers(json const& containers, std::string const& path) {
        for (std::size_t i = 0; i != containers.size(); ++i) {
            auto const& container = containers[i];
            auto const here = field::index(path, i);
            auto const name = text(container, "name");
            if (name.empty()) {
                found_.push_back(field::required(here + ".name"));
            } else {
                field::report(found_, here + ".name", name, dns_label_faults(name));
            }
            check_image(text(container, "image"), here + ".image");
            check_ports(list(container, {"ports"}), here + ".ports");
            check_environment(list(container, {"env"}), here + ".env");
            check_mounts(list(container, {"volumeMounts"}), here + ".volumeMounts");
            check_resources(at(container, {"resources"}), here + ".resources");
            if (!name.empty() && !containers_.insert(name).second)
                found_.push_back(field::duplicate(here + ".name", name));
        }
    }

    void check_image(std::string const& image, std::string const& path) {
        static constexpr char blanks[] = " \t\r\n";
        if (image.empty()) found_.push_back(field::required(path));
        if (!image.empty() && (image.find_first_of(blanks) == 0 || image.find_last_of(blanks) == image.size() - 1))
            found_.push_back(field::invalid_text(path, image, "must not have leading or trailing whitespace"));
    }

    void check_ports(json const& ports, std::string const& path) {
        static constexpr std::array<std::string_view, 3> protocols{"SCTP", "TCP", "UDP"};
        for (std::size_t i = 0; i != ports.size(); ++i) {
            auto const here = field::index(path, i);
            auto const port = number(ports[i], "containerPort");
            if (port == 0) found_.push_back(field::required(here + ".containerPort"));
            if (port < 0 || port > 65535)
                found_.push_back(field::invalid(here + ".containerPort", std::to_string(port),
                                                "must be between 1 and 65535, inclusive"));
            check_word(ports[i], "protocol", protocols, here);
        }
    }

    void check_environment(json const& env, std::string const& path) {
        for (std::size_t i = 0; i != env.size(); ++i)
            if (text(env[i], "name").empty()) found_.push_back(field::required(field::index(path, i) + ".name"));
    }

    void check_mounts(json const& mounts, std::string const& path) {
        std::set<std::string> paths;
        for (std::size_t i = 0; i != mounts.size(); ++i) {
            auto const here = field::index(path, i);
            auto const name = text(mounts[i], "name");
            auto const target = text(mounts[i], "mountPath");
            if (name.empty()) found_.push_back(field::required(here + ".name"));
            if (target.empty()) found_.push_back(field::required(here + ".mountPath"));
            if (!name.empty() && !volumes_.contains(name))
                found_.push_back(here + ".name: Not found: " + field::quoted(name));
            if (!target.empty() && !paths.insert(target).second)
                found_.push_back(field::invalid_text(here + ".mountPath", target, "must be unique"));
        }
    }

    void check_resources(json const& resources, std::string const& path) {
        auto const& limits = map(resources, {"limits"});
        bool pages = false;
        bool anchored = false;
        for (auto const* side : {"limits", "requests"}) {
            for (auto const& [name, amount] : map(resources, {side}).items()) {
                auto const here = field::key(path + "." + side, name);
                check_resource_name(name, here);
                check_amount(name, read_quantity(amount).value_or(quantity{}), here);
                pages = pages || is_huge_page(name);
                anchored = anchored || name == "cpu" || name == "memory";
                if (side == std::string_view{"requests"}) check_pair(name, amount, limits, path);
            }
        }
        if (pages && !anchored) found_.push_back(path + ": Forbidden: HugePages require cpu or memory");
    }

    void check_resource_name(std::string const& name, std::string const& path) {
        auto const bad = qualified_name_faults(name);
        field::report(found_, path, name, bad);
        if (!bad.empty()) return;
        if (name.find('/') == std::string::npos) {
            if (!is_container_resource(name))
                found_.push_back(field::invalid_text(path, name, "must be a standard resource for containers"));
        } else if (!is_native_resource(name) && !is_extended_resource(name)) {
            found_.push_back(field::invalid_text(path, name, "doesn't follow extended resource name standard"));
        }
    }

    void check_amount(std::string const& name, quantity amount, std::string const& path) {
        if (amount.is_negative())
            found_.push_back(field::invalid_text(path, to_string(amount), "must be greater than or equal to 0"));
        if (is_extended_resource(name) && !amount.as_int64())
            found_.push_back(field::invalid_text(path, to_string(amount), "must be an integer"));
    }

    /// A request against its limit.
    void check_pair(std::string const& name, json const& request, json const& limits, std::string const& path) {
        bool const overcommit = is_native_resource(name) && !is_huge_page(name);
        auto const limit = limits.find(name);
        if (limit == limits.end()) {
            if (!overcommit)
                found_.push_back(
                    field::required(path + ".limits", "Limit must be set for non overcommitable resources"));
            return;
        }
        auto const asked = read_quantity(request).value_or(quantity{});
        auto const most = read_quantity(*limit).value_or(quantity{});
        std::string const relation = !overcommit && asked != most ? "equal" : asked > most ? "less than or equal" : "";
        if (relation.empty()) return;
        found_.push_back(field::invalid_text(path + ".requests", to_string(asked),
                                             "must be " + relation + " to " + name + " limit of " + to_string(most)));
    }

    faults found_{};
    std::set<std::string> volumes_{};
    std::set<std::string> containers_{};
};

} // namespace detail

/// What Kubernetes has against a task: its name as a pod template's, then the template.
[[nodiscard]] inline faults template_faults(json const& task) {
    faults found;
    auto const name = text(task, "name");
    field::report(found, "metadata.name", name, dns_subdomain_faults(name));
    detail::template_check check;
    check.check(at(task, {"template"}));
    for (auto& fault : check.take()) found.push_back(std::move(fault));
    return found;
}

} // namespace muster::ext::vcjob
