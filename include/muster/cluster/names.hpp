#pragma once

/// \file
/// The names of one kind of thing, and which id each has.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <muster/core/result.hpp>

namespace muster::detail {

/// Positions by name; one type for all kinds, since this table costs compile time.
struct name_hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};
using name_table = std::unordered_map<std::string, std::uint32_t, name_hash, std::equal_to<>>;

template <class Id>
class names {
public:
    [[nodiscard]] Id find(std::string_view name) const {
        auto const at = table_.find(name);
        return at == table_.end() ? Id{} : Id{std::size_t{at->second}};
    }

    [[nodiscard]] bool contains(std::string_view name) const { return bool(find(name)); }

    /// Errors: `empty`, `duplicate`.
    [[nodiscard]] result<void> unused(std::string_view name) const {
        if (name.empty()) return fail(errc::empty);
        if (contains(name)) return fail(errc::duplicate);
        return {};
    }

    void emplace(std::string const& name, Id id) { table_.emplace(name, id.value); }
    void erase(std::string const& name) { table_.erase(name); }

private:
    name_table table_;
};

} // namespace muster::detail
