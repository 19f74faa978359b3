#pragma once

/// \file
/// How the API server words the faults of a field.

#include <span>
#include <string>
#include <string_view>

#include <muster/ext/vcjob/kube_names.hpp>

namespace muster::ext::vcjob::field {

/// A Go string literal, as far as names and quantities need it.
[[nodiscard]] inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else {
            out += c;
        }
    }
    return out + "\"";
}

/// `PATH[KEY]`.
[[nodiscard]] inline std::string key(std::string_view path, std::string_view name) {
    return std::string{path} + "[" + std::string{name} + "]";
}

/// `PATH[I]`.
[[nodiscard]] inline std::string index(std::string_view path, std::size_t i) {
    return std::string{path} + "[" + std::to_string(i) + "]";
}

/// A value that is shown as it is written in JSON.
[[nodiscard]] inline std::string invalid(std::string_view path, std::string_view shown, std::string_view why) {
    return std::string{path} + ": Invalid value: " + std::string{shown} + ": " + std::string{why};
}

/// A text value.
[[nodiscard]] inline std::string invalid_text(std::string_view path, std::string_view value, std::string_view why) {
    return invalid(path, quoted(value), why);
}

[[nodiscard]] inline std::string required(std::string_view path, std::string_view why = {}) {
    return std::string{path} + ": Required value" + (why.empty() ? "" : ": ") + std::string{why};
}

[[nodiscard]] inline std::string duplicate(std::string_view path, std::string_view value) {
    return std::string{path} + ": Duplicate value: " + quoted(value);
}

[[nodiscard]] inline std::string too_long(std::string_view path, std::size_t bytes) {
    return std::string{path} + ": Too long: may not be more than " + std::to_string(bytes) + " bytes";
}

/// A value that is none of those which exist.
template <class Values>
[[nodiscard]] std::string unsupported(std::string_view path, std::string_view value, Values const& supported) {
    std::string out = std::string{path} + ": Unsupported value: " + quoted(value) + ": supported values: ";
    bool first = true;
    for (std::string_view const one : supported) {
        out += (first ? "" : ", ") + quoted(one);
        first = false;
    }
    return out;
}

/// Adds a text for each fault of a name.
inline void report(faults& to, std::string_view path, std::string_view value, faults const& found) {
    for (auto const& fault : found) to.push_back(invalid_text(path, value, fault));
}

} // namespace muster::ext::vcjob::field
