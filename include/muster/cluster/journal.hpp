#pragma once

/// \file
/// The one list of everything a session changed, in order.

#include <cstddef>

#include <muster/cluster/state.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>

namespace muster {

/// One task moved. Its inverse is the same move backwards.
struct change {
    task_id task;
    placement from;
    placement to;

    [[nodiscard]] constexpr change inverse() const noexcept { return {task, to, from}; }
    friend constexpr bool operator==(change const&, change const&) noexcept = default;
};

/// Changes in order. It grows only: undoing appends inverses, so a reader's cursor stays valid.
class journal {
public:
    void clear() noexcept { entries_.clear(); }
    void reserve(std::size_t changes) { entries_.reserve(changes); }
    void append(change const& c) { entries_.push_back(c); }

    [[nodiscard]] std::size_t position() const noexcept { return entries_.size(); }
    [[nodiscard]] change const& operator[](std::size_t i) const noexcept { return entries_[i]; }
    [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
    [[nodiscard]] auto end() const noexcept { return entries_.end(); }

private:
    column<change> entries_;
};

} // namespace muster
