#pragma once

/// \file
/// A share of a card's time: when the next piece of work may start, so that all of them keep within it.

#include <algorithm>
#include <cstdint>

#include <muster/account/ledger_layout.hpp>
#include <muster/resource/units.hpp>

namespace muster::account {

/// A moment or a span of a clock that never goes back, in nanoseconds. The clock is the caller's.
using nanoseconds = std::uint64_t;

/// Holds all who share a word to a part of the time.
///
/// Work that took `busy` of the card pays for `busy` divided by the share, from when it started; nothing starts before
/// what was done is paid for. Up to `burst` of time in which nothing was asked for may be made up for later, no more.
/// Shape: the word lies in shared memory and holds the moment up to which all is paid for; zero: nothing was done yet.
/// Cost:  a load to ask, a compare-and-swap to pay.
/// Source: the generic cell rate algorithm (ITU-T I.371); spec/driver-boundary.md E3.
class pace {
public:
    constexpr explicit pace(percent share, nanoseconds burst = 4'000'000) noexcept
        : share_(std::clamp(share, percent{1}, percent{100})), burst_(burst) {}

    /// Whether it holds anybody back at all.
    [[nodiscard]] constexpr bool limits() const noexcept { return share_ < percent{100}; }

    /// When the next piece of work may start; in the past: at once.
    [[nodiscard]] nanoseconds ready_at(detail::word const& paid_until) const noexcept { return paid_until.load(); }

    /// The same, by a clock that may have begun anew since: a debt larger than that of work of `most` is none.
    [[nodiscard]] nanoseconds ready_at(detail::word& paid_until, nanoseconds now, nanoseconds most) const noexcept {
        auto seen = paid_until.load();
        while (seen > now && seen - now > price_of(most))
            if (paid_until.compare_exchange_weak(seen, now)) return now;
        return seen;
    }

    /// Pays for work that started at `start` and took `busy`.
    void pay(detail::word& paid_until, nanoseconds start, nanoseconds busy) const noexcept {
        auto const price = price_of(busy);
        auto const earliest = start > burst_ ? start - burst_ : 0;
        auto seen = paid_until.load();
        while (!paid_until.compare_exchange_weak(seen, std::max(seen, earliest) + price)) {
        }
    }

private:
    [[nodiscard]] nanoseconds price_of(nanoseconds busy) const noexcept {
        auto const share = static_cast<std::uint64_t>(share_.value);
        return busy / share * 100 + busy % share * 100 / share;
    }

    percent share_;
    nanoseconds burst_;
};

} // namespace muster::account
