#pragma once

/// \file
/// A process's books: which of its pointers, handles, pools and graphs holds how much of which device.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <muster/account/graph_peak.hpp>
#include <muster/account/holdings.hpp>
#include <muster/account/kept_memory.hpp>

namespace muster::account {

/// Bytes that something holds of a device, until its context goes if not before.
struct holding {
    int device = 0;
    std::uint64_t size = 0;
    void const* context = nullptr;
    std::uint64_t managed = 0; ///< bytes of managed memory: on the card or with the host, as the driver likes
};

/// All that a process holds, in the one shape that each call which takes something has: take from the account what the
/// call may need, call with nothing locked, then keep what it really took, or give everything back.
///
/// `Account` has reserve(device, size), which may refuse, release, count, and exceeds(device). `Result` is what calls
/// answer, `success` and `refused` two of them.
template <class Account, class Result, Result success, Result refused>
class books {
    /// A change that is under way.
    class change {
    public:
        explicit change(books& b) noexcept : books_(&b) {
            ++mine;
            books_->begun_.fetch_add(1);
        }
        change(change const&) = delete;
        change& operator=(change const&) = delete;
        ~change() {
            books_->ended_.fetch_add(1);
            --mine;
        }
        static inline thread_local std::uint64_t mine = 0; ///< of this thread

    private:
        books* books_;
    };

    /// Bytes that were reserved, and go back unless they are kept.
    class reservation {
    public:
        reservation(Account& a, int device, std::uint64_t size) noexcept : account_(&a), device_(device), size_(size) {}
        reservation(reservation const&) = delete;
        reservation& operator=(reservation const&) = delete;
        ~reservation() {
            if (size_ != 0) account_->release(device_, size_);
        }
        void keep() noexcept { size_ = 0; }

    private:
        Account* account_;
        int device_;
        std::uint64_t size_;
    };

public:
    explicit books(Account& a) noexcept : account_(&a), pools(a), graph_memory(a) {}

    /// Tells whether any other thread took or gave something since it was made: while one does, the driver and the
    /// account differ.
    class quiet {
    public:
        explicit quiet(books const& b) noexcept : books_(&b), ended_(b.ended_.load()), begun_(b.begun_.load()) {}
        [[nodiscard]] bool lasted() const noexcept {
            return begun_ - ended_ == change::mine && books_->begun_.load() == begun_;
        }

    private:
        books const* books_;
        std::uint64_t ended_;
        std::uint64_t begun_;
    };

    // Blocks that one key holds.

    /// Calls for a block; `key()` is what frees it later.
    template <class Call, class Key>
    [[nodiscard]] Result take(holding const& h, Call call, Key key) {
        return taken(h, call, [&] { keep(key(), h); });
    }

    /// Keeps what was reserved already.
    void keep(std::uint64_t key, holding const& h) {
        if (h.managed != 0) managed_ += h.managed;
        if (auto const lost = held_.keep(key, h)) release(*lost); // went without a call that says so
    }

    /// Sets what a block really takes.
    void correct(std::uint64_t key, std::uint64_t size) {
        auto h = held_.take(key);
        if (!h) return;
        if (size < h->size) account_->release(h->device, h->size - size);
        if (size > h->size) account_->count(h->device, size - h->size);
        h->size = size;
        (void)held_.keep(key, *h);
    }

    /// Frees whatever has a record or none: what has none is the driver's business.
    template <class Call>
    [[nodiscard]] Result give_back(std::uint64_t key, Call call) {
        auto const h = held_.take(key);
        if (!h) return call();
        change const now{*this};
        auto const result = call();
        if (result == success)
            release(*h);
        else
            (void)held_.keep(key, *h);
        return result;
    }

    /// Calls for the end of a context, with which goes all that was allocated in it; `gone(result)` says whether it
    /// did. Addresses and contexts come again at once, so that its records are taken out before.
    template <class Call, class Gone>
    [[nodiscard]] Result give_back_context(void const* context, Call call, Gone gone) {
        change const now{*this};
        auto const all = held_.take_if([&](holding const& h) { return h.context == context; });
        auto const result = call();
        bool const over = gone(result);
        for (auto const& [key, h] : all) {
            if (over)
                release(h);
            else
                (void)held_.keep(key, h);
        }
        return result;
    }

    /// Bytes of managed memory.
    [[nodiscard]] std::uint64_t managed() const noexcept { return managed_.load(std::memory_order_relaxed); }

    // Physical memory, held until neither a handle nor a mapping refers to it.

    template <class Call, class Handle>
    [[nodiscard]] Result take_shared(holding const& h, Call call, Handle handle) {
        return taken(h, call, [&] { shared_.add(handle(), h); });
    }
    void retain(std::uint64_t handle, std::uint64_t address) { shared_.retain(handle, address); }
    void map(std::uint64_t address, std::uint64_t size, std::uint64_t handle) { shared_.map(address, size, handle); }
    template <class Call>
    [[nodiscard]] Result give_back_handle(std::uint64_t handle, Call call) {
        change const now{*this};
        auto const of = shared_.detach(handle);
        auto const result = call();
        if (of && result != success) shared_.attach(handle, *of);
        if (of && result == success)
            if (auto const gone = shared_.drop(*of)) release(*gone);
        return result;
    }
    void unmap(std::uint64_t address, std::uint64_t size) {
        for (auto const& gone : shared_.unmap(address, size)) release(gone);
    }

    // Memory that is kept.

    /// Calls for something of a pool, which may grow by `most` at most; `recount()` charges the pool what it keeps
    /// then, before the reservation goes, so that nobody gets in between. Where the limit has no room for that much,
    /// `growth()` tells more exactly by how much the pool should grow, and such calls come one after the other. If it
    /// grew beyond the limit all the same, `undo()` gives back what was had.
    template <class Growth, class Call, class Recount, class Undo>
    [[nodiscard]] Result take_kept(int device, std::uint64_t most, Growth growth, Call call, Recount recount,
                                   Undo undo) {
        change const now{*this};
        std::unique_lock lock{growing_, std::defer_lock};
        auto size = most;
        if (!account_->reserve(device, size)) {
            lock.lock();
            size = growth();
            if (!account_->reserve(device, size)) return refused;
        }
        auto result = call();
        if (result == success) recount();
        account_->release(device, size);
        if (result == success && lock && account_->exceeds(device)) {
            undo();
            recount();
            result = refused;
        }
        return result;
    }

    // Graphs. What a launch takes stays in the device's graph memory until that is trimmed.

    void instantiated(std::uint64_t executable, takings const& takes) {
        if (!takes.empty()) set(executable, {takes});
    }

    /// Whether there are graphs that allocate.
    [[nodiscard]] bool has_graphs() const noexcept { return taking_.load(std::memory_order_relaxed) != 0; }

    /// Launches a graph; `recount(device)` charges a device's graph memory. What it takes needn't be reserved while
    /// the devices keep enough for all graphs that were launched since they were trimmed.
    template <class Call, class Recount>
    [[nodiscard]] Result launch(std::uint64_t executable, Call call, Recount recount) {
        if (!has_graphs()) return call();
        change const now{*this};
        auto const e = state_of(executable);
        if (!e.backed && !reserve(e.takes)) return refused;
        auto const result = call();
        for (auto const& [device, size] : e.takes) {
            recount(device);
            if (!e.backed) account_->release(device, size);
        }
        if (result == success && !e.takes.empty()) back(executable);
        return result;
    }

    void trimmed() {
        std::lock_guard const lock{mutex_};
        for (auto& [key, e] : executables_) e.backed = false;
    }

    template <class Call>
    [[nodiscard]] Result give_back_graph(std::uint64_t executable, Call call) {
        if (!has_graphs()) return call();
        auto const e = state_of(executable);
        set(executable, {}); // the number may come again at once
        auto const result = call();
        if (result != success) set(executable, e);
        return result;
    }

private:
    struct executable_state {
        takings takes{};
        bool backed = false; ///< its memory is there since its last launch
    };

    /// Reserves, calls, and keeps what was had by `note()`, or gives it back.
    template <class Call, class Note>
    [[nodiscard]] Result taken(holding const& h, Call call, Note note) {
        change const now{*this};
        if (!account_->reserve(h.device, h.size)) return refused;
        reservation bytes{*account_, h.device, h.size};
        auto const result = call();
        if (result != success) return result;
        bytes.keep();
        note();
        return result;
    }

    void release(holding const& h) {
        account_->release(h.device, h.size);
        if (h.managed != 0) managed_ -= h.managed;
    }

    [[nodiscard]] bool reserve(takings const& wanted) {
        for (auto at = wanted.begin(); at != wanted.end(); ++at) {
            if (account_->reserve(at->first, at->second)) continue;
            for (auto taken = wanted.begin(); taken != at; ++taken) account_->release(taken->first, taken->second);
            return false;
        }
        return true;
    }

    [[nodiscard]] executable_state state_of(std::uint64_t executable) {
        std::lock_guard const lock{mutex_};
        auto const at = executables_.find(executable);
        return at == executables_.end() ? executable_state{} : at->second;
    }

    /// A graph was launched: it has its memory, and the others have theirs if there is enough for all.
    void back(std::uint64_t executable) {
        std::lock_guard const lock{mutex_};
        auto const at = executables_.find(executable);
        if (at == executables_.end()) return;
        at->second.backed = true;
        takings all;
        for (auto const& [key, e] : executables_)
            if (e.backed)
                for (auto const& [device, size] : e.takes) all[device] += size;
        for (auto const& [device, size] : all)
            if (size > graph_memory.charged(static_cast<std::uint64_t>(device)))
                for (auto& [key, e] : executables_) e.backed = e.backed && key == executable;
    }

    /// Without takings: it is none of ours.
    void set(std::uint64_t executable, executable_state const& e) {
        std::lock_guard const lock{mutex_};
        if (e.takes.empty())
            executables_.erase(executable);
        else
            executables_[executable] = e;
        taking_ = executables_.size();
    }

    Account* account_;
    holdings<holding> held_{};
    shared_holdings<holding> shared_{};
    std::atomic<std::uint64_t> managed_{0};
    std::atomic<std::uint64_t> begun_{0};
    std::atomic<std::uint64_t> ended_{0};
    std::mutex growing_{};
    std::mutex mutex_{};
    std::unordered_map<std::uint64_t, executable_state> executables_{};
    std::atomic<std::size_t> taking_{0};

public:
    kept_memory<Account> pools;        ///< by handle
    kept_memory<Account> graph_memory; ///< by device
};

} // namespace muster::account
