/// Counts what a cycle allocates after `open`: nothing.

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include <muster/muster.hpp>

#include "support/volcano_like.hpp"

namespace {

std::size_t allocations = 0;

void* counted(std::size_t size) {
    ++allocations;
    if (void* const room = std::malloc(size != 0 ? size : 1)) return room;
    throw std::bad_alloc{};
}

} // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return counted(size); }
void operator delete(void* room, std::nothrow_t const&) noexcept { std::free(room); }
void operator delete(void* room) noexcept { std::free(room); }
void operator delete[](void* room) noexcept { std::free(room); }
void operator delete(void* room, std::size_t) noexcept { std::free(room); }
void operator delete[](void* room, std::size_t) noexcept { std::free(room); }

namespace {

using namespace muster::policy;
using shares = deviceshare<muster::device::slices>;

muster::resource_list amounts(std::int64_t cpu, std::int64_t gib) {
    return {{"cpu", muster::quantity::from_units(cpu)},
            {"memory", muster::quantity::from_units(gib << 30)},
            {"pods", muster::quantity::from_units(cpu)}};
}

/// 50 nodes of 8 cards, 400 tasks in gangs of 8; gangs of every kind, some of which fit nowhere.
muster::cluster crowded() {
    muster::cluster c;
    for (int n = 0; n != 50; ++n) {
        muster::node_spec node{.name = "node-" + std::to_string(n), .allocatable = amounts(8, 64)};
        if (n % 10 == 0) node.taints = {{"gpu", "", muster::taint_effect::no_schedule}};
        if (n % 7 == 0) node.taints.push_back({"old", "", muster::taint_effect::prefer_no_schedule});
        for (int i = 0; i != 8; ++i)
            node.cards.push_back({.uuid = node.name + "-" + std::to_string(i),
                                  .type = "NVIDIA-H100",
                                  .slots = 4,
                                  .memory = muster::mib{81920}});
        (void)c.add_node(node);
    }
    for (int q = 0; q != 3; ++q) (void)c.add_queue({.name = "q" + std::to_string(q), .weight = q + 1});
    for (int n = 0; n != 10; ++n)
        (void)c.add_task({.name = "leaving-" + std::to_string(n),
                          .requests = amounts(8, 8),
                          .status = muster::task_status::releasing,
                          .node = "node-" + std::to_string(n)});
    for (int j = 0; j != 50; ++j) {
        auto const name = "job-" + std::to_string(j);
        muster::job_spec job{.name = name, .queue = "q" + std::to_string(j % 3), .min_available = 1 + j % 8};
        if (j % 2 == 0) job.min_resources = amounts(4, 4);
        if (j % 5 == 0) job.min_of_role = {{"master", 1}};
        (void)c.add_job(job);
        for (int t = 0; t != 8; ++t) {
            muster::task_spec task{.name = name + "-task-" + std::to_string(t),
                                   .job = "default/" + name,
                                   .role = t == 0 ? "master" : "worker"};
            // One kind asks for more than a node has, one for all of a card, one for a share, one for nothing.
            if (j % 4 != 3 || t % 2 == 0) task.requests = amounts(j % 10 == 0 && t > 3 ? 99 : 1, 1);
            if (j % 4 != 3)
                task.devices.containers = {{.cards = 1 + t % 2,
                                            .memory = muster::mib{j % 4 == 0 ? 81920 : 30000},
                                            .cores = muster::percent{j % 4 == 0 ? 100 : 30}}};
            if (j % 6 == 0) task.devices.filter.spread_group = task.job;
            (void)c.add_task(task);
        }
    }
    return c;
}

} // namespace

int main() {
    auto const c = crowded();
    test::volcano_like const scheduler{binpack{.weight = 2}, shares{.order = "binpack", .weight = 1}};
    auto session = scheduler.open(c);
    auto const before = allocations;
    session.run(muster::action::enqueue{});
    session.run(muster::action::allocate{});
    session.run(muster::action::backfill{});
    auto const after = allocations;
    auto const moves = session.journal().position();
    auto const out = session.close();
    std::printf("%zu of %zu tasks bound, %zu pipelined, %zu moves, %zu allocations\n", out.bound.size(),
                c.tables().tasks.size(), out.pipelined.size(), moves, after - before);
    bool const busy = out.bound.size() > 100 && out.bound.size() < 400 && moves > 2 * out.bound.size();
    if (!busy) std::puts("the cluster is no test: too little is bound, or too little is taken back");
    return busy && after == before ? 0 : 1;
}
