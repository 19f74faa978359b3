#pragma once

/// \file
/// Binary heaps over room that is there already, with the sift rules of Go's container/heap.
///
/// An order that is not transitive (tasks with and without a number in their names) pops as the sifts decide, so they
/// must be the same as the original's.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <muster/core/column.hpp>

namespace muster {

/// Which of two is popped first, asked of whoever knows: one heap then serves queues, jobs and tasks.
struct precedence {
    void const* who = nullptr;
    bool (*before)(void const* who, std::uint32_t a, std::uint32_t b) noexcept = nullptr;

    [[nodiscard]] bool operator()(std::uint32_t a, std::uint32_t b) const noexcept { return before(who, a, b); }
};

/// Many heaps of positions in one stretch of memory, one a group.
///
/// Cost: `open` allocates, nothing else does.
class heap_set {
public:
    /// Starts over with a heap a group; group g has room for `capacities[g]` elements.
    void open(column<std::uint32_t> const& capacities, precedence order) {
        order_ = order;
        first_.clear();
        std::size_t all = 0;
        for (auto const capacity : capacities) {
            first_.push_back(all);
            all += capacity;
        }
        size_.assign(capacities.size(), 0);
        elements_.resize(all);
    }

    void clear() noexcept { size_.fill(0); }
    [[nodiscard]] std::size_t size(std::size_t group) const noexcept { return size_[group]; }
    [[nodiscard]] bool empty(std::size_t group) const noexcept { return size_[group] == 0; }

    void push(std::size_t group, std::uint32_t element) noexcept {
        auto* const heap = elements_.data() + first_[group];
        std::size_t at = size_[group]++;
        heap[at] = element;
        while (at != 0) {
            auto const parent = (at - 1) / 2;
            if (!order_(heap[at], heap[parent])) break;
            std::swap(heap[at], heap[parent]);
            at = parent;
        }
    }

    [[nodiscard]] std::uint32_t pop(std::size_t group) noexcept {
        auto* const heap = elements_.data() + first_[group];
        auto const last = --size_[group];
        std::swap(heap[0], heap[last]);
        for (std::size_t at = 0;;) {
            auto child = 2 * at + 1;
            if (child >= last) break;
            if (child + 1 < last && order_(heap[child + 1], heap[child])) ++child;
            if (!order_(heap[child], heap[at])) break;
            std::swap(heap[at], heap[child]);
            at = child;
        }
        return heap[last];
    }

private:
    precedence order_;
    column<std::uint32_t> elements_;
    column<std::size_t> first_;
    column<std::uint32_t> size_;
};

} // namespace muster
