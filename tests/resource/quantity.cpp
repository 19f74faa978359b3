#include <muster/resource/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using muster::errc;
using muster::parse_quantity;
using muster::quantity;
using muster::quantity_format;
using enum muster::quantity_format;

namespace {

constexpr auto top = std::numeric_limits<std::int64_t>::max();
constexpr auto bottom = std::numeric_limits<std::int64_t>::min();

/// A quantity, or the code and offset of why the text is none.
std::string canonical(std::string_view text) {
    auto const q = parse_quantity(text);
    if (q) return to_string(*q);
    return std::string{message(q.error().code)} + " at " + std::to_string(q.error().at);
}

quantity_format any_format() { return *rc::gen::element(decimal_si, binary_si, decimal_exponent); }

/// Any quantity, often one with trailing zeros in one of the bases.
quantity any_quantity() {
    auto const units = *rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange<std::int64_t>(-2000, 2000),
                                       rc::gen::element(top, top - 1, bottom, bottom + 1));
    auto const step = *rc::gen::element<std::int64_t>(1, 1000, 1024, 1'000'000, 1 << 20, 1 << 30);
    auto const nano = *rc::gen::oneOf(rc::gen::just(0U), rc::gen::element(500'000'000U, 1'000U, 999'999'999U),
                                      rc::gen::inRange(0U, 1'000'000'000U));
    auto const scaled = muster::checked_mul(units, step).value_or(units);
    auto const magnitude = quantity::from_units(scaled).units_magnitude();
    auto const format = any_format();
    return quantity::from_magnitude(scaled < 0, magnitude, nano, format).value_or(quantity::from_units(scaled, format));
}

} // namespace

static_assert(*(*parse_quantity("1.5Gi")).value() == 1'610'612'736);
static_assert(noexcept(parse_quantity("")), "bad text is an error value");

TEST_CASE("quantity: text is printed in Kubernetes' canonical form") {
    struct row {
        std::string_view text, canonical;
    };
    for (row const& c : {
             row{"0", "0"},
             {"-0", "0"},
             {"+0.000", "0"},
             {"0Ki", "0"},
             {"0e99", "0"},
             {"000", "0"},
             row{"1", "1"},
             {"+1", "1"},
             {"0012", "12"},
             {"-7", "-7"},
             {"12000", "12k"},
             {"100000", "100k"},
             row{"1234", "1234"},
             {"1000000", "1M"},
             {"8192", "8192"},
             {"1E", "1E"},
             {"1500P", "1500P"},
             row{"1.5", "1500m"},
             {"-1.5", "-1500m"},
             {"1.", "1"},
             {".5", "500m"},
             {"-.5", "-500m"},
             {"0.1", "100m"},
             row{"1000m", "1"},
             {"1500m", "1500m"},
             {"1500u", "1500u"},
             {"1000000u", "1"},
             {"1n", "1n"},
             row{"-0.000000001", "-1n"},
             {"1.000000001", "1000000001n"},
             {"1.00001", "1000010u"},
             row{"0.0000000010", "1n"},
             {"12.345k", "12345"},
             {"1.1M", "1100k"},
             {"0.001E", "1P"},
             row{"1Ki", "1Ki"},
             {"1024Ki", "1Mi"},
             {"1025Ki", "1025Ki"},
             {"0.5Gi", "512Mi"},
             {"1.5Gi", "1536Mi"},
             row{"0.5Ki", "512"},
             {"0.9990234375Ki", "1023"},
             {"-1Ki", "-1Ki"},
             {"-0.5Ki", "-512"},
             {"7Ei", "7Ei"},
             row{"1.1Ki", "1126400m"},
             {"1.1Mi", "1153433600m"},
             {"0.0001Ki", "102400u"},
             {"1000Ki", "1000Ki"},
             row{"0.0000000000000000008673617379884035472059622406959533691406250Ei", "1"},
             row{"1e3", "1e3"},
             {"1E3", "1e3"},
             {"1e+3", "1e3"},
             {"12e2", "1200"},
             {"1e-3", "1e-3"},
             {"5e-1", "500e-3"},
             row{"1.5e3", "1500"},
             {"1e18", "1e18"},
             {"1e-9", "1e-9"},
             {"1000e-12", "1e-9"},
             {"100e16", "1e18"},
             row{"9223372036854775807", "9223372036854775807"},
             {"-9223372036854775808", "-9223372036854775808"},
             row{"-8Ei", "-8Ei"},
             {"9223372036854775.807k", "9223372036854775807"},
             row{"9223372036854775806999999999n", "9223372036854775806999999999n"},
             row{"0.009223372036854775807E", "9223372036854775807m"},
             row{"-9223372036854775807.999999999", "-9223372036854775807999999999n"},
         }) {
        CAPTURE(c.text);
        CHECK(canonical(c.text) == c.canonical);
    }
}

TEST_CASE("quantity: bad text is refused where it is bad") {
    struct row {
        std::string_view text;
        errc code;
        std::uint32_t at;
    };
    for (row const& c : {
             row{"", errc::empty, 0},
             {"-", errc::bad_field, 1},
             {"+", errc::bad_field, 1},
             {".", errc::bad_field, 0},
             row{"-.Ki", errc::bad_field, 1},
             {"Ki", errc::bad_field, 0},
             {"e3", errc::bad_field, 0},
             row{" 1", errc::bad_field, 0},
             {"--1", errc::bad_field, 1},
             {"+-1", errc::bad_field, 1},
             row{"1 ", errc::bad_suffix, 1},
             {"1 k", errc::bad_suffix, 1},
             {"1 i", errc::bad_suffix, 1},
             row{"1.2.3", errc::bad_suffix, 3},
             {"1,5", errc::bad_suffix, 1},
             {"10K", errc::bad_suffix, 2},
             row{"1ki", errc::bad_suffix, 1},
             {"1mi", errc::bad_suffix, 1},
             {"1Gib", errc::bad_suffix, 1},
             row{"1.5GB", errc::bad_suffix, 3},
             {"1e", errc::bad_suffix, 1},
             {"1e+", errc::bad_suffix, 1},
             row{"1e3k", errc::bad_suffix, 1},
             {"1e1.5", errc::bad_suffix, 1},
             {"1i", errc::bad_suffix, 1},
             row{"1Ki3", errc::bad_suffix, 1},
             {"1M-3", errc::bad_suffix, 1},
             {"0x10", errc::bad_suffix, 1},
             row{std::string_view{"1\0", 2}, errc::bad_suffix, 1},
             {"1\xff", errc::bad_suffix, 1},
             row{"9223372036854775808", errc::overflow, 0},
             {"+9223372036854775808", errc::overflow, 1},
             row{"9223372036854775807.5", errc::overflow, 0},
             {"-9223372036854775808.000000001", errc::overflow, 1},
             row{"-9223372036854775809", errc::overflow, 1},
             {"18446744073709551616", errc::overflow, 0},
             row{"8Ei", errc::overflow, 0},
             {"16Ei", errc::overflow, 0},
             {"7.9999999999Ei1", errc::bad_suffix, 12},
             row{"10E", errc::overflow, 0},
             {"1e19", errc::overflow, 0},
             {"-1e99999999999999999999", errc::overflow, 1},
             row{"1e-10", errc::underflow, 0},
             {"1e-99999999999999999999", errc::underflow, 0},
             row{"0.1n", errc::underflow, 2},
             {"1.0000000001", errc::underflow, 11},
             {"1.00000000010", errc::underflow, 11},
             row{"0.0000000001Ki", errc::underflow, 11},
         }) {
        CAPTURE(c.text);
        auto const q = parse_quantity(c.text);
        REQUIRE_FALSE(q);
        CHECK(q.error().code == c.code);
        CHECK(q.error().at == c.at);
    }
}

TEST_CASE("quantity: the suffix decides the format") {
    struct row {
        std::string_view text;
        quantity_format format;
    };
    for (row const& c : {row{"1", decimal_si},
                         {"1E", decimal_si},
                         {"1Ei", binary_si},
                         {"1E3", decimal_exponent},
                         row{"1e0", decimal_exponent},
                         {"0.5Ki", binary_si},
                         {"0.0001Ki", decimal_si},
                         {"-0.0001Ki", decimal_si}}) {
        CAPTURE(c.text);
        CHECK(parse_quantity(c.text)->format() == c.format);
    }
}

TEST_CASE("quantity: value and milli round away from zero") {
    struct row {
        std::string_view text;
        std::int64_t value, milli;
    };
    for (row const& c : {row{"0", 0, 0},
                         {"1.5", 2, 1500},
                         {"-1.5", -2, -1500},
                         {"1n", 1, 1},
                         {"-1n", -1, -1},
                         row{"100m", 1, 100},
                         {"1500u", 1, 2},
                         {"-1500u", -1, -2},
                         {"2Ki", 2048, 2'048'000},
                         row{"9223372036854775.807", 9'223'372'036'854'776, top},
                         row{"-9223372036854775.808", -9'223'372'036'854'776, bottom}}) {
        CAPTURE(c.text);
        CHECK(*parse_quantity(c.text)->value() == c.value);
        CHECK(*parse_quantity(c.text)->milli() == c.milli);
    }
    CHECK(*quantity::from_units(top).value() == top);
    CHECK(*quantity::from_units(bottom).value() == bottom);
    for (auto const* text : {"9223372036854775.8070001", "-9223372036854775.8081", "8E", "1E"}) {
        CAPTURE(text);
        CHECK(parse_quantity(text)->milli().error().code == errc::overflow);
    }
}

TEST_CASE("quantity: as_int64 gives integers only") {
    CHECK(*parse_quantity("12k")->as_int64() == 12'000);
    CHECK(*parse_quantity("-2Gi")->as_int64() == -(std::int64_t{2} << 30));
    CHECK_FALSE(parse_quantity("500m")->as_int64().has_value());
    CHECK_FALSE(parse_quantity("0.0001Ki")->as_int64().has_value());
}

TEST_CASE("quantity: sums keep the left format unless the left is zero") {
    auto const mib = *parse_quantity("1Mi");
    auto const kilo = *parse_quantity("1k");
    CHECK(to_string(*mib.add(kilo)) == "1049576");
    CHECK(mib.add(kilo)->format() == binary_si);
    CHECK(kilo.sub(mib)->format() == decimal_si);
    CHECK(to_string(*quantity{}.add(mib)) == "1Mi");
    CHECK(to_string(*quantity{}.sub(mib)) == "-1Mi");
    CHECK(to_string(*mib.mul(-3)) == "-3Mi");
    CHECK(to_string(*parse_quantity("0.1")->add(*parse_quantity("0.9"))) == "1");
}

TEST_CASE("quantity: sums and products at the edge are exact or an error") {
    auto const highest = quantity::from_units(top);
    auto const lowest = quantity::from_units(bottom);
    auto const half = quantity::from_milli(500);
    CHECK(highest.add(half).error().code == errc::overflow);
    CHECK(*highest.sub(half)->value() == top);
    CHECK(lowest.sub(half).error().code == errc::overflow);
    CHECK(*lowest.add(half)->add(quantity::from_milli(-500)) == lowest);
    CHECK(*lowest.add(half)->sub(half) == lowest);
    CHECK(lowest.mul(-1).error().code == errc::overflow);
    CHECK(*highest.mul(-1)->sub(quantity::from_units(1)) == lowest);
    CHECK(*half.mul(top)->value() == top / 2 + 1);
    CHECK(*parse_quantity("1n")->mul(bottom) == *parse_quantity("-9223372036854775808n"));
    CHECK(*parse_quantity("-3074457345618258602500m")->mul(3) == *parse_quantity("-9223372036854775807500m"));
}

TEST_CASE("quantity: every quantity comes back from its text, which is an integer and a suffix") {
    CHECK(rc::check("parse(to_string(q)) == q", [] {
        auto const q = any_quantity();
        auto const text = to_string(q);
        auto const back = parse_quantity(text);
        RC_ASSERT(back.has_value());
        RC_ASSERT(*back == q);
        // 2000000 in binary_si prints without a suffix, which reads as decimal_si: 2M.
        if (back->format() == q.format()) RC_ASSERT(to_string(*back) == text);
        RC_ASSERT(text.find('.') == std::string::npos);
        RC_ASSERT(text.size() <= muster::quantity_length);
    }));
}

TEST_CASE("quantity: order and arithmetic are those of the values, whatever the formats") {
    CHECK(rc::check("milli units compare and add as integers", [] {
        auto const a = *rc::gen::arbitrary<std::int64_t>();
        auto const b = *rc::gen::arbitrary<std::int64_t>();
        auto const x = quantity::from_milli(a, any_format());
        auto const y = quantity::from_milli(b, any_format());
        RC_ASSERT((x <=> y) == (a <=> b));
        RC_ASSERT((x == y) == (a == b));
        RC_ASSERT(*x.milli() == a);
        RC_ASSERT(x.is_negative() == (a < 0));
        if (auto const sum = muster::checked_add(a, b)) RC_ASSERT(*x.add(y) == quantity::from_milli(*sum));
        if (auto const difference = muster::checked_sub(a, b))
            RC_ASSERT(*x.sub(y) == quantity::from_milli(*difference));
        auto const factor = *rc::gen::inRange<std::int64_t>(-5000, 5000);
        if (auto const product = muster::checked_mul(a, factor))
            RC_ASSERT(*x.mul(factor) == quantity::from_milli(*product));
    }));
    CHECK(rc::check("what is added is taken away again", [] {
        auto const x = any_quantity();
        auto const y = any_quantity();
        if (auto const sum = x.add(y)) RC_ASSERT(*sum->sub(y) == x);
        if (auto const difference = x.sub(y)) RC_ASSERT(*difference->add(y) == x);
        if (auto const triple = x.mul(3)) RC_ASSERT(*triple == *x.add(x)->add(x));
    }));
}

TEST_CASE("quantity: no text crashes, and offsets lie in it") {
    CHECK(rc::check("letters of the grammar", [] {
        auto const text = *rc::gen::container<std::string>(
            rc::gen::oneOf(rc::gen::elementOf(std::string{"0123456789+-.eEinumkKMGTP"}), rc::gen::arbitrary<char>()));
        auto const q = parse_quantity(text);
        if (!q)
            RC_ASSERT(q.error().at <= text.size());
        else
            RC_ASSERT(*parse_quantity(to_string(*q)) == *q);
    }));
}
