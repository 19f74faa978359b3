#pragma once

/// \file
/// Typed access to an object's fields; a mistake is told with file, line and path.

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/detail/line_tree.hpp>
#include <muster/ext/detail/text_guard.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/object.hpp>

namespace muster::ext {

namespace detail {

/// One step into a value as text reads it: `.spec`, `["volcano.sh/queue"]`.
[[nodiscard]] inline std::string path_step(std::string_view key) {
    bool const word = !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                            "0123456789_-") == std::string_view::npos;
    if (word) return "." + std::string{key};
    return "[" + nlohmann::json(key).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "]";
}
[[nodiscard]] inline std::string path_step(std::size_t index) { return "[" + std::to_string(index) + "]"; }

/// Where a value stands inside another, as text and as a JSON pointer.
struct place {
    std::string path{};
    std::string pointer{};
};

/// Finds `wanted` inside `root` by its address.
///
/// Cost: a walk over the object; only messages ask.
[[nodiscard]] inline std::optional<place> find_place(nlohmann::json const& root, nlohmann::json const& wanted) {
    if (&root == &wanted) return place{};
    auto const inside = [&](nlohmann::json const& child, auto const& step, std::string const& token) {
        auto found = find_place(child, wanted);
        if (found) *found = {path_step(step) + found->path, "/" + token + found->pointer};
        return found;
    };
    if (root.is_object()) {
        for (auto const& [key, child] : root.get_ref<nlohmann::json::object_t const&>()) {
            if (auto found = inside(child, std::string_view{key}, escaped(key))) return found;
        }
    } else if (root.is_array()) {
        for (std::size_t i = 0; i != root.size(); ++i) {
            if (auto found = inside(root[i], i, std::to_string(i))) return found;
        }
    }
    return std::nullopt;
}

/// A value in a message: `the string "two"`, `the number 1.5`, `a map`.
[[nodiscard]] inline std::string in_words(nlohmann::json const& value) {
    if (value.is_object()) return "a map";
    if (value.is_array()) return "a list";
    if (value.is_number()) return "the number " + value.dump();
    if (!value.is_string()) return value.dump();
    constexpr std::size_t most = 60;
    std::string_view const text = value.get_ref<std::string const&>();
    std::size_t shown = 0;
    while (shown < text.size() && shown < most) {
        std::size_t const length = utf8_length(text.substr(shown));
        shown += length == 0 ? 1 : length;
    }
    auto const quoted =
        nlohmann::json(text.substr(0, shown)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return "the string " + quoted + (shown < text.size() ? "..." : "");
}

/// A double in the digits that Go writes into JSON: shortest, without an exponent from 1e-6 to below 1e21.
[[nodiscard]] inline std::string shortest(double value) {
    std::array<char, 64> buffer{};
    double const size = std::abs(value);
    bool const plain = size == 0 || (size >= 1e-6 && size < 1e21);
    auto const written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                       plain ? std::chars_format::fixed : std::chars_format::scientific);
    std::string text{buffer.data(), written.ptr};
    if (auto const exponent = text.find("e-0"); exponent != std::string::npos) text.erase(exponent + 2, 1);
    return text;
}

} // namespace detail

/// A field of an object, present or not.
///
/// Shape:  borrows from the object, which must stay where it is and unchanged.
/// Errors: every reading function throws `bad_input` with file, line, the object and what was found and expected.
/// Cost:   a look-up a step; paths and lines are found when a message asks.
class field {
public:
    /// The whole object.
    explicit field(object const& root) : root_{&root}, at_{&root.value} {}

    /// A member; absent where the map is absent, null or lacks it.
    [[nodiscard]] field operator[](std::string_view key) const {
        if (!missing_.empty() || at_->is_null()) return absent(detail::path_step(key));
        if (!at_->is_object()) wrong("a map");
        auto const member = at_->find(key);
        return member == at_->end() ? absent(detail::path_step(key)) : field{*root_, *member};
    }

    /// An item; absent where the list is absent, null or shorter.
    [[nodiscard]] field operator[](std::size_t index) const {
        if (!missing_.empty() || at_->is_null()) return absent(detail::path_step(index));
        if (!at_->is_array()) wrong("a list");
        return index < at_->size() ? field{*root_, (*at_)[index]} : absent(detail::path_step(index));
    }

    /// Whether a value is there that is not null.
    [[nodiscard]] explicit operator bool() const noexcept { return missing_.empty() && !at_->is_null(); }

    /// The value as it was read; null if absent.
    [[nodiscard]] nlohmann::json const& value() const noexcept {
        static nlohmann::json const nothing{};
        return missing_.empty() ? *at_ : nothing;
    }

    /// Where it stands, as `spec.containers[0].resources`; empty for the whole object.
    [[nodiscard]] std::string path() const {
        auto text = place().path + missing_;
        return text.starts_with('.') ? text.substr(1) : text;
    }

    /// The line, from 1, of the field or of the nearest value around it; 0 where the object has no source.
    [[nodiscard]] std::size_t line() const { return root_->line_of(place().pointer); }

    /// Whether the field is a string written as a literal block (`|`), so that its lines are the file's.
    [[nodiscard]] bool is_block() const { return missing_.empty() && root_->is_block(place().pointer); }

    [[nodiscard]] object const& root() const noexcept { return *root_; }

    [[nodiscard]] std::string const& as_string() const {
        if (!value().is_string()) wrong(*this && value().is_primitive() ? "a string (in quotes)" : "a string");
        return value().get_ref<std::string const&>();
    }
    [[nodiscard]] bool as_bool() const {
        if (!value().is_boolean()) wrong("true or false");
        return value().get<bool>();
    }
    /// An integer that JSON holds as such; `1.5` and `"1"` are none.
    [[nodiscard]] std::int64_t as_int64() const { return integer<std::int64_t>(); }
    [[nodiscard]] std::int32_t as_int32() const { return integer<std::int32_t>(); }

    [[nodiscard]] std::string string_or(std::string_view otherwise) const {
        return *this ? as_string() : std::string{otherwise};
    }
    [[nodiscard]] bool bool_or(bool otherwise) const { return *this ? as_bool() : otherwise; }
    [[nodiscard]] std::int64_t int_or(std::int64_t otherwise) const { return *this ? as_int64() : otherwise; }
    [[nodiscard]] std::int32_t int32_or(std::int32_t otherwise) const { return *this ? as_int32() : otherwise; }

    /// The text of a quantity, written as a string or as a number: `500m`, `2`, `0.5`.
    [[nodiscard]] std::string quantity() const {
        auto const& found = value();
        if (found.is_number_integer()) return found.dump();
        if (found.is_number_float()) return detail::shortest(found.get<double>());
        if (!found.is_string()) wrong("a quantity");
        return found.get<std::string>();
    }

    /// The items of a list, none if it is absent.
    [[nodiscard]] std::vector<field> items() const {
        std::vector<field> all;
        if (!*this) return all;
        if (!at_->is_array()) wrong("a list");
        all.reserve(at_->size());
        for (auto const& item : *at_) all.push_back(field{*root_, item});
        return all;
    }

    /// The members of a map in byte order of their keys, none if it is absent; keys borrow from the object.
    [[nodiscard]] std::vector<std::pair<std::string_view, field>> members() const {
        std::vector<std::pair<std::string_view, field>> all;
        if (!*this) return all;
        if (!at_->is_object()) wrong("a map");
        all.reserve(at_->size());
        for (auto const& [key, child] : at_->get_ref<nlohmann::json::object_t const&>()) {
            all.emplace_back(key, field{*root_, child});
        }
        return all;
    }

    /// Refuses the field: `PATH: MESSAGE`.
    [[noreturn]] void fail(std::string const& message) const {
        throw bad_input{root_->file(), line(), root_->label(), prefixed(message)};
    }

    /// A warning about the field: `PATH: MESSAGE`.
    [[nodiscard]] warning warn(std::string const& message) const {
        return {root_->file(), line(), root_->label(), prefixed(message)};
    }

private:
    field(object const& root, nlohmann::json const& at) : root_{&root}, at_{&at} {}

    [[nodiscard]] field absent(std::string const& step) const {
        field child{*root_, *at_};
        child.missing_ = missing_ + step;
        return child;
    }

    [[nodiscard]] detail::place place() const {
        auto found = detail::find_place(root_->value, *at_);
        return found ? std::move(*found) : detail::place{};
    }

    [[nodiscard]] std::string prefixed(std::string const& message) const {
        auto const where = path();
        return where.empty() ? message : where + ": " + message;
    }

    [[noreturn]] void wrong(std::string const& expected) const {
        fail("expected " + expected + ", found " + (*this ? detail::in_words(*at_) : "nothing"));
    }

    template <class Integer>
    [[nodiscard]] Integer integer() const {
        using bounds = std::numeric_limits<Integer>;
        auto const& found = value();
        if (!found.is_number_integer()) wrong("an integer");
        bool const huge = found.is_number_unsigned() && found.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
        auto const number = huge ? std::int64_t{0} : found.get<std::int64_t>();
        if (huge || number < bounds::min() || number > bounds::max()) {
            wrong("an integer from " + std::to_string(bounds::min()) + " to " + std::to_string(bounds::max()));
        }
        return static_cast<Integer>(number);
    }

    object const* root_;
    nlohmann::json const* at_; ///< the field, or the nearest value around it that is there
    std::string missing_{};    ///< the steps from there that lead nowhere; empty if the field is there
};

} // namespace muster::ext
