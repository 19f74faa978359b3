// A cluster built in code, one scheduling cycle, and what came of it. The README shows this program.

#include <cstdio>
#include <string>

#include <muster/muster.hpp>

using namespace muster;

using gpu_scheduler = scheduler<actions<action::enqueue, action::allocate, action::backfill>,
                                tier<policy::priority, policy::gang, policy::conformance>,
                                tier<policy::drf, policy::deviceshare<device::slices>, policy::predicates,
                                     policy::proportion, policy::nodeorder, policy::binpack>>;

int main() {
    cluster c;
    c.add_queue({.name = "default"}).value();
    c.add_node({.name = "gpu-node",
                .allocatable = {{"cpu", quantity::from_units(8)}, {"pods", quantity::from_units(110)}},
                .cards = {{.uuid = "GPU-0", .type = "NVIDIA A10", .slots = 10, .memory = mib{8192}}}})
        .value();
    for (std::string const gang : {"small", "large"}) { // two pods each; both of `large` would need 12,000 MiB
        device_request const want{{{.memory = mib{gang == "small" ? 1000 : 6000}, .cores = percent{30}}}, {}};
        c.add_job({.name = gang, .min_available = 2}).value();
        for (auto const* member : {"-worker-0", "-worker-1"})
            c.add_task({.name = gang + member, .job = "default/" + gang, .devices = want}).value();
    }
    record why;
    auto const outcome = gpu_scheduler{policy::binpack{.weight = 5}}.run(c, &why);
    std::printf("%zu pods start\n", outcome.bound.size());
    for (auto const& condition : outcome.conditions)
        if (!condition.scheduled) std::printf("%s\n", message_maker{c, outcome}.of(condition).message.c_str());
    return outcome.bound.size() == 2 ? 0 : 1;
}
