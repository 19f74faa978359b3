#include <muster/ext/vgpu.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/ext/read.hpp>

#include "support/objects.hpp"

namespace ext = muster::ext;
using muster::container_request, muster::mib, muster::percent;

namespace {

ext::vgpu_names const with_percentage{.percentage = "volcano.sh/vgpu-memory-percentage"};

/// What a pod with such containers asks. N, M, P, C stand for the four resources.
muster::device_request asked(std::vector<std::string> const& containers, ext::vgpu_names const& names = {}) {
    std::string list;
    for (auto const& resources : containers)
        list += (list.empty() ? "" : ", ") + ("{name: c, resources: {" + resources + "}}");
    for (auto const& [sign, word] :
         {std::pair{"N: ", "number: "}, {"M: ", "memory: "}, {"P: ", "memory-percentage: "}, {"C: ", "cores: "}})
        for (auto at = list.find(sign); at != std::string::npos; at = list.find(sign))
            list.replace(at, 3, std::string{"volcano.sh/vgpu-"} + word);
    auto const read =
        ext::read_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [" + list + "]}\n", "f");
    return ext::read_device_request(ext::field{read.at(0)}, names);
}
container_request only(std::string const& resources, ext::vgpu_names const& names = {}) {
    auto const want = asked({resources}, names);
    REQUIRE(want.containers.size() == 1);
    return want.containers[0];
}

std::vector<muster::card_spec> cards(std::string const& node, std::vector<ext::warning>& warnings) {
    auto const read = ext::read_text(node, "f");
    ext::field const root{read.at(0)};
    return ext::read_cards(root, ext::read_amounts(root["status"]["capacity"]), warnings);
}

} // namespace

TEST_CASE("vgpu: limits decide whether a container asks, and how much") {
    // spec/device-fitting.md 1.1 and 7.1 V1, 7.2 X4, X5
    CHECK(only("limits: {N: 1, M: 3000, C: 30}") == container_request{0, 1, mib{3000}, {}, percent{30}});
    CHECK(only("limits: {N: 3, M: 5000}") == container_request{0, 3, mib{5000}, {}, percent{0}});
    CHECK(only("limits: {M: 4000}") == container_request{0, 1, mib{4000}, {}, percent{0}});
    CHECK(only("limits: {N: 1}") == container_request{0, 1, mib{0}, percent{100}, percent{0}});
    CHECK(only("limits: {N: 0, M: 4000}").cards == 0);
    CHECK(only("limits: {N: 1}, requests: {M: 7, C: 8}") == container_request{0, 1, mib{7}, {}, percent{8}});
    CHECK(only("limits: {N: 1, M: 2}, requests: {M: 7}").memory == mib{2});
    CHECK(only("limits: {N: 1500m}").cards == 0);                // no whole number
    CHECK(only("limits: {N: 1, C: 101}").cores == percent{101}); // never fits
    CHECK(asked({"limits: {C: 40}"}).empty());
    CHECK(asked({"requests: {N: 1, M: 100}"}).empty());
    CHECK(asked({"limits: {P: 50}"}, with_percentage).empty());
}

TEST_CASE("vgpu: a percentage counts only where the cluster names it, and wins over memory") { // X11
    CHECK(only("limits: {N: 1, M: 100, P: 50}").memory_percent == std::nullopt);
    CHECK(only("limits: {N: 1, M: 100, P: 50}", with_percentage).memory_percent == percent{50});
    CHECK(only("limits: {N: 1, P: 0}", with_percentage).memory_percent == percent{0});
    CHECK(only("limits: {N: 1, P: 150}", with_percentage).memory_percent == percent{150});
    CHECK(only("limits: {N: 1, P: 101}", with_percentage).memory_percent == percent{100}); // stands for none
}

TEST_CASE("vgpu: containers keep their place; those that ask for nothing have no entry") {
    auto const want = asked({"", "limits: {N: 1, M: 1}", "", "limits: {N: 2, M: 2}"});
    REQUIRE(want.containers.size() == 2);
    CHECK(want.containers[0].container == 1);
    CHECK(want.containers[1].container == 3);
}

TEST_CASE("vgpu: a node that registers no cards has them derived, and that is told") {
    std::vector<ext::warning> warnings;
    auto const one = cards(objects::gpu_node("n1", ""), warnings);
    REQUIRE(one.size() == 1);
    CHECK(one[0].uuid == "derived-n1-0");
    CHECK(one[0].slots == 10);
    CHECK(one[0].memory == mib{8192});
    CHECK(warnings.size() == 1);

    warnings.clear();
    auto const two =
        cards("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {volcano.sh/vgpu-number: 20,\n"
              "  volcano.sh/vgpu-memory: 16384, volcano.sh/vgpu-cores: 200}}\n",
              warnings);
    REQUIRE(two.size() == 2);
    CHECK(two[1].uuid == "derived-n1-1");
    CHECK(two[1].slots == 10);
    CHECK(two[1].memory == mib{8192});
    CHECK(cards(objects::node, warnings).empty());
}

TEST_CASE("vgpu: a registration that can't be read makes cards that take nothing") {
    std::vector<ext::warning> warnings;
    auto const none = cards(objects::gpu_node("n1", "garbage"), warnings);
    REQUIRE(none.size() == 1);
    CHECK(none[0].faulty);
    auto const one = cards(
        objects::gpu_node("n1", "GPU-a,x,1,NVIDIA-T,true,hami-core:GPU-b,10,8192,NVIDIA-T,false,hami-core:"), warnings);
    REQUIRE(one.size() == 2);
    CHECK(one[0].faulty);
    CHECK_FALSE(one[1].faulty);
    CHECK_FALSE(one[1].healthy);
    CHECK(warnings.size() == 2);
}

TEST_CASE("vgpu: a pod's annotation is matched with the containers that ask") {
    auto const read =
        ext::read_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {volcano.sh/vgpu-ids-new: "
                       "\"GPU-a,NVIDIA,1000,10:;GPU-b[group1-0],NVIDIA,2000,20:;\"}}\n",
                       "f");
    muster::device_request const want{.containers = {{.container = 1}, {.container = 4}}};
    bool broken = false;
    std::vector<ext::warning> warnings;
    auto const shares = ext::read_shares(ext::field{read.at(0)}, want, broken, warnings);
    CHECK_FALSE(broken);
    CHECK(warnings.empty());
    REQUIRE(shares.size() == 2);
    CHECK(shares[0].uuid == "GPU-a");
    CHECK(shares[0].container == 1);
    CHECK(shares[1].uuid == "GPU-b");
    CHECK(shares[1].container == 4);
    CHECK(shares[1].memory == mib{2000});
    CHECK(shares[1].cores == percent{20});
}
