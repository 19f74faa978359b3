#include <muster/device/order.hpp>

#include <doctest/doctest.h>

using muster::card_usage;
using muster::mib;
using muster::device::before;
using muster::device::card_order;
using muster::device::order_of;
using muster::device::score_of;

static_assert(order_of("binpack") == card_order::binpack);
static_assert(order_of("spread") == card_order::spread);
static_assert(order_of("BinPack") == card_order::last_first, "the original compares to the letter");
static_assert(order_of("") == card_order::last_first);

TEST_CASE("order: which of two cards is tried first (V18, V19)") {
    card_usage const full{1, mib{4096}, {}};
    card_usage const idle{};
    struct row {
        card_order order;
        card_usage a, b;
        bool first;
    };
    for (row const& r : {row{card_order::binpack, full, idle, true}, row{card_order::binpack, idle, full, false},
                         row{card_order::spread, full, idle, false}, row{card_order::spread, idle, full, true},
                         row{card_order::binpack, idle, idle, true}, row{card_order::spread, idle, idle, true},
                         row{card_order::last_first, idle, full, false}}) {
        CHECK(before(r.order, r.a, 0, r.b, 1) == r.first);
        CHECK(before(r.order, r.b, 1, r.a, 0) != r.first);
    }
}

TEST_CASE("order: packing scores how full the card gets, spreading nothing (V20, X1)") {
    muster::card const c{.memory = mib{32000}};
    CHECK(score_of(card_order::binpack, c, {1, mib{32000}, {}}) == 100);
    CHECK(score_of(card_order::binpack, c, {1, mib{4000}, {}}) == 12.5);
    CHECK(score_of(card_order::binpack, c, {}) == 0);
    CHECK(score_of(card_order::binpack, {}, {1, {}, {}}) == 0);
    CHECK(score_of(card_order::spread, c, {1, mib{4000}, {}}) == 0);
    CHECK(score_of(card_order::last_first, c, {1, mib{4000}, {}}) == 0);
}
