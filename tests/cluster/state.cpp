#include <muster/cluster/state.hpp>

#include <doctest/doctest.h>

#include "support/law.hpp"
#include "support/world.hpp"

using muster::task_status;
using test::world;

namespace {

/// One task asking 1 cpu and 100 MiB of a card, pending in a job, beside a node of 4 cpus.
struct bench {
    world w{};
    muster::node_id node{};
    muster::task_id task{};
    muster::state now{};
    muster::range shares{};

    bench() {
        node = w.node("n", "4/8Gi", {.cards = {test::card("gpu-0", 1000)}});
        w.queue("q");
        w.job("j", "q", 1);
        task = w.pod("t", "j", "1/1Gi");
        now = w.cluster.state();
        shares = {static_cast<std::uint32_t>(now.shares.size()), 1};
        now.shares.push_back({muster::card_id{0U}, 0, muster::mib{100}, muster::percent{10}});
    }

    void move(task_status status) {
        bool const placed = muster::statuses::on_node.has(status);
        now.move(w.cluster.tables(), task,
                 {status, placed ? node : muster::node_id{}, placed ? shares : muster::range{}});
    }
};

} // namespace

TEST_CASE("state: what a status takes of node, card and job") {
    struct row {
        task_status status;
        std::int64_t idle, used, releasing, pipelined, future, held, slots, slots_later;
    };
    for (row const& r : {
             row{task_status::pending, 4000, 0, 0, 0, 4000, 0, 0, 0},
             row{task_status::allocated, 3000, 1000, 0, 0, 3000, 1000, 1, 1},
             row{task_status::pipelined, 4000, 0, 0, 1000, 3000, 0, 0, 1},
             row{task_status::binding, 3000, 1000, 0, 0, 3000, 1000, 1, 1},
             row{task_status::bound, 3000, 1000, 0, 0, 3000, 1000, 1, 1},
             row{task_status::running, 3000, 1000, 0, 0, 3000, 1000, 1, 1},
             row{task_status::releasing, 3000, 1000, 1000, 0, 4000, 0, 1, 0},
             row{task_status::succeeded, 4000, 0, 0, 0, 4000, 0, 0, 0},
             row{task_status::failed, 4000, 0, 0, 0, 4000, 0, 0, 0},
             row{task_status::unknown, 3000, 1000, 0, 0, 3000, 0, 1, 1},
         }) {
        CAPTURE(name_of(r.status));
        bench b;
        b.move(r.status);
        constexpr auto cpu = muster::dimension::cpu;
        CHECK(b.now.idle[cpu.index()][0] == r.idle);
        CHECK(b.now.used[cpu.index()][0] == r.used);
        CHECK(b.now.releasing[cpu.index()][0] == r.releasing);
        CHECK(b.now.pipelined[cpu.index()][0] == r.pipelined);
        CHECK(b.now.future_idle(cpu, b.node) == r.future);
        CHECK(b.now.held[cpu.index()][0] == r.held);
        CHECK(b.now.cards[0].slots == r.slots);
        CHECK(b.now.cards[0].memory == muster::mib{100 * r.slots});
        CHECK(b.now.cards_later[0].slots == r.slots_later);
        CHECK(b.now.cards_later[0].memory == muster::mib{100 * r.slots_later});
        CHECK(b.now.cards_in_motion == (r.slots != r.slots_later ? 1 : 0));
        CHECK(b.now.jobs[0][static_cast<std::size_t>(r.status)] == 1);
        CHECK(test::flaws(b.w.cluster.tables(), b.now).empty());
    }
}

TEST_CASE("state: an oversold node has less than nothing idle") {
    world w;
    w.node("n", "2/1G pods=20");
    w.pod("t", "", "1/2G", {.status = task_status::unknown, .node = "n"});
    auto const& s = w.cluster.state();
    CHECK(s.idle[muster::dimension::cpu.index()][0] == 1000);
    CHECK(s.idle[muster::dimension::memory.index()][0] == -1'000'000'000);
    CHECK(s.idle[muster::dimension::pods.index()][0] == 19);
}

TEST_CASE("state: any moves and then the way back leave every column as it was") {
    CHECK(test::holds([] {
        bench b;
        auto const before = b.now;
        for (int step = *rc::gen::inRange(1, 12); step != 0; --step) {
            b.move(static_cast<task_status>(*rc::gen::inRange(0, 10)));
            RC_ASSERT(test::flaws(b.w.cluster.tables(), b.now).empty());
        }
        b.move(task_status::pending);
        RC_ASSERT(b.now.idle == before.idle);
        RC_ASSERT(b.now.used == before.used);
        RC_ASSERT(b.now.releasing == before.releasing);
        RC_ASSERT(b.now.pipelined == before.pipelined);
        RC_ASSERT(b.now.held == before.held);
        RC_ASSERT(b.now.cards == before.cards);
        RC_ASSERT(b.now.cards_later == before.cards_later);
        RC_ASSERT(b.now.cards_in_motion == before.cards_in_motion);
        RC_ASSERT(b.now.jobs == before.jobs);
        RC_ASSERT(b.now.roles == before.roles);
        RC_ASSERT(b.now.tasks_on_node == before.tasks_on_node);
        RC_ASSERT(b.now.first_on_node == before.first_on_node);
    }));
}
