#include <muster/ext/time.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/law.hpp"

namespace ext = muster::ext;

static_assert(ext::parse_time("1970-01-01T00:00:01Z") == 1);

TEST_CASE("time: what is written is read back, to the second") {
    CHECK(test::holds([] {
        auto const seconds = *rc::gen::inRange<std::int64_t>(-62135596800, 253402300800); // the years 1 to 9999
        auto const text = ext::print_time(seconds);
        RC_ASSERT(text.size() == 20U);
        RC_ASSERT(ext::parse_time(text) == seconds);
    }));
}

TEST_CASE("time: fractions are dropped, offsets counted") {
    struct row {
        char const* text;
        std::int64_t seconds;
    };
    for (row const& c : {row{"2000-01-01T00:00:00Z", 946684800}, row{"2024-02-29T12:34:56Z", 1709210096},
                         row{"2024-02-29T12:34:56.999999Z", 1709210096}, row{"2024-02-29t12:34:56z", 1709210096},
                         row{"2024-02-29T14:34:56+02:00", 1709210096}, row{"2024-02-29T05:04:56-07:30", 1709210096},
                         row{"1969-12-31T23:59:59Z", -1}}) {
        CAPTURE(std::string{c.text});
        CHECK(ext::parse_time(c.text) == c.seconds);
    }
}

TEST_CASE("time: other text is none") {
    for (std::string const text :
         {"", "yesterday", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-13-01T00:00:00Z",
          "2024-00-01T00:00:00Z", "2024-01-32T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
          "2024-01-01T00:00:00X", "2024-01-01T00:00:00+1:00", "2024-01-01T00:00:00+ab:cd", "20x4-01-01T00:00:00Z",
          "2024-01-01T00:00:00Z trailing", "-024-01-01T00:00:00Z", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z",
          "2024-12-32T00:00:00Z"}) {
        CAPTURE(text);
        CHECK(ext::parse_time(text) == std::nullopt);
    }
    CHECK(test::holds([](std::string const& text) { (void)ext::parse_time(text); }));
}

TEST_CASE("time: a derived uid is the same each time, in the usual form, and differs by every part of the name") {
    CHECK(ext::derived_uid("Pod", "default", "p") == ext::derived_uid("Pod", "default", "p"));
    std::set<std::string> const all{ext::derived_uid("Pod", "default", "p"), ext::derived_uid("Job", "default", "p"),
                                    ext::derived_uid("Pod", "team", "p"),    ext::derived_uid("Pod", "default", "q"),
                                    ext::derived_uid("Pod", "defaultp", ""), ext::derived_uid("Pod", "", "defaultp")};
    CHECK(all.size() == 6);
    for (auto const& uid : all) {
        CHECK(uid.size() == 36);
        CHECK(uid[14] == '5');
        CHECK(uid.find_first_not_of("0123456789abcdef-") == std::string::npos);
    }
    CHECK(ext::derived_uid("Job", "default", "vcjob-vgpu-gang") ==
          "110b0ce5-b95a-5540-8acb-c8f10f7598dd"); // a contract
}
