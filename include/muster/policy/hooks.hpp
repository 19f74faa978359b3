#pragma once

/// \file
/// The questions that a scheduler asks its policies, and how it tells which policy answers which.
///
/// A policy is an aggregate of parameters. `open(session_view)` gives its state for one session; without it the policy
/// is its own state. The hooks are members of the state, `noexcept`, and `const` but for events:
///
/// | hook            | answer        | combined                                             | in
/// |-----------------|---------------|------------------------------------------------------|---------------------------
/// | queue_order     | <0, 0, >0     | the first that tells apart                           | proportion
/// | job_order       | <0, 0, >0     | the first that tells apart                           | priority, gang, drf
/// | task_order      | <0, 0, >0     | the first that tells apart                           | priority
/// | job_valid       | bool          | all agree                                            | gang
/// | job_ready       | bool          | all agree                                            | gang
/// | job_pipelined   | vote          | a reject ends it; a permit ends it with its tier      | gang
/// | job_starving    | bool          | all of the first tier that has one; else false       | priority, gang
/// | job_enqueueable | vote          | as job_pipelined                                     | proportion
/// | job_enqueued    | event         | all hear it                                          | proportion
/// | overused        | bool          | any                                                  | proportion
/// | allocatable     | bool          | all agree                                            | proportion
/// | fits            | bool          | all agree                                            | predicates, deviceshare
/// | score           | double        | sum, in tier order                                   | binpack, deviceshare, nodeorder
/// | rank            | adds doubles  | sum, in tier order, after all scores                 | nodeorder
/// | preemptable     | vote, victims | intersection within a tier; the first tier with some | priority, gang, conformance, drf
/// | reclaimable     | vote, victims | as preemptable                                       | gang, conformance, proportion
/// | assign          | assignment    | the first that owns the request's device kind        | deviceshare
/// | shape_key       | uint64        | tells apart tasks that look alike to the cluster     | deviceshare
/// | allocated       | event         | all hear it                                          | drf, proportion, nodeorder
/// | deallocated     | event         | all hear it, while the task is still there           | drf, proportion, nodeorder, deviceshare
/// | close           | conditions    | all are asked                                        | gang
/// | describe        | queue_facts   | the last one that knows the queue                    | proportion
///
/// `fits`, `allocatable` and `job_enqueueable` may come with `explain_...`, which adds the reasons of a no. `fits`
/// counts what is on its way out as gone and what waits for that as there; `fits_at_once`, which may come with it,
/// tells of a node that fits whether the room is there now.
///
/// Source: volcano, pkg/scheduler/framework/session_plugins.go, at ed72c7c8 (spec/volcano-core.md 2.3).

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/device/card.hpp>
#include <muster/policy/reason.hpp>
#include <muster/resource/vector.hpp>

namespace muster {

/// A voter's word.
enum class vote : std::int8_t { reject = -1, abstain = 0, permit = 1 };

/// How much a fits or rank hook reads beyond the shape: one node, the candidates together, or anything.
///
/// A state that has one says so by `locality reads(shape_view) const noexcept`, of all such hooks together; one that is
/// silent counts as `cluster`. An index may serve a shape for which all of a composition read `node`.
enum class locality : std::uint8_t { node, candidates, cluster };

template <class S>
[[nodiscard]] locality locality_of(S const& state, shape_view shape) noexcept {
    if constexpr (requires { state.reads(shape); })
        return state.reads(shape);
    else
        return locality::cluster;
}

/// What a policy did about a task's cards.
enum class assignment : std::uint8_t {
    none, ///< not its kind of device, or nothing is asked
    chosen,
    refused, ///< they can't be had although the node fits
};

/// What a policy says of a gang when the session closes.
struct condition {
    job_id job;
    bool scheduled = false;   ///< else unschedulable
    std::int64_t missing = 0; ///< tasks short of the minimum; may be negative
    friend bool operator==(condition const&, condition const&) noexcept = default;
};

/// What the session knows of a task beside its placement.
///
/// A discarded statement leaves behind what it had decided: the words about a waiting gang tell of it.
struct task_facts {
    bool tried = false; ///< `last` holds what a discarded statement had decided
    placement last{};
    bool assigned = false;                     ///< a policy chose its cards
    bool eviction = false;                     ///< waits for what an eviction releases
    std::uint32_t failure = std::uint32_t(-1); ///< in the session's list of failures
};

/// What a policy made of a queue, for reports.
struct queue_facts {
    bool known = false;
    resource_vector deserved{};
    double share = 0;
    column<std::int64_t> inqueue{}; ///< promised to jobs that were let in, `[dimension]`
};

// Each concept states a hook's signature; what it must answer is in the table above.

template <class S>
concept has_queue_order = requires(S const& s, queue_view q) {
    { s.queue_order(q, q) }
    noexcept->std::same_as<int>;
};
template <class S>
concept has_job_order = requires(S const& s, job_view j) {
    { s.job_order(j, j) }
    noexcept->std::same_as<int>;
};
template <class S>
concept has_task_order = requires(S const& s, task_view t) {
    { s.task_order(t, t) }
    noexcept->std::same_as<int>;
};
template <class S>
concept has_job_valid = requires(S const& s, job_view j) {
    { s.job_valid(j) }
    noexcept->std::same_as<bool>;
};
template <class S>
concept has_job_ready = requires(S const& s, job_view j) {
    { s.job_ready(j) }
    noexcept->std::same_as<bool>;
};
template <class S>
concept has_job_pipelined = requires(S const& s, job_view j) {
    { s.job_pipelined(j) }
    noexcept->std::same_as<vote>;
};
template <class S>
concept has_job_starving = requires(S const& s, job_view j) {
    { s.job_starving(j) }
    noexcept->std::same_as<bool>;
};
template <class S>
concept has_job_enqueueable = requires(S const& s, job_view j) {
    { s.job_enqueueable(j) }
    noexcept->std::same_as<vote>;
};
template <class S>
concept has_job_enqueued = requires(S& s, job_view j) {
    { s.job_enqueued(j) }
    noexcept->std::same_as<void>;
};
template <class S>
concept has_overused = requires(S const& s, queue_view q) {
    { s.overused(q) }
    noexcept->std::same_as<bool>;
};
template <class S>
concept has_allocatable = requires(S const& s, queue_view q, task_view t) {
    { s.allocatable(q, t) }
    noexcept->std::same_as<bool>;
};
/// May be asked for nodes in any order; reads the node, the shape and what `open` prepared.
template <class S>
concept has_fits = requires(S const& s, node_view n, shape_view h) {
    { s.fits(n, h) }
    noexcept->std::same_as<bool>;
};
/// Higher is better; asked only for nodes that no `fits` refused.
template <class S>
concept has_score = requires(S const& s, node_view n, shape_view h) {
    { s.score(n, h) }
    noexcept->std::same_as<double>;
};
/// Adds one number to each candidate's sum; `sums[i]` is of `candidates[i]`.
template <class S>
concept has_rank = requires(S const& s, session_view v, std::span<node_id const> c, shape_view h, std::span<double> d) {
    { s.rank(v, c, h, d) }
    noexcept->std::same_as<void>;
};
/// Puts into `victims` those of the candidates that may go for `t`; abstains or votes.
template <class S>
concept has_preemptable = requires(S const& s, session_view v, task_view t, std::span<task_id const> c,
                                   column<task_id>& victims) {
    { s.preemptable(v, t, c, victims) } -> std::same_as<vote>;
};
template <class S>
concept has_reclaimable = requires(S const& s, session_view v, task_view t, std::span<task_id const> c,
                                   column<task_id>& victims) {
    { s.reclaimable(v, t, c, victims) } -> std::same_as<vote>;
};
/// Appends the shares that the shape gets on the node.
template <class S>
concept has_assign = requires(S& s, node_view n, shape_view h, column<share>& out) {
    { s.assign(n, h, out) } -> std::same_as<assignment>;
};
template <class S>
concept has_shape_key = requires(S const& s, task_view t) {
    { s.shape_key(t) }
    noexcept->std::same_as<std::uint64_t>;
};
template <class S>
concept has_allocated = requires(S& s, task_view t) {
    { s.allocated(t) }
    noexcept->std::same_as<void>;
};
template <class S>
concept has_deallocated = requires(S& s, task_view t) {
    { s.deallocated(t) }
    noexcept->std::same_as<void>;
};
template <class S>
concept has_close = requires(S const& s, session_view v, std::span<task_facts const> f, column<condition>& out) {
    { s.close(v, f, out) } -> std::same_as<void>;
};

template <class S>
concept has_describe = requires(S const& s, queue_view q, queue_facts& out) {
    { s.describe(q, out) } -> std::same_as<void>;
};

template <class S>
concept has_fits_at_once = requires(S const& s, node_view n, shape_view h) {
    { s.fits_at_once(n, h) }
    noexcept->std::same_as<bool>;
};
template <class S>
concept has_explain_fits = requires(S const& s, node_view n, shape_view h, reasons& r) {
    { s.explain_fits(n, h, r) } -> std::same_as<void>;
};
template <class S>
concept has_explain_allocatable = requires(S const& s, queue_view q, task_view t, reasons& r) {
    { s.explain_allocatable(q, t, r) } -> std::same_as<void>;
};
template <class S>
concept has_explain_job_enqueueable = requires(S const& s, job_view j, reasons& r) {
    { s.explain_job_enqueueable(j, r) } -> std::same_as<void>;
};

/// The hooks as types. Each has `in<S>` (S answers it), `named<S>` (S has a member of its name), its `name`, and the
/// `flag` that switches it in a configuration's text (none: always on).
namespace hook {

namespace detail {
// A member of S and one of the base collide, so the name can't be taken from both.
template <class S, class Base>
struct both : S, Base {};
} // namespace detail

// clang-format off
struct queue_order { static constexpr std::string_view name = "queue_order", flag = "enableQueueOrder"; struct probe { int queue_order; };
    template <class S> static constexpr bool in = has_queue_order<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::queue_order; }; };
struct job_order { static constexpr std::string_view name = "job_order", flag = "enableJobOrder"; struct probe { int job_order; };
    template <class S> static constexpr bool in = has_job_order<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::job_order; }; };
struct task_order { static constexpr std::string_view name = "task_order", flag = "enableTaskOrder"; struct probe { int task_order; };
    template <class S> static constexpr bool in = has_task_order<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::task_order; }; };
struct job_valid { static constexpr std::string_view name = "job_valid", flag = ""; struct probe { int job_valid; };
    template <class S> static constexpr bool in = has_job_valid<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::job_valid; }; };
struct job_ready { static constexpr std::string_view name = "job_ready", flag = "enableJobReady"; struct probe { int job_ready; };
    template <class S> static constexpr bool in = has_job_ready<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::job_ready; }; };
struct job_pipelined { static constexpr std::string_view name = "job_pipelined", flag = "enableJobPipelined"; struct probe { int job_pipelined; };
    template <class S> static constexpr bool in = has_job_pipelined<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::job_pipelined; }; };
struct job_starving { static constexpr std::string_view name = "job_starving", flag = "enableJobStarving"; struct probe { int job_starving; };
    template <class S> static constexpr bool in = has_job_starving<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::job_starving; }; };
struct job_enqueueable { static constexpr std::string_view name = "job_enqueueable", flag = "enableJobEnqueued"; struct probe { int job_enqueueable; };
    template <class S> static constexpr bool in = has_job_enqueueable<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::job_enqueueable; }; };
struct job_enqueued { static constexpr std::string_view name = "job_enqueued", flag = "enableJobEnqueued"; struct probe { int job_enqueued; };
    template <class S> static constexpr bool in = has_job_enqueued<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::job_enqueued; }; };
struct overused { static constexpr std::string_view name = "overused", flag = "enabledOverused"; struct probe { int overused; };
    template <class S> static constexpr bool in = has_overused<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::overused; }; };
struct allocatable { static constexpr std::string_view name = "allocatable", flag = "enabledAllocatable"; struct probe { int allocatable; };
    template <class S> static constexpr bool in = has_allocatable<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::allocatable; }; };
struct fits { static constexpr std::string_view name = "fits", flag = "enablePredicate"; struct probe { int fits; };
    template <class S> static constexpr bool in = has_fits<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::fits; }; };
struct score { static constexpr std::string_view name = "score", flag = "enableNodeOrder"; struct probe { int score; };
    template <class S> static constexpr bool in = has_score<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::score; }; };
struct rank { static constexpr std::string_view name = "rank", flag = "enableNodeOrder"; struct probe { int rank; };
    template <class S> static constexpr bool in = has_rank<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::rank; }; };
struct preemptable { static constexpr std::string_view name = "preemptable", flag = "enablePreemptable"; struct probe { int preemptable; };
    template <class S> static constexpr bool in = has_preemptable<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::preemptable; }; };
struct reclaimable { static constexpr std::string_view name = "reclaimable", flag = "enableReclaimable"; struct probe { int reclaimable; };
    template <class S> static constexpr bool in = has_reclaimable<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::reclaimable; }; };
struct assign { static constexpr std::string_view name = "assign", flag = ""; struct probe { int assign; };
    template <class S> static constexpr bool in = has_assign<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::assign; }; };
struct shape_key { static constexpr std::string_view name = "shape_key", flag = ""; struct probe { int shape_key; };
    template <class S> static constexpr bool in = has_shape_key<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::shape_key; }; };
struct allocated { static constexpr std::string_view name = "allocated", flag = ""; struct probe { int allocated; };
    template <class S> static constexpr bool in = has_allocated<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::allocated; }; };
struct deallocated { static constexpr std::string_view name = "deallocated", flag = ""; struct probe { int deallocated; };
    template <class S> static constexpr bool in = has_deallocated<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::deallocated; }; };
struct close { static constexpr std::string_view name = "close", flag = ""; struct probe { int close; };
    template <class S> static constexpr bool in = has_close<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::close; }; };
struct describe { static constexpr std::string_view name = "describe", flag = ""; struct probe { int describe; };
    template <class S> static constexpr bool in = has_describe<S>;
    template <class S> static constexpr bool named = !requires { &detail::both<S, probe>::describe; }; };
// clang-format on

} // namespace hook

namespace detail {

/// A pack of hooks with the folds that ask about all of them.
template <class... Hooks>
struct hook_list {
    static constexpr std::size_t size = sizeof...(Hooks);

    template <class S>
    static constexpr bool any_in = (Hooks::template in<S> || ...);
    template <class S>
    static constexpr bool all_well_formed = ((!Hooks::template named<S> || Hooks::template in<S>)&&...);

    /// The hook's bit in a mask of hooks.
    template <class Hook>
    static constexpr std::uint32_t bit = [] {
        std::uint32_t position = 0;
        bool found = false;
        ((found = found || std::same_as<Hook, Hooks>, position += found ? 0 : 1), ...);
        return std::uint32_t{1} << position;
    }();

    template <class F>
    static constexpr void each(F f) {
        (f(Hooks{}), ...);
    }
};

using all_hooks =
    hook_list<hook::queue_order, hook::job_order, hook::task_order, hook::job_valid, hook::job_ready,
              hook::job_pipelined, hook::job_starving, hook::job_enqueueable, hook::job_enqueued, hook::overused,
              hook::allocatable, hook::fits, hook::score, hook::rank, hook::preemptable, hook::reclaimable,
              hook::assign, hook::shape_key, hook::allocated, hook::deallocated, hook::close, hook::describe>;

} // namespace detail

/// A set of hooks, as a switch of a configuration's text sets it; all by default.
using hook_mask = std::uint32_t;
inline constexpr hook_mask every_hook = ~hook_mask{0};

template <class Hook>
inline constexpr hook_mask hook_bit = detail::all_hooks::bit<Hook>;

namespace detail {

/// The hooks that a policy may answer in a composition.
template <class P>
inline constexpr hook_mask mask_of = [] {
    if constexpr (requires { P::mask; })
        return P::mask;
    else
        return every_hook;
}();

} // namespace detail

/// The state that a policy has in a session.
template <class P>
struct state_of {
    using type = P;
};
template <class P>
requires requires(P const& p, session_view v) { p.open(v); }
struct state_of<P> {
    using type = decltype(std::declval<P const&>().open(std::declval<session_view>()));
};
template <class P>
using state_of_t = typename state_of<P>::type;

/// Opens a policy: its state for a session, or a copy of itself.
template <class P>
[[nodiscard]] state_of_t<P> open_policy(P const& policy, session_view view) {
    if constexpr (requires { policy.open(view); })
        return policy.open(view);
    else
        return policy;
}

} // namespace muster
