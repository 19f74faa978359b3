#pragma once

/// \file
/// Holds launches to a share of a card's time: batches that start when they are paid for, at prices that are learnt.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <muster/account/ledger_layout.hpp>
#include <muster/account/pace.hpp>

namespace muster::account {

/// One process's launches on one card.
///
/// Launches go in batches of about two milliseconds. A batch starts when the time is paid for and ends when the card
/// has done it; then it is paid. What a launch takes is learnt by its kind, say the kernel and its size. A process that
/// has the card to itself pays what its batches took. Beside others a batch takes longer than it works: there the price
/// falls at once and rises slowly, and counts where it is below what the batch took. Of a program that leaves the card
/// idle between its launches a batch tells little: now and then one of a single launch does.
///
/// How to use: `ready_at` and, once that moment is there, `begin` before the first launch of a batch; `launched` after
/// each; where that says so, wait for the card and `settle`. Nothing here is locked, sleeps or reads a clock.
/// Units: nanoseconds of a clock that never goes back.
/// Cost:  a look-up in a hash table a launch.
/// Source: spec/driver-boundary.md E3.
class throttle {
public:
    /// `paid_until` lies where all processes of the container see it.
    throttle(pace p, detail::word& paid_until) noexcept : pace_(p), paid_until_(&paid_until) {}
    /// A batch stays with the object that it was begun with: only one that has none may be moved.
    throttle(throttle&&) = default;

    /// Whether launches were made that aren't settled.
    [[nodiscard]] bool in_batch() const noexcept { return launches_ != 0; }

    /// When the next batch may start; in the past: at once. A clock that began anew makes nobody wait.
    [[nodiscard]] nanoseconds ready_at(nanoseconds now) const noexcept {
        constexpr nanoseconds most = 30'000'000'000; // by far more than is paid for at a time
        return pace_.ready_at(*paid_until_, now, most);
    }

    /// Settles a batch that nothing was added to for so long that the card must have done it; whether there was one.
    [[nodiscard]] bool settled_if_idle(nanoseconds now) {
        if (!in_batch() || !known_ || now <= last_ + idle_gap) return false;
        fed_ = false; // such batches tell nothing: now and then one must be measured
        settle(std::min(now - start_, static_cast<nanoseconds>(expected_)), false);
        return true;
    }

    /// A kind of work is no more; another may get its number.
    void forget(std::uint64_t what) {
        auto const at = kinds_.find(what);
        if (at == kinds_.end()) return;
        at->second.price = not_known;
        if (at->second.count == 0) kinds_.erase(at);
    }

    void begin(nanoseconds now) noexcept { start_ = now; }

    /// Notes a launch; `what` tells kinds of work apart. Whether the batch is to be waited for.
    [[nodiscard]] bool launched(std::uint64_t what, nanoseconds now) {
        fed_ = fed_ && (!in_batch() || now <= start_ + static_cast<nanoseconds>(expected_));
        auto& k = kinds_[what];
        if (k.count++ == 0) batch_.push_back(&k);
        ++launches_;
        known_ = known_ && k.price != not_known;
        expected_ += std::max(k.price, 0.0);
        last_ = now;
        return !known_ || sample_ || expected_ >= static_cast<double>(batch_length);
    }

    /// Pays for the batch, of which the card was done `busy` after its start, and learns from it. `alone`: no other
    /// process had work on the card.
    void settle(nanoseconds busy, bool alone) {
        bool const true_to_life = alone && fed_ && known_; // the card neither idled in between nor worked for others
        // Who waits for the card may wake late; work that grows is learnt in a few batches all the same.
        auto const took = true_to_life
                              ? std::min(static_cast<double>(busy), most_stretch * std::max(expected_, least_expected))
                              : static_cast<double>(busy);
        auto const even = took / launches_;
        double known = 0;
        for (auto* const k : batch_) {
            auto const measured = expected_ > 0 && k->price != not_known ? k->price * took / expected_ : even;
            if (k->price == not_known)
                k->price = even;
            else if (true_to_life)
                k->price += (measured - k->price) / (sample_ ? 2 : quick);
            else if (measured < k->price || fed_)
                k->price = std::min(measured, k->price + (measured - k->price) / slow);
            known += k->price * k->count;
        }
        pace_.pay(*paid_until_, start_, static_cast<nanoseconds>(true_to_life ? took : std::min(took, known)));
        sample_ = !fed_ && ++idled_ % sample_every == 0;
        clear();
    }

    /// Pays for the time of a batch that tells nothing of its launches: they aren't done, or something else was not.
    void settle_blindly(nanoseconds busy) noexcept {
        overrun(start_, busy);
        clear();
    }

    /// Pays for work that went on, from `since`, after its batch was settled.
    void overrun(nanoseconds since, nanoseconds busy) noexcept { pace_.pay(*paid_until_, since, busy); }

private:
    static constexpr nanoseconds batch_length = 2'000'000;
    static constexpr nanoseconds idle_gap = 300'000;
    static constexpr double not_known = -1;
    static constexpr double most_stretch = 4;
    static constexpr double least_expected = 100'000;
    static constexpr double quick = 8;
    static constexpr double slow = 1024;
    static constexpr unsigned sample_every = 4;
    static constexpr std::size_t most_kinds = 8192;

    /// What is known of a kind of work.
    struct kind {
        double price = not_known; ///< nanoseconds
        std::uint32_t count = 0;  ///< in the batch
    };

    void clear() noexcept {
        for (auto* const k : batch_) k->count = 0;
        batch_.clear();
        if (kinds_.size() > most_kinds) kinds_.clear(); // of kernels and sizes that come only once
        launches_ = 0;
        expected_ = 0;
        known_ = true;
        fed_ = true;
    }

    pace pace_;
    detail::word* paid_until_;
    nanoseconds start_ = 0; ///< of the batch
    nanoseconds last_ = 0;  ///< launch
    double expected_ = 0;   ///< that the batch takes, as far as is known
    double launches_ = 0;
    bool known_ = true;   ///< the price of each launch is
    bool fed_ = true;     ///< each launch came while the card had work
    bool sample_ = false; ///< the batch is to be one launch, so that no pause is in it
    unsigned idled_ = 0;  ///< batches in which the card had nothing to do for a while
    std::unordered_map<std::uint64_t, kind> kinds_{};
    std::vector<kind*> batch_{}; ///< those that are in it
};

} // namespace muster::account
