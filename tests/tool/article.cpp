// The article's experiments, as an operator and as a program reads them.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tool/tool.hpp"

namespace {

using nlohmann::json;

constexpr std::string_view waits =
    "1/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; "
    "Pending: 1 Schedulable, 1 Unschedulable";
constexpr std::string_view no_pods = "0/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable";
constexpr std::string_view both_wait = "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, "
                                       "2 minAvailable; Pending: 1 Schedulable, 1 Unschedulable";
constexpr std::string_view card = "GPU-0f7c1a52-5e3b-1c7a-9d10-2b6f3a9c4d01";

/// The article's files by name, read after its node.
support::finished experiment(std::vector<std::string> const& files, std::string const& arguments = {}) {
    std::string all = "-f node.yaml";
    for (auto const& file : files) all += " -f " + file + ".yaml";
    return tool::simulate_in(tool::source + "/examples/article", all + " " + arguments);
}
json answer(std::vector<std::string> const& files) { return tool::answer_of(experiment(files, "-o json")); }

std::string expected(std::string const& name) {
    return support::contents(tool::source + "/tests/tool/expected/" + name + ".txt");
}

/// The only member of an object, its key aside.
json const& only(json const& object) {
    REQUIRE(object.size() == 1);
    return *object.begin();
}

/// What was told of the only PodGroup, in order; equal neighbours once.
std::vector<std::string> story(json const& answer) {
    std::vector<std::string> messages;
    for (auto const& e : answer.at("events"))
        if (messages.empty() || messages.back() != e.at("message")) messages.push_back(e.at("message"));
    return messages;
}

void check_waits(json const& got, std::string const& pod) {
    CHECK(got.at("binds").empty());
    auto const& group = only(got.at("podgroups"));
    CHECK(group.at("phase") == "Inqueue");
    CHECK(only(got.at("jobs")).at("phase") == "Pending");
    auto const condition =
        json{{"type", "Unschedulable"}, {"status", "True"}, {"reason", "NotEnoughResources"}, {"message", waits}};
    CHECK(group.at("conditions") == json::array({condition}));
    CHECK(story(got) == std::vector<std::string>{std::string{no_pods}, std::string{both_wait}});
    for (auto const& [name, p] : got.at("pods").items()) {
        CHECK(p.at("status") == "Pending");
        CHECK(p.at("cards").empty());
    }
    auto const& first = got.at("pods").at("default/" + pod + "-vgpu-worker-0");
    CHECK(first.at("reason") == "Schedulable");
    CHECK(got.at("pods").at("default/" + pod + "-vgpu-worker-1").at("reason") == "Unschedulable");
}

} // namespace

TEST_CASE("article: each experiment prints what its text says") {
    struct row {
        char const* name;
        std::vector<std::string> files;
        char const* arguments;
    };
    for (row const& c :
         {row{"1-pod", {"1-pod"}, ""}, row{"1-pod-wide", {"1-pod"}, "-o wide"}, row{"2-gang", {"2-gang"}, ""},
          row{"3-gang-waits", {"3-gang-waits"}, ""}, row{"4-small", {"4-queue", "4-small"}, ""},
          row{"4-too-large", {"4-queue", "4-too-large"}, ""}, row{"5-dialects", {"5-dialects"}, ""}}) {
        CAPTURE(c.name);
        auto const done = experiment(c.files, c.arguments);
        CHECK(done.status == 0);
        CHECK(done.err == "");
        CHECK(done.out == expected(c.name));
    }
}

TEST_CASE("article 1: a pod with a share runs, and its container gets the limits") {
    auto const got = answer({"1-pod"});
    auto const& pod = got.at("pods").at("default/vgpu-pod");
    CHECK(got.at("binds") == json{{"default/vgpu-pod", "gpu-node"}});
    CHECK(pod.at("status") == "Running");
    CHECK(pod.at("node") == "gpu-node");
    CHECK(pod.at("cards") == json::array({{{"container", "cuda"}, {"uuid", card}, {"memory", 2000}, {"cores", 30}}}));
    auto const& env = pod.at("env").at("cuda");
    CHECK(env.at("CUDA_DEVICE_MEMORY_LIMIT_0") == "2000m");
    CHECK(env.at("CUDA_DEVICE_SM_LIMIT") == "30");
    CHECK(env.at("NVIDIA_VISIBLE_DEVICES") == card);
    CHECK(tool::has(env.at("CUDA_DEVICE_MEMORY_SHARED_CACHE").get<std::string>(), ".cache"));
    CHECK(pod.at("annotations").at("volcano.sh/vgpu-ids-new") ==
          "GPU-0f7c1a52-5e3b-1c7a-9d10-2b6f3a9c4d01,NVIDIA,2000,30:");
}

TEST_CASE("article 2: a gang that fits shares one card") {
    auto const got = answer({"2-gang"});
    auto const& group = only(got.at("podgroups"));
    CHECK(group.at("phase") == "Running");
    CHECK(group.at("minMember") == 2);
    CHECK(group.at("running") == 2);
    auto const& job = got.at("jobs").at("default/vcjob-vgpu-gang");
    CHECK(job.at("phase") == "Running");
    CHECK(job.at("minAvailable") == 2);
    CHECK(job.at("running") == 2);
    for (auto const* name : {"default/vcjob-vgpu-gang-vgpu-worker-0", "default/vcjob-vgpu-gang-vgpu-worker-1"})
        CHECK(only(got.at("pods").at(name).at("cards")).at("uuid") == card);
    auto const used = json{{"slots", 2}, {"memory", 4000}, {"cores", 60}};
    CHECK(only(got.at("nodes").at("gpu-node").at("cards")).at("used") == used);
    CHECK(story(got).front() == no_pods);
    CHECK(got.at("cycles") == 4); // enqueued, placed, running, settled
}

TEST_CASE("article 3: a gang of which one fits waits as a whole") {
    check_waits(answer({"3-gang-waits"}), "vcjob-vgpu-gang-large");
}

TEST_CASE("article 4: a queue's capability lets the small gang in and keeps the large one waiting") {
    auto const small = answer({"4-queue", "4-small"});
    CHECK(only(small.at("podgroups")).at("phase") == "Running");
    CHECK(small.at("binds").size() == 2);

    auto const large = answer({"4-queue", "4-too-large"});
    check_waits(large, "vcjob-too-large");
    auto const why = only(only(large.at("podgroups")).at("why")).get<std::string>();
    CHECK(why == "pod vcjob-too-large-vgpu-worker-1: queue gpu-small-queue would pass its limit of "
                 "volcano.sh/vgpu-memory: 6000 asked in all, 3000 held, 4000 allowed");
}

TEST_CASE("article 5: mixed dialects are told") {
    auto const got = answer({"5-dialects"});
    std::vector<std::string> objects;
    for (auto const& w : got.at("warnings")) {
        objects.push_back(w.at("object"));
        CHECK(w.at("file") == "5-dialects.yaml");
        CHECK(w.at("line") > 1);
    }
    CHECK(objects ==
          std::vector<std::string>{"Node two-plugins", "Pod default/mixes-dialects", "Pod default/speaks-hami"});
    CHECK(tool::has(got["warnings"][0].at("message").get<std::string>(),
                    "offers both nvidia.com/gpu and volcano.sh/vgpu-number"));
    CHECK(tool::has(got["warnings"][1].at("message").get<std::string>(),
                    "asks for nvidia.com/gpu and volcano.sh/vgpu-memory"));
    CHECK(tool::has(got["warnings"][2].at("message").get<std::string>(), "schedulerName is volcano"));
}

TEST_CASE("article: the events come in the order of the cycles") {
    for (auto const& files : std::vector<std::vector<std::string>>{{"2-gang"}, {"3-gang-waits"}, {"5-dialects"}}) {
        std::size_t last = 1;
        auto const answered = answer(files);
        for (auto const& e : answered.at("events")) {
            CHECK(e.at("cycle") >= last);
            last = e.at("cycle");
        }
    }
}
