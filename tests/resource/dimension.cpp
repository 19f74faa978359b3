#include <muster/resource/dimension.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using muster::counting;
using muster::counting_of;

TEST_CASE("dimension: which names count, and how") {
    struct row {
        char const* name;
        std::optional<counting> how;
    };
    for (row const& r : {
             row{"cpu", counting::thousandth},
             row{"memory", counting::whole},
             row{"pods", counting::whole},
             row{"ephemeral-storage", counting::thousandth},
             row{"nvidia.com/gpu", counting::thousandth},
             row{"hugepages-2Mi", counting::thousandth},
             row{"attachable-volumes-csi-x", counting::thousandth},
             row{"count/pods", {}},
             row{"requests.cpu", {}},
             row{"requests.nvidia.com/gpu", {}},
             row{"rdma", {}},
             row{"", {}},
         }) {
        CAPTURE(r.name);
        CHECK(counting_of(r.name) == r.how);
    }
}

TEST_CASE("dimension: cpu and memory are walked first, the others by name, in whatever order they came") {
    CHECK(rc::check([](std::set<std::string> const& names) {
        std::vector<std::string> order(names.begin(), names.end());
        std::reverse(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2));
        muster::dimension_table t;
        for (auto const& name : order) {
            auto const d = t.intern(name);
            RC_ASSERT(t.intern(name) == d);
            RC_ASSERT(t.find(name) == d);
            RC_ASSERT(t.name(d) == name);
        }
        std::vector<std::string> walked;
        for (auto const d : t.walk()) walked.push_back(t.name(d));
        RC_ASSERT(walked.size() == t.size());
        RC_ASSERT(walked[0] == "cpu");
        RC_ASSERT(walked[1] == "memory");
        RC_ASSERT(std::is_sorted(walked.begin() + 2, walked.end()));
    }));
}

TEST_CASE("dimension: cpu, memory and pods have fixed ids") {
    muster::dimension_table const t;
    CHECK(t.find("cpu") == muster::dimension::cpu);
    CHECK(t.find("memory") == muster::dimension::memory);
    CHECK(t.find("pods") == muster::dimension::pods);
    CHECK(!t.find("gpu"));
}
