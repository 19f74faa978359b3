#pragma once

/// \file
/// What a process's pointers and handles hold, so that a free gives back what was taken.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::account {

/// What each key holds. Threads with different keys seldom meet.
///
/// Cost: a lock of 1/64 of the table and a look-up in it.
template <class Value>
class holdings {
public:
    void keep(std::uint64_t key, Value const& v) {
        auto& s = shard_of(key);
        std::lock_guard const lock{s.mutex};
        s.held.insert_or_assign(key, v);
    }

    /// Takes the record out; nothing if there is none, so that two frees of one key give back once.
    [[nodiscard]] std::optional<Value> take(std::uint64_t key) {
        auto& s = shard_of(key);
        std::lock_guard const lock{s.mutex};
        auto const found = s.held.find(key);
        if (found == s.held.end()) return std::nullopt;
        std::optional<Value> v{std::move(found->second)};
        s.held.erase(found);
        return v;
    }

    /// Takes out all whose value `f` says yes to.
    template <class F>
    void take_if(F f) {
        for (auto& s : shards_) {
            std::lock_guard const lock{s.mutex};
            std::erase_if(s.held, [&](auto const& entry) { return f(entry.second); });
        }
    }

private:
    struct shard {
        std::mutex mutex{};
        std::unordered_map<std::uint64_t, Value> held{};
    };
    static constexpr unsigned shard_bits = 6;
    [[nodiscard]] shard& shard_of(std::uint64_t key) noexcept {
        return shards_[(key * 0x9e37'79b9'7f4a'7c15) >> (64 - shard_bits)];
    }

    std::array<shard, std::size_t{1} << shard_bits> shards_{};
};

/// Blocks that live while a handle or a mapping refers to them, however many of each.
template <class Value>
class shared_holdings {
public:
    /// A block with its first handle.
    void add(std::uint64_t handle, Value const& v) {
        std::lock_guard const lock{mutex_};
        handles_[handle] = next_;
        blocks_.emplace(next_++, block{v});
    }

    /// One more handle, which may be a new one, for what is mapped at an address.
    void retain(std::uint64_t handle, std::uint64_t address) {
        std::lock_guard const lock{mutex_};
        auto const after = mappings_.upper_bound(address);
        if (after == mappings_.begin()) return;
        auto const& [start, m] = *std::prev(after);
        if (address - start >= m.size) return;
        handles_[handle] = m.of;
        ++blocks_.at(m.of).handles;
    }

    /// One handle less; the block's value if nothing refers to it any more.
    [[nodiscard]] std::optional<Value> release(std::uint64_t handle) {
        std::lock_guard const lock{mutex_};
        auto const found = handles_.find(handle);
        if (found == handles_.end()) return std::nullopt;
        auto const at = blocks_.find(found->second);
        if (at == blocks_.end() || at->second.handles == 0) return std::nullopt;
        --at->second.handles;
        return gone(at);
    }

    void map(std::uint64_t address, std::uint64_t size, std::uint64_t handle) {
        std::lock_guard const lock{mutex_};
        auto const found = handles_.find(handle);
        if (found == handles_.end()) return;
        auto const at = blocks_.find(found->second);
        if (at == blocks_.end()) return;
        mappings_[address] = {size, at->first};
        ++at->second.mappings;
    }

    /// Takes out the mappings that begin in a range; the values of blocks that nothing refers to any more.
    [[nodiscard]] std::vector<Value> unmap(std::uint64_t address, std::uint64_t size) {
        std::lock_guard const lock{mutex_};
        std::vector<Value> out;
        auto m = mappings_.lower_bound(address);
        while (m != mappings_.end() && m->first - address < size) {
            auto const at = blocks_.find(m->second.of);
            m = mappings_.erase(m);
            --at->second.mappings;
            if (auto v = gone(at)) out.push_back(*std::move(v));
        }
        return out;
    }

private:
    struct block {
        Value value{};
        int handles = 1;
        int mappings = 0;
    };
    struct mapping {
        std::uint64_t size = 0;
        std::uint64_t of = 0;
    };
    using blocks = std::unordered_map<std::uint64_t, block>;

    [[nodiscard]] std::optional<Value> gone(typename blocks::iterator at) {
        if (at->second.handles > 0 || at->second.mappings > 0) return std::nullopt;
        std::optional<Value> v{std::move(at->second.value)};
        std::erase_if(handles_, [&](auto const& h) { return h.second == at->first; });
        blocks_.erase(at);
        return v;
    }

    std::mutex mutex_{};
    std::uint64_t next_ = 1;
    blocks blocks_{};
    std::unordered_map<std::uint64_t, std::uint64_t> handles_{}; ///< with the block's number
    std::map<std::uint64_t, mapping> mappings_{};                ///< by address
};

} // namespace muster::account
