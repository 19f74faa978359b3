#include <muster/policy/static_tiers.hpp>

#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include <muster/policy/gang.hpp>
#include <muster/policy/priority.hpp>

#include "support/world.hpp"

namespace {

using muster::tier;
using muster::policy::gang;
using muster::policy::priority;
using muster::policy::without;
namespace hook = muster::hook;

/// A policy with a parameter and no other state.
template <char Name>
struct named {
    int value = 0;
    [[nodiscard]] int job_order(muster::job_view, muster::job_view) const noexcept { return value; }
};

/// The tiers of the policies that answer a hook, with their parameter: "0 1=7 ".
template <class Hook, class Policies>
std::string walked(Policies const& policies) {
    muster::cluster const nothing;
    test::lens const lens{nothing};
    std::string seen;
    policies.open(lens.view()).template walk<Hook>([&](auto const& state, std::size_t tier) {
        seen += std::to_string(tier);
        if constexpr (requires { state.value; }) seen += '=' + std::to_string(state.value);
        seen += ' ';
        return true;
    });
    return seen;
}

template <class... Tiers>
using tiers = muster::static_tiers<Tiers...>;

static_assert(std::is_empty_v<tiers<tier<priority, gang>>>, "stateless policies cost nothing to carry");
static_assert(sizeof(tiers<tier<priority, named<'a'>>, tier<gang, named<'b'>>>) == 2 * sizeof(int));
static_assert(tiers<tier<priority, gang>>::has<gang>);
static_assert(!tiers<tier<priority>>::has<gang>);
static_assert((without<gang, hook::preemptable>::mask & muster::hook_bit<hook::preemptable>) == 0);
static_assert((without<gang, hook::preemptable>::mask & muster::hook_bit<hook::reclaimable>) != 0);

} // namespace

TEST_CASE("static_tiers: a hook's policies are walked in order, each with its tier") {
    CHECK(walked<hook::job_order>(tiers<tier<priority, gang>, tier<>, tier<named<'a'>>>{}) == "0 0 2=0 ");
    CHECK(walked<hook::task_order>(tiers<tier<gang, priority>, tier<priority>>{}) == "0 1 ");
    CHECK(walked<hook::score>(tiers<tier<gang, priority>>{}) == "");
}

TEST_CASE("static_tiers: parameters reach their policy, wherever it stands") {
    using composition = tiers<tier<named<'a'>, named<'b'>>, tier<named<'a'>>>;
    CHECK(walked<hook::job_order>(composition{named<'b'>{2}, named<'a'>{1}}) == "0=1 0=2 1=1 ");
    CHECK(walked<hook::job_order>(composition{named<'b'>{2}}) == "0=0 0=2 1=0 ");
}

TEST_CASE("static_tiers: a walk ends when it is told to") {
    muster::cluster const nothing;
    test::lens const lens{nothing};
    int met = 0;
    tiers<tier<priority, gang>, tier<named<'a'>>>{}
        .open(lens.view())
        .walk<hook::job_order>([&](auto const&, std::size_t) { return ++met != 2; });
    CHECK(met == 2);
}

TEST_CASE("static_tiers: a hook that is switched off is not walked, the others are") {
    using quiet = without<gang, hook::job_order, hook::preemptable>;
    CHECK(walked<hook::job_order>(tiers<tier<quiet, priority>>{}) == "0 ");
    CHECK(walked<hook::preemptable>(tiers<tier<quiet>>{}) == "");
    CHECK(walked<hook::job_ready>(tiers<tier<quiet>>{}) == "0 ");
}
