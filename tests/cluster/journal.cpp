#include <muster/cluster/journal.hpp>

#include <doctest/doctest.h>

using muster::task_id;
using muster::task_status;

static_assert(std::is_trivially_copyable_v<muster::change>);

TEST_CASE("journal: entries stay in order, and positions stay valid") {
    muster::journal j;
    CHECK(j.position() == 0);
    muster::change const first{task_id{4U}, {}, {task_status::allocated, muster::node_id{1U}, {}}};
    j.append(first);
    j.append(first.inverse());
    CHECK(j.position() == 2);
    CHECK(j[0] == first);
    CHECK(j[1].to == first.from);
    CHECK(j[1].inverse() == first);
    CHECK(j.end() - j.begin() == 2);
}
