#include <muster/cluster/rules.hpp>

#include <limits>

#include <doctest/doctest.h>

using muster::label_operator;
using muster::taint_effect;

TEST_CASE("rules: a label meets a requirement as Kubernetes has it") {
    struct row {
        char const* key;
        label_operator op;
        std::vector<std::string> values;
        bool met;
    };
    muster::symbol_table symbols;
    auto const labels = muster::intern({{"zone", "b"}, {"cores", "12"}, {"arch", "arm"}, {"odd", "+5"}}, symbols);
    for (row const& r : {
             row{"zone", label_operator::in, {"a", "b"}, true},
             row{"zone", label_operator::in, {"a"}, false},
             row{"rack", label_operator::in, {"a"}, false},
             row{"zone", label_operator::not_in, {"a"}, true},
             row{"zone", label_operator::not_in, {"b"}, false},
             row{"rack", label_operator::not_in, {"b"}, true},
             row{"zone", label_operator::exists, {}, true},
             row{"rack", label_operator::exists, {}, false},
             row{"zone", label_operator::does_not_exist, {}, false},
             row{"rack", label_operator::does_not_exist, {}, true},
             row{"cores", label_operator::greater, {"9"}, true},
             row{"cores", label_operator::greater, {"12"}, false},
             row{"cores", label_operator::less, {"100"}, true},
             row{"cores", label_operator::less, {"12"}, false},
             row{"zone", label_operator::greater, {"9"}, false},
             row{"rack", label_operator::less, {"9"}, false},
             row{"cores", label_operator::less, {"many"}, false},
         }) {
        CAPTURE(r.key);
        CAPTURE(static_cast<int>(r.op));
        auto const asked = muster::detail::interning{symbols}(muster::requirement_spec{r.key, r.op, r.values, {}});
        CHECK(meets(labels, asked) == r.met);
    }
}

TEST_CASE("rules: a term needs all of its conditions, and one without any matches nothing") {
    muster::symbol_table symbols;
    auto const labels = muster::intern({{"zone", "b"}}, symbols);
    auto const name = symbols.intern("n1");
    muster::requirement_spec const zone{"zone", label_operator::in, {"b"}, {}};
    muster::requirement_spec const here{"metadata.name", label_operator::in, {"n1"}, {}};
    muster::requirement_spec const elsewhere{"metadata.name", label_operator::not_in, {"n1"}, {}};
    auto const meet = [&](muster::term_spec const& term) {
        return meets(labels, name, muster::detail::interning{symbols}(term));
    };
    CHECK(!meet({}));
    CHECK(meet({{zone}, {}}));
    CHECK(meet({{zone}, {here}}));
    CHECK(!meet({{zone}, {elsewhere}}));
    CHECK(!meet({{zone, {"rack", label_operator::exists, {}, {}}}, {here}}));
}

TEST_CASE("rules: what a toleration leaves out, it tolerates") {
    muster::taint_spec const taint{"gpu", "yes", taint_effect::no_schedule};
    struct row {
        muster::toleration_spec toleration;
        bool tolerates;
    };
    for (row const& r : {
             row{{}, true},
             row{{"gpu", {}, {}}, true},
             row{{"gpu", "yes", taint_effect::no_schedule}, true},
             row{{"gpu", "no", {}}, false},
             row{{"cpu", {}, {}}, false},
             row{{{}, {}, taint_effect::no_execute}, false},
         })
        CHECK(r.toleration.tolerates(taint) == r.tolerates);
}

TEST_CASE("rules: host ports exclude each other on one address, or on all") {
    muster::symbol_table symbols;
    auto const any = symbols.intern("0.0.0.0");
    auto const port = [&](char const* ip, char const* protocol, int number) {
        return muster::port{symbols.intern(ip), symbols.intern(protocol), number};
    };
    CHECK(collide(port("10.0.0.1", "TCP", 80), port("10.0.0.1", "TCP", 80), any));
    CHECK(collide(port("0.0.0.0", "TCP", 80), port("10.0.0.1", "TCP", 80), any));
    CHECK(!collide(port("10.0.0.2", "TCP", 80), port("10.0.0.1", "TCP", 80), any));
    CHECK(!collide(port("10.0.0.1", "UDP", 80), port("10.0.0.1", "TCP", 80), any));
    CHECK(!collide(port("10.0.0.1", "TCP", 81), port("10.0.0.1", "TCP", 80), any));
}
