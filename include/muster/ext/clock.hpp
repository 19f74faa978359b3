#pragma once

/// \file
/// The clock that never goes back, in account's nanoseconds.

#include <time.h>

#include <atomic>
#include <cerrno>

#include <muster/account/pace.hpp>
#include <muster/ext/uncancelled.hpp>

namespace muster::ext {

[[nodiscard]] inline account::nanoseconds now() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<account::nanoseconds>(t.tv_sec) * 1'000'000'000 + static_cast<account::nanoseconds>(t.tv_nsec);
}

/// Sleeps until a moment, whatever signals come, and whoever would have the thread end.
inline void sleep_until(account::nanoseconds moment) noexcept {
    uncancelled const meanwhile;
    timespec const t{static_cast<time_t>(moment / 1'000'000'000), static_cast<long>(moment % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
    }
}

/// Whether a moment is there; then the next one is so many milliseconds later. Of several that ask at once, one is
/// told.
[[nodiscard]] inline bool is_due(std::atomic<account::nanoseconds>& moment, account::nanoseconds ms) noexcept {
    auto const t = now();
    auto set = moment.load(std::memory_order_relaxed);
    return t >= set && moment.compare_exchange_strong(set, t + ms * 1'000'000);
}

} // namespace muster::ext
