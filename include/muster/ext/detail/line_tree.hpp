#pragma once

/// \file
/// The line of every value of a document, in the document's own shape.

#include <charconv>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace muster::ext::detail {

/// Where a value stands: a member at its key, an item at its first character.
struct line_tree {
    std::size_t line = 0; ///< from 1
    std::map<std::string, line_tree, std::less<>> members{};
    std::vector<line_tree> items{};
};

/// One token of a JSON pointer, with `~1` and `~0` undone (RFC 6901).
[[nodiscard]] inline std::string unescaped(std::string_view token) {
    std::string text;
    for (std::size_t i = 0; i != token.size(); ++i) {
        if (token[i] != '~' || i + 1 == token.size()) {
            text += token[i];
        } else {
            text += token[++i] == '1' ? '/' : '~';
        }
    }
    return text;
}

/// A key as a token of a JSON pointer.
[[nodiscard]] inline std::string escaped(std::string_view key) {
    std::string token;
    for (char const c : key) {
        if (c == '~') {
            token += "~0";
        } else if (c == '/') {
            token += "~1";
        } else {
            token += c;
        }
    }
    return token;
}

/// The line of what `pointer` names, or of the nearest value around it that is there.
[[nodiscard]] inline std::size_t line_at(line_tree const& root, std::string_view pointer) {
    line_tree const* at = &root;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        auto const token = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(token.size());
        if (auto const member = at->members.find(unescaped(token)); member != at->members.end()) {
            at = &member->second;
            continue;
        }
        std::size_t index = 0;
        auto const [end, failure] = std::from_chars(token.data(), token.data() + token.size(), index);
        if (failure != std::errc{} || end != token.data() + token.size() || index >= at->items.size()) break;
        at = &at->items[index];
    }
    return at->line;
}

} // namespace muster::ext::detail
