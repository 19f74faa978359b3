#include <muster/policy/conformance.hpp>

#include <type_traits>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::policy::conformance;

static_assert(muster::has_preemptable<conformance> && muster::has_reclaimable<conformance>);
static_assert(!muster::has_job_order<conformance>);
static_assert(std::is_empty_v<conformance>);

TEST_CASE("conformance: what keeps the cluster alive is no victim") {
    test::world w;
    w.node("n", "9/9Gi");
    muster::column<muster::task_id> const candidates{
        w.pod("kube-system/dns", "", "1/1Gi", test::running("n")),
        w.pod("plain", "", "1/1Gi", test::running("n")),
        w.pod("vital", "", "1/1Gi", test::running("n", {.critical = true})),
        w.pod("kube-system-2/x", "", "1/1Gi", test::running("n")),
    };
    test::lens const lens{w};
    for (bool const reclaim : {false, true}) {
        muster::column<muster::task_id> victims;
        auto const said = reclaim ? conformance{}.reclaimable(lens.view(), lens[candidates[0]], candidates, victims)
                                  : conformance{}.preemptable(lens.view(), lens[candidates[0]], candidates, victims);
        CHECK(said == muster::vote::permit);
        CHECK(w.names(victims) == std::vector<std::string>{"default/plain", "kube-system-2/x"});
    }
}
