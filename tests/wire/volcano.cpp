#include <muster/wire/volcano.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace volcano = muster::wire::volcano;
using muster::errc;
using muster::error;
using muster::sharing;
using volcano::decode_pod;
using volcano::decode_register;
using volcano::registered_card;
using volcano::share;

namespace {

constexpr std::string_view uuid_a = "GPU-11111111-aaaa-bbbb-cccc-000000000000";
constexpr std::string_view uuid_b = "GPU-22222222-aaaa-bbbb-cccc-000000000000";
constexpr std::string_view two_cards =
    "GPU-11111111-aaaa-bbbb-cccc-000000000000,10,40536,NVIDIA-NVIDIA A100-PCIE-40GB,true,hami-core:"
    "GPU-22222222-aaaa-bbbb-cccc-000000000000,10,40536,NVIDIA-NVIDIA A100-PCIE-40GB,true,hami-core:";

/// A card or share name as `make` may hold it: no separators.
rc::Gen<std::string> any_name() {
    return rc::gen::container<std::string>(rc::gen::elementOf(std::string{"GPU-abc019[] .\xc3\xa9"}));
}

/// Text made of the formats' own letters and numbers, so that much of it nearly decodes.
rc::Gen<std::string> any_text() {
    auto const word = rc::gen::element<std::string>(",", ",", ",", ":", ":", ";", "GPU-a", "NVIDIA", "10", "-1", "+7",
                                                    "99999999999999999999", "true", "mig", "x", " ", "2147483648");
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(word), [](std::vector<std::string> const& words) {
        std::string text;
        for (auto const& w : words) text += w;
        return text;
    });
}

} // namespace

TEST_CASE("volcano: a registration of two cards reads and writes back") {
    auto const cards = decode_register(two_cards);
    REQUIRE(cards);
    REQUIRE(cards->size() == 2);
    CHECK((*cards)[0] ==
          registered_card{0, uuid_a, 10, 40536, "NVIDIA-NVIDIA A100-PCIE-40GB", true, sharing::slices, {}});
    CHECK((*cards)[1].index == 1);
    CHECK((*cards)[1].uuid == uuid_b);
    CHECK(volcano::encode_register(*cards) == two_cards);
}

TEST_CASE("volcano: a registration without usable fields is refused as a whole") {
    struct row {
        std::string_view text;
        error why;
    };
    for (row const& c : {
             row{"", {errc::empty, 0}},
             row{"abc", {errc::missing_field, 3}},
             row{"GPU-a,10,1,T,true,mig", {errc::missing_field, 21}},
             row{"GPU-a,10,32000,NVIDIA-A,true:", {errc::missing_field, 28}},
             row{",,,,:", {errc::missing_field, 4}},
             row{"GPU-a,1,2,NVIDIA:A100,true,x:", {errc::missing_field, 16}},
             row{"GPU-a,1,2,T,true,x:GPU-b,1", {errc::missing_field, 26}},
         }) {
        CAPTURE(c.text);
        auto const cards = decode_register(c.text);
        REQUIRE_FALSE(cards);
        CHECK(cards.error() == c.why);
    }
}

TEST_CASE("volcano: segments without a comma hold no card but count") {
    struct row {
        std::string_view text;
        std::vector<std::size_t> indices;
    };
    for (row const& c :
         {row{":", {}}, row{"x:", {}}, row{":GPU-a,1,2,T,true,x:", {1}}, row{"GPU-a,1,2,T,true,x:garbage:", {0}},
          row{"GPU-a,1,2,T,true,x::GPU-b,1,2,T,true,x", {0, 2}}}) {
        CAPTURE(c.text);
        auto const cards = decode_register(c.text);
        REQUIRE(cards);
        std::vector<std::size_t> indices;
        for (auto const& card : *cards) indices.push_back(card.index);
        CHECK(indices == c.indices);
        auto const text = volcano::encode_register(*cards);
        if (!cards->empty()) CHECK(*decode_register(text) == *cards);
    }
}

TEST_CASE("volcano: a card whose numbers can't be read stays, and takes nothing") {
    struct row {
        std::string_view text;
        std::optional<error> fault;
    };
    for (row const& c : {
             row{"GPU-a,x,-5,T,yes,mig:", error{errc::bad_field, 6}},
             row{"GPU-a,-1,5,T,false,mig:", error{errc::negative, 6}},
             row{"GPU-a,1,-1,T,false,mig:", error{errc::negative, 8}},
             row{"GPU-a,1.5,1e3,T,1,x:", error{errc::bad_field, 6}},
             row{"GPU-a,1,,T,1,x:", error{errc::bad_field, 8}},
             row{"GPU-a,1,+,T,1,x:", error{errc::bad_field, 9}},
             row{"GPU-a, 1,2,T,1,x:", error{errc::bad_field, 6}},
             row{"GPU-a,1,99999999999999999999,T,TRUE,x:", error{errc::out_of_range, 8}},
             row{"GPU-a,1,1099511627777,T,TRUE,x:", error{errc::out_of_range, 8}},
             row{"GPU;a,1,2,T,true,x:", error{errc::bad_field, 3}},
             row{"x:,1,2,T,true,x:", error{errc::empty, 2}},
             row{",,,,,:", error{errc::empty, 0}},
             row{"GPU-a,+10,007,T,true,x,9:", std::nullopt},
             row{"GPU-a,2147483648,4294967296,T,t,x:", std::nullopt},
         }) {
        CAPTURE(c.text);
        auto const cards = decode_register(c.text);
        REQUIRE(cards);
        REQUIRE(cards->size() == 1);
        auto const& card = cards->front();
        CHECK((card.fault == c.fault));
        if (c.fault)
            CHECK(card.slots + card.memory == 0);
        else
            CHECK(card.slots > 0);
    }
}

TEST_CASE("volcano: health is a word of Go's, and the last card decides the mode") {
    auto const healthy = [](std::string const& word) {
        return decode_register("GPU-a,1,2,T," + word + ",mig:")->front().healthy;
    };
    for (auto const* word : {"1", "t", "T", "TRUE", "true", "True"}) CHECK(healthy(word));
    for (auto const* word : {"0", "f", "false", "yes", "tRUE", " true", ""}) CHECK_FALSE(healthy(word));

    auto const mode = [](std::string_view first, std::string_view last) {
        auto const text = std::string{"GPU-a,1,2,T,true,"}.append(first).append(":GPU-b,1,2,T,true,").append(last);
        return volcano::node_mode(*decode_register(text));
    };
    CHECK(mode("hami-core", "mig") == sharing::instances);
    CHECK(mode("mig", "hami-core") == sharing::slices);
    CHECK(mode("mig", "mps") == sharing::slices);
    CHECK(mode("mig", "MIG") == sharing::slices);
    CHECK(volcano::node_mode({}) == sharing::slices);
}

TEST_CASE("volcano: a pod's shares read and write back") {
    using shares = std::vector<std::vector<share>>;
    struct row {
        std::string_view text;
        shares containers;
        std::string_view canonical;
    };
    auto const a = share{"GPU-a", 1, 2};
    auto const b = share{"GPU-b", 3, 4};
    for (row const& c : {
             row{"", {}, ""},
             row{";", {{}, {}}, ";"},
             row{":;", {{}, {}}, ";"},
             row{"GPU-a,NVIDIA,1,2:", {{a}}, "GPU-a,NVIDIA,1,2:"},
             row{"GPU-a,NVIDIA,1,2", {{a}}, "GPU-a,NVIDIA,1,2:"},
             row{"GPU-a,NVIDIA,1,2:;GPU-b,NVIDIA,3,4:", {{a}, {b}}, "GPU-a,NVIDIA,1,2:;GPU-b,NVIDIA,3,4:"},
             row{"GPU-a,NVIDIA,1,2:GPU-b,NVIDIA,3,4:;;", {{a, b}, {}, {}}, "GPU-a,NVIDIA,1,2:GPU-b,NVIDIA,3,4:;;"},
             row{"junk:GPU-a,NVIDIA,1,2:junk", {{a}}, "GPU-a,NVIDIA,1,2:"},
             row{"GPU-a,NVIDIA,01,2:\n;x", {{a}, {}}, "GPU-a,NVIDIA,1,2:;"},
             row{"GPU-a,NVIDIA,1,2,extra,fields:", {{a}}, "GPU-a,NVIDIA,1,2:"},
             row{"GPU-a[group1-3],NVIDIA,4864,0:",
                 {{share{"GPU-a[group1-3]", 4864, 0}}},
                 "GPU-a[group1-3],NVIDIA,4864,0:"},
             row{"x,DCU,5,2147483647:", {{share{"x", 5, 2147483647, "DCU"}}}, "x,DCU,5,2147483647:"},
         }) {
        CAPTURE(c.text);
        auto const containers = decode_pod(c.text);
        REQUIRE(containers);
        CHECK((*containers == c.containers));
        CHECK(volcano::encode_pod(*containers) == c.canonical);
    }
}

TEST_CASE("volcano: a share that can't be read is an error at its place") {
    struct row {
        std::string_view text;
        error why;
    };
    for (row const& c : {
             row{"GPU-a,:", {errc::missing_field, 6}},
             row{"GPU-a,NVIDIA,1:", {errc::missing_field, 14}},
             row{"GPU-a;NVIDIA,1,2:", {errc::missing_field, 16}},
             row{",,,", {errc::bad_field, 2}},
             row{"GPU-a,NVIDIA,x,y:", {errc::bad_field, 13}},
             row{"GPU-a,NVIDIA,1,2:;GPU-b,NVIDIA,1,0|", {errc::bad_field, 33}},
             row{"GPU-a,NVIDIA,1_000,1:", {errc::bad_field, 13}},
             row{"GPU-a,NVIDIA,1,+7:", {errc::bad_field, 15}},
             row{"GPU-a,NVIDIA,-1,7:", {errc::negative, 13}},
             row{"GPU-a,NVIDIA,2147483647,2147483648:", {errc::out_of_range, 24}},
             row{"GPU-a,NVIDIA,99999999999999999999,1:", {errc::out_of_range, 13}},
         }) {
        CAPTURE(c.text);
        auto const containers = decode_pod(c.text);
        REQUIRE_FALSE(containers);
        CHECK(containers.error() == c.why);
    }
}

TEST_CASE("volcano: a container's environment is what the device plugin gives") {
    using variables = std::vector<volcano::variable>;
    std::vector const shares{share{uuid_a, 2000, 30}, share{uuid_b, 0, 60}, share{uuid_a, 1000, 0}};
    CHECK((*volcano::environment(shares, "0") ==
           variables{{"CUDA_DEVICE_MEMORY_LIMIT_0", "2000m"},
                     {"CUDA_DEVICE_MEMORY_LIMIT_1", "0m"},
                     {"CUDA_DEVICE_MEMORY_LIMIT_2", "1000m"},
                     {"CUDA_DEVICE_SM_LIMIT", "30"},
                     {"CUDA_DEVICE_MEMORY_SHARED_CACHE", "/tmp/vgpu/0.cache"},
                     {"NVIDIA_VISIBLE_DEVICES", std::string{uuid_a}.append(",").append(uuid_b)},
                     {"NVIDIA_GDRCOPY", "enabled"},
                     {"NVIDIA_GDS", "enabled"},
                     {"NVIDIA_MOFED", "enabled"}}));

    std::vector const large{share{uuid_a, 4'000'000, 0}};
    auto const scaled = *volcano::environment(large, "0", {.memory_factor = 1024, .oversubscribe = true});
    CHECK(scaled[0].second == "4096000000m"); // the plugin's 32 bits wrap here
    CHECK(scaled[1] == volcano::variable{"CUDA_DEVICE_SM_LIMIT", "0"});
    CHECK(scaled[3] == volcano::variable{"CUDA_OVERSUBSCRIBE", "true"});

    auto const instances = *volcano::environment(large, "0", {.mode = sharing::instances});
    CHECK(instances.front() == volcano::variable{"NVIDIA_VISIBLE_DEVICES", uuid_a});
    CHECK(volcano::environment({}, "0")->empty());

    std::vector const shares_past{share{uuid_a, 0, 0}, share{uuid_b, 2, 0}};
    auto const past = volcano::environment(shares_past, "0", {.memory_factor = std::int64_t{1} << 62});
    CHECK(past.error() == error{errc::overflow, 1});
}

TEST_CASE("volcano: a container's mounts are what the device plugin gives") {
    using list = std::vector<volcano::mount>;
    list const controlled{{"/usr/local/vgpu/libvgpu.so", "/usr/local/vgpu/libvgpu.so", true},
                          {"/tmp/vgpu", "/usr/local/vgpu/vgpu/containers/uid-default-gpu-pod1_cuda", false},
                          {"/tmp/vgpulock", "/tmp/vgpulock", false},
                          {"/etc/ld.so.preload", "/usr/local/vgpu/ld.so.preload", true}};
    CHECK((volcano::mounts("uid-default-gpu-pod1", "cuda", false) == controlled));
    CHECK((volcano::mounts("uid-default-gpu-pod1", "cuda", true) == list(controlled.begin(), controlled.end() - 1)));
    CHECK(volcano::mounts("u", "c", false, {.host_path = "/opt"})[1].host == "/opt/vgpu/containers/u_c");
    CHECK(volcano::mounts("u", "c", false, {.mode = sharing::instances}).empty());
}

TEST_CASE("volcano: what is written reads back") {
    CHECK(rc::check("decode_register(encode_register(cards)) == cards", [] {
        std::vector<std::string> names; // cards borrow from it
        auto const count = *rc::gen::inRange<std::size_t>(1, 5);
        for (std::size_t i = 0; i != count; ++i) {
            names.push_back("GPU-" + *any_name());
            names.push_back(*any_name());
        }
        std::vector<registered_card> cards;
        std::size_t index = 0;
        for (std::size_t i = 0; i != count; ++i) {
            index += *rc::gen::inRange<std::size_t>(0, 3);
            cards.push_back({.index = index++,
                             .uuid = names[2 * i],
                             .slots = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40),
                             .memory = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40),
                             .type = names[2 * i + 1],
                             .healthy = *rc::gen::arbitrary<bool>(),
                             .mode = *rc::gen::element(sharing::slices, sharing::instances),
                             .fault = {}});
        }
        auto const text = volcano::encode_register(cards);
        auto const back = decode_register(text);
        RC_ASSERT(back.has_value());
        RC_ASSERT((*back == cards));
    }));
    CHECK(rc::check("decode_pod(encode_pod(containers)) == containers", [] {
        auto const name = *any_name();
        std::vector<std::vector<share>> containers(*rc::gen::inRange<std::size_t>(0, 5));
        for (auto& shares : containers)
            for (auto n = *rc::gen::inRange(0, 3); n != 0; --n)
                shares.push_back({.uuid = name,
                                  .memory = *rc::gen::inRange<std::int64_t>(0, volcano::share_limit),
                                  .cores = *rc::gen::inRange<std::int64_t>(0, volcano::share_limit)});
        RC_PRE(!(containers.size() == 1 && containers.front().empty())); // reads as no container
        auto const text = volcano::encode_pod(containers);
        auto const back = decode_pod(text);
        RC_ASSERT(back.has_value());
        RC_ASSERT((*back == containers));
    }));
}

TEST_CASE("volcano: no text and no prefix of a good one crashes, and offsets lie in it") {
    auto const probe = [](std::string_view text) {
        auto const cards = decode_register(text);
        if (!cards) CHECK(cards.error().at <= text.size());
        auto const shares = decode_pod(text);
        if (!shares) CHECK(shares.error().at <= text.size());
    };
    for (std::size_t n = 0; n <= two_cards.size(); ++n) probe(std::string{two_cards.substr(0, n)});
    std::string const pod = "GPU-a,NVIDIA,1,2:GPU-b,NVIDIA,1,2:;;GPU-c,NVIDIA,3,4:";
    for (std::size_t n = 0; n <= pod.size(); ++n) probe(pod.substr(0, n));

    CHECK(rc::check("text that nearly decodes", [] {
        auto const text = *any_text();
        if (auto const cards = decode_register(text)) {
            for (auto const& card : *cards) {
                RC_ASSERT(card.slots >= 0);
                RC_ASSERT(card.memory >= 0);
                if (card.fault) RC_ASSERT(card.fault->at <= text.size());
            }
        } else {
            RC_ASSERT(cards.error().at <= text.size());
        }
        if (auto const containers = decode_pod(text)) {
            auto const again = volcano::encode_pod(*containers);
            if (!again.empty()) RC_ASSERT((*decode_pod(again) == *containers));
        } else {
            RC_ASSERT(containers.error().at <= text.size());
        }
    }));
}
