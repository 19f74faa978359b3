#include "support/any_cluster.hpp"

#include <string>

namespace test {

int up_to(int most) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, most + 1)); }

world any_world() {
    world w;
    int const nodes = up_to(4);
    for (int n = 0; n <= nodes; ++n) {
        muster::node_spec spec;
        auto const name = "n" + std::to_string(n);
        for (int c = up_to(2); c != 0; --c) spec.cards.push_back(card(name + "-" + std::to_string(c), 1000));
        if (up_to(1) == 0) spec.labels = {{"zone", "a"}};
        if (up_to(5) == 0) spec.taints = {{"gpu", "", muster::taint_effect::no_schedule}};
        if (up_to(5) == 0) spec.taints.push_back({"old", "", muster::taint_effect::prefer_no_schedule});
        spec.unschedulable = up_to(9) == 0;
        w.node(name, *rc::gen::element("2/2Gi", "3/4Gi", "8/4Gi pods=3", "3/8Gi nvidia.com/gpu=2"), spec);
    }
    for (int n = 0; n <= nodes; ++n) {
        if (up_to(1) == 0) continue;
        auto const node = "n" + std::to_string(n);
        muster::task_spec spec{.status = muster::task_status::releasing, .node = node};
        if (up_to(1) == 0) spec.shares = {{node + "-1", 0, muster::mib{900}, muster::percent{10}}};
        w.pod("leaving-" + std::to_string(n), "", "1/1Gi", spec);
    }
    int const queues = up_to(2);
    for (int q = 0; q <= queues; ++q) {
        muster::queue_spec spec{.created = up_to(1), .weight = 1 + up_to(2), .priority = up_to(1)};
        if (up_to(2) == 0) spec.capability = amounts("4/4Gi");
        if (up_to(3) == 0) spec.guarantee = amounts("1/1Gi");
        spec.open = up_to(9) != 0;
        w.queue("q" + std::to_string(q), spec);
    }
    int const jobs = up_to(4);
    for (int j = 0; j <= jobs; ++j) {
        auto const name = "j" + std::to_string(j);
        muster::job_spec spec{.created = up_to(1), .priority = up_to(1)};
        spec.phase =
            *rc::gen::element(muster::job_phase::pending, muster::job_phase::inqueue, muster::job_phase::running);
        if (up_to(1) == 0) spec.min_resources = amounts("1/1Gi");
        if (up_to(3) == 0) spec.min_of_role = {{"master", 1}, {"worker", 1}};
        int const tasks = up_to(4);
        w.job(name, "q" + std::to_string(up_to(queues)), up_to(2) == 0 ? tasks + 1 : up_to(tasks), spec);
        for (int t = 0; t <= tasks; ++t) {
            muster::task_spec task{.role = *rc::gen::element("", "master", "worker"), .priority = up_to(1)};
            task.requests = amounts(*rc::gen::element("", "1/1Gi", "1/1Gi", "2/1Gi", "500m/2Gi"));
            if (up_to(2) == 0) task.devices = share(100 * (1 + up_to(5)), 30 * up_to(2), 1 + up_to(1));
            if (up_to(5) == 0) task.rules.selector = {{"zone", "a"}};
            if (up_to(2) == 0) task.rules.tolerations = {{"gpu", {}, {}}};
            if (up_to(9) == 0) task.rules.ports = {{"0.0.0.0", "TCP", 80}};
            if (up_to(9) == 0) task.gate = muster::scheduling_gate::held;
            if (up_to(3) == 0) { // already somewhere; a node may start oversold
                task.status = *rc::gen::element(muster::task_status::running, muster::task_status::bound,
                                                muster::task_status::releasing, muster::task_status::succeeded,
                                                muster::task_status::failed);
                if (j <= nodes && t == 0) task.node = "n" + std::to_string(j);
                if (!task.node.empty()) task.shares = {{task.node + "-1", 0, muster::mib{300}, muster::percent{10}}};
            }
            task.name = name + "-" + std::to_string(t);
            task.job = "default/" + name;
            must(w.cluster.add_task(task));
        }
    }
    return w;
}

} // namespace test
