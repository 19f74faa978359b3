#pragma once

/// \file
/// Checks a job against the rules of its CRD, with the texts of the API server.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/core/result.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/crd.hpp>
#include <muster/ext/vcjob/field.hpp>
#include <muster/ext/vcjob/kube_names.hpp>
#include <muster/resource/quantity.hpp>

namespace muster::ext::vcjob {

/// What the API server finds.
struct schema_verdict {
    faults texts{};
    bool readable = true; ///< every value is of its type, so that the webhook can decode the job
};

namespace detail {

/// What the CRD wants a quantity to look like.
inline constexpr char quantity_pattern[] =
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-"
    ")?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]"
    "+))))?$";

/// Reads a value by the few keywords that the CRD has.
///
/// Source: kube-openapi, pkg/validation/validate, and apiextensions-apiserver, pkg/apiserver/validation, at v0.36:
/// texts.
class schema_check {
public:
    explicit schema_check(json const& definitions) : definitions_{&definitions} {}

    void check(json const& value, json const& rules, std::string const& path) {
        if (auto const& ref = at(rules, {"$ref"}); ref.is_string())
            return check(value, definitions_->at(ref.get<std::string>()), path);
        if (rules.contains("quantity")) return check_quantity(value, path);

        auto const type = text(rules, "type");
        if (!is(value, type)) return refuse_type(value, type, path);
        if (type == "object") check_object(value, rules, path);
        if (type == "array") check_array(value, rules, path);
        if (type == "string") check_string(value.get<std::string>(), rules, path);
        if (type == "integer") check_integer(*integer(value), rules, path);
    }

    [[nodiscard]] schema_verdict take() {
        std::sort(found_.texts.begin(), found_.texts.end());
        return std::move(found_);
    }

private:
    [[nodiscard]] static std::string type_of(json const& value) {
        if (value.is_number()) return integer(value) ? "integer" : "number";
        return value.type_name();
    }

    [[nodiscard]] static bool is(json const& value, std::string_view type) { return type_of(value) == type; }

    void refuse_type(json const& value, std::string const& type, std::string const& path) {
        auto const shown = field::quoted(type_of(value));
        found_.readable = false;
        found_.texts.push_back(field::invalid(path, shown, path + " in body must be of type " + type + ": " + shown));
    }

    void check_object(json const& value, json const& rules, std::string const& path) {
        auto const below = path + ".";
        for (auto const& name : list(rules, {"required"}))
            if (at(value, {name.get<std::string>()}).is_null())
                found_.texts.push_back(field::required(below + name.get<std::string>()));
        auto const& members = map(rules, {"properties"});
        auto const& others = at(rules, {"additionalProperties"});
        for (auto const& [name, member] : value.items()) {
            if (member.is_null()) continue; // the API server drops a null before it looks
            auto const rule = members.find(name);
            if (rule != members.end()) check(member, *rule, below + name);
            if (rule == members.end() && others.is_object()) check(member, others, below + name);
        }
    }

    void check_array(json const& value, json const& rules, std::string const& path) {
        auto const least = number(rules, "minItems");
        if (static_cast<std::int64_t>(value.size()) < least)
            found_.texts.push_back(
                field::invalid(path, std::to_string(value.size()),
                               path + " in body should have at least " + std::to_string(least) + " items"));
        for (std::size_t i = 0; i != value.size(); ++i) check(value[i], rules.at("items"), field::index(path, i));
    }

    void check_string(std::string const& value, json const& rules, std::string const& path) {
        auto const& choices = list(rules, {"enum"});
        if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
            found_.texts.push_back(field::unsupported(path, value, choices.get<std::vector<std::string>>()));
        if (auto const most = integer(at(rules, {"maxLength"}));
            most && static_cast<std::int64_t>(value.size()) > *most)
            found_.texts.push_back(field::too_long(path, static_cast<std::size_t>(*most)));
        if (auto const least = number(rules, "minLength"); static_cast<std::int64_t>(value.size()) < least)
            found_.texts.push_back(field::invalid_text(
                path, value, path + " in body should be at least " + std::to_string(least) + " chars long"));
        if (auto const pattern = text(rules, "pattern"); !pattern.empty() && !matches(value, pattern))
            found_.texts.push_back(field::invalid_text(path, value, path + " in body should match '" + pattern + "'"));
    }

    /// The CRD's patterns are three; each has a plain reading.
    [[nodiscard]] static bool matches(std::string_view value, std::string_view pattern) {
        if (pattern == "^[^:]+$") return !value.empty() && value.find(':') == std::string_view::npos;
        return pattern.find("\\.") == std::string_view::npos ? is_label(value) : is_subdomain(value);
    }

    void check_integer(std::int64_t value, json const& rules, std::string const& path) {
        auto const shown = std::to_string(value);
        using narrow = std::numeric_limits<std::int32_t>;
        if (text(rules, "format") == "int32" && (value > narrow::max() || value < narrow::min())) {
            found_.readable = false;
            found_.texts.push_back(field::invalid(path, shown, path + " in body must be of type int32: \"integer\""));
        }
        if (auto const least = integer(at(rules, {"minimum"})); least && value < *least)
            found_.texts.push_back(field::invalid(
                path, shown, path + " in body should be greater than or equal to " + std::to_string(*least)));
    }

    void check_quantity(json const& value, std::string const& path) {
        if (value.is_number_integer() || value.is_number_unsigned()) return;
        if (!value.is_string()) return refuse_type(value, "string", path);
        auto const written = value.get<std::string>();
        auto const amount = parse_quantity(written);
        if (amount) return;
        bool const is_text = amount.error().code != errc::overflow && amount.error().code != errc::underflow;
        found_.readable = false;
        found_.texts.push_back(field::invalid_text(
            path, written,
            path + " in body should " +
                (is_text ? "match '" + std::string{quantity_pattern} + "'" : "fit 64 bits and be no finer than 1n")));
    }

    json const* definitions_;
    schema_verdict found_{};
};

inline void check_metadata(json const& job, faults& found) {
    auto const name = name_of(job);
    if (name.empty()) {
        found.push_back(field::required("metadata.name", "name or generateName is required"));
    } else {
        field::report(found, "metadata.name", name, dns_subdomain_faults(name));
    }
    for (auto const& [key, value] : map(job, {"metadata", "labels"}).items()) {
        field::report(found, "metadata.labels", key, qualified_name_faults(key));
        if (value.is_string())
            field::report(found, "metadata.labels", value.get<std::string>(),
                          label_value_faults(value.get<std::string>()));
    }
}

} // namespace detail

/// What the API server says against a job that has its defaults: its CRD's rules by text, then its metadata.
///
/// Source: Volcano's CRD (`job_crd`); apiextensions-apiserver for the texts.
[[nodiscard]] inline schema_verdict check_schema(json const& job) {
    auto const& rules = job_crd();
    detail::schema_check check{rules.at("definitions")};
    if (!at(job, {"spec"}).is_null()) check.check(at(job, {"spec"}), rules, "spec");
    auto found = check.take();
    detail::check_metadata(job, found.texts);
    return found;
}

} // namespace muster::ext::vcjob
