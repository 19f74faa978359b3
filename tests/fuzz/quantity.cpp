// Any text, and any two quantities: they come back from their text, and arithmetic undoes itself.
#include <muster/resource/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using muster::parse_quantity;
using muster::quantity;

void require(bool holds) {
    if (!holds) std::abort();
}

/// A quantity prints as an integer with a suffix that reads as the same value.
void check_text(quantity q) {
    std::array<char, muster::quantity_length> buffer{};
    std::string_view const text{buffer.data(), print(q, buffer)};
    require(text.find('.') == std::string_view::npos);
    require(text.starts_with('-') == q.is_negative());
    auto const back = parse_quantity(text);
    require(back && *back == q);
    std::array<char, muster::quantity_length> again{};
    if (back->format() == q.format()) require(text == std::string_view{again.data(), print(*back, again)});
}

/// Rounding goes away from zero by less than one unit.
void check_rounding(quantity q) {
    auto const value = q.value();
    require(value.has_value());
    auto const whole = quantity::from_units(*value);
    require(q.is_negative() ? whole <= q : whole >= q);
    require((whole == q) == q.as_int64().has_value());
    require(whole.units_magnitude() - q.units_magnitude() <= 1);
    if (auto const milli = q.milli()) {
        auto const thousandths = quantity::from_milli(*milli);
        require(q.is_negative() ? thousandths <= q : thousandths >= q);
        require(thousandths == q || quantity::from_milli(*milli + (q.is_negative() ? 1 : -1)) != q);
    }
}

void check_arithmetic(quantity a, quantity b) {
    require((a < b) == (b > a) && (a == b) == (b == a) && (a <= b) == !(a > b));
    auto const sum = a.add(b);
    if (sum) {
        require(*sum->sub(b) == a && *sum->sub(a) == b && *b.add(a) == *sum);
        require(b.is_negative() ? *sum < a : *sum >= a);
        check_text(*sum);
    } else {
        require(a.is_negative() == b.is_negative()); // of two signs, a sum stays between the two
    }
    if (auto const difference = a.sub(b)) require(*difference->add(b) == a);
    if (auto const triple = a.mul(3)) require(*triple == *a.add(a)->add(a));
    if (auto const factor = b.as_int64())
        if (auto const product = a.mul(*factor)) {
            check_text(*product);
            require(*factor == 0 ? product->is_zero() : product->is_zero() == a.is_zero());
        }
}

/// Any quantity, from 14 bytes; many have trailing zeros in base 1000 or 1024.
quantity quantity_from(std::uint8_t const* data) {
    std::uint64_t units = 0;
    std::uint32_t nano = 0;
    std::memcpy(&units, data + 2, sizeof units);
    std::memcpy(&nano, data + 2 + sizeof units, sizeof nano);
    auto const format = static_cast<muster::quantity_format>(data[0] % 3);
    bool const negative = data[0] >= 128;
    nano = data[1] % 4 == 0 ? 0 : nano % 1'000'000'000;
    auto q = quantity::from_magnitude(negative, units >> (data[1] % 64), nano, format).value_or(quantity{});
    for (int i = data[1] / 64; i != 0; --i)
        q = q.mul(format == muster::quantity_format::binary_si ? 1024 : 1000).value_or(q);
    return q;
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer names it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    auto const q = parse_quantity(text);
    if (q) {
        check_text(*q);
        check_rounding(*q);
    } else {
        require(q.error().at <= text.size());
    }
    if (size < 28) return 0;
    auto const a = quantity_from(data);
    auto const b = quantity_from(data + 14);
    check_text(a);
    check_rounding(a);
    check_arithmetic(a, b);
    return 0;
}
