#pragma once

/// \file
/// A table that is made when it is first asked for, by whoever comes first.

#include <atomic>

namespace muster::ext {

/// What `slot` holds; made by `fill(T&)` if there is nothing yet, and never destroyed.
///
/// Several threads may make one at a time, of which one stays: no lock is held meanwhile, so that `fill` may wait for
/// others who come here.
template <class T, class Fill>
[[nodiscard]] T const& published(std::atomic<T const*>& slot, Fill fill) {
    if (auto const* const there = slot.load(std::memory_order_acquire); there != nullptr) return *there;
    auto* const made = new T;
    fill(*made);
    T const* first = nullptr;
    if (slot.compare_exchange_strong(first, made)) return *made;
    delete made;
    return *first;
}

} // namespace muster::ext
