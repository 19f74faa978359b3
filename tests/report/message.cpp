#include <muster/report/message.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/policy.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/world.hpp"

using test::world;

namespace {

using namespace muster::policy;

using gangs = muster::scheduler<muster::actions<muster::action::enqueue, muster::action::allocate>,
                                muster::tier<priority, gang>, muster::tier<predicates, proportion>>;
using without_queues = muster::scheduler<muster::actions<muster::action::enqueue, muster::action::allocate>,
                                         muster::tier<priority, gang>, muster::tier<predicates>>;

template <class Scheduler = without_queues>
muster::outcome decided(world const& w) {
    muster::record sink;
    return Scheduler{}.run(w.cluster, &sink);
}

/// A job of `pods` pods of one cpu, `min` of which must start together.
muster::job_id job_of(world& w, int pods, int min) {
    w.queue("q");
    auto const j = w.job("j", "q", min, test::inqueue());
    for (int i = 1; i <= pods; ++i) w.pod("task-" + std::to_string(i), "j", "1/1Gi");
    return j;
}

} // namespace

TEST_CASE(
    "message: of a gang of six of which three fit, three are schedulable; the first that failed gives the reason") {
    // spec/volcano-core.md 9, J1
    world w;
    for (auto const* name : {"node1", "node2", "node3"}) w.node(name, "1/4Gi");
    auto const j = job_of(w, 6, 6);
    auto const out = decided(w);
    muster::message_maker const say{w.cluster, out};
    std::string const failure = "0/3 nodes are unavailable: 3 Insufficient cpu.";
    CHECK(say.fit_error(j) ==
          "pod group is not ready, 6 Pending, 6 minAvailable; Pending: 3 Schedulable, 3 Unschedulable. "
          "Origin reason is task-4: " +
              failure);
    CHECK(say.of(w.cluster.task("default/task-1")).message ==
          "Pod default/task-1 can possibly be assigned to node1, once minAvailable is satisfied");
    CHECK(say.of(w.cluster.task("default/task-1")).reason == "Schedulable");
    CHECK(say.of(w.cluster.task("default/task-4")).message == failure);
    CHECK(say.of(w.cluster.task("default/task-4")).reason == "Unschedulable");
    CHECK(say.of(w.cluster.task("default/task-6")).message == say.fit_error(j)); // never tried
    REQUIRE(out.conditions.size() == 1);
    CHECK(say.of(out.conditions[0]).reason == "NotEnoughResources");
    CHECK(say.of(out.conditions[0]).message == "3/6 tasks in gang unschedulable: " + say.fit_error(j));
    CHECK(say.waiting_event(j) == "6/6 tasks in gang unschedulable: " + say.fit_error(j));
}

TEST_CASE("message: reasons of nodes are counted and sorted as text") { // U1, U3
    world w;
    auto const j = job_of(w, 1, 1);
    CHECK(muster::message_maker{w.cluster, decided(w)}.fit_error(j).find("Origin") == std::string::npos); // no node
    for (int i = 0; i != 11; ++i) w.node("small-" + std::to_string(i), "500m/1Gi");
    for (int i = 0; i != 2; ++i) w.node("cordoned-" + std::to_string(i), "8/8Gi", {.unschedulable = true});
    w.node("tainted", "8/8Gi", {.taints = {{"gpu", "", muster::taint_effect::no_schedule}}});
    auto const out = decided(w);
    CHECK(muster::message_maker{w.cluster, out}.of(w.cluster.task("default/task-1")).message ==
          "0/14 nodes are unavailable: 1 node(s) had untolerated taint(s), 11 Insufficient cpu, "
          "2 node(s) were unschedulable.");
}

TEST_CASE("message: statuses are sorted as text, ten before two") {
    world w;
    w.node("n", "1/1Gi");
    auto const j = job_of(w, 10, 2);
    for (int i = 0; i != 3; ++i)
        w.pod("done-" + std::to_string(i), "j", "", {.status = muster::task_status::succeeded});
    auto const text = muster::message_maker{w.cluster, decided(w)}.fit_error(j);
    CHECK(text.starts_with("pod group is ready, 1 Binding, 2 minAvailable, 3 Succeeded, 9 Pending; Pending: "));
}

TEST_CASE("message: a job whose pods are not made yet") { // spec/volcano-core.md 4.6 (b)
    world w;
    w.node("n", "1/1Gi");
    auto const j = job_of(w, 0, 2);
    auto const out = decided(w);
    CHECK(muster::message_maker{w.cluster, out}.waiting_event(j) ==
          "0/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable");
    CHECK(out.conditions.empty());
}

TEST_CASE("message: where a queue refused, no node is blamed, and the explanation has the numbers") {
    world w;
    w.node("n", "8/8Gi");
    w.queue("q", {.capability = test::amounts("1/8Gi")});
    auto const j = w.job("j", "q", 2, test::inqueue());
    w.pod("a", "j", "1/1Gi");
    w.pod("b", "j", "1/1Gi");
    auto const out = decided<gangs>(w);
    muster::message_maker const say{w.cluster, out};
    CHECK(say.fit_error(j) ==
          "pod group is not ready, 2 Pending, 2 minAvailable; Pending: 1 Schedulable, 1 Unschedulable");
    CHECK(say.explanations(j) ==
          std::vector<std::string>{"pod b: queue q would pass its limit of cpu: 2 asked in all, 1 held, 1 allowed"});
}

TEST_CASE("message: where nodes refused, each is explained") {
    world w;
    w.node("a", "1/8Gi");
    w.node("b", "8/512Mi");
    auto const j = job_of(w, 2, 2);
    auto const out = decided(w);
    CHECK(muster::message_maker{w.cluster, out}.explanations(j) ==
          std::vector<std::string>{"pod task-2: node a has too little cpu: 1 asked, 1 of 1 in use",
                                   "pod task-2: node b has too little memory: 1Gi asked, 0 of 512Mi in use"});
}
