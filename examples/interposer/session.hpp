#pragma once

// What one process keeps: its limits, its place in the ledger, and which pointer holds how much of which card.

#include "driver.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <muster/account/books.hpp>
#include <muster/account/gate.hpp>
#include <muster/account/ledger.hpp>
#include <muster/account/limits.hpp>
#include <muster/account/overhead.hpp>
#include <muster/ext/ledger_file.hpp>
#include <muster/ext/process.hpp>

namespace muster::interposer {

class streams;
using gate = account::gate<streams>;
using processes = std::vector<account::card_process>;
class session;
using process_books = account::books<session, CUresult, CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY>;

/// One process. A forked child makes its own: the parent's pointers mean nothing there.
class session {
public:
    /// The process's session, made on the first call.
    [[nodiscard]] static session& current() noexcept {
        auto* const there = the_one.load(std::memory_order_acquire);
        return there != nullptr ? *there : make();
    }

    /// Whether anything is to be held to a limit or counted at all.
    [[nodiscard]] bool on() const noexcept { return on_; }
    /// Whether managed memory may lie in the host's, and counts for nothing.
    [[nodiscard]] bool oversubscribes() const noexcept { return limits_.oversubscribe; }

    /// Takes bytes of a device: where the limit leaves too little, what is kept for later is let go first.
    [[nodiscard]] bool reserve(CUdevice device, std::size_t size);
    void release(CUdevice device, std::size_t size);
    /// Counts what a device has given already, whatever the limit.
    void count(CUdevice device, std::size_t size);
    [[nodiscard]] bool exceeds(CUdevice device) { return limit(device) != 0 && used(device) > limit(device); }
    /// Whether some card's share of time is held, so that launches need a closer look.
    [[nodiscard]] bool paced() const noexcept { return paced_; }
    /// The gate before a device's launches; null: its time isn't held.
    [[nodiscard]] gate* gate_of(CUdevice device);
    /// The same, if there is one yet.
    [[nodiscard]] gate* gate_made(std::size_t device) noexcept;
    /// Whether no other process has anything on the card, as of the last second.
    [[nodiscard]] bool alone(CUdevice device);

    /// The card's limit; zero: none.
    [[nodiscard]] std::size_t limit(CUdevice device);
    [[nodiscard]] std::size_t used(CUdevice device);
    /// The same for a card that NVML names, with its position there, and the container's processes with what each holds
    /// of it; nothing for a card without a limit.
    struct figures {
        std::size_t limit, used;
        processes members{};
    };
    [[nodiscard]] std::optional<figures> figures_of(std::string const& uuid, unsigned int index);

    // What nobody announces: contexts, code, local memory. NVML knows what a process has in all.

    /// The processes on a device before a context is made there; none if this one is known.
    [[nodiscard]] processes others_on(CUdevice device);
    /// Learns from them which of the processes is this one, and counts the context.
    void context_made(CUdevice device, processes const& before);
    /// Whether `measure` has anything to go by.
    [[nodiscard]] bool can_measure() const noexcept { return overhead_.known(); }
    void measure(CUdevice device);
    void measure_all();

    process_books books{*this};

    // What operations keep of the driver's answers.

    std::array<std::atomic<CUcontext>, account::ledger_cards> primaries{};
    std::array<std::atomic<int>, account::ledger_cards> retained{}; ///< how often each is
    /// The pool that each device's allocations come from; null: not asked for yet.
    std::array<std::atomic<CUmemoryPool>, account::ledger_cards> current_pools{};
    std::atomic<account::nanoseconds> next_measure{0}; ///< not before
    std::atomic<int> devices{0};                       ///< there are; zero: not asked for yet
    /// Whether graphs were ever recorded, so that questions to the driver must take care.
    std::atomic<bool> records{false};

private:
    static inline std::atomic<session*> the_one{nullptr};
    [[nodiscard]] static session& make() noexcept;
    session() noexcept;

    /// A device of the process: which card it is, by whatever order.
    struct known_card {
        std::atomic<std::uint32_t> row{0}; ///< of the ledger, one up; zero: not looked up
        std::atomic<gate*> its_gate{nullptr};
        std::atomic<bool> alone{false};
        std::mutex measuring{};
        std::uint64_t beside = 0; ///< what there is beside what was asked for, as last measured
        std::atomic<account::nanoseconds> next_look{0};
        std::string uuid{};
        std::size_t position = 0; ///< among the container's cards, as its limits are numbered
    };
    [[nodiscard]] std::optional<account::card_row> row(CUdevice device);
    [[nodiscard]] std::optional<account::card_row> look_up(CUdevice device);
    [[nodiscard]] std::size_t position_of(CUdevice device, std::string const& uuid) const;

    bool on_ = false;
    bool paced_ = false;
    bool deny_ = false; ///< the limits can't be read: nothing may be had
    account::limits limits_{};
    std::optional<ext::ledger_file> file_{};
    account::place place_{};
    std::array<known_card, account::ledger_cards> cards_{};
    std::mutex looking_{};
    account::overhead overhead_{};
    std::atomic<bool> had_context_{false};
    std::atomic<account::nanoseconds> next_sweep_{0};
};

} // namespace muster::interposer
