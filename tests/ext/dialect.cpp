#include <muster/ext/dialect.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/ext/read.hpp>

#include "support/objects.hpp"

namespace ext = muster::ext;

namespace {

/// The warnings about a pod that has such limits.
std::vector<std::string> told(std::string const& limits, std::string const& scheduler) {
    auto const read = ext::read_text(objects::pod("p", "", "limits: {" + limits + "}"), "f");
    std::vector<ext::warning> warnings;
    ext::check_dialect(ext::field{read.at(0)}["spec"], scheduler, warnings);
    std::vector<std::string> texts;
    for (auto const& w : warnings) texts.push_back(w.message);
    return texts;
}

} // namespace

TEST_CASE("dialect: a pod that speaks two dialects, or one that its scheduler does not, is told") {
    struct row {
        char const* limits;
        char const* scheduler;
        char const* says; ///< how the warning begins; empty for none
    };
    for (row const& c : {
             row{"volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 1", "volcano", ""},
             row{"nvidia.com/gpu: 1", "volcano", ""}, // whole cards are fine
             row{"nvidia.com/gpu: 1, volcano.sh/vgpu-memory: 1", "volcano",
                 "spec: asks for nvidia.com/gpu and volcano.sh/vgpu-memory; "},
             row{"nvidia.com/gpumem: 1, volcano.sh/vgpu-number: 1", "hami-scheduler",
                 "spec: asks for nvidia.com/gpumem and volcano.sh/vgpu-number; "},
             row{"nvidia.com/mig-1g.10gb: 1, volcano.sh/vgpu-number: 1", "volcano",
                 "spec: asks for nvidia.com/mig-1g.10gb and volcano.sh/vgpu-number; "},
             row{"nvidia.com/gpu: 1, nvidia.com/gpumem: 1", "volcano",
                 "spec: asks for nvidia.com/gpumem, which HAMi's"},
             row{"nvidia.com/gpucores: 1", "volcano", "spec: asks for nvidia.com/gpucores, which HAMi's"},
             row{"nvidia.com/gpu: 1, nvidia.com/gpumem: 1", "hami-scheduler", ""},
         }) {
        CAPTURE(c.limits);
        auto const texts = told(c.limits, c.scheduler);
        REQUIRE(texts.size() == (std::string{c.says}.empty() ? 0 : 1));
        if (!texts.empty()) CHECK(texts[0].starts_with(c.says));
    }
}

TEST_CASE("dialect: a node with both device plugins is flagged") {
    auto const warnings_of = [](std::string const& offered) {
        auto const read = ext::read_text(
            "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {" + offered + "}}\n", "f");
        std::vector<ext::warning> warnings;
        ext::check_dialect(read.at(0), warnings);
        return warnings.size();
    };
    CHECK(warnings_of("nvidia.com/gpu: 1, volcano.sh/vgpu-number: 10") == 1);
    CHECK(warnings_of("nvidia.com/gpu: 1") == 0);
    CHECK(warnings_of("volcano.sh/vgpu-number: 10") == 0);
}
