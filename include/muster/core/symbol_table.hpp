#pragma once

/// \file
/// Texts interned once, so that decisions compare numbers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/core/hash_index.hpp>
#include <muster/core/ids.hpp>

namespace muster {

/// Gives each distinct text a symbol, in order of first sight.
///
/// Cost: a hash and, for a new text, a copy of it.
class symbol_table {
public:
    [[nodiscard]] symbol intern(std::string_view text) {
        if (auto const known = find(text)) return known;
        symbol const fresh{texts_.size()};
        texts_.emplace_back(text);
        index_.insert(hash(text), fresh.value);
        return fresh;
    }

    /// The text's symbol, or none if it was never interned.
    [[nodiscard]] symbol find(std::string_view text) const {
        symbol found;
        found.value = index_.find(hash(text), [&](std::size_t position) { return texts_[position] == text; });
        return found;
    }

    [[nodiscard]] std::string const& text(symbol s) const noexcept { return texts_[s.index()]; }
    [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

private:
    static_assert(hash_index::nothing == symbol::nothing);

    [[nodiscard]] static std::uint64_t hash(std::string_view text) noexcept {
        return std::hash<std::string_view>{}(text);
    }

    std::vector<std::string> texts_;
    hash_index index_;
};

} // namespace muster
