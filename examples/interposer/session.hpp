#pragma once

// What one process keeps: its limits, its place in the ledger, and which pointer holds how much of which card.

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <muster/account/ledger.hpp>
#include <muster/account/limits.hpp>
#include <muster/ext/ledger_file.hpp>
#include <muster/ext/process.hpp>

namespace muster::interposer {

/// Bytes that a pointer or handle holds of a device.
struct holding {
    CUdevice device = 0;
    std::size_t size = 0;
};

/// A memory pool: what it was charged, which follows what it keeps.
struct pool_state {
    CUdevice device = 0;
    std::size_t charged = 0;
    bool counted = true; ///< not the host's memory
};

/// Physical memory that lives while a handle or a mapping refers to it.
struct physical_state {
    holding held{};
    int handles = 1;
    int mappings = 0;
};

/// A graph's memory: what its allocation nodes will take at launch.
struct graph_state {
    CUdevice device = 0;
    std::unordered_map<CUdeviceptr, std::size_t> nodes{};
};

class gate;

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

    /// Takes bytes of a device: where the limit leaves too little, what pools have let go is counted again first.
    [[nodiscard]] bool reserve(CUdevice device, std::size_t size) noexcept;
    void release(CUdevice device, std::size_t size) noexcept;
    /// Counts what a device has given already, whatever the limit.
    void count(CUdevice device, std::size_t size) noexcept;

    /// Whether some card's share of time is held, so that launches need a closer look.
    [[nodiscard]] bool paced() const noexcept { return paced_; }
    /// The gate before a device's launches; null: its time isn't held.
    [[nodiscard]] gate* gate_of(CUdevice device) noexcept;

    /// The card's limit; zero: none.
    [[nodiscard]] std::size_t limit(CUdevice device) noexcept;
    [[nodiscard]] std::size_t used(CUdevice device) noexcept;
    /// The same for a card that NVML names, with its position there; nothing for a card without a limit.
    struct figures {
        std::size_t limit, used;
    };
    [[nodiscard]] std::optional<figures> figures_of(char const* uuid, unsigned int index) noexcept;

    // Records, under one lock that no driver call is made under.

    void keep(CUdeviceptr p, holding const& h);
    [[nodiscard]] std::optional<holding> take(CUdeviceptr p);

    template <class F>
    auto locked(F f) {
        std::lock_guard const lock{mutex_};
        return f(*this);
    }
    std::map<CUmemoryPool, pool_state> pools{};
    std::unordered_map<CUmemGenericAllocationHandle, physical_state> physical{};
    std::map<CUdeviceptr, std::pair<std::size_t, CUmemGenericAllocationHandle>> mappings{};
    std::unordered_map<CUgraph, graph_state> graphs{};
    std::unordered_map<CUgraphExec, graph_state> executables{};

private:
    static inline std::atomic<session*> the_one{nullptr};
    [[nodiscard]] static session& make() noexcept;
    session() noexcept;
    ~session() = default; // of no use: sessions stay for good

    struct shard {
        std::mutex mutex{};
        std::unordered_map<CUdeviceptr, holding> held{};
    };
    static constexpr std::size_t shard_count = 64;
    [[nodiscard]] shard& shard_of(CUdeviceptr p) noexcept { return shards_[(p * 0x9e37'79b9'7f4a'7c15) >> 58U]; }

    [[nodiscard]] std::optional<account::card_row> row(CUdevice device) noexcept;

    bool on_ = false;
    bool paced_ = false;
    bool deny_ = false; ///< the limits can't be read: nothing may be had
    account::limits limits_{};
    std::optional<ext::ledger_file> file_{};
    account::place place_{};
    std::array<std::atomic<std::uint32_t>, account::ledger_cards> rows_{}; ///< a device: its row, one up
    std::array<std::atomic<gate*>, account::ledger_cards> gates_{};        ///< a device: made when it first launches
    std::mutex mutex_{};
    std::array<shard, shard_count> shards_{};
};

/// One line on standard error, if the level asks for it: 0 nothing, 1 what went wrong, 2 what is odd too.
void say(int level, char const* format, ...) noexcept __attribute__((format(printf, 2, 3)));

} // namespace muster::interposer
