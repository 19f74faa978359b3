#include <muster/policy/gang.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::task_status;
using muster::vote;
using muster::policy::gang;
using test::world;

static_assert(muster::has_job_valid<gang> && muster::has_job_ready<gang> && muster::has_job_pipelined<gang> &&
              muster::has_job_starving<gang> && muster::has_job_order<gang> && muster::has_preemptable<gang> &&
              muster::has_reclaimable<gang> && muster::has_close<gang>);
static_assert(!muster::has_task_order<gang>);
static_assert(std::is_empty_v<gang>);

namespace {

/// A job with tasks in words, "running allocated/master pending/best-effort releasing/nowhere": a status, then a role
/// or what is special.
world with(std::int32_t min, std::string_view tasks, std::vector<std::pair<std::string, std::int32_t>> roles = {}) {
    world w;
    w.node("n", "99/99Gi");
    w.queue("q");
    w.job("j", "q", min, {.min_of_role = std::move(roles)});
    for (std::size_t at = 0; at < tasks.size();) {
        auto const word = tasks.substr(at, tasks.find(' ', at) - at);
        auto const slash = std::min(word.find('/'), word.size());
        auto const flag = word.substr(std::min(slash + 1, word.size()));
        bool const best_effort = flag == "best-effort";
        muster::task_spec spec{.status = test::status(word.substr(0, slash))};
        if (flag != "nowhere") spec.node = "n";
        if (flag != "nowhere" && !best_effort) spec.role = flag;
        w.pod("t" + std::to_string(at), "j", best_effort ? "" : "1/1Gi", spec);
        at += word.size() + 1;
    }
    return w;
}

constexpr muster::job_id j{0U};

} // namespace

TEST_CASE("gang: valid, ready, pipelined, starving") {
    struct row {
        std::int32_t min;
        char const* tasks;
        bool valid, ready, may_wait, starving;
    };
    for (row const& r : {
             row{0, "", true, true, true, false},
             row{2, "pending", false, false, false, true},
             row{2, "pending pending", true, false, false, true},
             row{2, "allocated pending", true, false, false, true},
             row{2, "allocated pipelined", true, false, true, false},
             row{2, "binding running", true, true, true, false},
             row{2, "succeeded bound", true, true, true, false},
             row{2, "releasing failed", false, false, false, true},
             row{2, "allocated pending/best-effort", true, true, true, true},
         }) {
        CAPTURE(r.tasks);
        auto const w = with(r.min, r.tasks);
        auto const job = test::lens{w}[j];
        CHECK(gang{}.job_valid(job) == r.valid);
        CHECK(gang{}.job_ready(job) == r.ready);
        CHECK(gang{}.job_pipelined(job) == (r.may_wait ? vote::permit : vote::reject));
        CHECK(gang{}.job_starving(job) == r.starving);
    }
}

TEST_CASE("gang: each role needs its minimum, unless the job's own is smaller than their sum") {
    struct row {
        std::int32_t min;
        char const* tasks;
        bool valid, ready, may_wait;
    };
    for (row const& r : {
             row{2, "allocated/master allocated/master", false, false, false},
             row{1, "allocated/master allocated/master", true, true, true},
             row{2, "allocated/master allocated/worker", true, true, true},
             row{2, "allocated/master allocated/master pipelined/worker", true, false, true},
             row{2, "allocated/master pending/worker", true, false, false},
         }) {
        CAPTURE(r.tasks);
        auto const w = with(r.min, r.tasks, {{"master", 1}, {"worker", 1}});
        auto const job = test::lens{w}[j];
        CHECK(gang{}.job_valid(job) == r.valid);
        CHECK(gang{}.job_ready(job) == r.ready);
        CHECK(gang{}.job_pipelined(job) == (r.may_wait ? vote::permit : vote::reject));
    }
}

TEST_CASE("gang: jobs that are not ready go first, whatever their roles say") {
    world w;
    w.node("n", "9/9Gi");
    w.queue("q");
    auto const whole = w.job("whole", "q", 1, {.min_of_role = {{"missing", 1}}});
    auto const open = w.job("open", "q", 1);
    w.pod("t", "whole", "1/1Gi", test::running("n"));
    test::lens const lens{w};
    CHECK(gang{}.job_order(lens[open], lens[whole]) < 0);
    CHECK(gang{}.job_order(lens[whole], lens[open]) > 0);
    CHECK(gang{}.job_order(lens[open], lens[open]) == 0);
}

TEST_CASE("gang: victims are what a job has above its minimum") {
    world w;
    w.node("n", "9/9Gi");
    w.queue("q");
    w.job("three", "q", 1);
    w.job("tight", "q", 1);
    muster::column<muster::task_id> candidates;
    for (auto const* name : {"a", "b", "c"}) candidates.push_back(w.pod(name, "three", "1/1Gi", test::running("n")));
    candidates.push_back(w.pod("d", "tight", "1/1Gi", test::running("n")));
    candidates.push_back(w.pod("e", "", "1/1Gi", test::running("n")));
    test::lens const lens{w};
    for (bool const reclaim : {false, true}) {
        muster::column<muster::task_id> victims;
        auto const said = reclaim ? gang{}.reclaimable(lens.view(), lens[candidates[0]], candidates, victims)
                                  : gang{}.preemptable(lens.view(), lens[candidates[0]], candidates, victims);
        CHECK(said == vote::permit);
        CHECK(w.names(victims) == std::vector<std::string>{"default/a", "default/b"});
    }
}

// Source: volcano, pkg/scheduler/plugins/gang/gang_test.go, TestShouldSkipUnschedulableForReleasing, at ed72c7c8.
TEST_CASE("gang: a job that is whole but for tasks on their way out is not called unschedulable (G1 to G5)") {
    struct row {
        char const* name;
        std::int32_t min;
        char const* tasks;
        bool silent;
    };
    for (row const& r : {
             row{"G1", 2, "running releasing", true},
             row{"G2", 2, "running releasing pending", false},
             row{"G3", 2, "running releasing pipelined", false},
             row{"G4", 1, "releasing/nowhere", false},
             row{"G5", 3, "running releasing", false},
         }) {
        CAPTURE(r.name);
        auto const w = with(r.min, r.tasks);
        std::vector<muster::task_facts> const facts(w.cluster.tables().tasks.size());
        muster::column<muster::condition> said;
        gang{}.close(test::lens{w}.view(), facts, said);
        if (r.silent) {
            CHECK(said.empty());
        } else {
            REQUIRE(said.size() == 1);
            CHECK(!said[0].scheduled);
        }
    }
}

TEST_CASE("gang: what is missing counts tasks that a discarded try had placed as placed") {
    using enum task_status;
    auto const w = with(3, "running pending pending pending");
    std::vector<muster::task_facts> facts(4);
    facts[1] = {.tried = true, .last = {.status = allocated, .node = muster::node_id{0U}}};
    facts[2] = {.tried = true, .last = {.status = pipelined, .node = muster::node_id{0U}}};
    muster::column<muster::condition> said;
    gang{}.close(test::lens{w}.view(), facts, said);
    CHECK(said == muster::column<muster::condition>{{j, false, 1}});
    auto const ready = with(1, "running");
    said.clear();
    gang{}.close(test::lens{ready}.view(), facts, said);
    CHECK(said == muster::column<muster::condition>{{j, true, 0}});
    said.clear();
    auto const nothing = with(1, "");
    gang{}.close(test::lens{nothing}.view(), facts, said);
    CHECK(said.empty());
}
