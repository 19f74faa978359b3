#pragma once

/// \file
/// Reading Kubernetes JSON without surprises: what is absent or of another type reads as absent.

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace muster::ext::vcjob {

using json = nlohmann::json;

/// The value at `path`, or null where a step is missing or leads through no object.
///
/// Shape: borrows from `from`.
[[nodiscard]] inline json const& at(json const& from, std::initializer_list<std::string_view> path) {
    static json const absent;
    json const* here = &from;
    for (auto const key : path) {
        if (!here->is_object()) return absent;
        auto const found = here->find(key);
        if (found == here->end()) return absent;
        here = &*found;
    }
    return *here;
}

/// The string member `key`, or the empty string.
[[nodiscard]] inline std::string text(json const& from, std::string_view key) {
    auto const& value = at(from, {key});
    return value.is_string() ? value.get<std::string>() : std::string{};
}

/// A JSON number as an integer; a float counts if it is whole, as in the API server.
[[nodiscard]] inline std::optional<std::int64_t> integer(json const& value) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return std::nullopt;
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (!value.is_number_float()) return std::nullopt;
    double const real = value.get<double>();
    if (std::trunc(real) != real || std::abs(real) >= 9.2e18) return std::nullopt;
    return static_cast<std::int64_t>(real);
}

/// The integer member `key`, or 0: Kubernetes' Go types make no difference between 0 and nothing.
[[nodiscard]] inline std::int64_t number(json const& from, std::string_view key) {
    return integer(at(from, {key})).value_or(0);
}

/// The boolean member `key`, or false.
[[nodiscard]] inline bool flag(json const& from, std::string_view key) {
    auto const& value = at(from, {key});
    return value.is_boolean() && value.get<bool>();
}

/// The list at `path`, or an empty one.
[[nodiscard]] inline json const& list(json const& from, std::initializer_list<std::string_view> path) {
    static json const none = json::array();
    auto const& value = at(from, path);
    return value.is_array() ? value : none;
}

/// The map at `path`, or an empty one.
[[nodiscard]] inline json const& map(json const& from, std::initializer_list<std::string_view> path) {
    static json const none = json::object();
    auto const& value = at(from, path);
    return value.is_object() ? value : none;
}

/// Appends to the list member `key`, which is made if it is not there.
inline void append(json& to, char const* key, json value) {
    auto& items = to[key];
    if (!items.is_array()) items = json::array();
    items.push_back(std::move(value));
}

/// `metadata.name`.
[[nodiscard]] inline std::string name_of(json const& object) { return text(at(object, {"metadata"}), "name"); }

/// `metadata.namespace`, or `default`.
[[nodiscard]] inline std::string namespace_of(json const& object) {
    auto const space = text(at(object, {"metadata"}), "namespace");
    return space.empty() ? "default" : space;
}

/// `metadata.uid`.
[[nodiscard]] inline std::string uid_of(json const& object) { return text(at(object, {"metadata"}), "uid"); }

/// `NAMESPACE/NAME`.
[[nodiscard]] inline std::string key_of(json const& object) { return namespace_of(object) + "/" + name_of(object); }

} // namespace muster::ext::vcjob
