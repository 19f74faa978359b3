#pragma once

/// \file
/// The gate that a process's launches on a card go through, from many threads, a throttle's batches at a time.

#include <algorithm>
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
/// the batch is given up, and paid for as it goes on while the next one waits for its turn.
///
/// `Card` knows the card and the clock, and is called by one thread at a time:
///     nanoseconds now();                   void sleep_until(nanoseconds);
///     bool note(where...);                 remembers where a launch went; false: there is no room for one more
///     bool wait(nanoseconds deadline);     for all that was noted since the last time; false: it isn't done
///     bool wait_on(nanoseconds deadline);  goes on waiting for that
///     bool alone();                        whether no other process has work on the card
/// Cost: two locks a launch besides the throttle's look-ups; none is held while `call` runs.
template <class Card>
class gate {
public:
    gate(throttle const& t, Card card) : throttle_(t), card_(std::move(card)) {}

    /// Calls `call` when it may; `what` tells kinds of work apart, `good(result)` whether there is work now.
    template <class Call, class Good, class... Where>
    [[nodiscard]] auto launch(std::uint64_t what, Call call, Good good, Where const&... where) {
        enter();
        auto const result = call();
        std::unique_lock const lock{mutex_};
        if (good(result)) {
            bool const room = card_.note(where...);
            bool const full = throttle_.launched(what, card_.now());
            closing_ = closing_ || full || !room;
        }
        if (--under_way_ == 0 && closing_) finish();
        return result;
    }

    /// Calls `f(card)` while no other thread does anything to it.
    template <class F>
    void visit(F f) {
        std::lock_guard const lock{mutex_};
        f(card_);
    }

private:
    static constexpr nanoseconds most_patience = 100'000'000;
    static constexpr nanoseconds least_patience = 10'000'000;
    static constexpr nanoseconds most_stamina = 5'000'000'000;
    static constexpr nanoseconds least_stamina = 40'000'000;

    void enter() {
        std::unique_lock lock{mutex_};
        open_.wait(lock, [&] { return !closing_; });
        if (under_way_++ != 0) return;
        throttle_.settle_if_idle(card_.now());
        if (throttle_.in_batch()) return;
        if (left_at_ != 0) catch_up();
        start_ = card_.now();
        // Whoever comes meanwhile has to wait as well, and does so for the lock.
        if (auto const ready = throttle_.ready_at(); ready > start_) card_.sleep_until(ready);
        if (idle_) start_ = card_.now(); // else the card works all the while, and that is paid for
        throttle_.begin(start_);
    }

    /// Goes on waiting for a batch that was given up, as long as there is to wait anyway; every moment of it is paid
    /// for, and what is paid makes the wait longer.
    void catch_up() {
        auto const end = left_at_ + stamina_;
        bool late = card_.now() > throttle_.ready_at(); // when it was done, nobody can tell any more
        do {
            idle_ = card_.wait_on(std::clamp(throttle_.ready_at(), card_.now(), std::max(end, card_.now())));
            auto const t = card_.now();
            if (!late || !idle_) throttle_.overrun(left_at_, std::min(t - left_at_, most_stamina));
            late = false;
            left_at_ = t;
        } while (!idle_ && left_at_ < end);
        stamina_ = idle_ ? std::min(stamina_ * 2, most_stamina) : std::max(stamina_ / 8, least_stamina);
        left_at_ = 0;
    }

    void finish() {
        bool const done = card_.wait(card_.now() + patience_);
        auto const t = card_.now();
        if (done && idle_)
            throttle_.settle(t - start_, card_.alone());
        else
            throttle_.settle_blindly(std::min(t - start_, most_stamina));
        left_at_ = done ? 0 : t;
        idle_ = done;
        patience_ = done ? std::min(patience_ * 2, most_patience) : least_patience;
        closing_ = false;
        open_.notify_all();
    }

    throttle throttle_;
    Card card_;
    std::mutex mutex_{};
    std::condition_variable open_{};
    int under_way_ = 0;                    ///< launches that are with the driver now
    bool closing_ = false;                 ///< the batch takes no more
    nanoseconds start_ = 0;                ///< of the batch
    bool idle_ = true;                     ///< the card was, then
    nanoseconds left_at_ = 0;              ///< when a batch was given up; zero: it was done
    nanoseconds patience_ = most_patience; ///< with a batch that was just launched
    nanoseconds stamina_ = most_stamina;   ///< with one that was given up
};

} // namespace muster::account
