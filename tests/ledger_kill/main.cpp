// Kills processes that use a ledger, at moments that nobody chose, and looks whether a byte is lost or left behind.
//
//     muster-ledger-kill [ROUNDS [SEED]]
//
// Four processes reserve and release in loops under one limit, two of them each in a pid namespace of its own where
// that is permitted. A round kills one by SIGKILL, halts the others between two changes, and compares: the ledger's
// total, the sum of its places, and what each process itself says it holds. Then a new process takes the place of the
// dead.

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <muster/ext/ledger_file.hpp>
#include <muster/ext/process.hpp>
#include <muster/workload/synthetic.hpp>

namespace {

using muster::bytes;
namespace account = muster::account;
namespace ext = muster::ext;

constexpr std::size_t workers = 4;
constexpr bytes limit{1'000'000};

/// What the workers tell the referee, in memory of their own.
struct board {
    std::atomic<bool> halt = false;
    std::atomic<bool> passed_limit = false;
    struct row {
        std::atomic<std::int64_t> holds = 0; ///< true whenever the worker has halted
        std::atomic<std::uint64_t> changes = 0;
        std::atomic<bool> halted = false;
        std::atomic<std::uint32_t> place = account::place::nothing;
    };
    std::array<row, workers> rows{};
};

[[noreturn]] void work(std::string const& path, board& all, board::row& mine, std::uint64_t seed) {
    auto file = ext::ledger_file::open(path);
    if (!file) _exit(3);
    auto& ledger = **file;
    auto const card = *ledger.card("GPU-0");
    auto const place = file->join();
    if (!place) _exit(4);
    mine.place = place->value;
    muster::workload::random_numbers random{seed};
    bytes held;
    for (;;) {
        mine.halted = all.halt.load();
        if (mine.halted) {
            sched_yield();
            continue;
        }
        bytes const amount{static_cast<std::int64_t>(random.below(400'000)) + 1};
        if (random.below(2) == 0) {
            if (file->reserve(*place, card, amount)) held += amount;
        } else {
            auto const back = std::min(amount, held);
            ledger.release(*place, card, back);
            held -= back;
        }
        if (ledger.used(card) > limit) all.passed_limit = true;
        mine.holds = held.value;
        ++mine.changes;
    }
}

/// Forks, into a new pid namespace if that is asked for and permitted.
pid_t born(bool apart) {
    if (!apart) return fork();
    auto const made = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    return made < 0 ? fork() : static_cast<pid_t>(made);
}

int fault(char const* what, std::uint64_t round) {
    std::printf("round %llu: %s\n", static_cast<unsigned long long>(round), what);
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    auto const rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
    auto const seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    muster::workload::random_numbers random{seed};
    auto const directory = std::filesystem::temp_directory_path() / ("muster-ledger-kill-" + std::to_string(getpid()));
    auto const path = (directory / "made" / "ledger").string();
    auto file = ext::ledger_file::open(path);
    if (!file) {
        std::printf("%s\n", file.error().c_str());
        return 2;
    }
    auto& ledger = **file;
    auto const card = *ledger.card("GPU-0");
    ledger.tighten(card, limit);
    auto* const shared = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    auto& all = *new (shared) board{};

    std::array<pid_t, workers> pids{};
    auto const spawn = [&](std::size_t i) {
        auto& row = *new (&all.rows[i]) board::row{};
        auto const its_seed = random.next();
        pids[i] = born(i % 2 == 1);
        if (pids[i] == 0) work(path, all, row, its_seed);
    };
    for (std::size_t i = 0; i != workers; ++i) spawn(i);

    int result = 0;
    std::uint64_t in_between = 0;
    std::uint64_t changes = 0;
    for (std::uint64_t round = 0; round != rounds && result == 0; ++round) {
        usleep(static_cast<useconds_t>(random.below(1500)));
        auto const victim = random.below(workers);
        kill(pids[victim], SIGKILL);
        bool const buried = random.below(2) == 0; // a corpse is as dead as one that was waited for
        if (buried) waitpid(pids[victim], nullptr, 0);
        all.halt = true;
        for (std::size_t i = 0; i != workers; ++i)
            while (i != victim && !all.rows[i].halted) {
                if (waitpid(pids[i], nullptr, WNOHANG) == pids[i]) return fault("a worker ended by itself", round);
                sched_yield();
            }
        bytes expected;
        for (std::size_t i = 0; i != workers; ++i) {
            if (i != victim) expected += bytes{all.rows[i].holds};
            changes += i == victim ? all.rows[i].changes.load() : 0;
        }
        if (!buried)
            while (ext::is_alive(ext::process_of(static_cast<std::uint32_t>(pids[victim])))) sched_yield();
        bytes places;
        bytes dead;
        account::place last{all.rows[victim].place};
        for (std::size_t i = 0; i != workers; ++i) // it may be another's by now
            if (i != victim && all.rows[i].place == last.value) last = {};
        ledger.each_process([&](account::place p, account::process) {
            places += ledger.held(p, card);
            if (p == last) dead = ledger.held(p, card);
        });
        if (ledger.used(card) != places) ++in_between; // it died between two steps
        if (ledger.used(card) < places) result = fault("the total is below what the places hold", round);
        if (places - dead != expected) result = fault("a place holds other than its process says", round);
        file->sweep();
        if (ledger.used(card) != expected) result = fault("the total is not what the living hold", round);
        if (all.passed_limit) result = fault("the limit was passed", round);
        if (!buried) waitpid(pids[victim], nullptr, 0);
        spawn(victim);
        all.halt = false;
    }
    for (auto const pid : pids) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
    file->sweep();
    if (ledger.used(card) != bytes{0}) result = fault("something is left when all are dead", rounds);
    std::filesystem::remove_all(directory);
    std::printf("%llu processes killed after %llu changes, %llu of them between two steps: %s\n", rounds,
                static_cast<unsigned long long>(changes), static_cast<unsigned long long>(in_between),
                result == 0 ? "no byte lost or left" : "FAILED");
    return result;
}
