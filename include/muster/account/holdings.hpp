#pragma once

/// \file
/// What a process's pointers and handles hold, so that a free gives back what was taken.

#include <array>
#include <atomic>
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
    /// What stood there before, if there was a record, is the answer: its owner never came back for it.
    std::optional<Value> keep(std::uint64_t key, Value const& v) {
        auto& s = shard_of(key);
        std::lock_guard const lock{s.mutex};
        auto const [at, fresh] = s.held.try_emplace(key, v);
        s.count.store(s.held.size(), std::memory_order_relaxed);
        return fresh ? std::nullopt : std::optional{std::exchange(at->second, v)};
    }

    /// Takes the record out; nothing if there is none, so that two frees of one key give back once.
    [[nodiscard]] std::optional<Value> take(std::uint64_t key) {
        auto& s = shard_of(key);
        if (s.count.load(std::memory_order_relaxed) == 0) return std::nullopt; // who has the key has seen it kept
        std::lock_guard const lock{s.mutex};
        auto const found = s.held.find(key);
        if (found == s.held.end()) return std::nullopt;
        std::optional<Value> v{std::move(found->second)};
        s.held.erase(found);
        s.count.store(s.held.size(), std::memory_order_relaxed);
        return v;
    }

    /// Takes out all whose value `f` says yes to.
    template <class F>
    [[nodiscard]] std::vector<std::pair<std::uint64_t, Value>> take_if(F f) {
        std::vector<std::pair<std::uint64_t, Value>> out;
        for (auto& s : shards_) {
            std::lock_guard const lock{s.mutex};
            std::erase_if(s.held, [&](auto const& entry) {
                bool const wanted = f(entry.second);
                if (wanted) out.emplace_back(entry);
                return wanted;
            });
            s.count.store(s.held.size(), std::memory_order_relaxed);
        }
        return out;
    }

private:
    struct shard {
        std::mutex mutex{};
        std::unordered_map<std::uint64_t, Value> held{};
        std::atomic<std::size_t> count{0};
    };
    static constexpr unsigned shard_bits = 6;
    [[nodiscard]] shard& shard_of(std::uint64_t key) noexcept {
        return shards_[(key * 0x9e37'79b9'7f4a'7c15) >> (64 - shard_bits)];
    }

    std::array<shard, std::size_t{1} << shard_bits> shards_{};
};

/// Blocks that live while a handle or a mapping refers to them, however many of each.
///
/// A handle goes in two steps, since its number may come again as soon as the driver has it back: `detach` before the
/// driver is called, then `drop`, or `attach` where it refused.
template <class Value>
class shared_holdings {
public:
    /// A block's number, which doesn't come again.
    using number = std::uint64_t;

    /// A block with its first handle.
    void add(std::uint64_t handle, Value const& v) {
        std::lock_guard const lock{mutex_};
        blocks_.emplace(next_, block{v, 1});
        handles_[handle] = {next_++, 1};
    }

    /// One more handle, which may be a new one, for what is mapped at an address.
    void retain(std::uint64_t handle, std::uint64_t address) {
        std::lock_guard const lock{mutex_};
        auto const after = mappings_.upper_bound(address);
        if (after == mappings_.begin()) return;
        auto const& [start, m] = *std::prev(after);
        if (address - start >= m.size) return;
        refer(handle, m.of);
        ++blocks_.at(m.of).references;
    }

    /// Takes a handle out, or one of several of a number; nothing if it isn't known.
    [[nodiscard]] std::optional<number> detach(std::uint64_t handle) {
        std::lock_guard const lock{mutex_};
        auto const at = handles_.find(handle);
        if (at == handles_.end()) return std::nullopt;
        auto const of = at->second.of;
        if (--at->second.count == 0) handles_.erase(at);
        return of;
    }

    void attach(std::uint64_t handle, number of) {
        std::lock_guard const lock{mutex_};
        refer(handle, of);
    }

    /// The handle is gone: the block's value if nothing refers to it any more.
    [[nodiscard]] std::optional<Value> drop(number of) {
        std::lock_guard const lock{mutex_};
        return unreferenced(of);
    }

    void map(std::uint64_t address, std::uint64_t size, std::uint64_t handle) {
        std::lock_guard const lock{mutex_};
        auto const at = handles_.find(handle);
        if (at == handles_.end()) return;
        mappings_[address] = {size, at->second.of};
        ++blocks_.at(at->second.of).references;
    }

    /// Takes out the mappings that begin in a range; the values of blocks that nothing refers to any more.
    [[nodiscard]] std::vector<Value> unmap(std::uint64_t address, std::uint64_t size) {
        std::lock_guard const lock{mutex_};
        std::vector<Value> out;
        auto m = mappings_.lower_bound(address);
        while (m != mappings_.end() && m->first - address < size) {
            auto const of = m->second.of;
            m = mappings_.erase(m);
            if (auto v = unreferenced(of)) out.push_back(*std::move(v));
        }
        return out;
    }

private:
    struct block {
        Value value{};
        int references = 0; ///< handles and mappings
    };
    struct handle_state {
        number of = 0;
        int count = 0;
    };
    struct mapping {
        std::uint64_t size = 0;
        number of = 0;
    };

    void refer(std::uint64_t handle, number of) {
        auto& h = handles_[handle];
        h = {of, h.of == of ? h.count + 1 : 1};
    }

    [[nodiscard]] std::optional<Value> unreferenced(number of) {
        auto const at = blocks_.find(of);
        if (at == blocks_.end() || --at->second.references != 0) return std::nullopt;
        std::optional<Value> v{std::move(at->second.value)};
        blocks_.erase(at);
        return v;
    }

    std::mutex mutex_{};
    number next_ = 1;
    std::unordered_map<number, block> blocks_{};
    std::unordered_map<std::uint64_t, handle_state> handles_{};
    std::map<std::uint64_t, mapping> mappings_{}; ///< by address
};

} // namespace muster::account
