#pragma once

/// \file
/// What a policy derives: doubles by dimension, where an absent dimension differs from a zero.
///
/// Source: volcano, pkg/scheduler/api/resource_info.go, at ed72c7c8 (names as there; spec/volcano-queues.md 0.1).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/real.hpp>
#include <muster/resource/amounts.hpp>
#include <muster/resource/dimension.hpp>

namespace muster {

/// How a dimension that one side lacks is taken.
enum class absent : std::uint8_t { zero, infinite };

/// A vector of doubles over all dimensions of a cluster.
///
/// Shape:  indexed by dimension id; cpu and memory are always present.
/// Cost:   one allocation when made, none afterwards; every operation is one pass over the dimensions.
class resource_vector {
public:
    /// Two of these are equal: differences below it do not count.
    static constexpr double epsilon = 0.1;

    resource_vector() = default;
    explicit resource_vector(std::size_t dimensions) : entries_(dimensions) {
        entries_[dimension::cpu.index()].present = entries_[dimension::memory.index()].present = true;
    }
    resource_vector(std::size_t dimensions, amounts const& from) : resource_vector(dimensions) { add(from); }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] bool has(dimension_id d) const noexcept { return entries_[d.index()].present; }
    [[nodiscard]] double operator[](dimension_id d) const noexcept { return entries_[d.index()].value; }
    void set(dimension_id d, double value) noexcept { entries_[d.index()] = {value, true}; }

    void add(amounts const& other) noexcept {
        for (auto const& [d, amount] : other) set(d, (*this)[d] + static_cast<double>(amount));
    }

    void subtract(amounts const& other) noexcept {
        for (auto const& [d, amount] : other) set(d, (*this)[d] - static_cast<double>(amount));
    }

    void add(resource_vector const& other) noexcept {
        each([&](std::size_t i) {
            if (other.entries_[i].present) entries_[i] = {entries_[i].value + other.entries_[i].value, true};
        });
    }

    /// Adds `other * factor`, each product rounded.
    void add_scaled(resource_vector const& other, double factor) noexcept {
        each([&](std::size_t i) {
            if (other.entries_[i].present)
                entries_[i] = {entries_[i].value + rounded(other.entries_[i].value * factor), true};
        });
    }

    /// Lowers each present dimension to `limit`'s. One that `limit` lacks becomes zero or stays, as `missing` says.
    void lower_to(resource_vector const& limit, absent missing) noexcept {
        each([&](std::size_t i) {
            auto& mine = entries_[i];
            if (!mine.present) return;
            if (limit.entries_[i].present)
                mine.value = std::min(mine.value, limit.entries_[i].value);
            else if (missing == absent::zero)
                mine.value = 0;
        });
    }

    /// Raises each dimension to `other`'s, taking over the ones it lacks.
    void raise_to(resource_vector const& other) noexcept {
        each([&](std::size_t i) {
            if (!other.entries_[i].present) return;
            entries_[i] = {std::max({entries_[i].value, other.entries_[i].value, 0.0}), true};
        });
    }

    /// The part of `left` above `right`; a dimension without such a part is absent, but for cpu and memory.
    [[nodiscard]] static resource_vector exceeded(resource_vector const& left, resource_vector const& right) {
        resource_vector part(left.size());
        for (std::size_t i = 0; i != left.size(); ++i) {
            auto const over = left.entries_[i].value - right.entries_[i].value;
            if (left.entries_[i].present && over > 0) part.entries_[i] = {over, true};
        }
        return part;
    }

    /// Nothing but pods reaches epsilon.
    [[nodiscard]] bool is_empty() const noexcept {
        for (std::size_t i = 0; i != size(); ++i)
            if (i != dimension::pods.index() && entries_[i].value >= epsilon) return false;
        return true;
    }

    /// Equal to the bit, and the same dimensions present.
    friend bool operator==(resource_vector const& a, resource_vector const& b) noexcept {
        return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                          [](entry x, entry y) { return x.present == y.present && x.value == y.value; });
    }

    /// `left` is at most `right` in every dimension that `left` has, up to epsilon; absent right is zero.
    [[nodiscard]] friend bool less_equal(resource_vector const& left, resource_vector const& right) noexcept {
        for (std::size_t i = 0; i != left.size(); ++i) {
            auto const difference = left.entries_[i].value - right.entries_[i].value;
            if (left.entries_[i].present && difference >= epsilon) return false;
        }
        return true;
    }

private:
    struct entry {
        double value = 0;
        bool present = false;
    };

    template <class F>
    void each(F f) noexcept {
        for (std::size_t i = 0; i != entries_.size(); ++i) f(i);
    }

    column<entry> entries_;
};

/// `part / whole`, with nothing of nothing as 0 and something of nothing as 1.
[[nodiscard]] constexpr double share_of(double part, double whole) noexcept {
    if (whole == 0) return part == 0 ? 0 : 1;
    return part / whole;
}

} // namespace muster
