#include <muster/account/ledger.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "support/law.hpp"

using muster::bytes;
using muster::errc;
using muster::account::card_row;
using muster::account::ledger;
using muster::account::place;
using muster::account::process;

namespace {

/// Memory of a ledger's size that forked children share.
class shared_memory {
public:
    explicit shared_memory(std::size_t size = ledger::size())
        : size_(size), memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
    shared_memory(shared_memory const&) = delete;
    shared_memory& operator=(shared_memory const&) = delete;
    ~shared_memory() { munmap(memory_, size_); }
    [[nodiscard]] std::span<std::byte> span() const { return {static_cast<std::byte*>(memory_), size_}; }
    [[nodiscard]] muster::account::detail::ledger_memory& cells() const {
        return *static_cast<muster::account::detail::ledger_memory*>(memory_);
    }

private:
    std::size_t size_;
    void* memory_;
};

constexpr auto immortal = [](place, process, std::uint64_t) noexcept { return false; };

/// Who lives, by pid.
struct living {
    std::set<std::uint32_t> pids;
    [[nodiscard]] auto teller() const {
        return [this](place, process p, std::uint64_t) { return !pids.contains(p.pid); };
    }
};

process number(std::uint32_t pid) { return {pid, 1000 + pid}; }

bytes sum_of_places(ledger const& l, card_row card) {
    bytes sum;
    l.each_process([&](place p, process) { sum += l.held(p, card) + l.beside(p, card); });
    return sum;
}

} // namespace

TEST_CASE("ledger: a card is held to its limit, to the byte") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto const card = *l.card("GPU-0");
    l.tighten(card, bytes{1000});
    auto const a = *l.join(number(1), immortal);
    auto const b = *l.join(number(2), immortal);
    CHECK(l.reserve(a, card, bytes{600}, immortal).has_value());
    CHECK(l.reserve(b, card, bytes{401}, immortal).error().code == errc::over_limit);
    CHECK(l.used(card) == bytes{600});
    CHECK(l.reserve(b, card, bytes{400}, immortal).has_value());
    CHECK(l.reserve(a, card, bytes{1}, immortal).error().code == errc::over_limit);
    CHECK(l.reserve(a, card, bytes{0}, immortal).has_value());
    CHECK(l.reserve(a, card, bytes{-1}, immortal).error().code == errc::negative);
    l.release(a, card, bytes{600});
    CHECK(l.used(card) == bytes{400});
    l.release(a, card, bytes{600}); // what isn't held can't be given back
    CHECK(l.used(card) == bytes{400});
    CHECK(l.held(b, card) == bytes{400});
    l.leave(b);
    CHECK(l.used(card) == bytes{0});
    CHECK(l.owner_of(b).pid == 0);
}

TEST_CASE("ledger: without a limit there is none, but what can't be counted is refused") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto const card = *l.card("GPU-0");
    auto const a = *l.join(number(1), immortal);
    CHECK(l.reserve(a, card, bytes{std::int64_t{1} << 43}, immortal).has_value());
    CHECK(l.reserve(a, card, bytes{std::int64_t{1} << 43}, immortal).error().code == errc::over_limit);
    CHECK(l.reserve(a, card, bytes{INT64_MAX}, immortal).error().code == errc::over_limit);
    CHECK(l.used(card) == bytes{std::int64_t{1} << 43});
}

TEST_CASE("ledger: the strictest limit counts, whoever comes later") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto const card = *l.card("GPU-0");
    l.tighten(card, bytes{0});
    CHECK(l.limit(card) == bytes{0});
    l.tighten(card, bytes{500});
    l.tighten(card, bytes{800});
    l.tighten(card, bytes{0});
    CHECK(l.limit(card) == bytes{500});
    l.tighten(card, bytes{300});
    CHECK(l.limit(card) == bytes{300});
}

TEST_CASE("ledger: what comes along with a process counts, and is never refused") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto const card = *l.card("GPU-0");
    l.tighten(card, bytes{1000});
    auto const a = *l.join(number(1), immortal);
    l.set_beside(a, card, bytes{300});
    CHECK(l.reserve(a, card, bytes{701}, immortal).error().code == errc::over_limit);
    l.set_beside(a, card, bytes{1200});
    CHECK(l.used(card) == bytes{1200});
    l.set_beside(a, card, bytes{200});
    CHECK(l.beside(a, card) == bytes{200});
    CHECK(l.reserve(a, card, bytes{800}, immortal).has_value());
}

TEST_CASE("ledger: a card is one row whoever names it, and the rows run out with an error") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto again = *ledger::attach(memory.span());
    CHECK(*l.card("GPU-0") == *again.card("GPU-0"));
    CHECK(*l.card("GPU-1") != *l.card("GPU-0"));
    for (std::size_t i = 2; i != muster::account::ledger_cards; ++i) CHECK(l.card("GPU-" + std::to_string(i)));
    CHECK(l.card("one too many").error().code == errc::full);
    CHECK(l.card("").error().code == errc::empty);
    std::set<std::string> names;
    l.each_card([&](card_row, std::string_view uuid) { names.emplace(uuid); });
    CHECK(names.size() == muster::account::ledger_cards);
    CHECK(names.contains("GPU-15"));
}

TEST_CASE("ledger: memory that holds something else, or a part, is refused with what is wrong") {
    shared_memory const memory;
    struct row {
        void (*spoil)(shared_memory const&);
        errc code;
    };
    for (row const& r : {row{[](auto& m) { m.cells().magic[0] = 'M'; }, errc::foreign},
                         row{[](auto& m) { m.cells().version = 1; }, errc::other_version},
                         row{[](auto& m) { m.cells().checksum ^= 1; }, errc::other_version},
                         row{[](auto& m) { m.cells().size -= 1; }, errc::other_version},
                         row{[](auto& m) { m.cells().ready.store(0); }, errc::torn}}) {
        REQUIRE(ledger::create(memory.span()).has_value());
        REQUIRE(ledger::attach(memory.span()).has_value());
        r.spoil(memory);
        CHECK(ledger::attach(memory.span()).error().code == r.code);
    }
    REQUIRE(ledger::create(memory.span()).has_value());
    for (std::size_t length : {std::size_t{0}, std::size_t{15}, std::size_t{16}, std::size_t{63}, ledger::size() - 1})
        CHECK(ledger::attach(memory.span().first(length)).error().code == errc::torn);
    CHECK(ledger::create(memory.span().first(ledger::size() - 1)).error().code == errc::torn);
    CHECK(ledger::create(memory.span().subspan(1)).error().code == errc::torn);
}

TEST_CASE("ledger: a process has one place, and the places of the dead are found when there are no others") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    CHECK(l.join({0, 1}, immortal).error().code == errc::out_of_range);
    CHECK(l.join({1U << 22U, 1}, immortal).error().code == errc::out_of_range);
    for (std::uint32_t pid = 1; pid <= muster::account::ledger_places; ++pid)
        REQUIRE(l.join(number(pid), immortal).has_value());
    CHECK(l.join(number(5000), immortal).error().code == errc::full);
    auto const seven = [](place, process p, std::uint64_t) { return p.pid == 7; };
    CHECK(l.join(number(5000), seven) == place{6U});
    CHECK(l.owner_of(place{6U}) == number(5000));
}

TEST_CASE("ledger: the dead give back all they held when somebody needs it, and nobody else does") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto const card = *l.card("GPU-0");
    l.tighten(card, bytes{1000});
    living who{{1, 2, 3}};
    auto const a = *l.join(number(1), who.teller());
    auto const b = *l.join(number(2), who.teller());
    auto const c = *l.join(number(3), who.teller());
    REQUIRE(l.reserve(a, card, bytes{300}, who.teller()));
    REQUIRE(l.reserve(b, card, bytes{400}, who.teller()));
    l.set_beside(b, card, bytes{100});
    REQUIRE(l.reserve(c, card, bytes{200}, who.teller()));
    who.pids.erase(2);
    CHECK(l.used(card) == bytes{1000});
    CHECK(l.reserve(a, card, bytes{501}, who.teller()).error().code == errc::over_limit);
    CHECK(l.used(card) == bytes{500});
    CHECK(l.reserve(a, card, bytes{500}, who.teller()).has_value());
    CHECK(l.held(c, card) == bytes{200});
    CHECK(l.owner_of(b).pid == 0);
}

TEST_CASE("ledger: what is held of a place is held before anybody stands there") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    std::vector<std::uint32_t> asked;
    auto const all_but_two = [&](place p) {
        CHECK(l.owner_of(p).pid == 0);
        asked.push_back(p.value);
        return p.value > 1;
    };
    CHECK(l.join(number(1), immortal, all_but_two) == place{2U});
    CHECK(l.join(number(2), immortal, all_but_two) == place{3U}); // nobody asks for a place that is taken
    CHECK(asked == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 3});
    CHECK(l.join(number(3), immortal, [](place) { return false; }).error().code == errc::full);
    auto const quicker = [&](place p) { // somebody else is, at the first place
        if (p == place{0U}) memory.cells().owners[0].owner.store(1);
        return true;
    };
    CHECK(l.join(number(4), immortal, quicker) == place{1U});
}

TEST_CASE("ledger: what `gone` gives is kept until the place is free, and no longer") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto const card = *l.card("GPU-0");
    auto const a = *l.join(number(1), immortal);
    auto const b = *l.join(number(2), immortal);
    l.set_home(b, 77);
    REQUIRE(l.reserve(a, card, bytes{10}, immortal));
    REQUIRE(l.reserve(b, card, bytes{20}, immortal));
    struct lock {
        ledger& all;
        place of;
        int& open;
        lock(ledger& l, place p, int& count) : all(l), of(p), open(count) { ++open; }
        lock(lock const&) = delete;
        ~lock() {
            --open;
            CHECK(all.owner_of(of).pid == (of.value == 0 ? 1 : 0));
        }
        explicit operator bool() const { return of.value == 1; }
    };
    int open = 0;
    std::vector<std::uint64_t> homes;
    l.sweep(number(1), [&](place p, process owner, std::uint64_t home) {
        CHECK(open == 0);
        CHECK(owner == l.owner_of(p));
        homes.push_back(home);
        return lock{l, p, open};
    });
    CHECK(open == 0);
    CHECK(homes == std::vector<std::uint64_t>{0, 77});
    CHECK(l.used(card) == bytes{10});
    CHECK(l.home_of(b) == 0);
    l.set_home(a, 78);
    l.leave(a);
    CHECK(l.home_of(a) == 0);
}

TEST_CASE("ledger: who is killed while burying, at any step, is buried with what is left of the other") {
    namespace detail = muster::account::detail;
    for (int fatal = 0; fatal != 4; ++fatal) {
        CAPTURE(fatal);
        shared_memory const memory;
        auto l = *ledger::create(memory.span());
        auto const cards = std::array{*l.card("a"), *l.card("b")};
        living who{{1, 2, 3}};
        auto const a = *l.join(number(1), who.teller());
        auto const b = *l.join(number(2), who.teller());
        auto const c = *l.join(number(3), who.teller());
        for (auto const card : cards) {
            l.tighten(card, bytes{1000});
            REQUIRE(l.reserve(a, card, bytes{100}, who.teller()));
            REQUIRE(l.reserve(b, card, bytes{200}, who.teller()));
            l.set_beside(b, card, bytes{50});
        }
        who.pids.erase(2);
        // The third is about it: it has the place, has given back one card's, and dies over the other's.
        auto& cell = memory.cells().owners[b.index()];
        cell.owner.store(memory.cells().owners[c.index()].owner.load());
        l.set_beside(b, cards[0], bytes{0});
        l.release(b, cards[0], bytes{200});
        auto const child = fork();
        if (child == 0) {
            int steps = 0;
            detail::discharge(memory.cells().cards[cards[1].index()], cell, cell.held[cards[1].index()], 200, [&] {
                if (steps++ == fatal) _exit(0);
            });
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        l.sweep(number(1), who.teller());
        CHECK(l.owner_of(b) == number(3)); // not while it lives
        who.pids.erase(3);
        l.sweep(number(1), who.teller());
        CHECK(l.owner_of(b).pid == 0);
        CHECK(l.owner_of(c).pid == 0);
        for (auto const card : cards) {
            CHECK(l.used(card) == bytes{100});
            CHECK(l.reserve(a, card, bytes{901}, who.teller()).error().code == errc::over_limit);
            CHECK(l.reserve(a, card, bytes{900}, who.teller()).has_value());
        }
    }
}

TEST_CASE("ledger: a death at any step of a change loses no byte and leaves none behind") {
    namespace detail = muster::account::detail;
    for (bool const taking : {true, false})
        for (int fatal = 0; fatal != 4; ++fatal) {
            CAPTURE(taking);
            CAPTURE(fatal);
            shared_memory const memory;
            auto l = *ledger::create(memory.span());
            auto const card = *l.card("GPU-0");
            l.tighten(card, bytes{1000});
            living who{{1, 2}};
            auto const a = *l.join(number(1), who.teller());
            auto const b = *l.join(number(2), who.teller());
            REQUIRE(l.reserve(a, card, bytes{100}, who.teller()));
            REQUIRE(l.reserve(b, card, bytes{200}, who.teller()));
            auto const child = fork();
            if (child == 0) {
                auto& cells = memory.cells();
                int steps = 0;
                auto const step = [&] {
                    if (steps++ == fatal) _exit(0);
                };
                auto& cell = cells.cards[card.index()];
                auto& owner = cells.owners[b.index()];
                if (taking)
                    (void)detail::charge(cell, owner, owner.held[card.index()], 50, 1000, step);
                else
                    detail::discharge(cell, owner, owner.held[card.index()], 50, step);
                _exit(0);
            }
            waitpid(child, nullptr, 0);
            CHECK(l.used(card) >= sum_of_places(l, card)); // never too little
            who.pids.erase(2);
            l.sweep(number(1), who.teller());
            CHECK(l.used(card) == bytes{100});
            CHECK(sum_of_places(l, card) == bytes{100});
            CHECK(l.reserve(a, card, bytes{901}, who.teller()).error().code == errc::over_limit);
            CHECK(l.reserve(a, card, bytes{900}, who.teller()).has_value());
        }
}

TEST_CASE("ledger: threads of many processes never pass the limit, and leave it as they found it") {
    shared_memory const memory;
    auto l = *ledger::create(memory.span());
    auto const card = *l.card("GPU-0");
    constexpr std::int64_t limit = 10'000;
    l.tighten(card, bytes{limit});
    std::atomic<bool> over = false;
    std::atomic<int> refused = 0;
    std::atomic<std::int64_t> really = 8000; // what was granted, counted elsewhere
    REQUIRE(l.reserve(*l.join(number(9), immortal), card, bytes{8000}, immortal));
    std::vector<place> places;
    for (std::uint32_t pid = 1; pid <= 4; ++pid) places.push_back(*l.join(number(pid), immortal));
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t != 8; ++t)
        threads.emplace_back([&, t] {
            auto mine = *ledger::attach(memory.span());
            auto const p = places[t / 2];
            std::uint64_t random = t + 1;
            for (int round = 0; round != 20'000; ++round) {
                random = random * 6364136223846793005U + 1442695040888963407U;
                bytes const amount{static_cast<std::int64_t>(random >> 40U) % 3000};
                if (!mine.reserve(p, card, amount, immortal)) {
                    ++refused;
                    continue;
                }
                if (really.fetch_add(amount.value) + amount.value > limit) over = true;
                if (mine.used(card) > bytes{limit}) over = true;
                really.fetch_sub(amount.value);
                mine.release(p, card, amount);
            }
        });
    for (auto& t : threads) t.join();
    CHECK(!over);
    CHECK(refused > 0);
    CHECK(l.used(card) == bytes{8000});
}

TEST_CASE("ledger: after any story of joins, deaths and changes the total is what the living hold") {
    CHECK(test::holds(
        [] {
            shared_memory const memory;
            auto l = *ledger::create(memory.span());
            std::vector<card_row> const cards{*l.card("a"), *l.card("b")};
            l.tighten(cards[0], bytes{100});
            living who;
            std::vector<place> places(6);
            std::uint32_t next = 1;
            for (int step = *rc::gen::inRange(1, 60); step != 0; --step) {
                auto const which = *rc::gen::inRange<std::size_t>(0, places.size());
                auto& p = places[which];
                auto const card = cards[*rc::gen::inRange<std::size_t>(0, 2)];
                bytes const amount{*rc::gen::inRange(0, 60)};
                if (!p) {
                    who.pids.insert(next);
                    p = *l.join(number(next++), who.teller());
                    continue;
                }
                auto const before = l.held(p, card);
                switch (*rc::gen::inRange(0, 6)) {
                case 0: // killed
                    who.pids.erase(l.owner_of(p).pid);
                    p = {};
                    break;
                case 1:
                    who.pids.erase(l.owner_of(p).pid);
                    l.leave(p);
                    p = {};
                    break;
                case 2:
                    l.release(p, card, amount);
                    RC_ASSERT(l.held(p, card) == std::max(bytes{0}, before - amount));
                    break;
                case 3:
                    l.set_beside(p, card, amount);
                    break;
                default: {
                    bool const granted = l.reserve(p, card, amount, who.teller()).has_value();
                    RC_ASSERT(l.held(p, card) == (granted ? before + amount : before));
                    if (granted) break;
                    RC_ASSERT(l.used(card) + amount > l.limit(card));
                    RC_ASSERT(l.used(card) == sum_of_places(l, card));
                }
                }
                RC_ASSERT(l.used(card) >= sum_of_places(l, card));
            }
            l.sweep(number(999), who.teller());
            for (auto const card : cards) {
                bytes sum;
                for (auto const p : places)
                    if (p) sum += l.held(p, card) + l.beside(p, card);
                RC_ASSERT(l.used(card) == sum);
            }
        },
        300));
}
