#pragma once

/// \file
/// What a pod asks of its node beyond amounts: selectors, affinity, tolerations, ports; and how nodes answer.
///
/// The same shapes serve twice: with `std::string` as objects carry them, with `symbol` as decisions read them.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/symbol_table.hpp>

namespace muster {

namespace detail {
/// A list of values that are plain once their texts are symbols.
template <class T>
using list_of = std::conditional_t<std::is_trivially_copyable_v<T>, column<T>, std::vector<T>>;
} // namespace detail

enum class label_operator : std::uint8_t { in, not_in, exists, does_not_exist, greater, less };

/// One condition on a label (or on the field metadata.name).
template <class Text>
struct basic_requirement {
    Text key{};
    label_operator op = label_operator::in;
    detail::list_of<Text> values{};
    std::optional<std::int64_t> number{}; ///< the value of `greater` and `less`

    friend bool operator==(basic_requirement const&, basic_requirement const&) = default;
};

/// Conditions that must all hold; without any, nothing matches.
template <class Text>
struct basic_term {
    std::vector<basic_requirement<Text>> labels{};
    std::vector<basic_requirement<Text>> fields{};

    friend bool operator==(basic_term const&, basic_term const&) = default;
};

template <class Text>
struct basic_preference {
    std::int64_t weight = 0;
    basic_term<Text> term{};

    friend bool operator==(basic_preference const&, basic_preference const&) = default;
};

enum class taint_effect : std::uint8_t { no_schedule, prefer_no_schedule, no_execute };

template <class Text>
struct basic_taint {
    Text key{};
    Text value{};
    taint_effect effect = taint_effect::no_schedule;

    friend bool operator==(basic_taint const&, basic_taint const&) = default;
};

template <class Text>
struct basic_toleration {
    std::optional<Text> key{};            ///< absent: every key
    std::optional<Text> value{};          ///< absent: every value ("Exists")
    std::optional<taint_effect> effect{}; ///< absent: every effect

    friend bool operator==(basic_toleration const&, basic_toleration const&) = default;

    [[nodiscard]] bool tolerates(basic_taint<Text> const& taint) const noexcept {
        return (!effect || *effect == taint.effect) && (!key || *key == taint.key) && (!value || *value == taint.value);
    }
};

template <class Text>
struct basic_port {
    Text ip{}; ///< "0.0.0.0" stands for all
    Text protocol{};
    std::int32_t port = 0;

    friend bool operator==(basic_port const&, basic_port const&) = default;
};

/// A label that must be there, with its value.
template <class Text>
struct basic_pair {
    Text key{};
    Text value{};

    friend bool operator==(basic_pair const&, basic_pair const&) = default;
};

/// A pod's rules for its node.
template <class Text>
struct basic_rules {
    detail::list_of<basic_pair<Text>> selector{};            ///< labels that the node must have
    std::optional<std::vector<basic_term<Text>>> required{}; ///< one of them must match
    std::vector<basic_preference<Text>> preferred{};
    detail::list_of<basic_toleration<Text>> tolerations{};
    detail::list_of<basic_port<Text>> ports{};
    detail::list_of<Text> images{}; ///< of its containers; a node that has them starts it sooner

    friend bool operator==(basic_rules const&, basic_rules const&) = default;
};

using requirement_spec = basic_requirement<std::string>;
using term_spec = basic_term<std::string>;
using taint_spec = basic_taint<std::string>;
using toleration_spec = basic_toleration<std::string>;
using port_spec = basic_port<std::string>;
using rules_spec = basic_rules<std::string>;
using label_list = std::vector<std::pair<std::string, std::string>>;

/// A label of a node or pod, with its value as a number where it reads as one.
struct label {
    symbol key;
    symbol value;
    std::optional<std::int64_t> number{};
};

using taint = basic_taint<symbol>;
using port = basic_port<symbol>;
using rules = basic_rules<symbol>;

namespace detail {

[[nodiscard]] inline std::optional<std::int64_t> whole_number(std::string_view text) noexcept {
    std::int64_t number = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Turns every text of a value into its symbol.
struct interning {
    symbol_table& symbols;

    symbol operator()(std::string const& text) const { return symbols.intern(text); }

    basic_pair<symbol> operator()(basic_pair<std::string> const& p) const { return {(*this)(p.key), (*this)(p.value)}; }
    template <class T>
    auto operator()(std::optional<T> const& maybe) const {
        return maybe ? std::optional{(*this)(*maybe)} : std::nullopt;
    }
    template <class T>
    auto operator()(std::vector<T> const& list) const {
        list_of<decltype((*this)(list.front()))> interned;
        interned.reserve(list.size());
        for (auto const& item : list) interned.push_back((*this)(item));
        return interned;
    }
    basic_requirement<symbol> operator()(requirement_spec const& r) const {
        return {(*this)(r.key), r.op, (*this)(r.values), r.values.empty() ? r.number : whole_number(r.values.front())};
    }
    basic_term<symbol> operator()(term_spec const& t) const { return {(*this)(t.labels), (*this)(t.fields)}; }
    basic_preference<symbol> operator()(basic_preference<std::string> const& p) const {
        return {p.weight, (*this)(p.term)};
    }
    taint operator()(taint_spec const& t) const { return {(*this)(t.key), (*this)(t.value), t.effect}; }
    basic_toleration<symbol> operator()(toleration_spec const& t) const {
        return {(*this)(t.key), (*this)(t.value), t.effect};
    }
    port operator()(port_spec const& p) const { return {(*this)(p.ip), (*this)(p.protocol), p.port}; }
    rules operator()(rules_spec const& r) const {
        return {(*this)(r.selector),    (*this)(r.required), (*this)(r.preferred),
                (*this)(r.tolerations), (*this)(r.ports),    (*this)(r.images)};
    }
};

} // namespace detail

/// The labels as decisions read them, ascending by key.
[[nodiscard]] inline column<label> intern(label_list const& list, symbol_table& symbols) {
    column<label> labels;
    for (auto const& [key, value] : list)
        labels.push_back({symbols.intern(key), symbols.intern(value), detail::whole_number(value)});
    std::sort(labels.begin(), labels.end(), [](label const& a, label const& b) { return a.key < b.key; });
    return labels;
}

/// The label of that key, or nothing.
[[nodiscard]] inline label const* find(column<label> const& labels, symbol key) noexcept {
    auto const at = std::lower_bound(labels.begin(), labels.end(), key,
                                     [](label const& l, symbol wanted) { return l.key < wanted; });
    return at != labels.end() && at->key == key ? &*at : nullptr;
}

/// Whether labels meet one requirement.
///
/// Source: Kubernetes, labels.Requirement.Matches: a missing label meets `not_in` and `does_not_exist` alone, and
///         `greater` and `less` compare whole numbers.
[[nodiscard]] inline bool meets(column<label> const& labels, basic_requirement<symbol> const& r) noexcept {
    auto const* const found = find(labels, r.key);
    auto const listed = [&] { return std::find(r.values.begin(), r.values.end(), found->value) != r.values.end(); };
    switch (r.op) {
    case label_operator::in:
        return found != nullptr && listed();
    case label_operator::not_in:
        return found == nullptr || !listed();
    case label_operator::exists:
        return found != nullptr;
    case label_operator::does_not_exist:
        return found == nullptr;
    case label_operator::greater:
        return found != nullptr && found->number && r.number && *found->number > *r.number;
    case label_operator::less:
        return found != nullptr && found->number && r.number && *found->number < *r.number;
    }
    return false;
}

/// Whether a node meets all of a term; `name` is the node's. A term without conditions matches nothing.
[[nodiscard]] inline bool meets(column<label> const& labels, symbol name, basic_term<symbol> const& term) noexcept {
    if (term.labels.empty() && term.fields.empty()) return false;
    for (auto const& r : term.labels)
        if (!meets(labels, r)) return false;
    for (auto const& r : term.fields) {
        bool const listed = std::find(r.values.begin(), r.values.end(), name) != r.values.end();
        if (listed != (r.op == label_operator::in)) return false;
    }
    return true;
}

/// Whether two host ports exclude each other; `any` is the symbol of "0.0.0.0".
[[nodiscard]] inline bool collide(port const& a, port const& b, symbol any) noexcept {
    return a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == any || b.ip == any);
}

} // namespace muster
