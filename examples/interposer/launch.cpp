#include "launch.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <utility>

namespace muster::interposer {

namespace {

/// Makes another context current for a while.
class in_context {
public:
    explicit in_context(CUcontext context) noexcept
        : pushed_(context != current_context() && ask(real().cuCtxPushCurrent_v2, context)) {}
    in_context(in_context const&) = delete;
    in_context& operator=(in_context const&) = delete;
    ~in_context() {
        CUcontext same = nullptr;
        if (pushed_) (void)ask(real().cuCtxPopCurrent_v2, &same);
    }

private:
    bool pushed_;
};

} // namespace

void streams::rest(account::nanoseconds waited) noexcept {
    constexpr account::nanoseconds spin = 3'000'000; // for what a batch should take; sleeping isn't as exact
    constexpr account::nanoseconds nap = 50'000;
    if (waited > spin)
        sleep_until(ext::now() + nap);
    else
        sched_yield();
}

bool streams::note(CUstream stream, bool per_thread) {
    constexpr std::size_t most = 64;
    bool const own = stream == CU_STREAM_PER_THREAD || (per_thread && stream == nullptr);
    lane wanted{current_context(), stream, per_thread, own ? pthread_self() : pthread_t{}};
    auto at = std::find_if(lanes_.begin(), lanes_.end(), [&](lane const& l) { return l.same(wanted); });
    if (at == lanes_.end()) {
        relaxed const while_making;
        for (auto& l : lanes_)
            if (lanes_.size() == most && !l.in_batch && !l.unfinished)
                (void)ask(real().cuEventDestroy_v2, std::exchange(l.event, nullptr));
        std::erase_if(lanes_, [](lane const& l) { return l.event == nullptr; });
        if (lanes_.size() == most || !ask(real().cuEventCreate, &wanted.event, CU_EVENT_DISABLE_TIMING)) return false;
        at = lanes_.insert(lanes_.end(), wanted);
    }
    at->in_batch = true;
    at->recorded = false;
    if (own) at->record(); // nobody else can
    return true;
}

void streams::lane::record() noexcept {
    if (std::exchange(recorded, true)) return;
    in_context const of_the_stream{context};
    // A stream that is recorded from, or gone by a way that no call tells, isn't waited for.
    if (is_capturing(stream, per_thread) ||
        !ask(per_thread ? real().cuEventRecord_ptsz : real().cuEventRecord, event, stream)) {
        in_batch = false;
        lost = true;
    }
}

void streams::record_all() noexcept {
    for (auto& l : lanes_)
        if (l.in_batch) l.record();
}

bool streams::close() {
    record_all();
    bool all = true;
    for (auto& l : lanes_) {
        all = !std::exchange(l.lost, false) && all;
        l.unfinished = std::exchange(l.in_batch, false);
    }
    return all;
}

bool streams::poll() noexcept {
    relaxed const while_asking{true};
    auto* const query = real().cuEventQuery;
    for (auto& l : lanes_)
        if (l.unfinished)
            l.unfinished = query != nullptr ? query(l.event) == CUDA_ERROR_NOT_READY
                                            : ask(real().cuEventSynchronize, l.event) && false;
    return std::none_of(lanes_.begin(), lanes_.end(), [](lane const& l) { return l.unfinished; });
}

void streams::drop() noexcept {
    for (auto& l : lanes_) l.in_batch = false;
}

void streams::forget(CUstream stream) noexcept {
    for (auto& l : lanes_) {
        if (l.stream != stream || l.thread != pthread_t{}) continue;
        if (l.in_batch) l.record();
        l.closed = true; // a new one may get its number
    }
}

void streams::forget(CUcontext context) noexcept {
    std::erase_if(lanes_, [context](lane const& l) { return l.context == context; });
}

} // namespace muster::interposer
