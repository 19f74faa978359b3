#pragma once

/// \file
/// Refusals as values: an error is a code and a position, and travels in registers.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tl/expected.hpp>

namespace muster {

/// What went wrong; `message` gives the words.
enum class errc : std::uint32_t {
    empty = 1,     ///< nothing where a value was expected
    missing_field, ///< a field of a record is absent
    bad_field,     ///< a field does not read as what it must be
    bad_suffix,    ///< a quantity's suffix is unknown
    out_of_range,  ///< a number does not fit its type
    overflow,      ///< a sum or product leaves 64 bits
    underflow,     ///< a quantity is finer than one billionth
    negative,      ///< an amount is below zero
    trailing,      ///< text follows a complete value
    duplicate,     ///< a name or id is there already
    unknown_name,  ///< a name refers to nothing
    cyclic,        ///< a chain of references returns to its start
    no_fit,        ///< no node takes the task
    wrong_state,   ///< an object is in a state that forbids the operation
    too_deep,      ///< nesting passes the limit
    over_limit,    ///< a card has less left than is asked
    full,          ///< every place of a table is taken
    foreign,       ///< memory holds something else
    torn,          ///< memory holds a part only
    other_version, ///< memory holds a layout of another version
};

/// A code and where it was met: a byte offset or a position, as the function says.
struct error {
    errc code{};
    std::uint32_t at = 0;

    friend constexpr bool operator==(error, error) noexcept = default;
};
static_assert(sizeof(error) == 8 && std::is_trivially_copyable_v<error>);

template <class T>
using result = tl::expected<T, error>;

/// The failing side of a `result`.
[[nodiscard]] constexpr tl::unexpected<error> fail(errc code, std::size_t at = 0) noexcept {
    return tl::unexpected<error>{error{code, static_cast<std::uint32_t>(at)}};
}

/// A code in words, without a final period.
[[nodiscard]] constexpr std::string_view message(errc code) noexcept {
    switch (code) {
    case errc::empty:
        return "a value is missing";
    case errc::missing_field:
        return "a field is missing";
    case errc::bad_field:
        return "a field can't be read";
    case errc::bad_suffix:
        return "the suffix is unknown";
    case errc::out_of_range:
        return "the number is out of range";
    case errc::overflow:
        return "the number is too large";
    case errc::underflow:
        return "the number is finer than 1n";
    case errc::negative:
        return "the amount is negative";
    case errc::trailing:
        return "text follows the value";
    case errc::duplicate:
        return "the name is taken";
    case errc::unknown_name:
        return "the name is unknown";
    case errc::cyclic:
        return "the references form a cycle";
    case errc::no_fit:
        return "no node takes it";
    case errc::wrong_state:
        return "the object's state forbids it";
    case errc::too_deep:
        return "the nesting is too deep";
    case errc::over_limit:
        return "the limit leaves less than that";
    case errc::full:
        return "every place is taken";
    case errc::foreign:
        return "it holds something else";
    case errc::torn:
        return "it is cut short or was never finished";
    case errc::other_version:
        return "it was made by another version";
    }
    return "unknown error";
}

} // namespace muster
