#pragma once

/// \file
/// Keys of several numbers, each given the next free number when it is first met.

#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/core/column.hpp>
#include <muster/core/hash_index.hpp>

namespace muster {

/// Gives each distinct key a position, in order of first sight. All keys of a table have the length of the first.
///
/// Cost: a pass over the key.
class key_table {
public:
    [[nodiscard]] std::size_t intern(std::span<std::uint64_t const> key) {
        std::uint64_t hash = 0;
        for (auto const part : key) hash = (hash ^ part ^ (hash >> 29)) * 0x9e37'79b9'7f4a'7c15;
        auto const known = index_.find(hash, [&](std::size_t position) {
            for (std::size_t i = 0; i != key.size(); ++i)
                if (keys_[position * key.size() + i] != key[i]) return false;
            return true;
        });
        if (known != hash_index::nothing) return known;
        index_.insert(hash, static_cast<std::uint32_t>(size_));
        keys_.append(key);
        return size_++;
    }

    /// Forgets all keys; the room stays.
    void clear() noexcept {
        keys_.clear();
        index_.clear();
        size_ = 0;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    column<std::uint64_t> keys_; ///< `[position][part]`
    hash_index index_;
    std::size_t size_ = 0;
};

} // namespace muster
