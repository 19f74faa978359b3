#include <muster/ext/answer.hpp>

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "ext/simulated.hpp"
#include "support/objects.hpp"

namespace ext = muster::ext;
using nlohmann::json;
using objects::gpu_node, objects::node, objects::pod, objects::podgroup, objects::queue;

namespace {

json answer(std::string const& text, std::optional<std::size_t> cycles = std::nullopt) {
    simulated::run const r{text, cycles};
    return ext::answer(r.simulation);
}

std::string const card = gpu_node("n1", "GPU-a,10,8192,NVIDIA-T,true,hami-core:");

} // namespace

TEST_CASE("answer: quantities are canonical, what is nothing is left out but for cpu and memory") {
    auto const got =
        answer(node + queue("q", "capability: {cpu: 1.5, memory: 1.5Gi, nvidia.com/gpu: 4000}") +
               podgroup("g", "minMember: 1, queue: q") + pod("p", "g", "requests: {cpu: 0.1, memory: 512Mi}"));
    CHECK(got["nodes"]["n1"]["used"] == json{{"cpu", "100m"}, {"memory", "512Mi"}, {"pods", "1"}});
    CHECK(got["nodes"]["n1"]["idle"] == json{{"cpu", "7900m"}, {"memory", "15872Mi"}, {"pods", "109"}});
    CHECK(got["queues"]["q"]["capability"] == json{{"cpu", "1500m"}, {"memory", "1536Mi"}, {"nvidia.com/gpu", "4k"}});
    CHECK(got["queues"]["default"]["allocated"] == json{{"cpu", "0"}, {"memory", "0"}});
}

TEST_CASE("answer: a pod is bound in its cycle, Running after it, and holds its cards in both") {
    auto const text = card + pod("p", "", "limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 100}");
    auto const first = answer(text, 1)["pods"]["default/p"];
    auto const second = answer(text, 2)["pods"]["default/p"];
    CHECK(first["status"] == "Bound");
    CHECK(second["status"] == "Running");
    auto const cards = json::array({{{"container", "c"}, {"uuid", "GPU-a"}, {"memory", 100}, {"cores", 0}}});
    CHECK(first["cards"] == cards);
    CHECK(second["cards"] == cards);
    CHECK(first["env"] == second["env"]);
    CHECK(first["env"]["c"]["CUDA_DEVICE_MEMORY_LIMIT_0"] == "100m");
    CHECK(first["reason"] == "");
}

TEST_CASE("answer: each container has the environment of its own cards, under its name") {
    auto const text =
        gpu_node("n1", "GPU-a,10,8192,NVIDIA-T,true,hami-core:GPU-b,10,8192,NVIDIA-T,true,hami-core:") +
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  schedulerName: volcano\n  containers:\n"
        "  - {name: side}\n"
        "  - {name: main, resources: {limits: {volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory: 100}}}\n";
    auto const env = answer(text)["pods"]["default/p"]["env"];
    REQUIRE(env.size() == 1);
    CHECK(env["main"]["CUDA_DEVICE_MEMORY_LIMIT_0"] == "100m");
    CHECK(env["main"]["CUDA_DEVICE_MEMORY_LIMIT_1"] == "100m");
    CHECK(env["main"]["NVIDIA_VISIBLE_DEVICES"].get<std::string>().find(',') == 5);
}

TEST_CASE("answer: a pod that waits has no node and no cards, but a reason") {
    auto const waits = answer(node + pod("p", "", "requests: {cpu: 9}"))["pods"]["default/p"];
    CHECK(waits["status"] == "Pending");
    CHECK(waits["node"] == "");
    CHECK(waits["cards"].empty());
    CHECK(waits["env"].empty());
    CHECK(waits["reason"] == "Unschedulable");
    CHECK(waits["message"] != "");
}

TEST_CASE("answer: the state of queues and cards is told") {
    auto const got = answer(card + queue("shut", "weight: 2") + pod("p", "", "limits: {volcano.sh/vgpu-memory: 100}"));
    CHECK(got["queues"]["shut"]["state"] == "Open");
    auto const& first = got["nodes"]["n1"]["cards"][0];
    CHECK(first["uuid"] == "GPU-a");
    CHECK(first["slots"] == 10);
    CHECK(first["memory"] == 8192);
    CHECK(first["used"] == json{{"slots", 1}, {"memory", 100}, {"cores", 0}});
    CHECK(got["queues"]["default"]["share"].is_number_float());
}
