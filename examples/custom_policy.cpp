// A policy of one's own, composed with the library's: prefer nodes that already run something.

#include <cstdio>

#include <muster/muster.hpp>

using namespace muster;

/// Empty machines stay empty, and can be switched off.
struct prefer_busy {
    double weight = 10;

    [[nodiscard]] double score(node_view node, shape_view) const noexcept {
        bool busy = false;
        node.each_task([&](task_view) { busy = true; });
        return busy ? weight : 0;
    }
};

using thrifty = scheduler<actions<action::allocate>, tier<policy::gang>, tier<policy::predicates, prefer_busy>>;

int main() {
    cluster c;
    c.add_queue({.name = "default"}).value();
    for (auto const* name : {"n1", "n2", "n3"})
        c.add_node(
             {.name = name, .allocatable = {{"cpu", quantity::from_units(4)}, {"pods", quantity::from_units(10)}}})
            .value();
    c.add_task({.name = "already-there", .status = task_status::running, .node = "n2"}).value();
    c.add_job({.name = "job"}).value();
    c.add_task({.name = "job-0", .job = "default/job", .requests = {{"cpu", quantity::from_units(1)}}}).value();

    auto const outcome = thrifty{prefer_busy{.weight = 100}}.run(c);
    auto const node = outcome.bound.empty() ? node_id{} : outcome.state.tasks[outcome.bound[0].index()].node;
    std::printf("job-0 joins the busy node: %s\n", node == c.node("n2") ? "yes" : "no");
    return node == c.node("n2") ? 0 : 1;
}
