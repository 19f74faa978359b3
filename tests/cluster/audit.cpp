#include <muster/cluster/audit.hpp>

#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::finding_code;
using muster::task_status;
using test::world;

namespace {

/// One node with a card, one gang of three: running with a share, pending, pending best-effort.
world small() {
    world w;
    w.node("n1", "4/8Gi", {.cards = {test::card("gpu-0", 1000)}});
    w.queue("q");
    w.job("j", "q", 2);
    w.pod("a", "j", "1/1Gi", test::running("n1", {.shares = {{"gpu-0", 0, muster::mib{100}, muster::percent{20}}}}));
    w.pod("b", "j", "1/1Gi");
    w.pod("c", "j", "");
    return w;
}

constexpr muster::node_id node{0U};
constexpr muster::card_id card{0U};
constexpr muster::job_id job{0U};
constexpr muster::role_id role{0U};
constexpr muster::task_id a{0U};
constexpr muster::task_id b{1U};
constexpr muster::queue_id queue{0U};

} // namespace

TEST_CASE("audit: a cluster and a session's end are sound") {
    auto const w = small();
    CHECK(test::flaws(w.cluster).empty());
    CHECK(audit(muster::cluster{}).empty());
    auto const& s = w.cluster.state();
    CHECK(audit_cycle(w.cluster.tables(), s, s).empty());
}

TEST_CASE("audit: each column that is off by one is found") {
    struct row {
        std::function<void(muster::state&)> spoil;
        muster::finding expected;
    };
    using muster::dimension::cpu;
    for (row const& r : {
             row{[](auto& s) { ++s.idle[0][0]; }, {.code = finding_code::wrong_idle, .node = node, .dimension = cpu}},
             row{[](auto& s) { ++s.used[0][0]; }, {.code = finding_code::wrong_used, .node = node, .dimension = cpu}},
             row{[](auto& s) { ++s.releasing[0][0]; },
                 {.code = finding_code::wrong_releasing, .node = node, .dimension = cpu}},
             row{[](auto& s) { s.pipelined[0][0] = -1; },
                 {.code = finding_code::wrong_pipelined, .node = node, .dimension = cpu}},
             row{[](auto& s) { ++s.held[0][0]; }, {.code = finding_code::wrong_held, .job = job, .dimension = cpu}},
             row{[](auto& s) { ++s.cards[0].slots; }, {.code = finding_code::wrong_card, .card = card}},
             row{[](auto& s) { ++s.cards_later[0].slots; }, {.code = finding_code::wrong_card, .card = card}},
             row{[](auto& s) { ++s.cards_in_motion; }, {.code = finding_code::wrong_card, .card = card}},
             row{[](auto& s) { s.cards[0].memory -= muster::mib{1}; },
                 {.code = finding_code::wrong_card, .card = card}},
             row{[](auto& s) { ++s.jobs[0][0]; }, {.code = finding_code::wrong_counts, .job = job}},
             row{[](auto& s) { ++s.pending_best_effort[0]; }, {.code = finding_code::wrong_counts, .job = job}},
             row{[](auto& s) { ++s.roles[0][0]; }, {.code = finding_code::wrong_counts, .role = role}},
             row{[](auto& s) { ++s.tasks_on_node[0]; }, {.code = finding_code::wrong_list, .node = node}},
             row{[](auto& s) { s.first_on_node[0] = {}; }, {.code = finding_code::wrong_list, .node = node}},
             row{[](auto& s) { s.next_on_node[0] = a; }, {.code = finding_code::wrong_list, .node = node}},
             row{[](auto& s) { s.previous_on_node[0] = b; }, {.code = finding_code::wrong_list, .node = node}},
             row{[](auto& s) { s.idle.resize(s.idle.size() - 1, s.idle.width()); },
                 {.code = finding_code::column_size}},
             row{[](auto& s) { s.roles.push_back({}); }, {.code = finding_code::column_size}},
             row{[](auto& s) { s.shares.clear(); }, {.code = finding_code::broken_placement, .task = a}},
             row{[](auto& s) { s.tasks[1].node = muster::node_id{7U}; },
                 {.code = finding_code::broken_placement, .task = b}},
             row{[](auto& s) { s.tasks[1].node = node; }, {.code = finding_code::no_place, .task = b}},
         }) {
        auto const w = small();
        auto state = w.cluster.state();
        r.spoil(state);
        auto const found = audit(w.cluster.tables(), state);
        INFO(test::report(found));
        CHECK(std::count(found.begin(), found.end(), r.expected) == 1);
    }
}

TEST_CASE("audit_cycle: a task that waits may start, one that runs stays or leaves") {
    auto const w = small();
    auto const& t = w.cluster.tables();
    auto const& before = w.cluster.state();
    auto const end = [&](muster::task_id id, task_status status, muster::node_id on) {
        auto after = before;
        auto const shares = after.tasks[id.index()].shares;
        after.move(t, id, {status, on, id == a ? shares : muster::range{}});
        return test::report(audit_cycle(t, before, after));
    };
    CHECK(end(b, task_status::binding, node).empty());
    CHECK(end(a, task_status::releasing, node).empty());
    CHECK(!end(a, task_status::bound, node).empty());
    CHECK(!end(b, task_status::bound, {}).empty());
}

TEST_CASE("audit_cycle: an excess may be there, but neither grow nor arise") {
    world w;
    w.node("n1", "2/8Gi", {.cards = {test::card("gpu-0", 1000)}});
    w.pod("running", "", "3/1Gi", test::running("n1", {.shares = {{"gpu-0", 0, muster::mib{2000}, {}}}}));
    auto const small_one = w.pod("small", "", "0/1Gi");
    auto const large_one = w.pod("large", "", "1/1Gi");
    auto const& t = w.cluster.tables();
    auto const& before = w.cluster.state();
    auto const end = [&](muster::task_id id, std::int64_t mib) {
        auto after = before;
        auto const first = static_cast<std::uint32_t>(after.shares.size());
        if (mib != 0) after.shares.push_back({card, 0, muster::mib{mib}, {}});
        after.move(t, id, {task_status::binding, node, {first, mib != 0 ? 1U : 0U}});
        return audit_cycle(t, before, after);
    };
    CHECK(end(small_one, 0).empty());
    CHECK(end(small_one, 1) == muster::findings{{.code = finding_code::new_excess, .card = card}});
    CHECK(end(large_one, 0) ==
          muster::findings{{.code = finding_code::new_excess, .node = node, .dimension = muster::dimension::cpu}});
}

TEST_CASE("audit_cycle: a gang starts whole, or holds places only while it waits for others to leave") {
    world w;
    w.node("n1", "4/8Gi");
    w.queue("q");
    w.job("j", "q", 2);
    auto const x = w.pod("x", "j", "1/1Gi");
    auto const y = w.pod("y", "j", "1/1Gi");
    auto const& t = w.cluster.tables();
    auto const& before = w.cluster.state();
    struct row {
        task_status x, y;
        bool sound;
    };
    for (row const& r :
         {row{task_status::binding, task_status::binding, true}, row{task_status::binding, task_status::pending, false},
          row{task_status::allocated, task_status::pending, false},
          row{task_status::allocated, task_status::pipelined, true},
          row{task_status::binding, task_status::pipelined, false}}) {
        CAPTURE(static_cast<int>(r.x));
        CAPTURE(static_cast<int>(r.y));
        auto after = before;
        after.move(t, x, {r.x, r.x == task_status::pending ? muster::node_id{} : node, {}});
        after.move(t, y, {r.y, r.y == task_status::pending ? muster::node_id{} : node, {}});
        CHECK(audit_cycle(t, before, after).empty() == r.sound);
        CHECK(audit_cycle(t, before, after, false).empty());
    }
}

TEST_CASE("audit_limits: a queue passes its limit only if it did before") {
    auto const w = small();
    auto const& t = w.cluster.tables();
    auto const& before = w.cluster.state();
    auto after = before;
    after.move(t, b, {task_status::binding, node, {}});
    auto const limit = [](double cpu) {
        return [=](muster::queue_id, muster::dimension_id d) {
            return d == muster::dimension::cpu ? cpu : std::numeric_limits<double>::infinity();
        };
    };
    CHECK(audit_limits(t, before, after, limit(2000)).empty());
    CHECK(audit_limits(t, before, before, limit(500)).empty());
    CHECK(audit_limits(t, before, after, limit(1999)) ==
          muster::findings{{.code = finding_code::over_limit, .queue = queue, .dimension = muster::dimension::cpu}});
}
