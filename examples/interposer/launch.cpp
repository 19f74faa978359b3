#include "launch.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include <muster/ext/clock.hpp>

namespace muster::interposer {

namespace {

using ext::now;
using ext::sleep_until;

constexpr std::size_t most_lanes = 64;

/// One address a thread.
void const* this_thread() noexcept {
    thread_local char const mark = 0;
    return &mark;
}

/// Makes another context current for a while.
class in_context {
public:
    explicit in_context(CUcontext context) noexcept
        : pushed_(context != current_context() && real().cuCtxPushCurrent_v2 != nullptr &&
                  real().cuCtxPushCurrent_v2(context) == CUDA_SUCCESS) {}
    in_context(in_context const&) = delete;
    in_context& operator=(in_context const&) = delete;
    ~in_context() {
        CUcontext same = nullptr;
        if (pushed_) (void)real().cuCtxPopCurrent_v2(&same);
    }

private:
    bool pushed_;
};

} // namespace

void gate::enter() {
    std::unique_lock lock{mutex_};
    open_.wait(lock, [&] { return !closing_; });
    if (under_way_++ != 0) return;
    throttle_.settle_if_idle(now());
    if (throttle_.in_batch()) return;
    if (left_at_ != 0) catch_up();
    // Whoever comes meanwhile has to wait as well, and does so for the lock.
    if (auto const ready = throttle_.ready_at(); ready > now()) sleep_until(ready);
    start_ = now();
    throttle_.begin(start_);
}

/// Goes on waiting for a batch that wasn't done in time, while the next one has to wait anyway.
void gate::catch_up() {
    relaxed const while_waiting;
    auto const ready = throttle_.ready_at();
    bool const late = now() > ready; // when it was done, nobody can tell
    for (auto& l : lanes_)
        if (std::exchange(l.unfinished, false)) (void)wait_for(l.event, ready);
    if (!late) throttle_.overrun(left_at_, now() - left_at_);
    left_at_ = 0;
}

void gate::leave(std::uint64_t what, CUstream stream, bool per_thread, bool launched) {
    std::unique_lock const lock{mutex_};
    if (launched) {
        auto* const at = lane_of(stream, per_thread);
        bool const full = throttle_.launched(what, now());
        closing_ = closing_ || full || at == nullptr;
    }
    if (--under_way_ != 0 || !closing_) return;
    finish();
    closing_ = false;
    open_.notify_all();
}

/// The lane of a stream, in the batch from now on; null: there is no room for one more.
gate::lane* gate::lane_of(CUstream stream, bool per_thread) {
    bool const own = stream == CU_STREAM_PER_THREAD || (per_thread && stream == nullptr);
    lane wanted{current_context(), stream, per_thread, own ? this_thread() : nullptr};
    auto at = std::find_if(lanes_.begin(), lanes_.end(), [&](lane const& l) {
        return l.stream == wanted.stream && l.context == wanted.context && l.per_thread == per_thread &&
               l.thread == wanted.thread;
    });
    if (at == lanes_.end()) {
        if (lanes_.size() == most_lanes) std::erase_if(lanes_, [](lane const& l) { return !l.in_batch; });
        if (lanes_.size() == most_lanes || real().cuEventCreate(&wanted.event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
            return nullptr;
        at = lanes_.insert(lanes_.end(), wanted);
    }
    at->in_batch = true;
    if (own) at->record(); // nobody else can
    return &*at;
}

void gate::lane::record() noexcept {
    in_context const of_the_stream{context};
    auto* const put = per_thread ? real().cuEventRecord_ptsz : real().cuEventRecord;
    if (put == nullptr || put(event, stream) != CUDA_SUCCESS) event = nullptr; // the stream or its context is gone
}

bool gate::wait_for(CUevent event, std::uint64_t deadline) noexcept {
    constexpr std::uint64_t spin = 3'000'000; // for what a batch should take; sleeping isn't as exact
    if (real().cuEventQuery == nullptr) return real().cuEventSynchronize(event), true;
    for (auto const begin = now();; sched_yield()) {
        if (real().cuEventQuery(event) != CUDA_ERROR_NOT_READY) return true;
        auto const t = now();
        if (t > deadline) return false;
        if (t > begin + spin) sleep_until(t + 50'000);
    }
}

/// Waits for the card to do the batch, and pays for it.
void gate::finish() {
    relaxed const while_waiting;
    auto const deadline = now() + patience_;
    bool done = true;
    for (auto& l : lanes_) {
        if (!std::exchange(l.in_batch, false)) continue;
        if (l.thread == nullptr) l.record();
        l.unfinished = l.event != nullptr && !wait_for(l.event, deadline);
        done = done && !l.unfinished;
    }
    std::erase_if(lanes_, [](lane const& l) { return l.event == nullptr; });
    auto const t = now();
    throttle_.settle(t - start_, done && session::current().alone(device_));
    left_at_ = done ? 0 : t;
    patience_ = done ? std::min(patience_ * 2, most_patience) : least_patience;
}

} // namespace muster::interposer
