#pragma once

// The gate before launches on a card of which a container has a share of the time.

#include "driver.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/account/gate.hpp>
#include <muster/ext/clock.hpp>
#include <muster/ext/guarded.hpp>
#include <muster/ext/uncancelled.hpp>

#include "memory.hpp"
#include "pools.hpp"
#include "session.hpp"

namespace muster::interposer {

/// The streams of a device that a batch of launches went to, each with the event that tells when it has done them.
class streams {
public:
    explicit streams(CUdevice device) noexcept : device_(device) {}

    // What a gate asks of a card.
    [[nodiscard]] static account::nanoseconds now() noexcept { return ext::now(); }
    static void sleep_until(account::nanoseconds moment) noexcept { ext::sleep_until(moment); }
    static void rest(account::nanoseconds waited) noexcept;
    [[nodiscard]] static ext::uncancelled undisturbed() noexcept { return {}; }
    [[nodiscard]] bool alone() const {
        return ext::guarded(false, [&] { return session::current().alone(device_); });
    }
    [[nodiscard]] bool note(CUstream stream, bool per_thread);
    [[nodiscard]] bool close();
    [[nodiscard]] bool poll() noexcept;
    void drop() noexcept;

    /// Marks the end of what was launched so far: from here on nobody may ask.
    void record_all() noexcept;
    /// A stream goes: what it has to do is done all the same.
    void forget(CUstream stream) noexcept;
    /// A context goes, with all in it.
    void forget(CUcontext context) noexcept;

private:
    struct lane {
        CUcontext context = nullptr;
        CUstream stream = nullptr;
        bool per_thread = false;
        pthread_t thread{}; ///< whose stream it is, if each thread has one of that name
        CUevent event = nullptr;
        bool closed = false; ///< the stream is gone
        bool in_batch = false;
        bool recorded = false;   ///< the event is behind the batch
        bool lost = false;       ///< some of it can't be waited for
        bool unfinished = false; ///< the card isn't known to be done with it

        void record() noexcept;
        [[nodiscard]] bool same(lane const& l) const noexcept {
            return !closed && stream == l.stream && context == l.context && per_thread == l.per_thread &&
                   thread == l.thread;
        }
    };

    CUdevice device_;
    std::vector<lane> lanes_{};
};

/// Calls `f(gate)` for each device whose time is held.
template <class F>
void each_gate(F f) {
    for (std::size_t device = 0; device != account::ledger_cards; ++device)
        if (auto* const g = session::current().gate_made(device); g != nullptr) f(*g);
}

/// Lets no gate come back to a stream or a context that goes.
template <class Handle>
void forget_launches(Handle h) {
    each_gate([h](gate& g) { g.visit([h](streams& all) { all.forget(h); }); });
}

/// A graph is recorded from here on, or will be: what was launched before must be waited for without a question to any
/// stream.
template <class Call>
[[nodiscard]] CUresult recording(Call call) {
    session::current().records = true;
    each_gate([](gate& g) { g.visit([](streams& all) { all.record_all(); }); });
    return call();
}

template <class Call>
[[nodiscard]] CUresult graph_gone(CUgraphExec e, Call call) {
    each_gate([e](gate& g) { g.forget(key_of(e)); });
    return session::current().books.give_back_graph(key_of(e), call);
}

template <class Call>
[[nodiscard]] CUresult paced(std::uint64_t what, CUstream stream, bool per_thread, Call call) {
    auto& s = session::current();
    if (!s.paced()) return call();
    auto* const g = s.gate_of(current_device());
    if (g == nullptr || is_capturing(stream, per_thread)) return call(); // what is recorded takes no time
    return g->launch(
        what, call, [](CUresult r) { return r == CUDA_SUCCESS; }, stream, per_thread);
}

/// What tells a kernel's launches apart: which one, and how large.
template <class Size = unsigned int>
[[nodiscard]] std::uint64_t kind_of(CUfunction f, Size x = 1, Size y = 1, Size z = 1) noexcept {
    auto const size = static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(z);
    return reinterpret_cast<std::uintptr_t>(f) ^ (size * 0x9e37'79b9'7f4a'7c15);
}

/// A launch that is described in a structure; without one the driver says what is wrong.
template <class Config, class Call>
[[nodiscard]] CUresult paced(Config const* c, CUfunction f, bool per_thread, Call call) {
    return c == nullptr ? call()
                        : paced(kind_of(f, c->gridDimX, c->gridDimY, c->gridDimZ), c->hStream, per_thread, call);
}

} // namespace muster::interposer
