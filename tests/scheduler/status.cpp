#include <muster/scheduler/status.hpp>

#include <doctest/doctest.h>

#include "support/world.hpp"

using muster::job_phase;
using muster::task_status;

TEST_CASE("status: a job's phase follows from its tasks (PH1 to PH7)") {
    using enum task_status;
    struct task {
        task_status status;
        bool placed;
    };
    struct row {
        char const* name;
        std::int32_t min;
        job_phase phase;
        std::vector<task> tasks;
        bool unschedulable;
        job_phase want;
    };
    for (row const& r : {
             row{"PH1", 1, job_phase::running, {{releasing, true}}, false, job_phase::running},
             row{"PH2", 2, job_phase::running, {{running, true}, {releasing, true}}, false, job_phase::running},
             row{"PH3", 2, job_phase::running, {{releasing, true}, {releasing, true}}, false, job_phase::running},
             row{"PH4", 2, job_phase::pending, {{releasing, false}, {pending, false}}, false, job_phase::pending},
             row{"PH5", 2, job_phase::running, {{succeeded, true}, {succeeded, true}}, false, job_phase::completed},
             row{"PH6", 2, job_phase::running, {{releasing, true}}, false, job_phase::pending},
             row{"PH7", 2, job_phase::running, {{running, true}, {pending, false}}, true, job_phase::unknown},
             row{"no tasks, no minimum", 0, job_phase::pending, {}, false, job_phase::completed},
             row{"a decided gang stays", 1, job_phase::inqueue, {{binding, true}}, false, job_phase::inqueue},
             row{"failed is over, too",
                 2,
                 job_phase::running,
                 {{failed, true}, {failed, true}},
                 false,
                 job_phase::completed},
             row{"bound counts", 1, job_phase::inqueue, {{bound, true}}, false, job_phase::running},
         }) {
        CAPTURE(r.name);
        test::world w;
        w.node("n", "9/9Gi");
        w.queue("q");
        auto const j = w.job("j", "q", r.min, {.phase = r.phase});
        for (std::size_t i = 0; i != r.tasks.size(); ++i)
            w.pod("t" + std::to_string(i), "j", "1/1Gi",
                  {.status = r.tasks[i].status, .node = r.tasks[i].placed ? "n" : ""});
        muster::column<muster::condition> conditions;
        if (r.unschedulable) conditions.push_back({j, false, 1});
        CHECK(phase_at_close(test::lens{w}[j], conditions) == r.want);
    }
}
