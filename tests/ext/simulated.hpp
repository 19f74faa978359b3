#pragma once

/// \file
/// Objects of a text, run through cycles.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/ext/conf.hpp>
#include <muster/ext/read.hpp>
#include <muster/ext/registry.hpp>
#include <muster/ext/simulation.hpp>

namespace simulated {

namespace ext = muster::ext;

/// A simulation with its warnings.
struct run {
    std::vector<ext::warning> warnings{};
    ext::simulation simulation;

    /// With the default configuration; without a number of cycles until nothing changes.
    explicit run(std::string objects, std::optional<std::size_t> cycles = std::nullopt)
        : simulation{ext::world{ext::read_text(std::move(objects), "f"), warnings},
                     ext::cycles_of(ext::make_scheduler(ext::parse_conf(std::string{ext::default_conf}),
                                                        {"default", "", 1, true}, warnings)),
                     {cycles, std::nullopt},
                     warnings} {
        simulation.run();
    }

    [[nodiscard]] ext::simulation const* operator->() const noexcept { return &simulation; }
    [[nodiscard]] nlohmann::json const& pod(std::string const& key) const {
        return simulation.world().of("Pod").at(key).value;
    }
};

} // namespace simulated
