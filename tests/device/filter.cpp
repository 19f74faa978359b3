#include <muster/device/filter.hpp>

#include <doctest/doctest.h>

using muster::card_filter;
using muster::device::accepts_type;
using muster::device::accepts_uuid;

static_assert(muster::device::any_item_in("V100,A100", "NVIDIA-A100"));
static_assert(!muster::device::any_item_in("V100, A100", "NVIDIA-A100"), "items are not trimmed");
static_assert(muster::device::any_item_in("", "NVIDIA-A100"), "an empty item is part of everything");

// Rows V and X: volcano at ed72c7c8 (spec/device-fitting.md 7.1, 7.2).
TEST_CASE("filter: types, by parts of their names (V7 to V9, X13)") {
    struct row {
        std::optional<std::string> use, avoid;
        char const* type;
        bool accepted;
    };
    for (row const& r : {
             row{{}, {}, "NVIDIA-A100", true}, row{{}, {}, "AMD-MI300", false}, row{{}, {}, "nvidia-A100", false},
             row{"nvidia", {}, "NVIDIA", true},                                          // V7
             row{"AMD,NVIDIA,INTEL", {}, "NVIDIA", true},                                // V7
             row{"AMD,INTEL,MLU", {}, "NVIDIA", false},                                  // V8
             row{{}, "nvidia", "NVIDIA", false},                                         // V9
             row{{}, "AMD,NVIDIA,INTEL", "NVIDIA", false},                               // V9
             row{{}, "AMD,INTEL,MLU", "NVIDIA", true},                                   // V9
             row{"V100,", {}, "NVIDIA-A100", true},                                      // X13
             row{"V100, A100", {}, "NVIDIA-A100", false},                                // X13
             row{{}, "", "NVIDIA-A100", false},                                          // X13
             row{"", {}, "NVIDIA-A100", true}, row{"A100", "A100", "NVIDIA-A100", true}, // use hides avoid
         }) {
        CAPTURE(r.type);
        CHECK(accepts_type(card_filter{.use_type = r.use, .avoid_type = r.avoid}, r.type) == r.accepted);
    }
}

TEST_CASE("filter: uuids, whole (V10 to V13)") {
    struct row {
        std::vector<std::string> use, avoid;
        char const* uuid;
        bool accepted;
    };
    for (row const& r : {
             row{{}, {}, "GPU-1", true},
             row{{}, {}, "", true}, // V10: lists without items
             row{{"GPU-10"}, {}, "GPU-1", false},
             row{{"GPU-1"}, {}, "GPU-1", true}, // V11
             row{{"GPU-0"}, {}, "", false},
             row{{}, {"GPU-0"}, "", false},             // V12
             row{{"GPU-1"}, {"GPU-1"}, "GPU-1", false}, // V13
             row{{}, {"GPU-1"}, "GPU-2", true},
         }) {
        CAPTURE(r.uuid);
        CHECK(accepts_uuid(card_filter{.use_uuid = r.use, .avoid_uuid = r.avoid}, r.uuid) == r.accepted);
    }
}
