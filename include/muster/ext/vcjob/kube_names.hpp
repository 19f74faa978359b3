#pragma once

/// \file
/// Which names, labels and label values Kubernetes allows, and what it says of the others.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::ext::vcjob {

/// The faults of a name, in Kubernetes' words; none if it is allowed.
///
/// Source: the texts and rules are those of apimachinery, pkg/util/validation/validation.go, at v0.36.
using faults = std::vector<std::string>;

namespace detail {

[[nodiscard]] constexpr bool is_lower_or_digit(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

/// Whether `text` is `[a-z0-9]([-a-z0-9]*[a-z0-9])?`.
[[nodiscard]] constexpr bool is_label(std::string_view text) noexcept {
    if (text.empty() || !is_lower_or_digit(text.front()) || !is_lower_or_digit(text.back())) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

/// Whether `text` is labels joined by dots.
[[nodiscard]] constexpr bool is_subdomain(std::string_view text) noexcept {
    for (;;) {
        auto const dot = text.find('.');
        if (!is_label(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

/// Whether `text` is `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`.
[[nodiscard]] constexpr bool is_name_part(std::string_view text) noexcept {
    if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

[[nodiscard]] inline std::string at_most(std::size_t bytes) {
    return "must be no more than " + std::to_string(bytes) + " bytes";
}

inline constexpr char label_rule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
inline constexpr char subdomain_rule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
inline constexpr char name_part_rule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
inline constexpr char qualified_rule[] =
    "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
    "'example.com/MyName')";
inline constexpr char label_value_rule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

} // namespace detail

/// Names of containers and tasks, host names.
[[nodiscard]] inline faults dns_label_faults(std::string_view name) {
    faults found;
    if (name.size() > 63) found.push_back(detail::at_most(63));
    if (!detail::is_label(name))
        found.emplace_back(detail::is_subdomain(name) ? "must not contain dots" : detail::label_rule);
    return found;
}

/// Names of most objects.
[[nodiscard]] inline faults dns_subdomain_faults(std::string_view name) {
    faults found;
    if (name.size() > 253) found.push_back(detail::at_most(253));
    if (!detail::is_subdomain(name)) found.emplace_back(detail::subdomain_rule);
    return found;
}

/// Keys of labels and annotations, names of resources: `NAME` or `DOMAIN/NAME`.
[[nodiscard]] inline faults qualified_name_faults(std::string_view name) {
    faults found;
    auto const slash = name.find('/');
    if (slash != std::string_view::npos) {
        auto const prefix = name.substr(0, slash);
        if (name.find('/', slash + 1) != std::string_view::npos) return {detail::qualified_rule};
        if (prefix.empty()) {
            found.emplace_back("prefix part must be non-empty");
        } else {
            for (auto const& fault : dns_subdomain_faults(prefix)) found.push_back("prefix part " + fault);
        }
        name.remove_prefix(slash + 1);
    }
    if (name.empty()) found.emplace_back("name part must be non-empty");
    if (name.size() > 63) found.push_back("name part " + detail::at_most(63));
    if (!detail::is_name_part(name)) found.push_back(std::string{"name part "} + detail::name_part_rule);
    return found;
}

/// Values of labels.
[[nodiscard]] inline faults label_value_faults(std::string_view value) {
    faults found;
    if (value.size() > 63) found.push_back(detail::at_most(63));
    if (!value.empty() && !detail::is_name_part(value)) found.emplace_back(detail::label_value_rule);
    return found;
}

} // namespace muster::ext::vcjob
