#pragma once

/// \file
/// YAML text to JSON values, as kubectl converts it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <muster/ext/detail/text_guard.hpp>
#include <muster/ext/detail/tree_builder.hpp>
#include <muster/ext/detail/yaml_scalar.hpp>

namespace muster::ext::detail {

/// How much text anchors and aliases may multiply into, all documents of one text together.
inline constexpr std::size_t max_alias_bytes = std::size_t{64} << 20U;

/// Builds a document from yaml-cpp's events: resolves scalars, aliases and merge keys.
class yaml_events final : public YAML::EventHandler {
public:
    yaml_events(std::string_view text, std::string const& file, whole_float whole, std::size_t line_depth)
        : text_{text}, tree_{file, line_depth}, whole_{whole} {}

    /// The document that ended last; nothing if it was empty.
    [[nodiscard]] std::optional<built> take() { return tree_.take(); }

    /// yaml-cpp takes text after a complete value for the next document, for ever if it can't begin one.
    void OnDocumentStart(YAML::Mark const& mark) override {
        auto const at = static_cast<std::size_t>(mark.pos);
        bool const marked = documents_ == 0 || text_.substr(at).starts_with("---") || ended_before(at);
        if (!marked || (documents_ != 0 && at == document_start_)) {
            tree_.fail(line(mark), "text follows the end of a document; expected a line '---' between documents");
        }
        ++documents_;
        document_start_ = at;
        anchors_.clear();
        levels_.clear();
    }
    void OnDocumentEnd() override {}

    void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override {
        // yaml-cpp gives a line without a colon the value null, at the key's own place.
        bool const value = tree_.in_map() && !tree_.wants_key();
        if (value && levels_.back().block && levels_.back().key_at == mark.pos) {
            tree_.fail(line(mark), "broken YAML: no ':' follows the key " + tree_builder::quoted(tree_.pending_key()));
        }
        scalar(mark, nullptr, anchor, 0, false);
    }

    void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  std::string const& text) override {
        if (tag != "?" && unclosed(static_cast<std::size_t>(mark.pos))) {
            tree_.fail(line(mark), "broken YAML: a string in quotes has no end");
        }
        auto value = tagged_scalar(text, tag, whole_);
        if (!value) {
            tree_.fail(line(mark), "the text " + tree_builder::quoted(text) + " can't be read under the tag " + tag);
        }
        if (value->is_number_float() && !std::isfinite(value->get<double>())) {
            tree_.fail(line(mark), "found " + text + ", which JSON can't hold; expected a finite number");
        }
        scalar(mark, std::move(*value), anchor, text.size(), tag == "?" && text == "<<");
    }

    void OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) override {
        auto const found = anchors_.find(anchor);
        if (found == anchors_.end()) tree_.fail(line(mark), "an alias stands inside the value that it repeats");
        if (tree_.depth() + found->second.height > max_depth) {
            tree_.fail(line(mark), too_deep());
        }
        pay(mark, found->second.weight);
        built copy = found->second;
        copy.lines.line = line(mark);
        add(mark, std::move(copy), 0);
    }

    void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        open(mark, nlohmann::json::array(), tag, "tag:yaml.org,2002:seq", anchor, style);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        open(mark, nlohmann::json::object(), tag, "tag:yaml.org,2002:map", anchor, style);
    }
    void OnMapEnd() override { close(); }

private:
    /// A map or list that is open; for a map, where its last key stands and what `<<` brought.
    struct level {
        YAML::Mark mark;
        YAML::anchor_t anchor;
        bool block; ///< else in braces
        int key_at = -1;
        bool merge_next = false;
        std::vector<built> merged{};
    };

    [[nodiscard]] static std::size_t line(YAML::Mark const& mark) noexcept {
        return static_cast<std::size_t>(mark.line) + 1;
    }

    /// Whether the last line before `at` that is no comment, directive or blank ends a document.
    [[nodiscard]] bool ended_before(std::size_t at) const noexcept {
        std::size_t begin = text_.rfind('\n', at);
        while (begin != std::string_view::npos && begin != 0) {
            std::size_t const previous = text_.rfind('\n', begin - 1);
            std::size_t const from = previous == std::string_view::npos ? 0 : previous + 1;
            auto const row = text_.substr(from, begin - from);
            std::size_t const first = row.find_first_not_of(" \t");
            if (first != std::string_view::npos && row[first] != '#' && row[0] != '%') return row.starts_with("...");
            begin = previous;
        }
        return false;
    }

    /// Whether the scalar at `at`, behind its anchor and tag, is quoted and not closed, which yaml-cpp lets pass.
    [[nodiscard]] bool unclosed(std::size_t at) const noexcept {
        while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
            at = text_.find_first_not_of(" \t\n", std::min(text_.find_first_of(" \t\n", at), text_.size()));
        }
        if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return false;
        char const quote = text_[at];
        for (++at; at < text_.size(); ++at) {
            bool const doubled = quote == '\'' && text_.substr(at).starts_with("''");
            bool const escape = quote == '"' && text_[at] == '\\';
            if (doubled || escape) {
                ++at;
            } else if (text_[at] == quote) {
                return false;
            }
        }
        return true;
    }

    /// What to say of a list or map in a key's place: yaml-cpp takes brackets without an end for a key.
    [[nodiscard]] std::string odd_key(std::size_t at) const {
        std::size_t depth = 0;
        for (std::size_t i = at; i < text_.size() && (i == at || depth != 0); ++i) {
            if (text_[i] == '[' || text_[i] == '{') ++depth;
            if (depth != 0 && (text_[i] == ']' || text_[i] == '}')) --depth;
            if (depth > max_depth) return too_deep();
        }
        if (depth != 0) return std::string{"broken YAML: a '"} + text_[at] + "' has no end";
        return "a map's key is a list or a map; expected a string";
    }

    void pay(YAML::Mark const& mark, std::size_t bytes) {
        alias_bytes_ += bytes;
        if (alias_bytes_ > max_alias_bytes) {
            tree_.fail(line(mark), "anchors and aliases multiply into more than " +
                                       std::to_string(max_alias_bytes >> 20U) + " MiB; write the values out");
        }
    }

    void open(YAML::Mark const& mark, nlohmann::json empty, std::string const& tag, std::string_view own_tag,
              YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
        bool const merging = !levels_.empty() && levels_.back().merge_next;
        if (tree_.wants_key() && !merging) tree_.fail(line(mark), odd_key(static_cast<std::size_t>(mark.pos)));
        if (!tag.empty() && tag != "?" && tag != "!" && tag != own_tag) {
            tree_.fail(line(mark), "a list or map has the tag " + tag + "; expected none");
        }
        tree_.open(std::move(empty), line(mark));
        levels_.push_back({mark, anchor, style == YAML::EmitterStyle::Block});
    }

    void close() {
        level ended = std::move(levels_.back());
        levels_.pop_back();
        built node = tree_.close();
        for (built& from : ended.merged) merge(node, from);
        add(ended.mark, std::move(node), ended.anchor);
    }

    /// Gives `map` the members of `from` that it lacks.
    static void merge(built& map, built& from) {
        map.weight += from.weight;
        map.height = std::max(map.height, from.height);
        for (auto const& [key, value] : from.value.items()) {
            if (!map.value.contains(key)) map.value.emplace(key, value);
        }
        map.lines.members.merge(from.lines.members);
    }

    void scalar(YAML::Mark const& mark, nlohmann::json value, YAML::anchor_t anchor, std::size_t size, bool is_merge) {
        if (is_merge && tree_.wants_key() && !levels_.back().merge_next) {
            levels_.back().merge_next = true;
            return;
        }
        add(mark, built{std::move(value), {line(mark)}, 64 + size, 0}, anchor);
    }

    void add(YAML::Mark const& mark, built node, YAML::anchor_t anchor) {
        if (anchor != YAML::NullAnchor) {
            pay(mark, node.weight);
            anchors_.emplace(anchor, node);
        }
        if (!levels_.empty() && levels_.back().merge_next) {
            levels_.back().merge_next = false;
            take_merge(mark, std::move(node));
        } else if (tree_.wants_key()) {
            tree_.key(key_text(mark, node.value), line(mark));
            levels_.back().key_at = mark.pos;
        } else {
            tree_.add(std::move(node));
        }
    }

    /// Keeps the value of `<<`, a map or a list of them, until the map around it ends.
    void take_merge(YAML::Mark const& mark, built node) {
        auto const refuse = [&] {
            tree_.fail(line(mark), "'<<' merges something else; expected a map or a list of maps");
        };
        auto& merged = levels_.back().merged;
        if (node.value.is_object()) {
            merged.push_back(std::move(node));
            return;
        }
        if (!node.value.is_array()) refuse();
        for (std::size_t i = 0; i != node.value.size(); ++i) {
            if (!node.value[i].is_object()) refuse();
            merged.push_back({std::move(node.value[i]), {line(mark)}, 64, node.height});
            if (i < node.lines.items.size()) merged.back().lines = std::move(node.lines.items[i]);
        }
    }

    /// A scalar as the key that kubectl makes of it: `1` and `true` are strings here.
    [[nodiscard]] std::string key_text(YAML::Mark const& mark, nlohmann::json const& value) const {
        if (value.is_string()) return value.get<std::string>();
        if (value.is_null()) tree_.fail(line(mark), "a map's key is empty; expected a string");
        if (value.is_structured()) tree_.fail(line(mark), "a map's key is a list or a map; expected a string");
        return value.dump();
    }

    std::string_view text_;
    tree_builder tree_;
    whole_float whole_;
    std::size_t documents_ = 0;
    std::size_t document_start_ = 0;
    std::size_t alias_bytes_ = 0;
    std::map<YAML::anchor_t, built> anchors_{};
    std::vector<level> levels_{}; ///< one for each list or map that is open
};

/// Every document of `text` that is not empty.
///
/// Errors: `bad_input` with the line.
/// Source: kubectl (sigs.k8s.io/yaml, YAMLToJSONStrict). Stricter: nesting, aliases and tags have bounds.
[[nodiscard]] inline std::vector<built> yaml_documents(std::string const& text, std::string const& file,
                                                       whole_float whole, std::size_t line_depth) {
    std::vector<built> documents;
    yaml_events events{text, file, whole, line_depth};
    try {
        std::istringstream in{text};
        YAML::Parser parser{in};
        while (parser.HandleNextDocument(events)) {
            if (auto document = events.take(); document && !document->value.is_null()) {
                documents.push_back(std::move(*document));
            }
        }
    } catch (YAML::Exception const& broken) {
        auto const row = broken.mark.is_null() ? 0 : static_cast<std::size_t>(broken.mark.line) + 1;
        throw bad_input{file, row, "", "broken YAML: " + broken.msg};
    }
    return documents;
}

} // namespace muster::ext::detail
