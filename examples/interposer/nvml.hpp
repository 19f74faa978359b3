#pragma once

namespace muster::interposer {

/// Our function in place of one of NVML's, or nothing.
[[nodiscard]] void* nvml_wrapper_of(char const* name) noexcept;

} // namespace muster::interposer
