#pragma once

/// \file
/// What a task asks for and a queue is granted: exact amounts of a few dimensions.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/core/checked.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/result.hpp>
#include <muster/resource/dimension.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {

/// Resource names with Kubernetes quantities, as objects carry them.
using resource_list = std::vector<std::pair<std::string, quantity>>;

/// An amount of one dimension, in the dimension's counting.
struct dimension_amount {
    dimension_id dimension;
    std::int64_t amount = 0;

    friend bool operator==(dimension_amount const&, dimension_amount const&) noexcept = default;
};

/// Amounts by dimension, ascending by id; a dimension that is absent is not the same as one of amount zero.
///
/// Invariant: cpu and memory are always present, as in Volcano's vectors.
class amounts {
public:
    amounts() : entries_{{dimension::cpu, 0}, {dimension::memory, 0}} {}

    [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
    [[nodiscard]] auto end() const noexcept { return entries_.end(); }

    [[nodiscard]] bool has(dimension_id d) const noexcept {
        auto const at = place(d);
        return at != entries_.end() && at->dimension == d;
    }

    /// The amount, zero where absent.
    [[nodiscard]] std::int64_t operator[](dimension_id d) const noexcept {
        if (d == dimension::cpu || d == dimension::memory) return entries_[d.index()].amount;
        auto const at = place(d);
        return at != entries_.end() && at->dimension == d ? at->amount : 0;
    }

    void set(dimension_id d, std::int64_t amount) {
        auto const at = entries_.begin() + (place(d) - entries_.begin());
        if (at != entries_.end() && at->dimension == d)
            at->amount = amount;
        else
            entries_.insert(at, dimension_amount{d, amount});
    }

    /// Adds to one dimension, making it present. Errors: `overflow`.
    [[nodiscard]] result<void> add(dimension_id d, std::int64_t amount) {
        auto const sum = checked_add((*this)[d], amount);
        if (!sum) return tl::unexpected{sum.error()};
        set(d, *sum);
        return {};
    }

    /// Volcano's IsEmpty: nothing but pods is asked for.
    [[nodiscard]] bool is_empty() const noexcept {
        return std::all_of(entries_.begin(), entries_.end(),
                           [](auto const& e) { return e.dimension == dimension::pods || e.amount == 0; });
    }

    friend bool operator==(amounts const&, amounts const&) noexcept = default;

private:
    [[nodiscard]] dimension_amount const* place(dimension_id d) const noexcept {
        return std::lower_bound(entries_.begin(), entries_.end(), d,
                                [](dimension_amount const& e, dimension_id wanted) { return e.dimension < wanted; });
    }

    column<dimension_amount> entries_;
};

/// A quantity in the counting of its dimension. Errors: `negative`, `overflow`.
[[nodiscard]] inline result<std::int64_t> count(quantity const& q, counting how) noexcept {
    if (q.is_negative()) return fail(errc::negative);
    return how == counting::whole ? q.value() : q.milli();
}

/// The amounts of a list, with new names interned; names that take no part are left out.
///
/// Errors: `negative` and `overflow`, at the position in the list.
/// Source: volcano, pkg/scheduler/api/resource_info.go, NewResource, at ed72c7c8.
[[nodiscard]] inline result<amounts> count(resource_list const& list, dimension_table& dimensions) {
    amounts counted;
    for (std::size_t i = 0; i != list.size(); ++i) {
        auto const how = counting_of(list[i].first);
        if (!how) continue;
        auto const amount = count(list[i].second, *how);
        if (!amount) return fail(amount.error().code, i);
        if (!counted.add(dimensions.intern(list[i].first), *amount)) return fail(errc::overflow, i);
    }
    return counted;
}

} // namespace muster
