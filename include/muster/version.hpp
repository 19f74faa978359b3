#pragma once

/// \file
/// The library's version; CMake reads these three numbers.

namespace muster {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

} // namespace muster
