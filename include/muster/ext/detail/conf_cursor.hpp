#pragma once

/// \file
/// A position in a configuration's value and its lines, with errors that name both.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/detail/line_tree.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/text.hpp>

namespace muster::ext {

/// Where the text of a configuration was found.
struct conf_place {
    std::string file{};
    std::string object{};       ///< such as `ConfigMap volcano-system/volcano-scheduler-configmap`
    std::size_t first_line = 1; ///< of the text in the file
    bool line_by_line = true;   ///< whether each line of the text is one of the file; else all stand at `first_line`
};

} // namespace muster::ext

namespace muster::ext::detail {

/// The line in the file of a line of the text, both from 1.
[[nodiscard]] inline std::size_t line_in_file(conf_place const& place, std::size_t line) noexcept {
    return place.line_by_line && line != 0 ? place.first_line + line - 1 : place.first_line;
}

/// A value of a configuration, null if absent.
///
/// Shape: borrows all that it is made of; an absent value stands at the line of what lacks it.
class conf_cursor {
public:
    conf_cursor(nlohmann::json const& value, line_tree const& lines, conf_place const& place, std::string path = {})
        : value_{&value}, lines_{&lines}, place_{&place}, path_{std::move(path)} {}

    [[nodiscard]] nlohmann::json const& value() const noexcept { return *value_; }
    /// In the file, from 1.
    [[nodiscard]] std::size_t line() const noexcept { return line_in_file(*place_, lines_->line); }

    [[nodiscard]] conf_cursor operator[](std::string_view key) const {
        static nlohmann::json const nothing{};
        if (!value_->is_null() && !value_->is_object()) wrong("a map");
        auto const member = lines_->members.find(key);
        bool const present = value_->is_object() && member != lines_->members.end();
        if (!present) return {nothing, *lines_, *place_, path_of(key)};
        return {value_->at(member->first), member->second, *place_, path_of(key)};
    }

    /// The members of a map by key, none if it is absent.
    [[nodiscard]] std::vector<std::pair<std::string_view, conf_cursor>> members() const {
        if (!value_->is_null() && !value_->is_object()) wrong("a map");
        std::vector<std::pair<std::string_view, conf_cursor>> all;
        if (value_->is_null()) return all;
        for (auto const& member : lines_->members) all.emplace_back(member.first, (*this)[member.first]);
        return all;
    }

    /// The items of a list, none if it is absent.
    [[nodiscard]] std::vector<conf_cursor> items() const {
        if (!value_->is_null() && !value_->is_array()) wrong("a list");
        std::vector<conf_cursor> all;
        for (std::size_t i = 0; i != value_->size(); ++i) {
            all.emplace_back((*value_)[i], lines_->items[i], *place_, path_ + path_step(i));
        }
        return all;
    }

    [[nodiscard]] std::string_view text(std::string const& expected) const {
        if (!value_->is_string()) wrong(expected);
        return value_->get_ref<std::string const&>();
    }

    [[nodiscard]] bool flag() const {
        if (!value_->is_boolean()) wrong("true or false");
        return value_->get<bool>();
    }

    /// Refuses what is no map and members that are not `known`.
    void only(std::initializer_list<std::string_view> known, std::string const& what) const {
        if (!value_->is_object()) wrong("a map");
        for (auto const& [key, member] : members()) {
            if (std::find(known.begin(), known.end(), key) != known.end()) continue;
            member.fail("no such member of " + what + "; expected one of " + joined(known, ", "));
        }
    }

    [[noreturn]] void fail(std::string const& message) const {
        auto const prefix = path_.empty() ? std::string{} : path_ + ": ";
        throw bad_input{place_->file, line(), place_->object, prefix + message};
    }

private:
    [[nodiscard]] std::string path_of(std::string_view key) const {
        auto const step = path_step(key);
        return path_.empty() && step[0] == '.' ? step.substr(1) : path_ + step;
    }

    [[noreturn]] void wrong(std::string const& expected) const {
        fail("expected " + expected + ", found " + (value_->is_null() ? "nothing" : in_words(*value_)));
    }

    nlohmann::json const* value_;
    line_tree const* lines_;
    conf_place const* place_;
    std::string path_;
};

} // namespace muster::ext::detail
