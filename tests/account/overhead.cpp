#include <muster/account/overhead.hpp>

#include <vector>

#include <doctest/doctest.h>

using muster::account::card_process;
using muster::account::overhead;

namespace {

using list = std::vector<card_process>;

} // namespace

TEST_CASE("overhead: this process is the one that came with the context, whatever its number") {
    overhead plain;
    CHECK_FALSE(plain.learn({{5, 10}}, {{5, 10}, {7, 20}, {9, 30}}, 9));
    CHECK(plain.known()); // by its own number, though another came as well
    std::uint64_t last = 0;
    CHECK(plain.beside({{5, 10}, {7, 20}, {9, 30}}, 0, false, last) == 30);

    overhead in_container;
    CHECK_FALSE(in_container.learn({{5, 10}}, {{4711, 20}, {5, 10}}, 12));
    CHECK(in_container.known());
    CHECK(in_container.beside({{4711, 20}}, 0, false, last) == 20);
    CHECK(in_container.alone({{4711, 20}}));
    CHECK_FALSE(in_container.alone({{4711, 20}, {5, 1}}));
    CHECK_FALSE(in_container.alone({}));

    overhead crowded;
    CHECK(crowded.learn({{5, 10}}, {{5, 10}, {4711, 900}, {4712, 20}}, 12) == 20);
    CHECK_FALSE(crowded.known());
    CHECK_FALSE(crowded.alone({{4711, 20}}));

    overhead nothing;
    CHECK_FALSE(nothing.learn({}, {}, 12));
    CHECK_FALSE(nothing.learn({{12, 5}}, {{12, 5}}, 12)); // was there before: somebody else of that number
    CHECK_FALSE(nothing.known());
}

TEST_CASE("overhead: what is beside is the rest, and managed memory doesn't hide it") {
    overhead o;
    (void)o.learn({}, {{1, 500}}, 1);
    std::uint64_t last = 0;
    CHECK(o.beside({{1, 500}}, 0, false, last) == 500);
    CHECK(o.beside({{1, 800}}, 200, false, last) == 600);
    CHECK(o.beside({{1, 150}}, 200, false, last) == 0); // charged more than there is
    CHECK(o.beside({{1, 700}}, 200, false, last) == 500);
    CHECK(o.beside({{1, 700}}, 1200, true, last) == 500);  // a thousand that may lie with the host
    CHECK(o.beside({{1, 1900}}, 1200, true, last) == 700); // more came beside it, surely
    CHECK(o.beside({{1, 700}}, 200, false, last) == 500);
    CHECK(o.beside({}, 200, false, last) == 0); // no context any more
    CHECK(last == 0);
}
