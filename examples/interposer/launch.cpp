#include "launch.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace muster::interposer {

namespace {

/// One address a thread.
void const* this_thread() noexcept {
    thread_local char const mark = 0;
    return &mark;
}

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

/// Whether what was before an event is done by then.
bool is_done(CUevent event, account::nanoseconds deadline) noexcept {
    constexpr account::nanoseconds spin = 3'000'000; // for what a batch should take; sleeping isn't as exact
    constexpr account::nanoseconds nap = 50'000;
    if (real().cuEventQuery == nullptr) return (void)ask(real().cuEventSynchronize, event), true;
    for (auto const begin = ext::now(); real().cuEventQuery(event) == CUDA_ERROR_NOT_READY;) {
        auto const t = ext::now();
        if (t > deadline) return false;
        if (t > begin + spin)
            ext::sleep_until(t + nap);
        else
            sched_yield();
    }
    return true;
}

} // namespace

bool streams::note(CUstream stream, bool per_thread) {
    constexpr std::size_t most = 64;
    bool const own = stream == CU_STREAM_PER_THREAD || (per_thread && stream == nullptr);
    lane wanted{current_context(), stream, per_thread, own ? this_thread() : nullptr};
    auto at = std::find_if(lanes_.begin(), lanes_.end(), [&](lane const& l) { return l.same(wanted); });
    if (at == lanes_.end()) {
        if (lanes_.size() == most) std::erase_if(lanes_, [](lane const& l) { return !l.in_batch && !l.unfinished; });
        relaxed const while_making;
        if (lanes_.size() == most || !ask(real().cuEventCreate, &wanted.event, CU_EVENT_DISABLE_TIMING)) return false;
        at = lanes_.insert(lanes_.end(), wanted);
    }
    at->in_batch = true;
    if (own) at->record(); // nobody else can
    return true;
}

void streams::lane::record() noexcept {
    in_context const of_the_stream{context};
    // Where that fails, there is nothing to wait for.
    if (!ask(per_thread ? real().cuEventRecord_ptsz : real().cuEventRecord, event, stream)) event = nullptr;
    recorded = true;
}

void streams::forget(CUstream stream) noexcept {
    for (auto& l : lanes_) {
        if (l.stream != stream || l.thread != nullptr) continue;
        if (l.in_batch && !l.recorded) l.record();
        l.stream = nullptr; // a new one may get its number
        l.thread = this;    // which no launch has
    }
}

void streams::forget(CUcontext context) noexcept {
    std::erase_if(lanes_, [context](lane const& l) { return l.context == context; });
}

bool streams::wait(account::nanoseconds deadline) {
    for (auto& l : lanes_) {
        l.unfinished = std::exchange(l.in_batch, false);
        if (l.unfinished && !std::exchange(l.recorded, false)) l.record();
        l.recorded = false;
    }
    return wait_on(deadline);
}

bool streams::wait_on(account::nanoseconds deadline) {
    relaxed const while_waiting;
    bool done = true;
    for (auto& l : lanes_) {
        l.unfinished = l.unfinished && l.event != nullptr && !is_done(l.event, deadline);
        done = done && !l.unfinished;
    }
    std::erase_if(lanes_, [](lane const& l) { return l.event == nullptr; });
    return done;
}

} // namespace muster::interposer
