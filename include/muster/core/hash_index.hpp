#pragma once

/// \file
/// Rows of a table, found by a hash of what they hold; the index itself holds positions only.

#include <cstddef>
#include <cstdint>

#include <muster/core/column.hpp>

namespace muster {

/// A hash table of positions, by linear probing. Whoever asks knows where the rows are and when two are the same, so
/// that texts, shapes and keys are kept once and share this code.
///
/// Cost: amortised a probe or two; grows to twice as many slots as rows.
class hash_index {
public:
    static constexpr std::uint32_t nothing = 0xffff'ffff;

    /// The position of the row with this hash that is `same(position)`, or `nothing`.
    template <class Same>
    [[nodiscard]] std::uint32_t find(std::uint64_t hash, Same same) const {
        if (slots_.empty()) return nothing;
        auto const wanted = folded(hash);
        for (auto at = wanted & mask();; at = (at + 1) & mask()) {
            auto const& s = slots_[at];
            if (s.position == nothing || (s.hash == wanted && same(s.position))) return s.position;
        }
    }

    /// Forgets all rows; the room stays.
    void clear() noexcept {
        slots_.fill({});
        size_ = 0;
    }

    /// Adds a row that is not there yet.
    void insert(std::uint64_t hash, std::uint32_t position) {
        if (2 * ++size_ > slots_.size()) widen();
        put({folded(hash), position});
    }

private:
    struct slot {
        std::uint32_t hash = 0;
        std::uint32_t position = nothing;
    };

    [[nodiscard]] static std::uint32_t folded(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>(hash ^ (hash >> 32));
    }
    [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }

    void put(slot const& s) noexcept {
        std::size_t at = s.hash & mask();
        while (slots_[at].position != nothing) at = (at + 1) & mask();
        slots_[at] = s;
    }

    void widen() {
        auto const old = std::move(slots_);
        slots_ = column<slot>(old.empty() ? 16 : 2 * old.size());
        for (auto const& s : old)
            if (s.position != nothing) put(s);
    }

    column<slot> slots_; ///< a power of two of them
    std::size_t size_ = 0;
};

} // namespace muster
