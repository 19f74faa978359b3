#pragma once

/// \file
/// Binary heaps over room that is there already, with the sift rules of Go's container/heap.
///
/// An order that is not transitive (tasks with and without a number in their names) pops as the sifts decide, so they
/// must be the same as the original's.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace muster {

/// Many heaps in one stretch of memory, one a group.
///
/// Cost: `reserve` and `open` allocate, nothing else does.
template <class T>
class heap_set {
public:
    /// Starts over with `groups` heaps; group g gets room by `capacity(g)` elements.
    template <class Capacity>
    void open(std::size_t groups, Capacity capacity) {
        first_.assign(groups + 1, 0);
        for (std::size_t g = 0; g != groups; ++g) first_[g + 1] = first_[g] + capacity(g);
        size_.assign(groups, 0);
        elements_.resize(first_.back());
    }

    void clear() noexcept { std::fill(size_.begin(), size_.end(), 0); }
    [[nodiscard]] std::size_t size(std::size_t group) const noexcept { return size_[group]; }
    [[nodiscard]] bool empty(std::size_t group) const noexcept { return size_[group] == 0; }

    /// `before(a, b)`: a is popped before b.
    template <class Before>
    void push(std::size_t group, T const& element, Before before) noexcept {
        T* const heap = elements_.data() + first_[group];
        std::size_t at = size_[group]++;
        heap[at] = element;
        while (at != 0) {
            auto const parent = (at - 1) / 2;
            if (!before(heap[at], heap[parent])) break;
            std::swap(heap[at], heap[parent]);
            at = parent;
        }
    }

    template <class Before>
    [[nodiscard]] T pop(std::size_t group, Before before) noexcept {
        T* const heap = elements_.data() + first_[group];
        auto const last = --size_[group];
        std::swap(heap[0], heap[last]);
        for (std::size_t at = 0;;) {
            auto child = 2 * at + 1;
            if (child >= last) break;
            if (child + 1 < last && before(heap[child + 1], heap[child])) ++child;
            if (!before(heap[child], heap[at])) break;
            std::swap(heap[at], heap[child]);
            at = child;
        }
        return heap[last];
    }

private:
    std::vector<T> elements_;
    std::vector<std::size_t> first_;
    std::vector<std::size_t> size_;
};

} // namespace muster
