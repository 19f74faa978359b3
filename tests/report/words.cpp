#include <muster/report/words.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <muster/cluster/cluster.hpp>

#include "support/world.hpp"

using muster::limit_kind, muster::reason, muster::reason_code;

namespace {

/// A cluster that knows a dimension of each kind.
struct some_dimensions {
    test::world world{};
    muster::dimension_id gpu;

    some_dimensions() {
        world.node("n", "8/16Gi nvidia.com/gpu=4");
        for (auto const d : tables().dimensions.walk())
            if (tables().dimensions.name(d) == "nvidia.com/gpu") gpu = d;
    }
    [[nodiscard]] muster::tables const& tables() const { return world.cluster.tables(); }
};

} // namespace

TEST_CASE("words: a node's reasons are Volcano's, to the letter") {
    some_dimensions const some;
    auto const words = [&](reason_code code, muster::dimension_id d = muster::dimension::cpu) {
        return words_of(reason{.code = code, .dimension = d}, some.tables());
    };
    CHECK(words(reason_code::insufficient) == "Insufficient cpu");
    CHECK(words(reason_code::insufficient, some.gpu) == "Insufficient nvidia.com/gpu");
    CHECK(words(reason_code::pod_count) == "node(s) pod number exceeded");
    CHECK(words(reason_code::unschedulable) == "node(s) were unschedulable");
    CHECK(words(reason_code::node_affinity) == "node(s) didn't match Pod's node affinity/selector");
    CHECK(words(reason_code::untolerated) == "node(s) had untolerated taint(s)");
    CHECK(words(reason_code::port_taken) == "node(s) didn't have free ports for the requested pod ports");
    for (auto const code :
         {reason_code::card_mode, reason_code::card_count, reason_code::card_filter, reason_code::card_fit})
        CHECK(words(code) == "hami-vgpuDeviceSharing error");
    CHECK(words(reason_code::queue_quota) == ""); // no node said it
}

TEST_CASE("words: amounts are written as people count them") {
    some_dimensions const some;
    auto const printed = [&](auto value, muster::dimension_id d) { return print_amount(value, d, some.tables()); };
    CHECK(printed(std::int64_t{2000}, muster::dimension::cpu) == "2");
    CHECK(printed(std::int64_t{500}, muster::dimension::cpu) == "500m");
    CHECK(printed(std::int64_t{4} << 30, muster::dimension::memory) == "4Gi");
    CHECK(printed(std::int64_t{6000000}, some.gpu) == "6000"); // not 6k
    CHECK(printed(std::int64_t{1500}, some.gpu) == "1500m");
    CHECK(printed(2000.9, muster::dimension::cpu) == "2");
    CHECK(printed(std::numeric_limits<double>::infinity(), muster::dimension::cpu) == "unlimited");
    CHECK(printed(std::numeric_limits<double>::quiet_NaN(), muster::dimension::cpu) == "unlimited");
    CHECK(printed(std::numeric_limits<double>::max(), some.gpu) == "unlimited");
}

TEST_CASE("words: explanations name who compared, what, and the numbers") {
    some_dimensions const some;
    auto const told = [&](reason const& why) { return explain(why, "w", some.tables()); };
    CHECK(told({.code = reason_code::queue_quota,
                .kind = limit_kind::capability,
                .dimension = some.gpu,
                .asked = 3000000,
                .held = 3000000,
                .limit = 4000000}) ==
          "queue w would pass its limit of nvidia.com/gpu: 6000 asked in all, 3000 held, 4000 allowed");
    CHECK(told({.code = reason_code::queue_quota,
                .kind = limit_kind::deserved,
                .dimension = muster::dimension::cpu,
                .asked = 1000,
                .held = 500,
                .limit = 1200.5}) ==
          "queue w would pass its deserved share of cpu: 1500m asked in all, 500m held, 1200m allowed");
    CHECK(told({.code = reason_code::insufficient,
                .dimension = muster::dimension::memory,
                .asked = std::int64_t{1} << 30,
                .held = std::int64_t{3} << 30,
                .limit = 3.5 * (1 << 30)}) == "node w has too little memory: 1Gi asked, 3Gi of 3584Mi in use");
    CHECK(told({.code = reason_code::card_count, .asked = 2, .limit = 1}) ==
          "node w has too few cards: 2 asked, 1 there");
    CHECK(told({.code = reason_code::port_taken, .asked = 80}) == "host port 80 of node w is taken");
}

TEST_CASE("words: every code has its sentence, without a final period") {
    some_dimensions const some;
    for (auto code = reason_code::insufficient; code <= reason_code::role_failed;
         code = static_cast<reason_code>(static_cast<int>(code) + 1)) {
        auto const text = explain(reason{.code = code, .dimension = muster::dimension::cpu}, "w", some.tables());
        CHECK(text.size() > 10);
        CHECK_FALSE(text.ends_with('.'));
    }
}
