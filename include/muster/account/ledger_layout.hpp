#pragma once

/// \file
/// The ledger as it lies in the memory that a container's processes share.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace muster::account {

/// The cards of a container.
inline constexpr std::size_t ledger_cards = 16;

/// The processes of a container that may have memory on a card at one time.
inline constexpr std::size_t ledger_places = 1024;

namespace detail {

using word = std::atomic<std::uint64_t>;
static_assert(word::is_always_lock_free && sizeof(word) == 8, "a word must mean the same to every process");

/// One card. `total` is what all places hold of it, and a little more while somebody is about it.
struct alignas(64) card_cell {
    std::array<word, 2> key{};  ///< of its uuid; no zero once it is taken
    word limit{};               ///< bytes; zero: none
    word total{};               ///< 20 bits of epoch, 44 of bytes
    std::array<word, 6> uuid{}; ///< text, filled with zeros; written after the key, for monitors
    word paid_until{};          ///< nanoseconds: the share of time (account/pace.hpp)
};

/// One process. Nobody but the owner writes here, but for `owner` itself, and who buries it.
struct alignas(64) place_cell {
    word owner{};                            ///< 42 bits of start time, 22 of pid; zero: free
    word begun{};                            ///< changes of totals that were begun, and
    word ended{};                            ///< that were ended; equal: none is under way
    std::array<word, ledger_cards> held{};   ///< bytes that it asked for
    std::array<word, ledger_cards> beside{}; ///< bytes that came along: contexts, modules, workspaces
    word home{};                             ///< the pid namespace that numbers the owner; zero: not known
};

struct ledger_memory {
    std::array<char, 16> magic{};
    std::uint32_t version = 0;
    std::uint32_t places = 0;
    std::uint64_t size = 0;
    std::uint64_t checksum = 0; ///< of the layout
    word ready{};               ///< set last
    word used{};                ///< places beyond were never taken
    std::array<card_cell, ledger_cards> cards{};
    std::array<place_cell, ledger_places> owners{};
};

// What is written here is read by processes of other builds: a change of any of these is a new version.
inline constexpr std::uint32_t ledger_version = 2;
inline constexpr std::array<char, 16> ledger_magic{'m', 'u', 's', 't', 'e', 'r', ' ', 'l', 'e', 'd', 'g', 'e', 'r'};
static_assert(std::is_standard_layout_v<ledger_memory>);
static_assert(sizeof(card_cell) == 128 && offsetof(card_cell, limit) == 16 && offsetof(card_cell, total) == 24 &&
              offsetof(card_cell, paid_until) == 80);
static_assert(sizeof(place_cell) == 320 && offsetof(place_cell, held) == 24 && offsetof(place_cell, beside) == 152 &&
              offsetof(place_cell, home) == 280);
static_assert(offsetof(ledger_memory, ready) == 40 && offsetof(ledger_memory, cards) == 64);
static_assert(offsetof(ledger_memory, owners) == 2112 && sizeof(ledger_memory) == 329'792);

/// FNV-1a of the numbers that readers rely on.
[[nodiscard]] constexpr std::uint64_t layout_checksum() noexcept {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    for (std::uint64_t const part :
         {std::uint64_t{ledger_version}, std::uint64_t{ledger_cards}, std::uint64_t{ledger_places},
          std::uint64_t{sizeof(card_cell)}, std::uint64_t{sizeof(place_cell)}, std::uint64_t{sizeof(ledger_memory)},
          std::uint64_t{offsetof(card_cell, total)}, std::uint64_t{offsetof(card_cell, paid_until)},
          std::uint64_t{offsetof(place_cell, held)}, std::uint64_t{offsetof(place_cell, beside)},
          std::uint64_t{offsetof(place_cell, home)}, std::uint64_t{offsetof(ledger_memory, owners)}})
        for (unsigned shift = 0; shift != 64; shift += 8) hash = (hash ^ ((part >> shift) & 0xff)) * 0x100'0000'01b3;
    return hash;
}

/// Twenty bits tell apart a total before and after the dead were taken out of it.
inline constexpr unsigned total_bits = 44;
inline constexpr std::uint64_t most_bytes = (std::uint64_t{1} << total_bits) - 1;
[[nodiscard]] constexpr std::uint64_t bytes_of(std::uint64_t total) noexcept { return total & most_bytes; }
[[nodiscard]] constexpr std::uint64_t next_epoch(std::uint64_t total, std::uint64_t bytes) noexcept {
    return (((total >> total_bits) + 1) << total_bits) | bytes;
}

inline constexpr unsigned pid_bits = 22; // Linux gives no higher ones

} // namespace detail

} // namespace muster::account
