#pragma once

// The gate before launches on a card of which a container has a share of the time.

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <muster/account/pace.hpp>

#include "memory.hpp"
#include "real.hpp"
#include "session.hpp"

namespace muster::interposer {

/// Lets launches through in batches of a few milliseconds. A batch starts when the time is paid for, ends when the card
/// has done it, and pays for what it took.
///
/// What one launch takes is learnt by the kernel and its size: at once where it turns out less, slowly where it turns
/// out more, since others on the card make everything seem longer. A batch pays by what was learnt.
class gate {
public:
    gate(account::pace pace, account::detail::word& paid_until) noexcept : pace_(pace), paid_until_(&paid_until) {}

    /// Launches when it may; `what` tells kinds of work apart.
    template <class Call>
    [[nodiscard]] CUresult launch(std::uint64_t what, CUstream stream, bool per_thread, Call call) {
        if (is_capturing(stream, per_thread)) return call(); // records, and takes no time
        std::lock_guard const lock{mutex_};
        enter();
        auto const result = call();
        if (result == CUDA_SUCCESS) leave(what, stream, per_thread);
        return result;
    }

private:
    using nanoseconds = account::nanoseconds;

    struct lane {
        CUstream stream;
        bool per_thread;
    };

    [[nodiscard]] static bool is_capturing(CUstream stream, bool per_thread) noexcept;
    void enter();
    void leave(std::uint64_t what, CUstream stream, bool per_thread);
    void finish();
    void settle(nanoseconds busy);

    account::pace pace_;
    account::detail::word* paid_until_;
    std::mutex mutex_{};
    nanoseconds start_ = 0; ///< of the batch
    nanoseconds last_ = 0;  ///< launch
    double expected_ = 0;   ///< that the batch takes, as far as is known
    bool known_ = true;
    std::unordered_map<std::uint64_t, std::uint32_t> counts_{}; ///< of the batch, by kind
    std::vector<lane> lanes_{};
    std::unordered_map<std::uint64_t, double> price_{}; ///< nanoseconds, by kind
    std::unordered_map<CUcontext, CUevent> events_{};
};

template <class Call>
[[nodiscard]] CUresult paced(std::uint64_t what, CUstream stream, bool per_thread, Call call) {
    auto& s = session::current();
    if (!s.paced()) return call();
    auto* const g = s.gate_of(current_device());
    return g == nullptr ? call() : g->launch(what, stream, per_thread, call);
}

/// What tells a kernel's launches apart: which one, and how large.
[[nodiscard]] inline std::uint64_t kind_of(CUfunction f, unsigned int x, unsigned int y, unsigned int z) noexcept {
    auto const size = std::uint64_t{x} * y * z;
    return reinterpret_cast<std::uintptr_t>(f) ^ (size * 0x9e37'79b9'7f4a'7c15);
}

} // namespace muster::interposer
