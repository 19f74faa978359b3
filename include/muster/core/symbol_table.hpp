#pragma once

/// \file
/// Texts interned once, so that decisions compare numbers.

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <muster/core/ids.hpp>

namespace muster {

/// Gives each distinct text a symbol, in order of first sight.
///
/// Cost: a hash and, for a new text, two copies of it.
class symbol_table {
public:
    [[nodiscard]] symbol intern(std::string_view text) {
        if (auto const found = symbols_.find(text); found != symbols_.end()) return found->second;
        symbol const fresh{texts_.size()};
        texts_.emplace_back(text);
        symbols_.emplace(texts_.back(), fresh);
        return fresh;
    }

    /// The text's symbol, or none if it was never interned.
    [[nodiscard]] symbol find(std::string_view text) const {
        auto const found = symbols_.find(text);
        return found == symbols_.end() ? symbol{} : found->second;
    }

    [[nodiscard]] std::string const& text(symbol s) const noexcept { return texts_[s.index()]; }
    [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

private:
    struct hash {
        using is_transparent = void;
        [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };

    std::vector<std::string> texts_;
    std::unordered_map<std::string, symbol, hash, std::equal_to<>> symbols_;
};

} // namespace muster
