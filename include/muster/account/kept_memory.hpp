#pragma once

/// \file
/// What pools and graphs keep of a device's memory for later.

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace muster::account {

/// Memory that is kept for later, as pools do: charged what the driver keeps, not what is handed out. What can't be had
/// by right is counted all the same, since it is there. The driver is asked under the lock, so that no older answer
/// comes after a newer one.
///
/// `Account` counts: release(device, size) and count(device, size).
template <class Account>
class kept_memory {
public:
    explicit kept_memory(Account& a) noexcept : account_(&a) {}

    /// Notes whose memory a pool's is; `counted`: not the host's, nor another process's.
    void learn(std::uint64_t key, int device, bool counted = true) {
        std::lock_guard const lock{mutex_};
        all_.try_emplace(key, state{device, 0, counted});
    }

    /// Its device, or -1 if it isn't counted; nothing if it isn't known.
    [[nodiscard]] std::optional<int> device_of(std::uint64_t key) {
        std::lock_guard const lock{mutex_};
        auto const at = all_.find(key);
        if (at == all_.end()) return std::nullopt;
        return at->second.counted ? at->second.device : -1;
    }

    /// What it is charged.
    [[nodiscard]] std::uint64_t charged(std::uint64_t key) {
        std::lock_guard const lock{mutex_};
        auto const at = all_.find(key);
        return at == all_.end() ? 0 : at->second.charged;
    }

    /// Charges what is kept there, by `ask(key, bytes&)`, which may fail; learnt first if it wasn't.
    template <class Ask>
    void recount(std::uint64_t key, int device, Ask ask) {
        std::lock_guard const lock{mutex_};
        settle(key, all_.try_emplace(key, state{device, 0, true}).first->second, ask);
    }

    /// The same for all that keep something.
    template <class Ask>
    void recount_all(Ask ask) {
        std::lock_guard const lock{mutex_};
        for (auto& [key, s] : all_)
            if (s.charged != 0) settle(key, s, ask);
    }

    /// All of a device's are gone.
    void forget(int device) {
        std::lock_guard const lock{mutex_};
        std::erase_if(all_, [&](auto const& entry) {
            if (entry.second.device != device) return false;
            account_->release(device, entry.second.charged);
            return true;
        });
    }

    /// Calls for the end of one; its number may come again at once. What is still `in_use` of it stays charged.
    template <class Call, class Good>
    [[nodiscard]] auto give_back(std::uint64_t key, Call call, Good good, std::uint64_t in_use = 0) {
        auto last = [&] {
            std::lock_guard const lock{mutex_};
            return all_.extract(key);
        }();
        auto const result = call();
        if (!last) return result;
        if (good(result)) {
            account_->release(last.mapped().device, last.mapped().charged - std::min(in_use, last.mapped().charged));
        } else {
            std::lock_guard const lock{mutex_};
            all_.insert(std::move(last));
        }
        return result;
    }

private:
    struct state {
        int device = 0;
        std::uint64_t charged = 0;
        bool counted = true;
    };

    template <class Ask>
    void settle(std::uint64_t key, state& s, Ask ask) {
        std::uint64_t kept = 0;
        if (!s.counted || !ask(key, kept)) return;
        if (kept < s.charged) account_->release(s.device, s.charged - kept);
        if (kept > s.charged) account_->count(s.device, kept - s.charged);
        s.charged = kept;
    }

    Account* account_;
    std::mutex mutex_{};
    std::map<std::uint64_t, state> all_{};
};

} // namespace muster::account
