#pragma once

/// \file
/// What is told about bad input: where it was read and what was expected there.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace muster::ext {

/// Something odd in the input that does not stop the run.
struct warning {
    std::string file;     ///< as the user named it; empty for objects made in code
    std::size_t line = 0; ///< from 1; 0 where it is unknown
    std::string object;   ///< such as `Pod default/p`; may be empty
    std::string message;  ///< what is wrong and what was done about it, without a final period
};

/// A warning on one line: `FILE:LINE: OBJECT: MESSAGE`, as much of it as is known.
[[nodiscard]] inline std::string to_string(warning const& w) {
    std::string text = w.file;
    if (w.line != 0) text += (text.empty() ? "line " : ":") + std::to_string(w.line);
    for (auto const* part : {&w.object, &w.message})
        if (!part->empty()) text += (text.empty() ? "" : ": ") + *part;
    return text;
}

/// Input that can't be used: says where it was read, what is wrong and what was expected.
///
/// `what()` reads `FILE:LINE: MESSAGE`; without a file the object's label stands in its place.
struct bad_input : std::runtime_error {
    std::string file;    ///< as the user named it; empty for objects made in code
    std::size_t line;    ///< from 1; 0 where it is unknown
    std::string object;  ///< such as `Pod default/p`; may be empty
    std::string message; ///< what is wrong, without a final period

    bad_input(std::string in_file, std::size_t at_line, std::string in_object, std::string text)
        : std::runtime_error{place(in_file, at_line, in_object) + text}, file{std::move(in_file)}, line{at_line},
          object{std::move(in_object)}, message{std::move(text)} {}

private:
    [[nodiscard]] static std::string place(std::string const& in_file, std::size_t at_line,
                                           std::string const& in_object) {
        std::string where = in_file.empty() && at_line == 0 ? in_object : in_file;
        if (at_line != 0) where += (where.empty() ? "line " : ":") + std::to_string(at_line);
        return where.empty() ? where : where + ": ";
    }
};

} // namespace muster::ext
