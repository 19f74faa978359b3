#pragma once

/// \file
/// Columns of plain values: what `std::vector` does, compiled once instead of once a type.
///
/// Every sum and list of a session is such a column. All of them share the code that finds memory, so that one more
/// type costs a few instructions and no time to compile; a composition of all policies compiles in half the time.

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace muster {

namespace detail {

/// The memory of a column, whatever its type; `width` is the bytes of one value.
struct column_memory {
    column_memory() noexcept = default;
    column_memory(void const* from, std::size_t count, std::size_t width) { assign(from, count, width); }
    column_memory(column_memory&& other) noexcept
        : data(std::exchange(other.data, nullptr)), size(std::exchange(other.size, 0)),
          capacity(std::exchange(other.capacity, 0)) {}
    ~column_memory() { ::operator delete(data); }

    column_memory(column_memory const&) = delete;
    column_memory& operator=(column_memory const&) = delete;
    column_memory& operator=(column_memory&&) = delete;

    void swap(column_memory& other) noexcept {
        std::swap(data, other.data);
        std::swap(size, other.size);
        std::swap(capacity, other.capacity);
    }

    /// Room for at least `count` values, those that are there kept.
    [[gnu::noinline]] void reserve(std::size_t count, std::size_t width) {
        if (count <= capacity) return;
        void* const fresh = ::operator new(count* width);
        if (size != 0) std::memcpy(fresh, data, size * width);
        ::operator delete(data);
        data = fresh;
        capacity = count;
    }

    /// Room for `more` values behind the last, growing by factors.
    [[gnu::noinline]] void grow(std::size_t more, std::size_t width) {
        auto const wanted = size + more;
        if (wanted > capacity) reserve(wanted > 2 * capacity ? wanted : 2 * capacity, width);
    }

    /// Replaces all values; `from` is not in this column.
    [[gnu::noinline]] void assign(void const* from, std::size_t count, std::size_t width) {
        size = 0;
        reserve(count, width);
        if (count != 0) std::memcpy(data, from, count * width);
        size = count;
    }

    /// Opens a gap of one value at position `at`.
    [[gnu::noinline]] void open_gap(std::size_t at, std::size_t width) {
        grow(1, width);
        auto* const bytes = static_cast<std::byte*>(data);
        if (at != size) std::memmove(bytes + (at + 1) * width, bytes + at * width, (size - at) * width);
        ++size;
    }

    void close_gap(std::size_t at, std::size_t width) noexcept {
        auto* const bytes = static_cast<std::byte*>(data);
        --size;
        if (at != size) std::memmove(bytes + at * width, bytes + (at + 1) * width, (size - at) * width);
    }

    void* data = nullptr;
    std::size_t size = 0;
    std::size_t capacity = 0;
};

} // namespace detail

/// A sequence of plain values in one stretch of memory; members mean what they mean in `std::vector`.
///
/// Errors: `std::bad_alloc` where there is no memory.
template <class T>
class column {
    static_assert(std::is_trivially_copyable_v<T>, "a column holds plain values: see std::vector for others");
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = T const*;

    column() noexcept = default;
    explicit column(std::size_t count, T value = T{}) { resize(count, value); }
    column(std::initializer_list<T> values) : memory_(values.begin(), values.size(), sizeof(T)) {}
    column(T const* first, T const* last) : memory_(first, static_cast<std::size_t>(last - first), sizeof(T)) {}
    column(column const& other) : memory_(other.data(), other.size(), sizeof(T)) {}
    column(column&&) noexcept = default;
    ~column() = default;

    column& operator=(column const& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    column& operator=(column&& other) noexcept {
        memory_.swap(other.memory_);
        return *this;
    }

    [[nodiscard]] std::size_t size() const noexcept { return memory_.size; }
    [[nodiscard]] bool empty() const noexcept { return memory_.size == 0; }
    [[nodiscard]] T* data() noexcept { return static_cast<T*>(memory_.data); }
    [[nodiscard]] T const* data() const noexcept { return static_cast<T const*>(memory_.data); }
    [[nodiscard]] T* begin() noexcept { return data(); }
    [[nodiscard]] T const* begin() const noexcept { return data(); }
    [[nodiscard]] T* end() noexcept { return data() + memory_.size; }
    [[nodiscard]] T const* end() const noexcept { return data() + memory_.size; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
    [[nodiscard]] T const& operator[](std::size_t i) const noexcept { return data()[i]; }
    [[nodiscard]] T& front() noexcept { return *data(); }
    [[nodiscard]] T const& front() const noexcept { return *data(); }
    [[nodiscard]] T& back() noexcept { return data()[memory_.size - 1]; }
    [[nodiscard]] T const& back() const noexcept { return data()[memory_.size - 1]; }

    void reserve(std::size_t count) { memory_.reserve(count, sizeof(T)); }
    void clear() noexcept { memory_.size = 0; }

    void resize(std::size_t count, T value = T{}) {
        if (count > memory_.size) memory_.grow(count - memory_.size, sizeof(T));
        for (auto i = memory_.size; i < count; ++i) data()[i] = value;
        memory_.size = count;
    }
    void assign(std::size_t count, T value) {
        clear();
        resize(count, value);
    }
    void assign(T const* first, T const* last) {
        memory_.assign(first, static_cast<std::size_t>(last - first), sizeof(T));
    }
    void fill(T value) noexcept {
        for (auto& v : *this) v = value;
    }

    void push_back(T value) {
        if (memory_.size == memory_.capacity) memory_.grow(1, sizeof(T));
        data()[memory_.size++] = value;
    }
    void append(std::span<T const> values) {
        memory_.grow(values.size(), sizeof(T));
        auto* to = end();
        for (auto const& v : values) *to++ = v;
        memory_.size += values.size();
    }
    void insert(T const* at, T value) {
        auto const position = static_cast<std::size_t>(at - data());
        memory_.open_gap(position, sizeof(T));
        data()[position] = value;
    }
    void erase(T const* at) noexcept { memory_.close_gap(static_cast<std::size_t>(at - data()), sizeof(T)); }
    void pop_back() noexcept { --memory_.size; }

    /// Takes out all that `doomed(value)` names; the others keep their order.
    template <class Doomed>
    friend void erase_if(column& c, Doomed doomed) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i != c.size(); ++i)
            if (!doomed(c[i])) c[kept++] = c[i];
        c.memory_.size = kept;
    }

    friend bool operator==(column const& a, column const& b) noexcept {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i != a.size(); ++i)
            if (!(a[i] == b[i])) return false;
        return true;
    }

private:
    detail::column_memory memory_;
};

/// Rows of equally many plain values.
///
/// Shape: `[row][position]`; both may grow, and what is new is zero.
template <class T>
class grid {
public:
    [[nodiscard]] std::size_t size() const noexcept { return rows_; }
    [[nodiscard]] std::size_t width() const noexcept { return width_; }
    [[nodiscard]] T* operator[](std::size_t row) noexcept { return cells_.data() + row * stride_; }
    [[nodiscard]] T const* operator[](std::size_t row) const noexcept { return cells_.data() + row * stride_; }
    [[nodiscard]] std::span<T const> row(std::size_t i) const noexcept { return {(*this)[i], width_}; }

    void resize(std::size_t rows, std::size_t width) {
        if (width > stride_) {
            grid wider;
            wider.stride_ = width > 2 * stride_ ? width : 2 * stride_;
            wider.cells_.resize(rows * wider.stride_);
            for (std::size_t i = 0; i != rows_ && i != rows; ++i)
                for (std::size_t at = 0; at != width_; ++at) wider[i][at] = (*this)[i][at];
            *this = std::move(wider);
        } else if (rows != rows_) {
            cells_.resize(rows * stride_);
        }
        rows_ = rows;
        width_ = width;
    }

    friend bool operator==(grid const& a, grid const& b) noexcept {
        if (a.rows_ != b.rows_ || a.width_ != b.width_) return false;
        for (std::size_t i = 0; i != a.rows_; ++i)
            for (std::size_t at = 0; at != a.width_; ++at)
                if (!(a[i][at] == b[i][at])) return false;
        return true;
    }

private:
    column<T> cells_;
    std::size_t rows_ = 0;
    std::size_t width_ = 0;
    std::size_t stride_ = 0;
};

} // namespace muster
