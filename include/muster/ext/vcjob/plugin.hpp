#pragma once

/// \file
/// Job plugins: their names, and their arguments as Go's flag package reads them.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include <muster/ext/vcjob/access.hpp>

namespace muster::ext::vcjob {

inline constexpr std::array<std::string_view, 8> plugin_names{"env", "hcclrank", "mpi", "pytorch",
                                                              "ray", "ssh",      "svc", "tensorflow"};

[[nodiscard]] inline bool is_plugin(std::string_view name) {
    return std::find(plugin_names.begin(), plugin_names.end(), name) != plugin_names.end();
}

/// A job's task by name, or null.
[[nodiscard]] inline json const* find_task(json const& tasks, std::string_view name) {
    for (auto const& task : tasks)
        if (text(task, "name") == name) return &task;
    return nullptr;
}

/// The arguments of one plugin: `--name=value`, `--name value`, `--switch`.
///
/// Source: Go, flag.FlagSet.Parse: reading ends at the first argument that is no flag. Laxer than it: a flag that the
///         plugin doesn't know is passed over, while Go stops there.
class plugin_flags {
public:
    plugin_flags(json const& plugins, char const* name) {
        auto const& arguments = list(plugins, {name});
        for (std::size_t i = 0; i != arguments.size(); ++i) {
            if (!arguments[i].is_string()) return;
            std::string_view argument = arguments[i].get_ref<std::string const&>();
            if (!argument.starts_with('-') || argument == "-" || argument == "--") return;
            argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
            auto const equals = argument.find('=');
            auto& value = values_[std::string{argument.substr(0, equals)}];
            value = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
            bool const detached = equals == std::string_view::npos && i + 1 != arguments.size() &&
                                  arguments[i + 1].is_string() &&
                                  !arguments[i + 1].get_ref<std::string const&>().starts_with('-');
            if (detached) value = arguments[++i].get<std::string>();
        }
    }

    [[nodiscard]] std::string word(std::string_view name, std::string_view otherwise) const {
        auto const found = values_.find(name);
        return found == values_.end() ? std::string{otherwise} : found->second;
    }

    [[nodiscard]] std::int64_t count(std::string_view name, std::int64_t otherwise) const {
        auto const written = word(name, "");
        std::int64_t value = 0;
        auto const [end, failure] = std::from_chars(written.data(), written.data() + written.size(), value);
        return failure == std::errc{} && end == written.data() + written.size() && !written.empty() ? value : otherwise;
    }

    [[nodiscard]] bool on(std::string_view name, bool otherwise) const {
        auto const found = values_.find(name);
        if (found == values_.end()) return otherwise;
        static constexpr std::array<std::string_view, 7> yes{"", "1", "t", "T", "true", "TRUE", "True"};
        return std::find(yes.begin(), yes.end(), found->second) != yes.end();
    }

private:
    std::map<std::string, std::string, std::less<>> values_{};
};

} // namespace muster::ext::vcjob
