#pragma once

/// \file
/// The gate that a process's launches on a card go through, from many threads, a throttle's batches at a time.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include <muster/account/pace.hpp>
#include <muster/account/throttle.hpp>

namespace muster::account {

/// Lets launches through when the throttle says so, waits for the card where it says so, and tells it what that took.
///
/// No launch waits for ever: work that isn't done in good time may be waiting for a launch that is still to come. Then
/// the batch is given up, and paid for as it goes on while the next one waits for its turn. Nor does a launch wait for
/// one that the driver doesn't come back from.
///
/// `Card` knows the card and the clock. It is never asked to sleep or rest under the gate's lock:
///     bool note(where...);   remembers where a launch went; false: there is no room for one more
///     bool close();          the batch is whole: marks its end; false: not all of it can be waited for
///     bool poll();           whether the card has done what was closed last
///     void drop();           nobody waits for the batch: it is done
///     nanoseconds now();     void sleep_until(nanoseconds);
///     void rest(nanoseconds waited);  between two polls
///     bool alone();          whether no other process has work on the card; throws nothing
///     auto undisturbed();    is kept while a thread waits for others
/// Cost: two locks a launch besides the throttle's look-up; none is held while `call` runs, or anybody sleeps.
template <class Card>
class gate {
public:
    gate(throttle t, Card card) : throttle_(std::move(t)), card_(std::move(card)) {}

    /// Calls `call` when it may; `what` tells kinds of work apart, `good(result)` whether there is work now.
    template <class Call, class Good, class... Where>
    [[nodiscard]] auto launch(std::uint64_t what, Call call, Good good, Where const&... where) {
        if (!entered()) return call();
        leaving const at_the_end{this};
        auto const result = call();
        if (!good(result)) return result;
        std::lock_guard const lock{mutex_};
        bool const room = card_.note(where...);
        auto const now = card_.now();
        // What the driver did before its first launch was done, as loading code, the card had no part in.
        if (!throttle_.in_batch() && idle_)
            throttle_.begin(start_ = std::max(start_, now - std::min(now, most_launch)));
        bool const full = throttle_.launched(what, now);
        measured_ = measured_ && room;
        if ((full || !room) && state_ == state::open) state_ = state::closing;
        return result;
    }

    /// Calls `f(card)` under the lock.
    template <class F>
    void visit(F f) {
        std::lock_guard const lock{mutex_};
        f(card_);
    }

    /// A kind of work is no more; another may get its number.
    void forget(std::uint64_t what) {
        std::lock_guard const lock{mutex_};
        throttle_.forget(what);
    }

private:
    static constexpr nanoseconds most_patience = 100'000'000;
    static constexpr nanoseconds least_patience = 10'000'000;
    static constexpr nanoseconds most_launch = 100'000;
    static constexpr nanoseconds most_stamina = 5'000'000'000;
    static constexpr nanoseconds least_stamina = 40'000'000;

    enum class state : std::uint8_t {
        idle,
        starting, ///< somebody waits until the next batch may start
        open,
        closing,  ///< launches of a whole batch are still with the driver
        finishing ///< somebody waits for the card
    };

    /// The end of a launch, however it comes.
    struct leaving {
        gate* of;
        leaving(leaving const&) = delete;
        leaving& operator=(leaving const&) = delete;
        explicit leaving(gate* g) noexcept : of(g) {}
        ~leaving() { of->leave(); }
    };

    void leave() noexcept {
        std::unique_lock lock{mutex_};
        if (--under_way_ == 0 && state_ == state::closing) finish(lock);
    }

    /// Waits for the turn; false: the launch goes through uncounted, since others don't come back.
    [[nodiscard]] bool entered() {
        std::unique_lock lock{mutex_};
        for (;;) {
            switch (state_) {
            case state::open:
                if (under_way_ == 0 && (!throttle_.in_batch() || throttle_.settled_if_idle(card_.now()))) {
                    card_.drop();
                    state_ = state::idle;
                    break;
                }
                ++under_way_;
                return true;
            case state::idle:
                start(lock);
                ++under_way_;
                return true;
            case state::closing: {
                [[maybe_unused]] auto const meanwhile = card_.undisturbed();
                if (open_.wait_for(lock, std::chrono::nanoseconds{most_patience}) == std::cv_status::timeout &&
                    state_ == state::closing)
                    return false;
                break;
            }
            case state::starting:
            case state::finishing:
                [[maybe_unused]] auto const meanwhile = card_.undisturbed();
                open_.wait(lock);
            }
        }
    }

    void start(std::unique_lock<std::mutex>& lock) {
        state_ = state::starting;
        if (left_at_ != 0) catch_up(lock);
        start_ = card_.now();
        if (auto const ready = throttle_.ready_at(start_); ready > start_) {
            lock.unlock();
            card_.sleep_until(ready);
            lock.lock();
        }
        if (idle_) start_ = card_.now(); // else the card works all the while, and that is paid for
        throttle_.begin(start_);
        state_ = state::open;
        open_.notify_all();
    }

    /// Goes on waiting for a batch that was given up, as long as there is to wait anyway; every moment of it is paid
    /// for, and what is paid makes the wait longer.
    void catch_up(std::unique_lock<std::mutex>& lock) {
        auto const end = left_at_ + stamina_;
        auto now = card_.now();
        bool late = now > throttle_.ready_at(now); // when it was done, nobody can tell any more
        do {
            idle_ = await(lock, std::min(std::max(throttle_.ready_at(now), now), std::max(end, now)));
            now = card_.now();
            if (!late || !idle_) throttle_.overrun(left_at_, std::min(now - left_at_, most_stamina));
            late = false;
            left_at_ = now;
        } while (!idle_ && left_at_ < end);
        stamina_ = idle_ ? std::min(stamina_ * 2, most_stamina) : std::max(stamina_ / 8, least_stamina);
        left_at_ = 0;
    }

    void finish(std::unique_lock<std::mutex>& lock) {
        state_ = state::finishing;
        measured_ = card_.close() && measured_;
        bool const done = await(lock, card_.now() + patience_);
        auto const t = card_.now();
        if (done && idle_ && std::exchange(measured_, true))
            throttle_.settle(t - start_, card_.alone());
        else
            throttle_.settle_blindly(std::min(t - start_, most_stamina));
        left_at_ = done ? 0 : t;
        idle_ = done;
        patience_ = done ? std::min(patience_ * 2, most_patience) : least_patience;
        state_ = state::idle;
        open_.notify_all();
    }

    /// Whether the card is done by then.
    [[nodiscard]] bool await(std::unique_lock<std::mutex>& lock, nanoseconds deadline) {
        for (auto const begin = card_.now(); !card_.poll();) {
            auto const t = card_.now();
            if (t >= deadline) return false;
            lock.unlock();
            card_.rest(t - begin);
            lock.lock();
        }
        return true;
    }

    throttle throttle_;
    Card card_;
    std::mutex mutex_{};
    std::condition_variable open_{};
    state state_ = state::idle;
    int under_way_ = 0;                    ///< launches that are with the driver now
    nanoseconds start_ = 0;                ///< of the batch
    bool idle_ = true;                     ///< the card was, then
    bool measured_ = true;                 ///< all of it can be waited for
    nanoseconds left_at_ = 0;              ///< when a batch was given up; zero: it was done
    nanoseconds patience_ = most_patience; ///< with a batch that was just launched
    nanoseconds stamina_ = most_stamina;   ///< with one that was given up
};

} // namespace muster::account
