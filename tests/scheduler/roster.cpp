#include <muster/scheduler/roster.hpp>

#include <doctest/doctest.h>

#include "support/world.hpp"

using test::world;

TEST_CASE("roster: who is gone, or has no queue, takes no part") {
    world w;
    auto const n1 = w.node("n1", "1/1Gi");
    auto const n2 = w.node("n2", "1/1Gi");
    auto const q = w.queue("q");
    auto const orphan = w.job("orphan", "nowhere", 1);
    auto const j = w.job("j", "q", 1);
    auto const gone = w.job("gone", "q", 1);
    w.pod("t", "j", "");
    w.pod("u", "orphan", "");
    REQUIRE(w.cluster.remove_node(n1).has_value());
    REQUIRE(w.cluster.remove_job(gone).has_value());
    muster::roster const r{w.cluster};
    CHECK(std::vector(r.nodes().begin(), r.nodes().end()) == std::vector{n2});
    CHECK(std::vector(r.queues().begin(), r.queues().end()) == std::vector{q});
    CHECK(std::vector(r.jobs().begin(), r.jobs().end()) == std::vector{j});
    CHECK(r.tasks(j).size() == 1);
    CHECK(r.tasks(orphan).empty());
}

TEST_CASE("roster: among equals the older comes first, then the lower name in byte order") {
    world w;
    auto const qb = w.queue("b");
    auto const qa = w.queue("a");
    auto const old = w.queue("z", {.created = -5});
    auto const jb = w.job("b", "a", 1);
    auto const ja = w.job("a", "a", 1);
    auto const other = w.job("Z/a", "a", 1); // capitals come before small letters
    muster::roster const r{w.cluster};
    auto const& t = w.cluster.tables();
    CHECK(r.older(t, qa, qb));
    CHECK(!r.older(t, qb, qa));
    CHECK(r.older(t, old, qa));
    CHECK(r.older(t, ja, jb));
    CHECK(r.older(t, other, ja));
    CHECK(!r.older(t, ja, ja));
}

TEST_CASE("roster: tasks of a job go by number, then age, then uid") {
    struct pod {
        char const* name;
        std::int64_t created;
        char const* uid;
    };
    struct row {
        pod first, second;
    };
    for (row const& r : {row{{"j-w-2", 9, "b"}, {"j-w-10", 0, "a"}}, // numbers, not texts
                         row{{"j-w-3", 1, "b"}, {"j-v-3", 2, "a"}},  // equal numbers: age
                         row{{"x", 1, "b"}, {"y", 2, "a"}},          // no numbers: age
                         row{{"j-w-7", 1, "b"}, {"y", 2, "a"}},      // one number: age
                         row{{"y", 1, "a"}, {"x", 1, "b"}},          // then uid
                         row{{"a", 0, ""}, {"b", 0, ""}}}) {         // a missing uid is namespace and name
        CAPTURE(r.first.name);
        world w;
        w.queue("q");
        w.job("j", "q", 1);
        auto const second = w.pod(r.second.name, "j", "", {.uid = r.second.uid, .created = r.second.created});
        auto const first = w.pod(r.first.name, "j", "", {.uid = r.first.uid, .created = r.first.created});
        muster::roster const roster{w.cluster};
        CHECK(roster.older(w.cluster.tables(), first, second));
        CHECK(!roster.older(w.cluster.tables(), second, first));
    }
}
