#pragma once

/// \file
/// Kubernetes quantities (`500m`, `1.5Gi`, `12e6`), parsed and printed exactly.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <muster/config.hpp>
#include <muster/core/checked.hpp>
#include <muster/core/result.hpp>

namespace muster {

/// The family of suffixes that a quantity was written with and is printed with.
enum class quantity_format : std::uint8_t {
    decimal_si,       ///< n u m, none, k M G T P E: powers of 1000
    binary_si,        ///< Ki Mi Gi Ti Pi Ei: powers of 1024
    decimal_exponent, ///< e-9 to e18
};

/// An exact amount, as Kubernetes writes resources.
///
/// Invariant: the value is `units_` + `nano_` billionths, with `nano_` in [0, 999999999], and lies in
/// [-2^63, 2^63 - 1]. So half below zero is units -1, nano 500000000.
class quantity {
public:
    /// Zero, in decimal_si.
    constexpr quantity() noexcept = default;

    /// Whole units.
    [[nodiscard]] static constexpr quantity from_units(std::int64_t units,
                                                       quantity_format format = quantity_format::decimal_si) noexcept {
        return {units, 0, format};
    }

    /// Thousandths of a unit.
    [[nodiscard]] static constexpr quantity from_milli(std::int64_t milli,
                                                       quantity_format format = quantity_format::decimal_si) noexcept {
        auto const rest = (milli % 1000 + 1000) % 1000;
        return {milli / 1000 - (milli % 1000 < 0 ? 1 : 0), static_cast<std::int32_t>(rest * 1'000'000), format};
    }

    /// A sign, whole units and billionths that carry the sign too.
    ///
    /// Units:  `nano` in billionths, below 10^9.
    /// Errors: `overflow` outside [-2^63, 2^63 - 1].
    [[nodiscard]] static constexpr result<quantity>
    from_magnitude(bool negative, std::uint64_t units, std::uint32_t nano, quantity_format format) noexcept {
        MUSTER_ASSERT(nano < billion);
        constexpr auto edge = std::uint64_t{1} << 63U; // the magnitude of the lowest value
        auto const top = negative ? edge : edge - 1;
        if (units > top || (units == top && nano != 0)) return fail(errc::overflow);
        if (!negative) return quantity{static_cast<std::int64_t>(units), static_cast<std::int32_t>(nano), format};
        auto const floor = nano == 0 ? ~units + 1 : ~units;
        return quantity{static_cast<std::int64_t>(floor), static_cast<std::int32_t>(nano == 0 ? 0 : billion - nano),
                        format};
    }

    [[nodiscard]] constexpr quantity_format format() const noexcept { return format_; }
    [[nodiscard]] constexpr bool is_zero() const noexcept { return units_ == 0 && nano_ == 0; }
    [[nodiscard]] constexpr bool is_negative() const noexcept { return units_ < 0; }

    /// The whole units without sign: 3 for 3.25 and for -3.25.
    [[nodiscard]] constexpr std::uint64_t units_magnitude() const noexcept {
        auto const bits = static_cast<std::uint64_t>(units_);
        if (!is_negative()) return bits;
        return nano_ == 0 ? ~bits + 1 : ~bits;
    }

    /// The billionths past the whole units, without sign: 250000000 for 3.25 and for -3.25.
    [[nodiscard]] constexpr std::uint32_t nano_magnitude() const noexcept {
        auto const nano = static_cast<std::uint32_t>(nano_);
        return is_negative() && nano != 0 ? billion - nano : nano;
    }

    /// Units, rounded away from zero: 2 for 1.5, -2 for -1.5.
    ///
    /// Errors: none, by the range of the class; a `result` so that it reads like `milli`.
    /// Source: apimachinery, pkg/api/resource/quantity.go, Quantity.Value, v0.26. It rounds some negative numbers
    ///         towards zero and gets others wrong (`-30.01Ti` gives 5336131141).
    [[nodiscard]] constexpr result<std::int64_t> value() const noexcept {
        return units_ + (nano_ != 0 && !is_negative() ? 1 : 0);
    }

    /// Thousandths of a unit, rounded away from zero.
    ///
    /// Errors: `overflow`.
    /// Source: apimachinery, pkg/api/resource/quantity.go, Quantity.MilliValue, v0.26, which wraps or gives 0 instead.
    [[nodiscard]] constexpr result<std::int64_t> milli() const noexcept {
        auto const nano = std::uint64_t{nano_magnitude()};
        std::uint64_t whole = 0;
        if (__builtin_mul_overflow(units_magnitude(), std::uint64_t{1000}, &whole)) return fail(errc::overflow);
        if (__builtin_add_overflow(whole, (nano + 999'999) / 1'000'000, &whole)) return fail(errc::overflow);
        auto const rounded = from_magnitude(is_negative(), whole, 0, format_);
        if (!rounded) return tl::unexpected{rounded.error()};
        return (*rounded).units_;
    }

    /// The value, if it is an integer.
    ///
    /// Source: apimachinery, pkg/api/resource/quantity.go, Quantity.AsInt64. It looks at the text and also refuses
    ///         `1000m`, `1.0` and integers of more than about 15 digits with a binary suffix (`1Pi`).
    [[nodiscard]] constexpr std::optional<std::int64_t> as_int64() const noexcept {
        if (nano_ != 0) return std::nullopt;
        return units_;
    }

    /// `*this + other`.
    ///
    /// Shape:  the format is the left one's, or the right one's when the left is zero.
    /// Errors: `overflow`.
    /// Source: apimachinery, pkg/api/resource/quantity.go, Quantity.Add, which grows without limit.
    [[nodiscard]] constexpr result<quantity> add(quantity other) const noexcept {
        auto const nano = nano_ + other.nano_;
        auto const carry = nano >= limit ? 1 : 0;
        // The carry goes to the lower of the two, or -2^63 - 0.5 + 0.5 would look like an overflow.
        auto const low = checked_add(units_ < other.units_ ? units_ : other.units_, carry);
        if (!low) return tl::unexpected{low.error()};
        auto const sum = checked_add(*low, units_ < other.units_ ? other.units_ : units_);
        return checked(sum, nano - carry * limit, is_zero() ? other.format_ : format_);
    }

    /// `*this - other`; format and errors as for `add`.
    [[nodiscard]] constexpr result<quantity> sub(quantity other) const noexcept {
        auto const nano = nano_ - other.nano_;
        auto const borrow = nano < 0 ? 1 : 0;
        auto const difference =
            checked_sub(units_, other.units_).and_then([borrow](std::int64_t d) { return checked_sub(d, borrow); });
        return checked(difference, nano + borrow * limit, is_zero() ? other.format_ : format_);
    }

    /// `*this * factor`, in the same format.
    ///
    /// Errors: `overflow`.
    [[nodiscard]] constexpr result<quantity> mul(std::int64_t factor) const noexcept {
        auto const times = from_units(factor).units_magnitude();
        std::uint64_t units = 0;
        if (__builtin_mul_overflow(units_magnitude(), times, &units)) return fail(errc::overflow);
        // nano * times in base 10^9: both digits stay below 2^63.
        auto const low = nano_magnitude() * (times % billion);
        auto const high = nano_magnitude() * (times / billion) + low / billion;
        if (__builtin_add_overflow(units, high, &units)) return fail(errc::overflow);
        return from_magnitude(is_negative() != (factor < 0), units, static_cast<std::uint32_t>(low % billion), format_);
    }

    /// Compares values; the format has no say.
    friend constexpr std::strong_ordering operator<=>(quantity a, quantity b) noexcept {
        if (auto const order = a.units_ <=> b.units_; std::is_neq(order)) return order;
        return a.nano_ <=> b.nano_;
    }
    friend constexpr bool operator==(quantity a, quantity b) noexcept { return std::is_eq(a <=> b); }

private:
    static constexpr std::uint32_t billion = 1'000'000'000;
    static constexpr std::int32_t limit = 1'000'000'000;

    constexpr quantity(std::int64_t units, std::int32_t nano, quantity_format format) noexcept
        : units_{units}, nano_{nano}, format_{format} {}

    [[nodiscard]] static constexpr result<quantity> checked(result<std::int64_t> units, std::int32_t nano,
                                                            quantity_format format) noexcept {
        if (!units) return tl::unexpected{units.error()};
        if (*units == std::numeric_limits<std::int64_t>::max() && nano != 0) return fail(errc::overflow);
        return quantity{*units, nano, format};
    }

    std::int64_t units_ = 0;
    std::int32_t nano_ = 0;
    quantity_format format_ = quantity_format::decimal_si;
};
static_assert(sizeof(quantity) == 16 && std::is_trivially_copyable_v<quantity>);

namespace detail {

inline constexpr std::string_view decimal_suffixes = "num kMGTPE"; ///< 1000^-3 to 1000^6; ' ' stands for none
inline constexpr std::string_view binary_suffixes = " KMGTPE";     ///< 1024^0 to 1024^6, each but the first with an i

/// What a suffix multiplies by: 10^power, or 2^power for binary_si.
struct quantity_scale {
    quantity_format format{};
    std::int64_t power = 0;
};

/// Reads a suffix; no value if Kubernetes has no such suffix.
[[nodiscard]] constexpr std::optional<quantity_scale> quantity_suffix(std::string_view suffix) noexcept {
    if (suffix.empty()) return quantity_scale{quantity_format::decimal_si, 0};
    if (suffix.size() == 1 && suffix != " ") {
        auto const i = decimal_suffixes.find(suffix.front());
        if (i == std::string_view::npos) return std::nullopt;
        return quantity_scale{quantity_format::decimal_si, 3 * static_cast<std::int64_t>(i) - 9};
    }
    if (suffix.size() == 2 && suffix.back() == 'i' && suffix.front() != ' ') {
        auto const i = binary_suffixes.find(suffix.front());
        if (i == std::string_view::npos) return std::nullopt;
        return quantity_scale{quantity_format::binary_si, 10 * static_cast<std::int64_t>(i)};
    }
    if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
    suffix.remove_prefix(1);
    bool const negative = suffix.starts_with('-');
    if (negative || suffix.starts_with('+')) suffix.remove_prefix(1);
    if (suffix.empty()) return std::nullopt;
    std::int64_t power = 0;
    for (char const c : suffix) {
        if (c < '0' || c > '9') return std::nullopt;
        if (power < 1'000'000'000'000'000) power = power * 10 + (c - '0'); // past that only zero is in range anyway
    }
    return quantity_scale{quantity_format::decimal_exponent, negative ? -power : power};
}

/// The digits of a number: `text[begin, end)`, with a point at `point` or, if it has none, `point == end`.
struct quantity_digits {
    std::string_view text;
    std::size_t begin = 0;
    std::size_t point = 0;
    std::size_t end = 0;

    [[nodiscard]] constexpr std::uint64_t digit(std::size_t i) const noexcept {
        return static_cast<std::uint64_t>(text[i] - '0');
    }

    [[nodiscard]] constexpr std::size_t last_nonzero() const noexcept {
        auto const i = text.substr(0, end).find_last_of("123456789");
        return i == std::string_view::npos ? begin : i;
    }
};

/// Whole units and billionths without sign.
struct quantity_magnitude {
    std::uint64_t units = 0;
    std::uint32_t nano = 0;
};

/// `total = total * 10 + digit`, or false if it leaves 64 bits.
[[nodiscard]] constexpr bool append_digit(std::uint64_t& total, std::uint64_t digit) noexcept {
    return !__builtin_mul_overflow(total, std::uint64_t{10}, &total) && !__builtin_add_overflow(total, digit, &total);
}

/// The number times 10^power: each digit falls into the units, the billionths, or below them.
[[nodiscard]] constexpr result<quantity_magnitude> times_power_of_ten(quantity_digits number,
                                                                      std::int64_t power) noexcept {
    quantity_magnitude total;
    power += static_cast<std::int64_t>(number.point - number.begin);
    for (auto i = number.begin; i != number.end; ++i) {
        if (i == number.point) continue;
        auto const digit = number.digit(i);
        if (--power >= 0) {
            if (!append_digit(total.units, digit)) return fail(errc::overflow, number.begin);
        } else if (power >= -9) {
            total.nano = total.nano * 10 + static_cast<std::uint32_t>(digit);
        } else if (digit != 0) {
            return fail(errc::underflow, number.last_nonzero());
        }
    }
    for (; power > 0 && total.units != 0; --power)
        if (!append_digit(total.units, 0)) return fail(errc::overflow, number.begin);
    for (; power > -9 && total.nano != 0; --power) total.nano *= 10;
    return total;
}

/// The number times 2^power, power in [10, 60], from its last digit to its first.
[[nodiscard]] constexpr result<quantity_magnitude> times_power_of_two(quantity_digits number,
                                                                      std::int64_t power) noexcept {
    quantity_magnitude total;
    std::uint64_t carry = 0; // below 2^60, so 9 * 2^60 + carry fits
    std::uint32_t place = 1;
    for (auto i = number.end; i > number.point + 1; --i) {
        auto const product = (number.digit(i - 1) << power) + carry;
        auto const digit = static_cast<std::uint32_t>(product % 10);
        carry = product / 10;
        if (i - number.point - 1 > 9) { // finer than a billionth
            if (digit != 0) return fail(errc::underflow, number.last_nonzero());
            continue;
        }
        // A number of fewer than nine fraction digits starts further up; the places it lacks are zeros.
        if (place == 1)
            for (auto p = i - number.point - 1; p < 9; ++p) place *= 10;
        total.nano += digit * place;
        place *= 10;
    }
    for (auto i = number.begin; i != number.point; ++i)
        if (!append_digit(total.units, number.digit(i))) return fail(errc::overflow, number.begin);
    if (__builtin_mul_overflow(total.units, std::uint64_t{1} << power, &total.units) ||
        __builtin_add_overflow(total.units, carry, &total.units))
        return fail(errc::overflow, number.begin);
    return total;
}

} // namespace detail

/// Parses a quantity: an optional sign, digits with an optional point, an optional suffix.
///
/// Shape:  suffixes `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei`, or an exponent `e3`, `E+3`, `e-3`. `E` alone is exa.
///         A fraction of a unit with a binary suffix becomes decimal_si.
/// Errors: `empty` for no text; `bad_field` where a digit is missing; `bad_suffix` at the suffix;
///         `overflow` outside [-2^63, 2^63 - 1] at the first digit; `underflow` when the value is finer than one
///         billionth, at the last digit that is not 0.
/// Cost:   linear in the text, no allocation.
/// Source: apimachinery, pkg/api/resource/quantity.go, ParseQuantity, v0.26. Stricter than it: text without a digit
///         (`-`, `.`, `Ki`), which it reads as 0, is refused, and what it caps (`8Ei`, and `-8Ei` at -2^63 + 1), rounds
///         up (`0.1n`) or keeps past 64 bits (`10E`) is an error.
[[nodiscard]] constexpr result<quantity> parse_quantity(std::string_view text) noexcept {
    constexpr auto digits = [](std::string_view in, std::size_t from) {
        while (from != in.size() && in[from] >= '0' && in[from] <= '9') ++from;
        return from;
    };
    if (text.empty()) return fail(errc::empty);
    bool const negative = text.front() == '-';
    detail::quantity_digits number{.text = text, .begin = negative || text.front() == '+' ? 1U : 0U};
    number.point = digits(text, number.begin);
    bool const has_point = number.point != text.size() && text[number.point] == '.';
    number.end = has_point ? digits(text, number.point + 1) : number.point;
    if (number.end - number.begin == (has_point ? 1U : 0U)) return fail(errc::bad_field, number.begin);

    auto const scale = detail::quantity_suffix(text.substr(number.end));
    if (!scale) return fail(errc::bad_suffix, number.end);
    bool const binary = scale->format == quantity_format::binary_si;
    auto const magnitude =
        binary ? detail::times_power_of_two(number, scale->power) : detail::times_power_of_ten(number, scale->power);
    if (!magnitude) return tl::unexpected{magnitude.error()};
    auto const [units, nano] = *magnitude;
    bool const tiny = binary && units == 0 && nano != 0;
    auto const value =
        quantity::from_magnitude(negative, units, nano, tiny ? quantity_format::decimal_si : scale->format);
    if (!value) return fail(value.error().code, number.begin);
    return value;
}

/// The most characters that `print` writes.
inline constexpr std::size_t quantity_length = 32;

/// Writes the canonical text of a quantity and gives its length.
///
/// Shape:  an integer and the largest suffix that keeps it one: `1500m` for 1.5, `12k`, `512Mi`, `0`. A binary_si
///         value below 1024 or with a fraction prints as decimal_si.
/// Cost:   no allocation.
/// Source: apimachinery, pkg/api/resource/quantity.go, CanonicalizeBytes, v0.26. Its String gives back some parsed
///         texts unchanged instead (`1.123`, `+5`, `1E3`).
[[nodiscard]] constexpr std::size_t print(quantity q, std::span<char, quantity_length> out) noexcept {
    std::array<char, quantity_length> reversed{}; // the text, last character first
    std::size_t length = 0;
    auto const put = [&](char c) { reversed[length++] = c; };

    auto units = q.units_magnitude();
    auto nano = q.nano_magnitude();
    if (q.format() == quantity_format::binary_si && nano == 0 && units >= 1024) {
        std::size_t step = 0;
        for (; units % 1024 == 0; units /= 1024) ++step;
        if (step != 0) put('i'), put(detail::binary_suffixes[step]);
    } else if (!q.is_zero()) {
        std::int64_t step = 0; // the suffix, as a power of 1000
        std::int64_t places = 0;
        if (nano == 0) {
            for (; units % 1000 == 0; units /= 1000) ++step;
        } else {
            step = -3;
            for (; nano % 1000 == 0; nano /= 1000) ++step;
            places = -3 * step;
        }
        if (step != 0 && q.format() == quantity_format::decimal_exponent) {
            auto const power = step < 0 ? -3 * step : 3 * step;
            put(static_cast<char>('0' + power % 10));
            if (power >= 10) put(static_cast<char>('0' + power / 10));
            if (step < 0) put('-');
            put('e');
        } else if (step != 0) {
            put(detail::decimal_suffixes[static_cast<std::size_t>(step + 3)]);
        }
        for (; places != 0 && (units != 0 || nano != 0); --places, nano /= 10) put(static_cast<char>('0' + nano % 10));
    }
    if (units != 0 || q.is_zero()) {
        do put(static_cast<char>('0' + units % 10));
        while ((units /= 10) != 0);
    }
    if (q.is_negative()) put('-');
    for (std::size_t i = 0; i != length; ++i) out[i] = reversed[length - 1 - i];
    return length;
}

/// The canonical text of a quantity, as `print` writes it.
[[nodiscard]] inline std::string to_string(quantity q) {
    std::array<char, quantity_length> text{};
    return {text.data(), print(q, text)};
}

} // namespace muster
