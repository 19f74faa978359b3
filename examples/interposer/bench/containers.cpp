// Several processes of one container, under one ledger: how fast six start, what is left for the living when one is
// killed, and who wins when two want more than there is. The parent calls no CUDA; the children have their orders and
// answers in memory that all share.
//
//   --cap=6000    MiB, as CUDA_DEVICE_MEMORY_LIMIT says; contexts of six processes have to find room in it
//   --only=start  without a limit the rest says nothing

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>
#include <new>
#include <optional>
#include <random>

#include "common.hpp"

namespace {

using bench::check;

constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr int chunk = 20; ///< MiB
constexpr double patience = 30;

enum class order { look, take, loop, give, leave };

/// Where one process finds its orders and puts its answers.
struct desk {
    std::atomic<int> asked{0}; ///< orders given; the rest is written before this rises
    std::atomic<int> answered{0};
    std::atomic<order> what{order::look};
    std::atomic<int> size{0}; ///< MiB of a block
    std::atomic<int> most{0}; ///< blocks
    std::atomic<int> held{0}; ///< MiB: raised after a block is there, lowered before it goes, so never too high
    std::atomic<int> free{0}; ///< MiB that the process was told of when it looked
};
static_assert(std::atomic<int>::is_always_lock_free, "processes share them");

void run(desk& d) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    check(cuInit(0));
    std::optional<bench::card> card;
    std::vector<CUdeviceptr> blocks;
    std::minstd_rand random{static_cast<unsigned int>(getpid())};
    auto const take = [&](int size) {
        CUdeviceptr p = 0;
        auto const result = cuMemAlloc(&p, static_cast<std::size_t>(size) * mib);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) return false;
        check(result);
        blocks.push_back(p);
        d.held += size;
        return true;
    };
    auto const give_to = [&](std::size_t left, int size) {
        while (blocks.size() > left) {
            d.held -= size;
            check(cuMemFree(blocks.back()));
            blocks.pop_back();
        }
    };
    d.answered = 1; // but not yet in the ledger: that is for the context and the first block
    for (int at = 1;; ++at) {
        while (d.asked < at) sched_yield(); // rather than sleep: two that are told at once are to start at once
        if (!card) card.emplace();
        int const size = d.size;
        std::size_t free = 0;
        std::size_t total = 0;
        switch (d.what.load()) {
        case order::look:
            check(cuMemGetInfo(&free, &total));
            d.free = static_cast<int>(free / mib);
            break;
        case order::take:
            for (int n = 0; n != d.most && take(size); ++n) {
            }
            break;
        case order::loop:
            while (d.asked == at)
                if (!take(size)) give_to(random() % (blocks.size() + 1), size);
            break;
        case order::give:
            give_to(0, size);
            break;
        case order::leave:
            _exit(0);
        }
        d.answered = at + 1;
    }
}

/// A child.
class process {
public:
    explicit process(desk& d) : desk_(&d) {
        new (desk_) desk;
        std::fflush(stdout);
        pid_ = fork();
        if (pid_ < 0) bench::give_up("no process could be forked");
        if (pid_ == 0) run(d);
    }

    void tell(order what, int size = chunk, int most = 1'000'000) const {
        desk_->what = what;
        desk_->size = size;
        desk_->most = most;
        ++desk_->asked;
    }
    /// Waits until it has done what it was told, calling `meanwhile` all the time.
    void await(auto meanwhile) const {
        for (auto const until = bench::now() + patience; desk_->answered != desk_->asked + 1;) {
            meanwhile();
            if (waitpid(pid_, nullptr, WNOHANG) != 0) bench::give_up("a process ended by itself");
            if (bench::now() > until) bench::give_up("a process doesn't answer");
        }
    }
    void await() const {
        await([] { usleep(100); });
    }
    [[nodiscard]] int held() const { return desk_->held; }
    [[nodiscard]] int free() const {
        tell(order::look);
        await();
        return desk_->free;
    }
    void kill() const { ::kill(pid_, SIGKILL); }
    void bury() const { waitpid(pid_, nullptr, 0); }
    void dismiss() const {
        tell(order::leave);
        bury();
    }

private:
    desk* desk_;
    pid_t pid_ = -1;
};

constexpr std::size_t six = 6;

/// Six processes at once, from fork to the first block that each has.
void start(desk* desks) {
    std::array<double, 3> took{};
    int blocks = 0;
    for (auto& t : took) {
        auto const begin = bench::now();
        std::vector<process> all;
        for (std::size_t i = 0; i != six; ++i) all.emplace_back(desks[i]).tell(order::take, 2, 1);
        for (auto const& p : all) p.await();
        t = bench::now() - begin;
        for (auto const& p : all) blocks += p.held() == 2 ? 1 : 0;
        for (auto const& p : all) p.dismiss();
    }
    std::sort(took.begin(), took.end());
    std::printf("start   six at once, last ready after %.2f s (three times: %.2f to %.2f); %d of 18 got a block\n",
                took[1], took[0], took[2], blocks);
}

/// Lowest and highest of what was seen.
struct range {
    int low = std::numeric_limits<int>::max();
    int high = 0;
    void see(int value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// One is killed in the middle of taking and giving, and a newcomer makes its context then; it and a neighbour take
/// what they can. The newcomer is the next to be killed.
void killed(desk* desks, int cap) {
    constexpr int rounds = 60;
    std::minstd_rand random{1};
    std::size_t made = 0;
    std::vector<process> ready;
    auto const next = [&] {
        if (ready.empty()) {
            for (std::size_t i = 0; i != six; ++i) ready.emplace_back(desks[1 + made++ % (2 * six)]);
            for (auto const& p : ready) p.await();
        }
        auto const p = ready.back();
        ready.pop_back();
        return p;
    };
    process const neighbour{desks[0]};
    auto victim = next();
    for (auto const& p : {neighbour, victim}) (void)p.free(); // which makes their contexts
    range around, room, taken;
    int above = 0;
    int late = 0;
    for (int round = 0; round != rounds; ++round) {
        auto const newcomer = next();
        auto const both = {neighbour, newcomer};
        for (auto const& p : {neighbour, victim}) p.tell(order::loop);
        usleep(2'000 + static_cast<unsigned int>(random() % 30'000));
        victim.kill();
        newcomer.tell(order::take);
        newcomer.await([&] {
            auto const newer = newcomer.held(); // first: it only grows, so that the sum is never too high
            around.see(newer + neighbour.held());
        });
        victim.bury();
        for (auto const& p : both) p.tell(order::give);
        for (auto const& p : both) p.await();
        auto const told = neighbour.free();
        for (auto const& p : both) p.tell(order::take);
        for (auto const& p : both) p.await();
        auto const sum = neighbour.held() + newcomer.held();
        for (auto const& p : both) p.tell(order::give);
        for (auto const& p : both) p.await();
        auto const free = neighbour.free();
        room.see(free);
        taken.see(sum);
        above += sum > free ? 1 : 0;
        late += told < free ? 1 : 0;
        victim = newcomer;
    }
    for (auto const& p : {neighbour, victim}) p.dismiss();
    for (auto const& p : ready) p.dismiss();
    std::printf("kill    %d times under %d MiB: around it neighbour and newcomer have %d MiB at most\n", rounds, cap,
                around.high);
    std::printf("        after it they take %d to %d MiB of %d to %d that are free, %d times more than that\n",
                taken.low, taken.high, room.low, room.high, above);
    std::printf("        %d times less was said to be free at first\n", late);
}

/// Two ask at the same moment, each for more than half.
void race(desk* desks) {
    constexpr int rounds = 200;
    process const a{desks[0]};
    process const b{desks[1]};
    (void)a.free(); // its context takes room too
    auto const big = b.free() * 6 / 10;
    std::array<int, 4> won{}; // by neither, the first, the second, both
    for (int i = 0; i != rounds; ++i) {
        for (auto const& p : {a, b}) p.tell(order::take, big, 1);
        for (auto const& p : {a, b}) p.await();
        ++won[(a.held() != 0 ? 1U : 0U) + (b.held() != 0 ? 2U : 0U)];
        for (auto const& p : {a, b}) p.tell(order::give, big);
        for (auto const& p : {a, b}) p.await();
    }
    for (auto const& p : {a, b}) p.dismiss();
    std::printf("race    %d times two of %d MiB at once, each for 60 %% of what is free: the first won %d, the second "
                "%d, both %d, neither %d\n",
                rounds, big, won[1], won[2], won[3], won[0]);
}

} // namespace

int main(int argc, char** argv) {
    auto const cap = static_cast<int>(bench::number(argc, argv, "--cap", 6000));
    std::string_view const only = bench::option(argc, argv, "--only", "");
    auto* const desks =
        static_cast<desk*>(mmap(nullptr, 16 * sizeof(desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (desks == MAP_FAILED) bench::give_up("no shared memory");
    start(desks);
    std::fflush(stdout);
    if (only == "start") return 0;
    killed(desks, cap);
    std::fflush(stdout);
    race(desks);
}
