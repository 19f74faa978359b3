#pragma once

/// \file
/// A JSON value with its lines, put together from a parser's events.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/detail/line_tree.hpp>
#include <muster/ext/input.hpp>

namespace muster::ext::detail {

/// How deep lists and maps may nest; Kubernetes objects stay below twenty.
inline constexpr std::size_t max_depth = 200;
[[nodiscard]] inline std::string too_deep() {
    return "lists and maps nest deeper than " + std::to_string(max_depth) + " levels";
}

/// A finished value, with what copies of it would cost.
struct built {
    nlohmann::json value;
    line_tree lines{};
    std::size_t weight = 64; ///< bytes, roughly
    std::size_t height = 0;  ///< levels of lists and maps
};

/// Collects events into one value a document.
///
/// Invariant: `open_` holds the lists and maps around the current position, at most `max_depth` of them.
class tree_builder {
public:
    /// Lines are kept for values at most `line_depth` levels below the root.
    tree_builder(std::string const& file, std::size_t line_depth) : file_{&file}, line_depth_{line_depth} {}

    [[nodiscard]] std::size_t depth() const noexcept { return open_.size(); }
    [[nodiscard]] bool in_map() const noexcept { return !open_.empty() && open_.back().node.value.is_object(); }
    [[nodiscard]] bool wants_key() const noexcept { return in_map() && !open_.back().key; }

    /// The key whose value comes next.
    [[nodiscard]] std::string const& pending_key() const noexcept { return *open_.back().key; }

    void open(nlohmann::json empty, std::size_t line) {
        if (open_.size() == max_depth) fail(line, too_deep());
        open_.push_back({{std::move(empty), {line}, 64, 1}, {}, 0});
    }

    /// Sets the key of the member that comes next.
    void key(std::string name, std::size_t line) {
        auto& map = open_.back();
        if (map.node.value.contains(name)) fail(line, "the key " + quoted(name) + " is set twice in one map");
        map.key = std::move(name);
        map.key_line = line;
    }

    /// Ends the innermost list or map; the caller adds it.
    [[nodiscard]] built close() {
        built node = std::move(open_.back().node);
        open_.pop_back();
        return node;
    }

    /// Puts a value into the innermost list or map, or makes it the root.
    void add(built node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        auto& [around, key, key_line] = open_.back();
        bool const keep_lines = open_.size() <= line_depth_;
        around.weight += node.weight;
        around.height = std::max(around.height, node.height + 1);
        if (around.value.is_array()) {
            around.value.push_back(std::move(node.value));
            if (keep_lines) around.lines.items.push_back(std::move(node.lines));
        } else {
            around.weight += key->size();
            node.lines.line = key_line;
            if (keep_lines) around.lines.members.emplace(*key, std::move(node.lines));
            around.value.emplace(std::move(*key), std::move(node.value));
            key.reset();
        }
    }

    /// The finished document; nothing if there was none since the last call.
    [[nodiscard]] std::optional<built> take() { return std::exchange(root_, std::nullopt); }

    [[noreturn]] void fail(std::size_t line, std::string message) const {
        throw bad_input{*file_, line, "", std::move(message)};
    }

    /// A key or text in quotes, cut short where it is long.
    [[nodiscard]] static std::string quoted(std::string const& text) {
        constexpr std::size_t most = 60;
        auto const shown = text.size() > most ? text.substr(0, most) : text;
        return nlohmann::json(shown).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore) +
               (text.size() > most ? "..." : "");
    }

private:
    struct level {
        built node;
        std::optional<std::string> key;
        std::size_t key_line;
    };

    std::string const* file_;
    std::size_t line_depth_;
    std::vector<level> open_{};
    std::optional<built> root_{};
};

} // namespace muster::ext::detail
