#pragma once

/// \file
/// The laws that every policy keeps, written once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <rapidcheck.h>

#include <muster/policy/dynamic_tiers.hpp>
#include <muster/policy/hooks.hpp>
#include <muster/policy/static_tiers.hpp>

#include "support/any_cluster.hpp"
#include "support/world.hpp"

namespace test {

/// All that a state answers about a session at one moment, as numbers.
template <class State>
std::vector<double> answers(State const& s, muster::session_view view) {
    using namespace muster;
    std::vector<double> all;
    auto const add = [&](auto answer) { all.push_back(static_cast<double>(answer)); };
    auto const& t = view.in();
    muster::column<task_id> tasks;
    for (task_id id{0U}; id.index() != t.tasks.size(); ++id.value) tasks.push_back(id);

    for (auto const a : view.queues()) {
        if constexpr (has_overused<State>) add(s.overused(view.view(a)));
        for (auto const b : view.queues())
            if constexpr (has_queue_order<State>) add(s.queue_order(view.view(a), view.view(b)));
        for (auto const id : tasks)
            if constexpr (has_allocatable<State>) add(s.allocatable(view.view(a), view.view(id)));
    }
    for (auto const a : view.jobs()) {
        if constexpr (has_job_valid<State>) add(s.job_valid(view.view(a)));
        if constexpr (has_job_ready<State>) add(s.job_ready(view.view(a)));
        if constexpr (has_job_pipelined<State>) add(s.job_pipelined(view.view(a)));
        if constexpr (has_job_starving<State>) add(s.job_starving(view.view(a)));
        if constexpr (has_job_enqueueable<State>) add(s.job_enqueueable(view.view(a)));
        for (auto const b : view.jobs())
            if constexpr (has_job_order<State>) add(s.job_order(view.view(a), view.view(b)));
    }
    for (auto const id : tasks) {
        shape_view const shape{t, view.now(), t.tasks[id.index()].shape, id};
        for (auto const other : tasks)
            if constexpr (has_task_order<State>) add(s.task_order(view.view(id), view.view(other)));
        if constexpr (has_shape_key<State>) add(s.shape_key(view.view(id)));
        muster::column<task_id> victims;
        if constexpr (has_preemptable<State>) add(s.preemptable(view, view.view(id), tasks, victims));
        for (auto const v : victims) add(v.value);
        victims.clear();
        if constexpr (has_reclaimable<State>) add(s.reclaimable(view, view.view(id), tasks, victims));
        for (auto const v : victims) add(v.value);
        std::vector<double> sums(view.nodes().size());
        if constexpr (has_rank<State>) s.rank(view, view.nodes(), shape, sums);
        all.insert(all.end(), sums.begin(), sums.end());
        for (auto const n : view.nodes()) {
            if constexpr (has_fits<State>) add(s.fits(view.view(n), shape));
            if constexpr (has_fits<State> && has_score<State>)
                if (!s.fits(view.view(n), shape)) continue;
            if constexpr (has_score<State>) add(s.score(view.view(n), shape));
        }
    }
    return all;
}

/// Asking changes nothing: neither the answers, nor those of a session opened afterwards.
template <class Policy>
void law_asking_twice(Policy const& policy) {
    auto const w = any_world();
    lens const l{w};
    auto const s = muster::open_policy(policy, l.view());
    auto const first = answers(s, l.view());
    RC_ASSERT(answers(s, l.view()) == first);
    RC_ASSERT(answers(muster::open_policy(policy, l.view()), l.view()) == first);
}

/// What is placed and then taken back was never there, in whatever order.
template <class Policy>
void law_release_undoes_allocate(Policy const& policy) {
    using namespace muster;
    auto const w = any_world();
    lens const l{w};
    auto const& t = w.cluster.tables();
    auto now = w.cluster.state();
    auto s = open_policy(policy, l.view());
    auto const before = answers(s, l.view(now));
    muster::column<task_id> placed;
    for (task_id id{0U}; id.index() != t.tasks.size(); ++id.value) {
        if (now.tasks[id.index()].status != task_status::pending || up_to(1) == 0) continue;
        auto const node =
            l.view().nodes()[static_cast<std::size_t>(up_to(static_cast<int>(l.view().nodes().size()) - 1))];
        placement to{up_to(3) == 0 ? task_status::pipelined : task_status::allocated, node, {}};
        to.shares.first = static_cast<std::uint32_t>(now.shares.size());
        if constexpr (has_assign<decltype(s)>)
            if (s.assign(l.view(now).view(node), l.shape(id, now), now.shares) == assignment::refused) continue;
        to.shares.count = static_cast<std::uint32_t>(now.shares.size()) - to.shares.first;
        now.move(t, id, to);
        if constexpr (has_allocated<decltype(s)>) s.allocated(l.view(now).view(id));
        placed.push_back(id);
    }
    RC_ASSERT(test::flaws(t, now).empty());
    if (up_to(1) == 0) std::reverse(placed.begin(), placed.end());
    for (auto const id : placed) {
        if constexpr (has_deallocated<decltype(s)>) s.deallocated(l.view(now).view(id));
        now.move(t, id, {});
    }
    RC_ASSERT(answers(s, l.view(now)) == before);
}

/// Switched off, a hook is not asked, the others are; as a type and as a value.
template <class Policy>
bool law_without() {
    using namespace muster;
    cluster const nothing;
    lens const l{nothing};
    bool good = true;
    detail::all_hooks::each([&]<class Off>(Off) {
        if constexpr (Off::template in<state_of_t<Policy>>) {
            auto const as_type = static_tiers<tier<policy::without<Policy, Off>>>{}.open(l.view());
            dynamic_tiers tiers;
            tiers.add(0, erased_policy{Policy{}, every_hook & ~hook_bit<Off>});
            auto const as_value = tiers.open(l.view());
            detail::all_hooks::each([&]<class Asked>(Asked) {
                int met = 0;
                auto const count = [&](auto const&, std::size_t) { return ++met, true; };
                as_type.template walk<Asked>(count);
                as_value.template walk<Asked>(count);
                bool const answered = Asked::template in<state_of_t<Policy>> && !std::is_same_v<Asked, Off>;
                good = good && met == (answered ? 2 : 0);
            });
        }
    });
    return good;
}

} // namespace test
