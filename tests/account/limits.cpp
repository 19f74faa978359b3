#include <muster/account/limits.hpp>

#include <map>

#include <doctest/doctest.h>

#include <muster/account/card_uuid.hpp>
#include <rapidcheck.h>

#include <muster/wire/volcano.hpp>

#include "support/law.hpp"

using muster::bytes;
using muster::errc;
using muster::percent;
using muster::account::parse_core_limit;
using muster::account::parse_memory_limit;
using muster::account::throttling;

namespace {

using environment = std::map<std::string, std::string, std::less<>>;

muster::account::reading read(environment const& env) {
    return muster::account::read_limits([&](std::string const& name) -> std::optional<std::string_view> {
        auto const found = env.find(name);
        return found == env.end() ? std::nullopt : std::optional<std::string_view>{found->second};
    });
}

constexpr std::int64_t gib = std::int64_t{1} << 30;

} // namespace

TEST_CASE("limits: memory reads as it is written, in powers of 1024, decimal always") {
    struct row {
        char const* text;
        std::int64_t value;
    };
    for (row const& r : {row{"1g", gib},
                         row{"1024m", gib},
                         row{"1048576k", gib},
                         row{"1073741824", gib},
                         row{"4Gi", 4 * gib},
                         row{"4GB", 4 * gib},
                         row{"4GiB", 4 * gib},
                         row{"4 G", 4 * gib},
                         row{" 4g", 4 * gib},
                         row{"4 ", 4},
                         row{"7b", 7},
                         row{"1t", 1024 * gib},
                         row{"1.5g", gib + gib / 2},
                         row{"0.1k", 102}, // never more than was granted
                         row{"010m", 10 << 20},
                         row{"08g", 8 * gib},
                         row{"2000m", std::int64_t{2000} << 20},
                         row{"9223372036854775807", INT64_MAX},
                         row{"0.000000001g", 1},
                         row{"1.00000000000000000000000000001k", 1024}}) {
        CAPTURE(r.text);
        auto const read = parse_memory_limit(r.text);
        REQUIRE(read.has_value());
        REQUIRE(read->has_value());
        CHECK((*read)->value == r.value);
    }
}

TEST_CASE("limits: nothing and zero are no limit") {
    for (auto const* text : {"", " ", "0", "0m", "0.0g", "000"}) {
        CAPTURE(text);
        auto const read = parse_memory_limit(text);
        REQUIRE(read.has_value());
        CHECK(!read->has_value());
        CHECK(!parse_core_limit("0")->has_value());
    }
}

TEST_CASE("limits: malformed memory is an error that says where, and never lifts a limit") {
    struct row {
        char const* text;
        errc code;
        std::uint32_t at;
    };
    for (row const& r : {row{"abc", errc::bad_field, 0},
                         row{"-1", errc::bad_field, 0},
                         row{"-1m", errc::bad_field, 0},
                         row{" -1", errc::bad_field, 1},
                         row{"m", errc::bad_field, 0},
                         row{".5g", errc::bad_field, 0},
                         row{"1.g", errc::bad_field, 2},
                         row{"0x10m", errc::bad_suffix, 1},
                         row{"4x", errc::bad_suffix, 1},
                         row{"4 q", errc::bad_suffix, 2},
                         row{"4Gi\n", errc::trailing, 3},
                         row{"4g ", errc::trailing, 2},
                         row{"4gg", errc::trailing, 2},
                         row{"4bi", errc::trailing, 2},
                         row{"4i", errc::bad_suffix, 1},
                         row{"1e3", errc::bad_suffix, 1},
                         row{"99999999999g", errc::overflow, 0},
                         row{"9223372036854775808", errc::overflow, 0},
                         row{"99999999999999999999999999", errc::overflow, 0},
                         row{"0.0001", errc::underflow, 0},
                         row{"0.0000000000000000000000000000001t", errc::underflow, 0}}) {
        CAPTURE(r.text);
        auto const read = parse_memory_limit(r.text);
        REQUIRE(!read.has_value());
        CHECK(read.error().code == r.code);
        CHECK(read.error().at == r.at);
    }
}

TEST_CASE("limits: a share of time is digits, with a percent sign or not") {
    CHECK(*parse_core_limit("30") == percent{30});
    CHECK(*parse_core_limit(" 30 %") == percent{30});
    CHECK(*parse_core_limit("099%") == percent{99});
    CHECK(*parse_core_limit("300") == percent{300});
    CHECK(*parse_core_limit("99999999999999999999") == percent{1'000'000});
    for (auto const* text : {"thirty", "-3", "3.5", "30%%", "30 percent"}) {
        CAPTURE(text);
        CHECK(!parse_core_limit(text).has_value());
    }
}

TEST_CASE("limits: a card's own variables win over the common ones, unless they say nothing") {
    auto const got = read({{"CUDA_DEVICE_MEMORY_LIMIT", "2g"},
                           {"CUDA_DEVICE_MEMORY_LIMIT_1", "512m"},
                           {"CUDA_DEVICE_MEMORY_LIMIT_2", "0"},
                           {"CUDA_DEVICE_SM_LIMIT", "30"},
                           {"CUDA_DEVICE_SM_LIMIT_1", "100"},
                           {"CUDA_DEVICE_SM_LIMIT_2", ""}});
    CHECK(got.sound());
    CHECK(got.oddities.empty());
    CHECK(got.limits.cards[0] == muster::account::card_limit{bytes{2 * gib}, percent{30}});
    CHECK(got.limits.cards[1] == muster::account::card_limit{bytes{gib / 2}, percent{100}});
    CHECK(got.limits.cards[2] == got.limits.cards[0]);
    CHECK(got.limits.cards[15] == got.limits.cards[0]);
    CHECK(read({}).limits == muster::account::limits{});
}

TEST_CASE("limits: what is malformed is told, and leaves the common limit in force") {
    auto const got = read({{"CUDA_DEVICE_MEMORY_LIMIT", "2g"},
                           {"CUDA_DEVICE_MEMORY_LIMIT_0", "4 gigs"},
                           {"CUDA_DEVICE_SM_LIMIT", "250"},
                           {"GPU_CORE_UTILIZATION_POLICY", "sometimes"}});
    CHECK(!got.sound());
    CHECK(got.limits.cards[0] == muster::account::card_limit{bytes{2 * gib}, percent{100}});
    CHECK(got.oddities == std::vector<muster::account::oddity>{
                              {"CUDA_DEVICE_SM_LIMIT", "250", {errc::out_of_range, 0}, false},
                              {"CUDA_DEVICE_MEMORY_LIMIT_0", "4 gigs", {errc::trailing, 4}, true},
                              {"GPU_CORE_UTILIZATION_POLICY", "sometimes", {errc::unknown_name, 0}, false}});
}

TEST_CASE("limits: switches read as words, whatever their case") {
    struct row {
        char const* text;
        throttling policy;
    };
    for (row const& r : {row{"force", throttling::always}, row{"FORCE", throttling::always},
                         row{"Disable", throttling::never}, row{"default", throttling::by_default}}) {
        CAPTURE(r.text);
        CHECK(read({{"GPU_CORE_UTILIZATION_POLICY", r.text}}).limits.policy == r.policy);
    }
    CHECK(read({{"CUDA_OVERSUBSCRIBE", "true"}}).limits.oversubscribe);
    CHECK(!read({{"CUDA_OVERSUBSCRIBE", "0"}}).limits.oversubscribe);
    CHECK(read({{"CUDA_DISABLE_CONTROL", "TRUE"}}).limits.off);
    CHECK(read({{"CUDA_DEVICE_MEMORY_SHARED_CACHE", "/x/y"}}).limits.ledger == "/x/y");
}

TEST_CASE("limits: the device plugin's environment reads back as the shares that were granted") {
    CHECK(test::holds([] {
        std::vector<muster::wire::volcano::share> shares;
        for (int i = *rc::gen::inRange(1, 17); i != 0; --i)
            shares.push_back({"GPU-0", *rc::gen::inRange<std::int64_t>(1, 200'000), *rc::gen::inRange(0, 101)});
        environment env;
        auto const written = muster::wire::volcano::environment(shares, "id");
        for (auto const& [name, value] : *written) env[name] = value;
        auto const got = read(env);
        RC_ASSERT(got.oddities.empty());
        RC_ASSERT(got.limits.ledger == "/tmp/vgpu/id.cache");
        for (std::size_t i = 0; i != shares.size(); ++i) {
            RC_ASSERT(got.limits.cards[i].memory == to_bytes(muster::mib{shares[i].memory}));
            auto const cores = shares.front().cores;
            RC_ASSERT(got.limits.cards[i].cores == percent{cores == 0 ? 100 : cores});
        }
    }));
}

TEST_CASE("limits: no text crashes, and what reads is within its type") {
    CHECK(test::holds(
        [] {
            auto const text =
                *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0123459.kmgtibKMGTIB -+x%\n"}));
            auto const memory = parse_memory_limit(text);
            if (memory && *memory) RC_ASSERT(**memory > bytes{0});
            auto const cores = parse_core_limit(text);
            if (cores && *cores) RC_ASSERT(**cores > percent{0});
        },
        2000));
}

TEST_CASE("limits: CUDA_VISIBLE_DEVICES tells which card a device is, where it names cards by number") {
    using muster::account::visible_position;
    CHECK(visible_position("2,0,1", 0) == 2);
    CHECK(visible_position("2,0,1", 2) == 1);
    CHECK(visible_position("15", 0) == 15);
    for (auto const* const text : {"", "GPU-1234", "MIG-1", "16", "-1", "99999999999999999999", " 1", "1 ", ","})
        CHECK_FALSE(visible_position(text, 0));
    CHECK_FALSE(visible_position("2,0", 2));
    CHECK_FALSE(visible_position("2,,1", 1));
    CHECK(visible_position("2,GPU-1,1", 2) == 1);
}

TEST_CASE("card uuid: reads as NVML writes it") {
    std::array<std::byte, 16> id{};
    for (std::size_t i = 0; i != id.size(); ++i) id[i] = static_cast<std::byte>(i * 17);
    CHECK(muster::account::uuid_text(id) == "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE("limits: whether there is one, and whether time is held") {
    muster::account::limits l;
    CHECK_FALSE(l.any());
    CHECK_FALSE(l.paced());
    l.cards[3].memory = muster::bytes{5};
    CHECK(l.any());
    CHECK_FALSE(l.paced());
    l.cards[15].cores = muster::percent{99};
    CHECK(l.paced());
    l.policy = muster::account::throttling::never;
    CHECK_FALSE(l.paced());
}

TEST_CASE("limits: of two the lower counts, and none is no limit") {
    using muster::bytes;
    using muster::account::strictest;
    CHECK(strictest(bytes{0}, bytes{0}) == bytes{0});
    CHECK(strictest(bytes{0}, bytes{5}) == bytes{5});
    CHECK(strictest(bytes{5}, bytes{0}) == bytes{5});
    CHECK(strictest(bytes{5}, bytes{4}) == bytes{4});
    CHECK(strictest(bytes{4}, bytes{5}) == bytes{4});
}

TEST_CASE("limits: what a context takes is a hint, which lifts and denies nothing where it doesn't read") {
    auto const read = [](char const* text) {
        return muster::account::read_limits([text](std::string const& name) {
            return name == "MUSTER_CONTEXT_MEMORY" ? std::optional<std::string_view>{text} : std::nullopt;
        });
    };
    CHECK(read("500m").limits.context == muster::bytes{500 << 20});
    CHECK(read("").limits.context == muster::bytes{0});
    CHECK(read("much").limits.context == muster::bytes{0});
    CHECK(read("much").sound());
    CHECK(read("much").oddities.size() == 1);
}
