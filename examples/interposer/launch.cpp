#include "launch.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "table.hpp"

namespace muster::interposer {

namespace {

constexpr account::nanoseconds batch_length = 2'000'000;
constexpr account::nanoseconds idle_gap = 300'000; ///< nothing launched for so long: the card has done what there was
constexpr std::size_t most_lanes = 16;

account::nanoseconds now() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<account::nanoseconds>(t.tv_sec) * 1'000'000'000 + static_cast<account::nanoseconds>(t.tv_nsec);
}

void sleep_until(account::nanoseconds moment) noexcept {
    timespec const t{static_cast<time_t>(moment / 1'000'000'000), static_cast<long>(moment % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
    }
}

/// Another thread may be recording a graph: what is done here is none of its business.
class relaxed {
public:
    relaxed() noexcept { exchange(); }
    relaxed(relaxed const&) = delete;
    relaxed& operator=(relaxed const&) = delete;
    ~relaxed() { exchange(); }

private:
    void exchange() noexcept {
        if (real().cuThreadExchangeStreamCaptureMode != nullptr) (void)real().cuThreadExchangeStreamCaptureMode(&mode_);
    }
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace

bool gate::is_capturing(CUstream stream, bool per_thread) noexcept {
    auto* const ask = per_thread ? real().cuStreamIsCapturing_ptsz : real().cuStreamIsCapturing;
    if (ask == nullptr) return false;
    auto status = CU_STREAM_CAPTURE_STATUS_NONE;
    return ask(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void gate::enter() {
    auto const t = now();
    // Launches that come one by one: what they took is what is known of them, not the time between them.
    if (!counts_.empty() && t - last_ > idle_gap && known_)
        settle(std::min(t - start_, static_cast<nanoseconds>(expected_)));
    if (!counts_.empty()) return;
    if (auto const ready = pace_.ready_at(*paid_until_); ready > t) sleep_until(ready);
    start_ = now();
}

void gate::leave(std::uint64_t what, CUstream stream, bool per_thread) {
    ++counts_[what];
    auto const price = price_.find(what);
    known_ = known_ && price != price_.end();
    expected_ += price == price_.end() ? 0 : price->second;
    bool const seen = std::any_of(lanes_.begin(), lanes_.end(),
                                  [&](lane const& l) { return l.stream == stream && l.per_thread == per_thread; });
    if (!seen) lanes_.push_back({stream, per_thread});
    last_ = now();
    if (!known_ || expected_ >= static_cast<double>(batch_length) || lanes_.size() == most_lanes) finish();
}

/// Waits for the card to do the batch.
void gate::finish() {
    relaxed const while_waiting;
    CUcontext context = nullptr;
    (void)real().cuCtxGetCurrent(&context);
    auto& event = events_[context];
    for (auto const& l : lanes_) {
        if (event == nullptr && real().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) event = nullptr;
        auto* const record = l.per_thread ? real().cuEventRecord_ptsz : real().cuEventRecord;
        if (event == nullptr || record == nullptr || record(event, l.stream) != CUDA_SUCCESS ||
            real().cuEventSynchronize(event) != CUDA_SUCCESS)
            event = nullptr; // of a context that is gone, or on a stream that is; made anew next time
    }
    settle(now() - start_);
}

/// Pays for the batch, and learns from it.
void gate::settle(nanoseconds busy) {
    auto const took = static_cast<double>(busy);
    std::uint32_t launches = 0;
    for (auto const& [what, count] : counts_) launches += count;
    double known = 0;
    for (auto const& [what, count] : counts_) {
        auto const [at, fresh] = price_.try_emplace(what, took / launches);
        auto const measured = expected_ > 0 && !fresh ? at->second * took / expected_ : took / launches;
        at->second = std::min(measured, at->second + (measured - at->second) / 1024);
        known += at->second * count;
    }
    pace_.pay(*paid_until_, start_, static_cast<nanoseconds>(std::min(took, known)));
    counts_.clear();
    lanes_.clear();
    expected_ = 0;
    known_ = true;
}

} // namespace muster::interposer
