#pragma once

/// \file
/// The names of one kind of thing, and which id each has.

#include <cstddef>
#include <cstdint>

#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>

namespace muster::detail {

/// Ids by the symbols of their names.
template <class Id>
class names {
public:
    /// None for the symbol none, too.
    [[nodiscard]] Id find(symbol name) const noexcept { return name.index() < ids_.size() ? ids_[name.index()] : Id{}; }

    void set(symbol name, Id id) {
        if (name.index() >= ids_.size()) ids_.resize(name.index() + 1);
        ids_[name.index()] = id;
    }
    void erase(symbol name) noexcept { ids_[name.index()] = Id{}; }

private:
    column<Id> ids_; ///< a symbol
};

} // namespace muster::detail
