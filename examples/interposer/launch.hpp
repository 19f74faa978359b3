#pragma once

// The gate before launches on a card of which a container has a share of the time.

#include "driver.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include <muster/account/throttle.hpp>

#include "memory.hpp"
#include "pools.hpp"
#include "session.hpp"

namespace muster::interposer {

/// Lets launches through when the throttle says so, waits for the card where it says so, and tells it what that took.
///
/// No launch waits for ever: work that is not done in good time may be waiting for a launch that is still to come.
class gate {
public:
    gate(CUdevice device, account::pace pace, account::detail::word& paid_until) noexcept
        : device_(device), throttle_(pace, paid_until) {}

    /// Launches when it may; `what` tells kinds of work apart.
    template <class Call>
    [[nodiscard]] CUresult launch(std::uint64_t what, CUstream stream, bool per_thread, Call call) {
        if (is_capturing(stream, per_thread)) return call(); // records, and takes no time
        enter();
        auto const result = call();
        leave(what, stream, per_thread, result == CUDA_SUCCESS);
        return result;
    }

private:
    /// A stream, with the event that tells when it has done the batch.
    struct lane {
        CUcontext context = nullptr;
        CUstream stream = nullptr;
        bool per_thread = false;
        void const* thread = nullptr; ///< whose stream it is, if each thread has one of that name
        CUevent event = nullptr;
        bool in_batch = false;
        bool unfinished = false; ///< the batch wasn't waited for to its end

        void record() noexcept;
    };

    void enter();
    void catch_up();
    void leave(std::uint64_t what, CUstream stream, bool per_thread, bool launched);
    [[nodiscard]] lane* lane_of(CUstream stream, bool per_thread);
    void finish();
    [[nodiscard]] bool wait_for(CUevent event, std::uint64_t deadline) noexcept;

    CUdevice device_;
    account::throttle throttle_;
    std::mutex mutex_{};
    std::condition_variable open_{};
    int under_way_ = 0;         ///< launches that are with the driver now
    bool closing_ = false;      ///< the batch takes no more
    std::uint64_t start_ = 0;   ///< of the batch
    std::uint64_t left_at_ = 0; ///< when a batch was given up that wasn't done; zero: it was
    std::uint64_t patience_ = most_patience;
    std::vector<lane> lanes_{};

    static constexpr std::uint64_t most_patience = 100'000'000;
    static constexpr std::uint64_t least_patience = 10'000'000;
};

template <class Call>
[[nodiscard]] CUresult paced(std::uint64_t what, CUstream stream, bool per_thread, Call call) {
    auto& s = session::current();
    if (!s.paced()) return call();
    auto* const g = s.gate_of(current_device());
    return g == nullptr ? call() : g->launch(what, stream, per_thread, call);
}

/// What tells a kernel's launches apart: which one, and how large.
template <class Size = unsigned int>
[[nodiscard]] std::uint64_t kind_of(CUfunction f, Size x = 1, Size y = 1, Size z = 1) noexcept {
    auto const size = static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(z);
    return reinterpret_cast<std::uintptr_t>(f) ^ (size * 0x9e37'79b9'7f4a'7c15);
}

} // namespace muster::interposer
