#pragma once

/// \file
/// Bytes that are no text are refused before a parser sees them.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <muster/ext/input.hpp>

namespace muster::ext::detail {

/// The line, from 1, of the byte at `at`.
[[nodiscard]] inline std::size_t line_of_byte(std::string_view text, std::size_t at) noexcept {
    auto const before = text.substr(0, at);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

/// The length of the UTF-8 sequence that `text` begins with, 0 if it is none: no overlong forms, no surrogates,
/// nothing past U+10FFFF (RFC 3629).
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned const lead = byte(0);
    if (lead < 0x80) return 1;
    std::size_t const length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i != length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    }
    bool const overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    bool const surrogate = lead == 0xED && byte(1) > 0x9F;
    bool const past_end = lead == 0xF4 && byte(1) > 0x8F;
    return overlong || surrogate || past_end ? 0 : length;
}

[[nodiscard]] inline std::string hex_byte(char c) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    auto const byte = static_cast<unsigned char>(c);
    return {'0', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

/// `text` without a byte order mark and with every line ended by a newline alone.
///
/// Errors: `bad_input` at the first byte that is no UTF-8 or is a control character other than tab and line ends.
[[nodiscard]] inline std::string guarded(std::string text, std::string const& file) {
    auto const refuse = [&](std::size_t at, std::string const& what) {
        throw bad_input{file, line_of_byte(text, at), "", what + "; expected YAML or JSON text in UTF-8"};
    };
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) refuse(0, "the text is UTF-16");
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);

    for (std::size_t at = 0; at != text.size();) {
        char const c = text[at];
        if (c == '\0') refuse(at, "found a NUL byte");
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') {
            refuse(at, "found the control character " + hex_byte(c));
        }
        std::size_t const length = utf8_length(std::string_view{text}.substr(at));
        if (length == 0) refuse(at, "found the byte " + hex_byte(c) + ", which is no UTF-8");
        at += length;
    }

    if (text.find('\r') != std::string::npos) {
        std::string unix_lines;
        unix_lines.reserve(text.size());
        for (std::size_t at = 0; at != text.size(); ++at) {
            if (text[at] != '\r') {
                unix_lines += text[at];
            } else if (at + 1 == text.size() || text[at + 1] != '\n') {
                unix_lines += '\n';
            }
        }
        text = std::move(unix_lines);
    }
    return text;
}

} // namespace muster::ext::detail
