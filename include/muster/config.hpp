#pragma once

/// \file
/// The only header that defines macros, and what the library asks of the compiler.

#include <cassert>

#if !defined(__cpp_concepts) || __cplusplus < 202002L
#error "muster needs C++20: g++ 12, clang 14 or later, with -std=c++20"
#endif

// Scores must come out the same everywhere; -ffast-math reorders sums and drops NaN.
#if defined(__FAST_MATH__)
#error "muster: compile without -ffast-math, or equal inputs may give different placements"
#endif

/// Checks a precondition; a broken one is a fault of the caller, not bad input.
#ifndef MUSTER_ASSERT
#define MUSTER_ASSERT(condition) assert(condition)
#endif
