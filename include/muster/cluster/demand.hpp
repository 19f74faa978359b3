#pragma once

/// \file
/// What all rows of a kind ask for together, so that sums over a cluster stay inside 64 bits.

#include <cstdint>

#include <muster/core/column.hpp>
#include <muster/core/result.hpp>
#include <muster/resource/amounts.hpp>

namespace muster::detail {

/// What all rows of a kind ask for together, kept so far below 64 bits that no sum of a session can leave them.
class demand {
public:
    static constexpr std::int64_t limit = std::int64_t{1} << 61;

    /// Counts `fresh` in place of `old`, or changes nothing. Errors: `overflow`.
    [[nodiscard]] result<void> replace(amounts const& old, amounts const& fresh) {
        for (auto const& [d, amount] : fresh) {
            if (sums_.size() <= d.index()) sums_.resize(d.index() + 1);
            if (amount > limit - (sums_[d.index()] - old[d])) return fail(errc::overflow);
        }
        for (auto const& [d, amount] : old) sums_[d.index()] -= amount;
        for (auto const& [d, amount] : fresh) sums_[d.index()] += amount;
        return {};
    }

private:
    column<std::int64_t> sums_; ///< by dimension
};

} // namespace muster::detail
