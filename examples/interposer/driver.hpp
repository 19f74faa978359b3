#pragma once

// The driver's own functions, looked up at run time: an old driver lacks some, and nothing here must stop it loading.

// With this cuda.h declares every version of every entry point, and those for streams that are per thread, by the names
// that the driver exports; so each file here comes to cuda.h by way of this one.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): cuda.h's names
#define __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL_ODR
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
#include <cuda.h>

#include <atomic>
#include <span>

#include "entries.hpp"

namespace muster::interposer {

/// A slot for the driver's own function each; null: it lacks that.
struct real_driver {
#define MUSTER_SLOT(name, ...) decltype(&::name) name = nullptr;
    MUSTER_ENTRIES(MUSTER_SLOT)
    MUSTER_HELPERS(MUSTER_SLOT)
#undef MUSTER_SLOT
};

inline std::atomic<real_driver const*> the_driver{nullptr};
[[nodiscard]] real_driver const& look_up_driver() noexcept;

/// The driver's functions. Looked up on the first call.
[[nodiscard]] inline real_driver const& real() noexcept {
    auto const* const found = the_driver.load(std::memory_order_acquire);
    return found != nullptr ? *found : look_up_driver();
}

/// Calls one of them, if the driver has it.
template <class F, class... Arguments>
bool ask(F* f, Arguments... arguments) noexcept {
    return f != nullptr && f(arguments...) == CUDA_SUCCESS;
}

/// One row, as the roads to the driver see it.
struct row {
    char const* name; ///< as the driver exports it
    void* wrapper;
    void* (*real)(); ///< null: the driver lacks it
};

[[nodiscard]] std::span<row const> rows() noexcept;

/// A symbol as the dynamic linker finds it, by the linker's own function rather than ours.
[[nodiscard]] void* find(void* handle, char const* name) noexcept;

} // namespace muster::interposer
