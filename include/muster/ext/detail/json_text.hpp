#pragma once

/// \file
/// JSON text to values: one or several in a row, with their lines.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/detail/text_guard.hpp>
#include <muster/ext/detail/tree_builder.hpp>

namespace muster::ext::detail {

/// Walks over text for nlohmann's parser and tells everyone how far it got.
class shared_cursor {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;

    shared_cursor(char const* at, char const** reached) : at_{at}, reached_{reached} {}

    [[nodiscard]] reference operator*() const noexcept { return *at_; }
    shared_cursor& operator++() noexcept {
        *reached_ = ++at_;
        return *this;
    }
    shared_cursor operator++(int) noexcept {
        shared_cursor before = *this;
        ++*this;
        return before;
    }
    [[nodiscard]] friend bool operator==(shared_cursor a, shared_cursor b) noexcept { return a.at_ == b.at_; }

private:
    char const* at_;
    char const** reached_;
};

/// Builds a value from the events of nlohmann's parser.
class json_events {
public:
    json_events(std::string_view text, char const** reached, std::string const& file, std::size_t line_depth)
        : counted_{text.data()}, begin_{text.data()}, reached_{reached}, tree_{file, line_depth} {}

    [[nodiscard]] std::optional<built> take() { return tree_.take(); }

    bool null() { return scalar(nullptr); }
    bool boolean(bool value) { return scalar(value); }
    bool number_integer(std::int64_t value) { return scalar(value); }
    bool number_unsigned(std::uint64_t value) {
        // One type for all that fit, however the number was written.
        if (value <= std::uint64_t{INT64_MAX}) return scalar(static_cast<std::int64_t>(value));
        return scalar(value);
    }
    bool number_float(double value, std::string const& /*text*/) { return scalar(value); }
    bool string(std::string& value) {
        std::size_t const size = value.size();
        return scalar(std::move(value), size);
    }
    bool binary(nlohmann::json::binary_t const& /*value*/) { return false; }

    bool start_object(std::size_t /*size*/) { return open(nlohmann::json::object()); }
    bool key(std::string& name) {
        tree_.key(std::move(name), line());
        return true;
    }
    bool end_object() { return close(); }
    bool start_array(std::size_t /*size*/) { return open(nlohmann::json::array()); }
    bool end_array() { return close(); }

    bool parse_error(std::size_t /*position*/, std::string const& /*token*/, nlohmann::json::exception const& broken) {
        tree_.fail(line(), "broken JSON: " + reason(broken.what()));
    }

private:
    /// The line of the last character read but one: the parser reads one past a number, and no token holds a newline.
    [[nodiscard]] std::size_t line() {
        for (char const* const to = *reached_ == begin_ ? begin_ : *reached_ - 1; counted_ < to; ++counted_) {
            if (*counted_ == '\n') ++line_;
        }
        return line_;
    }

    /// What nlohmann's message says after its name, number and place.
    [[nodiscard]] static std::string reason(std::string text) {
        for (std::string_view const before : {"] ", ": syntax error while parsing ", " - "}) {
            std::size_t const at = text.find(before);
            if (at != std::string::npos) text.erase(0, at + before.size());
        }
        constexpr std::size_t most = 160;
        if (text.size() <= most) return text;
        std::size_t cut = most;
        while (cut != 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
        return text.substr(0, cut) + "...";
    }

    bool open(nlohmann::json empty) {
        tree_.open(std::move(empty), line());
        return true;
    }
    bool close() {
        tree_.add(tree_.close());
        return true;
    }
    bool scalar(nlohmann::json value, std::size_t size = 0) {
        tree_.add({std::move(value), {line()}, 64 + size, 0});
        return true;
    }

    char const* counted_;
    char const* begin_;
    char const** reached_;
    std::size_t line_ = 1;
    tree_builder tree_;
};

/// Every value of `text`, which holds one or several in a row.
///
/// Errors: `bad_input` with the line; so are a key set twice and nesting past `max_depth`.
[[nodiscard]] inline std::vector<built> json_documents(std::string const& text, std::string const& file,
                                                       std::size_t line_depth) {
    std::vector<built> documents;
    char const* at = text.data();
    char const* const end = text.data() + text.size();
    json_events events{text, &at, file, line_depth};
    auto const skip_blanks = [&] {
        while (at != end && std::string_view{" \t\n"}.find(*at) != std::string_view::npos) ++at;
    };
    for (skip_blanks(); at != end; skip_blanks()) {
        nlohmann::json::sax_parse(shared_cursor{at, &at}, shared_cursor{end, &at}, &events,
                                  nlohmann::json::input_format_t::json, false);
        if (auto document = events.take()) documents.push_back(std::move(*document));
    }
    return documents;
}

} // namespace muster::ext::detail
