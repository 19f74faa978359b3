#pragma once

/// \file
/// Doubles that come out the same on every compiler and with every flag.

namespace muster {

/// Rounds `x` to a double here and now.
///
/// An empty statement that the optimiser can't see through keeps it from fusing the product that made `x` with
/// a later sum, so scores do not depend on -ffp-contract. Add no product to a score without it.
[[nodiscard]] inline double rounded(double x) noexcept {
#if defined(__x86_64__)
    asm("" : "+x"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#else
    asm("" : "+m"(x));
#endif
    return x;
}

} // namespace muster
