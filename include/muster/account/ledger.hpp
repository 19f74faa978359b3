#pragma once

/// \file
/// Who of a container holds how much of its cards: a ledger in shared memory that survives the death of anybody.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include <muster/account/ledger_layout.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/result.hpp>
#include <muster/resource/units.hpp>

namespace muster::account {

/// A process: its number, and when it started, since numbers come again.
struct process {
    std::uint32_t pid = 0;
    std::uint64_t started = 0; ///< in ticks since boot: field 22 of /proc/PID/stat

    friend constexpr bool operator==(process const&, process const&) noexcept = default;
};

/// A card's row in a ledger.
using card_row = id<struct card_row_tag>;

/// A process's row in a ledger.
using place = id<struct place_tag>;

namespace detail {

/// Where a test may stop a process for good; in earnest it does nothing.
struct no_step {
    constexpr void operator()() const noexcept {}
};

/// For who asks nobody before a place is claimed.
struct any_place {
    constexpr bool operator()(place) const noexcept { return true; }
};

/// Adds to a total unless it would pass the limit (zero: none) or what can be counted.
[[nodiscard]] inline bool add_within(word& total, std::uint64_t amount, std::uint64_t limit) noexcept {
    auto const most = limit == 0 ? most_bytes : std::min(limit, most_bytes);
    auto seen = total.load();
    do {
        auto const now = bytes_of(seen);
        if (amount > most || now > most - amount) return false;
    } while (!total.compare_exchange_weak(seen, seen + amount));
    return true;
}

/// Takes as much as is there, at most `amount`; says how much.
[[nodiscard]] inline std::uint64_t take(word& from, std::uint64_t amount) noexcept {
    auto seen = from.load();
    while (!from.compare_exchange_weak(seen, seen - std::min(seen, amount))) {
    }
    return std::min(seen, amount);
}

// The order of these steps is the ledger's whole secret: at every one of them the total is at least the sum of what
// the places hold, so that a death in between can only count too much, which `settle` finds.

/// Counts `amount` in: total first.
template <class Step = no_step>
[[nodiscard]] bool charge(card_cell& card, place_cell& owner, word& held, std::uint64_t amount, std::uint64_t limit,
                          Step step = {}) noexcept {
    owner.begun.fetch_add(1);
    step();
    bool const fits = add_within(card.total, amount, limit);
    step();
    if (fits) held.fetch_add(amount);
    step();
    owner.ended.fetch_add(1);
    return fits;
}

/// Counts at most `amount` out: total last.
template <class Step = no_step>
void discharge(card_cell& card, place_cell& owner, word& held, std::uint64_t amount, Step step = {}) noexcept {
    owner.begun.fetch_add(1);
    step();
    auto const taken = take(held, amount);
    step();
    card.total.fetch_sub(taken);
    step();
    owner.ended.fetch_add(1);
}

} // namespace detail

/// A view of shared memory. It may be copied; it owns nothing.
///
/// No call waits for another process, whatever that does or however it ends, and a reservation takes no lock: it is one
/// addition to the card's total that fails where the limit would be passed. What each process holds stands beside it,
/// so that the dead can be taken out; what a death between two steps left in a total is found by summing up while
/// nobody is about it.
///
/// `gone(place, process, home)` tells whether a process is dead; it is asked only by `sweep` and by what must sweep.
/// Who is called dead must never write again. `home` is the pid namespace that the number belongs to, zero where that
/// isn't known. What `gone` returns, a bool or something as good as one, is kept until the place is free: it may be a
/// lock that keeps others from burying the same process.
///
/// Cost: a reservation four atomic changes; sweeping a question a process, and a pass over the places.
/// Source: spec/driver-boundary.md D.
class ledger {
public:
    [[nodiscard]] static constexpr std::size_t size() noexcept { return sizeof(detail::ledger_memory); }

    /// Makes an empty ledger; nobody may use the memory yet.
    ///
    /// Errors: `torn` if the memory is too short or not aligned to 64 bytes.
    [[nodiscard]] static result<ledger> create(std::span<std::byte> memory) noexcept {
        if (!roomy(memory)) return fail(errc::torn);
        auto* const m = new (memory.data()) detail::ledger_memory{};
        m->magic = detail::ledger_magic;
        m->version = detail::ledger_version;
        m->places = ledger_places;
        m->size = size();
        m->checksum = detail::layout_checksum();
        m->ready.store(1);
        return ledger{*m};
    }

    /// The ledger that is there.
    ///
    /// Errors: `torn` if it is cut short, not aligned or was never finished; `foreign` if it is something else;
    ///         `other_version`.
    [[nodiscard]] static result<ledger> attach(std::span<std::byte> memory) noexcept {
        if (memory.size() < detail::ledger_magic.size()) return fail(errc::torn);
        if (std::memcmp(memory.data(), detail::ledger_magic.data(), detail::ledger_magic.size()) != 0)
            return fail(errc::foreign);
        if (memory.size() < offsetof(detail::ledger_memory, cards)) return fail(errc::torn);
        std::uint32_t version = 0;
        std::memcpy(&version, memory.data() + offsetof(detail::ledger_memory, version), sizeof version);
        if (version != detail::ledger_version) return fail(errc::other_version);
        if (!roomy(memory)) return fail(errc::torn);
        auto* const m = std::launder(reinterpret_cast<detail::ledger_memory*>(memory.data()));
        if (m->size != size() || m->checksum != detail::layout_checksum()) return fail(errc::other_version);
        if (m->ready.load() != 1) return fail(errc::torn);
        return ledger{*m};
    }

    // Cards.

    /// The row of a card, added if it isn't there. Errors: `empty`, `full`.
    [[nodiscard]] result<card_row> card(std::string_view uuid) noexcept {
        if (uuid.empty()) return fail(errc::empty);
        std::array<std::uint64_t, 2> const key{hashed(uuid, 0xcbf2'9ce4'8422'2325),
                                               hashed(uuid, 0x9e37'79b9'7f4a'7c15)};
        for (card_row row{0}; row.index() != ledger_cards; ++row.value) {
            auto& cell = m_->cards[row.index()];
            if (!claim(cell.key[0], key[0]) || !claim(cell.key[1], key[1])) continue;
            std::array<std::uint64_t, 6> text{};
            std::memcpy(text.data(), uuid.data(), std::min(uuid.size(), sizeof text - 1));
            for (std::size_t i = 0; i != text.size(); ++i) cell.uuid[i].store(text[i]);
            return row;
        }
        return fail(errc::full);
    }

    /// The row of a card, if there is one.
    [[nodiscard]] std::optional<card_row> find(std::string_view uuid) const {
        std::optional<card_row> found;
        each_card([&](card_row r, std::string_view id) { found = id == uuid ? r : found; });
        return found;
    }

    /// Lowers a card's limit; a higher one, or none (zero), changes nothing. The strictest of all processes' counts.
    void tighten(card_row card, bytes limit) noexcept {
        if (limit <= bytes{0}) return;
        auto const wanted = static_cast<std::uint64_t>(limit.value);
        auto& stored = cell(card).limit;
        auto seen = stored.load();
        while ((seen == 0 || wanted < seen) && !stored.compare_exchange_weak(seen, wanted)) {
        }
    }

    /// The card's limit; zero: none.
    [[nodiscard]] bytes limit(card_row card) const noexcept { return signed_of(cell(card).limit.load()); }
    /// What all processes hold of a card; the dead count until somebody sweeps.
    [[nodiscard]] bytes used(card_row card) const noexcept {
        return signed_of(detail::bytes_of(cell(card).total.load()));
    }
    /// Up to when the card's time is paid for by all processes: for a `pace`.
    [[nodiscard]] detail::word& paid_until(card_row card) noexcept { return cell(card).paid_until; }
    /// Calls `f(card_row, uuid)` for each card.
    template <class F>
    void each_card(F f) const {
        for (card_row row{0}; row.index() != ledger_cards; ++row.value) {
            auto const& c = cell(row);
            if (c.key[0].load() == 0 || c.key[1].load() == 0) continue;
            std::array<std::uint64_t, 6> words{};
            for (std::size_t i = 0; i != words.size(); ++i) words[i] = c.uuid[i].load();
            std::array<char, sizeof words> text{};
            std::memcpy(text.data(), words.data(), sizeof words);
            f(row, std::string_view{text.data(), std::find(text.begin(), text.end(), '\0')});
        }
    }

    // Processes.

    /// Takes a place for a process.
    ///
    /// `hold(place)` is asked before a free place is claimed, so that no process ever stands there without what it
    /// takes hold of. It may refuse; it is asked for another place when the claim came too late. Errors: `out_of_range`
    /// for a pid that Linux doesn't give, `full`.
    template <class Gone, class Hold = detail::any_place>
    [[nodiscard]] result<place> join(process self, Gone&& gone, Hold&& hold = {}) noexcept {
        if (self.pid == 0 || self.pid >> detail::pid_bits != 0 || self.started >> (64 - detail::pid_bits) != 0)
            return fail(errc::out_of_range);
        for (bool const again : {false, true}) {
            if (again) sweep(self, gone);
            for (place p{0}; p.index() != ledger_places; ++p.value) {
                auto& owner = cell(p).owner;
                std::uint64_t nobody = owner.load();
                if (nobody != 0 || !hold(p) || !owner.compare_exchange_strong(nobody, packed(self))) continue;
                auto used = m_->used.load();
                while (used <= p.index() && !m_->used.compare_exchange_weak(used, p.index() + 1)) {
                }
                // Whoever sums up began before this place was taken, and must not finish.
                for (auto& c : m_->cards) new_epoch(c.total);
                return p;
            }
        }
        return fail(errc::full);
    }

    /// Says in which pid namespace a place's process has its number.
    void set_home(place p, std::uint64_t home) noexcept { cell(p).home.store(home); }

    /// Gives back all that a place holds, and the place.
    void leave(place p) noexcept {
        empty_out(cell(p));
        cell(p).home.store(0);
        cell(p).owner.store(0);
    }

    /// Takes bytes of a card for a process; `gone` is asked only if the card seems full.
    ///
    /// Errors: `over_limit`; nothing is taken.
    template <class Gone>
    [[nodiscard]] result<void> reserve(place p, card_row card, bytes amount, Gone&& gone) noexcept {
        if (amount < bytes{0}) return fail(errc::negative);
        if (charged(p, card, amount)) return {};
        sweep(owner_of(p), gone);
        if (charged(p, card, amount)) return {};
        return fail(errc::over_limit);
    }

    /// Counts bytes that a process has got already, whatever the limit says.
    void charge(place p, card_row card, bytes amount) noexcept {
        if (amount > bytes{0})
            (void)detail::charge(cell(card), cell(p), cell(p).held[card.index()],
                                 static_cast<std::uint64_t>(amount.value), 0);
    }

    /// Gives bytes back; never more than the place holds.
    void release(place p, card_row card, bytes amount) noexcept {
        if (amount > bytes{0})
            detail::discharge(cell(card), cell(p), cell(p).held[card.index()],
                              static_cast<std::uint64_t>(amount.value));
    }

    /// Sets what comes along with a process on a card. It is there whether or not the limit likes it.
    void set_beside(place p, card_row card, bytes amount) noexcept {
        auto& beside = cell(p).beside[card.index()];
        auto const wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(amount.value, 0));
        auto const now = beside.load();
        if (wanted > now)
            (void)detail::charge(cell(card), cell(p), beside, wanted - now, 0);
        else if (wanted < now)
            detail::discharge(cell(card), cell(p), beside, now - wanted);
    }

    [[nodiscard]] bytes held(place p, card_row card) const noexcept {
        return signed_of(cell(p).held[card.index()].load());
    }
    [[nodiscard]] bytes beside(place p, card_row card) const noexcept {
        return signed_of(cell(p).beside[card.index()].load());
    }
    /// Whose place it is; pid 0: nobody's.
    [[nodiscard]] process owner_of(place p) const noexcept { return unpacked(cell(p).owner.load()); }
    /// The pid namespace of a place's process; zero: not known.
    [[nodiscard]] std::uint64_t home_of(place p) const noexcept { return cell(p).home.load(); }
    /// Calls `f(place, process)` for each process.
    template <class F>
    void each_process(F f) const {
        for (place p{0}; p.index() < used_places(); ++p.value)
            if (auto const owner = owner_of(p); owner.pid != 0) f(p, owner);
    }

    /// Takes the dead out: `self` inherits their places, gives back what they held and leaves; then every total is
    /// what the living hold. A total that is busy all the while stays as it is, too high if anything.
    template <class Gone>
    void sweep(process self, Gone&& gone) noexcept {
        for (place p{0}; p.index() < used_places(); ++p.value) {
            auto owner = cell(p).owner.load();
            if (owner == 0) continue;
            // A place is buried by one at a time: with locks, who has its lock, until it is free; without, who
            // exchanges the owner, since to the others that is a living process from then on. A burier that is killed
            // leaves its own number there and an open lock: one more dead process, with half a place, which the next
            // inherits.
            auto const grave = gone(p, unpacked(owner), home_of(p));
            if (!grave || !cell(p).owner.compare_exchange_strong(owner, packed(self))) continue;
            cell(p).ended.store(cell(p).begun.load()); // what the dead had begun is over
            leave(p);
        }
        for (auto& c : m_->cards) settle(c);
    }

private:
    explicit ledger(detail::ledger_memory& m) noexcept : m_(&m) {}

    [[nodiscard]] std::size_t used_places() const noexcept {
        return std::min<std::size_t>(m_->used.load(), ledger_places);
    }
    [[nodiscard]] static bool roomy(std::span<std::byte> memory) noexcept {
        return memory.size() >= size() &&
               reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(detail::ledger_memory) == 0;
    }
    [[nodiscard]] static std::uint64_t hashed(std::string_view text, std::uint64_t hash) noexcept {
        for (auto const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
        hash ^= hash >> 32U;
        return hash == 0 ? 1 : hash;
    }
    /// Whether the word is the key's, now if it was nobody's.
    [[nodiscard]] static bool claim(detail::word& word, std::uint64_t key) noexcept {
        std::uint64_t seen = 0;
        return word.compare_exchange_strong(seen, key) || seen == key;
    }
    [[nodiscard]] static constexpr std::uint64_t packed(process p) noexcept {
        return p.started << detail::pid_bits | p.pid;
    }
    [[nodiscard]] static constexpr process unpacked(std::uint64_t owner) noexcept {
        return {static_cast<std::uint32_t>(owner & ((std::uint64_t{1} << detail::pid_bits) - 1)),
                owner >> detail::pid_bits};
    }
    [[nodiscard]] static constexpr bytes signed_of(std::uint64_t amount) noexcept {
        return bytes{static_cast<std::int64_t>(amount)};
    }
    static void new_epoch(detail::word& total) noexcept {
        auto seen = total.load();
        while (!total.compare_exchange_weak(seen, detail::next_epoch(seen, detail::bytes_of(seen)))) {
        }
    }

    [[nodiscard]] bool charged(place p, card_row card, bytes amount) noexcept {
        return detail::charge(cell(card), cell(p), cell(p).held[card.index()], static_cast<std::uint64_t>(amount.value),
                              cell(card).limit.load());
    }

    void empty_out(detail::place_cell& owner) noexcept {
        for (std::size_t i = 0; i != ledger_cards; ++i)
            for (auto* const held : {&owner.held[i], &owner.beside[i]})
                if (auto const all = held->load(); all != 0) detail::discharge(m_->cards[i], owner, *held, all);
    }

    /// Sets a total to what the places hold, if that differs and can be told: nobody changed anything meanwhile.
    void settle(detail::card_cell& card) noexcept {
        auto const position = static_cast<std::size_t>(&card - m_->cards.data());
        std::array<std::uint64_t, ledger_places> ended; // NOLINT(cppcoreguidelines-pro-type-member-init)
        for (int tries = 0; tries != 1000; ++tries) {
            auto before = card.total.load(); // first: who joins from here on changes its epoch
            auto const used = used_places();
            for (std::size_t i = 0; i != used; ++i) ended[i] = m_->owners[i].ended.load();
            std::uint64_t sum = 0;
            for (std::size_t i = 0; i != used; ++i)
                sum += m_->owners[i].held[position].load() + m_->owners[i].beside[position].load();
            bool quiet = true;
            for (std::size_t i = 0; i != used; ++i) quiet = quiet && m_->owners[i].begun.load() == ended[i];
            if (!quiet) continue;
            if (sum == detail::bytes_of(before)) return;
            if (card.total.compare_exchange_strong(before, detail::next_epoch(before, sum))) return;
        }
    }

    [[nodiscard]] detail::card_cell& cell(card_row c) noexcept { return m_->cards[c.index()]; }
    [[nodiscard]] detail::card_cell const& cell(card_row c) const noexcept { return m_->cards[c.index()]; }
    [[nodiscard]] detail::place_cell& cell(place p) noexcept { return m_->owners[p.index()]; }
    [[nodiscard]] detail::place_cell const& cell(place p) const noexcept { return m_->owners[p.index()]; }

    detail::ledger_memory* m_;
};

} // namespace muster::account
