#include <muster/scheduler/session.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/any_cluster.hpp"
#include "support/world.hpp"

using muster::errc;
using muster::task_status;
using test::world;

namespace {

using everything = muster::scheduler<
    muster::actions<muster::action::allocate>, muster::tier<muster::policy::priority, muster::policy::gang>,
    muster::tier<muster::policy::drf, muster::policy::deviceshare<muster::device::slices>, muster::policy::predicates,
                 muster::policy::proportion, muster::policy::nodeorder, muster::policy::binpack>>;

/// Two states are alike in all but where shares are kept.
bool alike(muster::state const& a, muster::state const& b) {
    return a.idle == b.idle && a.used == b.used && a.releasing == b.releasing && a.pipelined == b.pipelined &&
           a.cards == b.cards && a.cards_later == b.cards_later && a.tasks_on_node == b.tasks_on_node &&
           a.jobs == b.jobs && a.roles == b.roles && a.pending_best_effort == b.pending_best_effort &&
           a.held == b.held &&
           std::equal(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(), [](auto const& x, auto const& y) {
               return x.status == y.status && x.node == y.node && x.shares.count == y.shares.count;
           });
}

} // namespace

TEST_CASE("session: one task at a time, and back") {
    world w;
    w.node("n", "2/2Gi", {.cards = {test::card("gpu-0", 1000)}});
    w.queue("q");
    w.job("j", "q", 1);
    auto const t = w.pod("t", "j", "1/1Gi", {.devices = test::share(600)});
    auto const u = w.pod("u", "j", "1/1Gi", {.devices = test::share(600)});
    auto s = everything{}.open(w.cluster);
    auto const got = s.one(t);
    REQUIRE(got.has_value());
    CHECK(got->status == task_status::allocated);
    CHECK(w.name(got->node) == "n");
    CHECK(s.view().now().cards[0].memory == muster::mib{600});
    CHECK(s.one(t).error() == muster::error{errc::wrong_state, t.value});
    CHECK(s.one(u).error() == muster::error{errc::no_fit, u.value});
    CHECK(s.release(u).error() == muster::error{errc::wrong_state, u.value});
    CHECK(s.release(t).has_value());
    CHECK(alike(s.view().now(), w.cluster.state()));
    CHECK(s.one(u).has_value());
    CHECK(s.journal().position() == 3);
}

TEST_CASE("session: a task without job finds a place, or none, like any other") {
    world w;
    w.node("n", "2/2Gi");
    auto const small = w.pod("small", "", "1/1Gi");
    auto const large = w.pod("large", "", "3/1Gi");
    auto s = everything{}.open(w.cluster);
    CHECK(s.one(small).has_value());
    CHECK(s.one(large).error().code == errc::no_fit);
    muster::record why;
    auto told = everything{}.open(w.cluster, &why);
    CHECK(told.one(large).error().code == errc::no_fit);
    REQUIRE(why.explanations.size() == 1);
    CHECK(why.why(why.nodes_of(why.explanations[0])[0])[0].code == muster::reason_code::insufficient);
}

TEST_CASE("session: discarding leaves nothing behind but what was tried") {
    CHECK(test::holds([] {
        auto const w = test::any_world();
        auto s = everything{}.open(w.cluster);
        auto const& t = w.cluster.tables();
        std::vector<double> scores;
        auto const ask = [&] {
            std::vector<int> answers;
            for (auto const a : s.roster().jobs())
                for (auto const b : s.roster().jobs()) answers.push_back(s.before(a, b) ? 1 : 0);
            for (auto const a : s.roster().queues()) {
                answers.push_back(s.overused(a) ? 1 : 0);
                for (auto const b : s.roster().queues()) answers.push_back(s.before(a, b) ? 1 : 0);
            }
            for (auto const j : s.roster().jobs())
                for (auto const task : s.roster().tasks(j)) {
                    answers.push_back(s.allocatable(j, task) ? 1 : 0);
                    if (s.view().now().tasks[task.index()].status != task_status::pending) continue;
                    auto const best = s.find(task);
                    answers.push_back(static_cast<int>(best.node.value));
                    answers.push_back(best.now ? 1 : 0);
                }
            return answers;
        };
        auto const before = ask();
        muster::column<muster::task_id> placed;
        for (muster::task_id id{0U}; id.index() != t.tasks.size(); ++id.value)
            if (s.one(id).has_value()) placed.push_back(id);
        RC_ASSERT(test::flaws(t, s.view().now()).empty());
        s.discard(0);
        RC_ASSERT(alike(s.view().now(), w.cluster.state()));
        RC_ASSERT(test::flaws(t, s.view().now()).empty());
        RC_ASSERT(ask() == before);
        auto const out = s.close();
        for (auto const id : placed) RC_ASSERT(out.facts[id.index()].tried);
        RC_ASSERT(out.bound.empty());
    }));
}

TEST_CASE("session: committing decides what has room, and keeps what must wait") {
    world w;
    w.node("n1", "1/1Gi");
    w.node("n2", "1/1Gi");
    w.queue("q");
    w.job("j", "q", 1);
    w.pod("leaving", "", "1/1Gi", {.status = task_status::releasing, .node = "n2"});
    auto const t = w.pod("t", "j", "1/1Gi");
    auto const u = w.pod("u", "j", "1/1Gi");
    auto s = everything{}.open(w.cluster);
    CHECK(s.one(t)->status == task_status::allocated);
    CHECK(s.one(u)->status == task_status::pipelined);
    s.commit(0);
    auto const out = s.close();
    CHECK(w.binds(out) == test::binds{{"default/t", "n1"}});
    CHECK(w.names(out.pipelined) == std::vector<std::string>{"default/u"});
    CHECK(out.state.tasks[t.index()].status == task_status::binding);
    CHECK(test::flaws_of_cycle(w, out.state).empty());
}

TEST_CASE("session: a nominated node is taken first, if it takes the task") {
    world w;
    w.node("a", "1/1Gi");
    w.node("b", "1/1Gi");
    w.node("full", "1/1Gi");
    w.pod("there", "", "1/1Gi", test::running("full"));
    w.queue("q");
    w.job("j", "q", 1);
    auto const to_b = w.pod("t", "j", "1/1Gi", {.nominated = "b"});
    auto const to_full = w.pod("u", "j", "1/1Gi", {.nominated = "full"});
    auto s = everything{}.open(w.cluster);
    CHECK(w.name(s.one(to_b)->node) == "b");
    CHECK(w.name(s.one(to_full)->node) == "a");
}
