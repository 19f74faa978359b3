#pragma once

// What NVML is asked, and what it is made to answer.

#include <optional>
#include <string>
#include <vector>

#include <muster/account/overhead.hpp>

namespace muster::interposer {

/// Who has a context on a card; nothing where NVML can't tell.
[[nodiscard]] std::optional<std::vector<account::card_process>> processes_on(std::string const& uuid);

[[nodiscard]] bool is_in_nvml(std::string const& uuid) noexcept;

/// A card's position among all that NVML shows.
[[nodiscard]] std::optional<unsigned int> position_in_nvml(std::string const& uuid) noexcept;

/// Our function in place of one of NVML's, or nothing.
[[nodiscard]] void* nvml_wrapper_of(char const* name) noexcept;

} // namespace muster::interposer
