#pragma once

/// \file
/// A text of objects: its documents, whichever way it is written.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/ext/detail/json_text.hpp>
#include <muster/ext/detail/line_tree.hpp>
#include <muster/ext/detail/yaml_to_json.hpp>
#include <muster/ext/input.hpp>

namespace muster::ext {

/// How a text is written.
enum class text_format : std::uint8_t {
    guess, ///< JSON if it begins with a brace or bracket and reads as such, else YAML, as kubectl does
    yaml,
    json,
};

} // namespace muster::ext

namespace muster::ext::detail {

inline constexpr std::size_t all_lines = std::numeric_limits<std::size_t>::max();

/// The documents of a guarded text, and the format that they were read in.
struct document_list {
    std::vector<built> documents;
    text_format format;
};

[[nodiscard]] inline document_list parse_documents(std::string const& text, std::string const& file, text_format format,
                                                   std::size_t line_depth) {
    auto const as_yaml = [&] {
        return document_list{yaml_documents(text, file, whole_float::integer, line_depth), text_format::yaml};
    };
    if (format == text_format::yaml) return as_yaml();

    std::size_t const first = text.find_first_not_of(" \t\n");
    bool const bracket = first != std::string::npos && (text[first] == '{' || text[first] == '[');
    if (format == text_format::guess && !bracket) return as_yaml();

    try {
        return {json_documents(text, file, line_depth), text_format::json};
    } catch (bad_input const&) {
        if (format == text_format::json) throw;
        bool const looks_like_json = text.find_first_not_of(" \t\n[{", first) == text.find('"', first);
        try {
            return as_yaml(); // braces are YAML too: {kind: Pod}
        } catch (bad_input const&) {
            if (!looks_like_json) throw;
        }
        throw;
    }
}

/// A text that objects were read from, kept to answer where their fields stand.
///
/// The lines are found when the first question comes, for the whole text at once.
class source {
public:
    source(std::string text, std::string file, text_format format)
        : text_{std::move(text)}, file_{std::move(file)}, format_{format} {}

    [[nodiscard]] std::string const& file() const noexcept { return file_; }

    /// Where `pointer` stands in a document of the text.
    ///
    /// Cost: the first call parses the text once more.
    [[nodiscard]] std::size_t line(std::size_t document, std::string_view pointer) const {
        std::call_once(once_, [&] {
            for (built& read : parse_documents(text_, file_, format_, all_lines).documents) {
                lines_.push_back(std::move(read.lines));
            }
        });
        return line_at(lines_.at(document), pointer);
    }

    /// Whether a line ends in the sign of a literal block, such as `|` or `|-`.
    ///
    /// Cost: a walk over the text.
    [[nodiscard]] bool opens_block(std::size_t line) const {
        std::string_view rest = text_;
        for (; line > 1 && !rest.empty(); --line) rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
        rest = rest.substr(0, rest.find('\n'));
        rest = rest.substr(0, rest.find(" #"));
        rest = rest.substr(0, rest.find_last_not_of(" \t+-0123456789") + 1);
        return format_ == text_format::yaml && rest.ends_with(" |");
    }

private:
    std::string text_;
    std::string file_;
    text_format format_;
    mutable std::once_flag once_{};
    mutable std::vector<line_tree> lines_{};
};

} // namespace muster::ext::detail
