#include <muster/cluster/cluster.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <muster/cluster/audit.hpp>

#include "support/law.hpp"
#include "support/world.hpp"

using muster::errc;
using muster::task_status;
using test::amounts;
using test::world;

namespace {

/// All that a cluster says, by name: clusters that were built along different ways compare equal.
std::map<std::string, std::string> digest(muster::cluster const& c) {
    auto const& t = c.tables();
    auto const& s = c.state();
    std::map<std::string, std::string> all;
    auto const text = [](auto number) { return std::to_string(number) + ' '; };
    auto const by_dimension = [&](auto const& columns, std::size_t at) {
        std::string line;
        for (auto const d : t.dimensions.walk())
            if (auto const amount = columns[d.index()][at]; amount != 0)
                line += t.dimensions.name(d) + '=' + text(amount);
        return line + "| ";
    };
    auto const counts = [&](muster::status_counts const& of) {
        std::string line;
        for (auto const n : of) line += text(n);
        return line;
    };
    for (muster::node_id n{0U}; n.index() != t.nodes.size(); ++n.value) {
        if (!c.live(n)) continue;
        auto const& row = t.nodes[n.index()];
        auto& line = all["node " + t.text(row.name)];
        for (auto const* of : {&s.idle, &s.used, &s.releasing, &s.pipelined}) line += by_dimension(*of, n.index());
        for (auto i = std::size_t{row.cards.first}; i != row.cards.end(); ++i)
            line += t.text(t.cards[i].uuid) + ' ' + text(s.cards[i].slots) + text(s.cards[i].memory.value) +
                    text(s.cards[i].cores.value);
        std::set<std::string> tasks;
        muster::node_view{t, s, n}.each_task([&](auto task) { tasks.insert(task.text(task.row().name)); });
        for (auto const& name : tasks) line += name + ' ';
    }
    for (muster::job_id j{0U}; j.index() != t.jobs.size(); ++j.value) {
        if (!c.live(j)) continue;
        auto const& row = t.jobs[j.index()];
        auto& line = all["job " + t.text(row.key)];
        line = (row.queue ? t.text(t.queues[row.queue.index()].name) : "-") + ' ' + text(row.min_available) +
               text(row.min_of_roles) + counts(s.jobs[j.index()]) + text(s.pending_best_effort[j.index()]) +
               by_dimension(s.held, j.index());
        std::set<std::string> parts;
        for (auto const r : row.roles) {
            auto const& of_role = t.roles[r.index()];
            bool const empty = muster::status_counts{} == s.roles[r.index()];
            if (!of_role.demanded && empty) continue; // left over from a task that went
            parts.insert(t.text(of_role.name) + ' ' + text(of_role.min) + counts(s.roles[r.index()]) +
                         text(s.pending_best_effort_of_role[r.index()]));
        }
        for (auto const task : row.tasks) parts.insert(t.text(t.tasks[task.index()].name));
        for (auto const& part : parts) line += part + ' ';
    }
    for (muster::task_id id{0U}; id.index() != t.tasks.size(); ++id.value) {
        if (!c.live(id)) continue;
        auto const& row = t.tasks[id.index()];
        auto const& where = s.tasks[id.index()];
        auto& line = all["task " + t.text(row.ns) + '/' + t.text(row.name)];
        line = std::string{name_of(where.status)} + ' ' +
               (where.node ? t.text(t.nodes[where.node.index()].name) : "-") + ' ' +
               (row.job ? t.text(t.jobs[row.job.index()].key) : "-") + ' ';
        for (auto const& share : s.shares_of(id))
            line += t.text(t.cards[share.card.index()].uuid) + ' ' + text(share.memory.value);
    }
    return all;
}

/// What the cluster should hold: the latest spec under each name.
struct model {
    std::map<std::string, muster::node_spec> nodes{};
    std::map<std::string, muster::queue_spec> queues{};
    std::map<std::string, muster::job_spec> jobs{};
    std::map<std::string, muster::task_spec> tasks{};

    [[nodiscard]] muster::cluster build() const {
        muster::cluster c;
        for (auto const& [name, spec] : nodes) test::must(c.add_node(spec));
        for (auto const& [name, spec] : queues) test::must(c.add_queue(spec));
        for (auto const& [name, spec] : jobs) test::must(c.add_job(spec));
        for (auto const& [name, spec] : tasks) test::must(c.add_task(spec));
        return c;
    }
};

int up_to(int most) { return *rc::gen::inRange(0, most + 1); }
std::string numbered(char kind, int most) { return kind + std::to_string(up_to(most)); }

muster::node_spec any_node(std::string name) {
    muster::node_spec spec{.name = std::move(name), .allocatable = amounts("4/8Gi pods=5")};
    if (up_to(1) == 0) spec.allocatable.emplace_back("example.com/x" + std::to_string(up_to(2)), test::quantity("3"));
    for (int i = up_to(2); i != 0; --i) spec.cards.push_back(test::card(spec.name + "-" + std::to_string(i), 1000));
    return spec;
}

muster::job_spec any_job(std::string name) {
    muster::job_spec spec{.name = std::move(name), .queue = numbered('q', 1), .min_available = up_to(3)};
    if (up_to(1) == 0) spec.min_of_role.emplace_back(numbered('r', 1), up_to(2));
    return spec;
}

muster::task_spec any_task(std::string name) {
    muster::task_spec spec{.name = std::move(name),
                           .job = "default/" + numbered('j', 2),
                           .role = numbered('r', 1),
                           .requests = amounts(up_to(3) == 0 ? "" : "1/1Gi"),
                           .status = static_cast<task_status>(up_to(9)),
                           .node = numbered('n', 2)};
    if (up_to(3) == 0) spec.node.clear();
    if (up_to(3) == 0) spec.job.clear();
    if (up_to(1) == 0) spec.requests.emplace_back("example.com/y" + std::to_string(up_to(1)), test::quantity("1"));
    for (int i = up_to(2); i != 0; --i)
        spec.shares.push_back({numbered('n', 2) + "-" + std::to_string(1 + up_to(1)), 0, muster::mib{100}, {}});
    return spec;
}

/// Adds, replaces or removes whatever has the spec's name, in cluster and model; a second add is a duplicate.
template <class Specs, class Spec, class Find, class Add, class Update, class Remove>
void change(Specs& specs, Spec const& spec, Find find, Add add, Update update, Remove remove) {
    bool const known = specs.contains(spec.name);
    RC_ASSERT(bool(find(spec.name)) == known);
    switch (up_to(2)) {
    case 0: {
        auto const added = add(spec);
        RC_ASSERT(added.has_value() != known);
        if (known) RC_ASSERT(added.error().code == errc::duplicate);
        if (!known) specs[spec.name] = spec;
        break;
    }
    case 1:
        if (!known) break;
        RC_ASSERT(update(find(spec.name), spec).has_value());
        specs[spec.name] = spec;
        break;
    default:
        RC_ASSERT(remove(find(spec.name)).has_value() == known);
        specs.erase(spec.name);
    }
}

} // namespace

TEST_CASE("cluster: any order of changes leaves what a fresh cluster of the same objects has") {
    CHECK(test::holds([] {
        muster::cluster c;
        model m;
        for (int step = *rc::gen::inRange(1, 60); step != 0; --step) {
            switch (up_to(6)) {
            case 0:
                change(
                    m.nodes, any_node(numbered('n', 2)), [&](auto const& name) { return c.node(name); },
                    [&](auto const& s) { return c.add_node(s); },
                    [&](auto id, auto const& s) { return c.update_node(id, s); },
                    [&](auto id) { return c.remove_node(id); });
                break;
            case 1:
                change(
                    m.queues, muster::queue_spec{.name = numbered('q', 1), .weight = up_to(3)},
                    [&](auto const& name) { return c.queue(name); }, [&](auto const& s) { return c.add_queue(s); },
                    [&](auto id, auto const& s) { return c.update_queue(id, s); },
                    [&](auto id) { return c.remove_queue(id); });
                break;
            case 2:
                change(
                    m.jobs, any_job(numbered('j', 2)), [&](auto const& name) { return c.job("default/" + name); },
                    [&](auto const& s) { return c.add_job(s); },
                    [&](auto id, auto const& s) { return c.update_job(id, s); },
                    [&](auto id) { return c.remove_job(id); });
                break;
            default:
                change(
                    m.tasks, any_task(numbered('t', 5)), [&](auto const& name) { return c.task("default/" + name); },
                    [&](auto const& s) { return c.add_task(s); },
                    [&](auto id, auto const& s) { return c.update_task(id, s); },
                    [&](auto id) { return c.remove_task(id); });
                break;
            }
            auto const found = test::flaws(c);
            RC_LOG() << found << "\n";
            RC_ASSERT(found.empty());
            if (up_to(9) == 0) c.compact();
        }
        auto const expected = digest(m.build());
        RC_ASSERT(digest(c) == expected);
        c.compact();
        RC_ASSERT(test::flaws(c).empty());
        RC_ASSERT(digest(c) == expected);
        RC_ASSERT(c.tables().tasks.size() == m.tasks.size());
    }));
}

TEST_CASE("cluster: tasks wait for their node and job, whichever comes first") {
    world w;
    auto const t = w.pod("t", "j", "1/1Gi", test::running("n"));
    CHECK(!w.cluster.state().tasks[t.index()].node);
    auto const n = w.node("n", "4/8Gi");
    CHECK(w.cluster.state().tasks[t.index()].node == n);
    auto const j = w.job("j", "q", 1);
    CHECK(w.cluster.tables().tasks[t.index()].job == j);
    CHECK(!w.cluster.tables().jobs[j.index()].queue);
    auto const q = w.queue("q");
    CHECK(w.cluster.tables().jobs[j.index()].queue == q);
    CHECK(audit(w.cluster).empty());
}

TEST_CASE("cluster: names are taken once, and must be there") {
    world w;
    w.node("n", "1/1Gi");
    w.queue("q");
    w.job("j", "q", 1);
    w.pod("t", "j", "");
    auto& c = w.cluster;
    CHECK(c.add_node({.name = "n"}).error().code == errc::duplicate);
    CHECK(c.add_queue({.name = "q"}).error().code == errc::duplicate);
    CHECK(c.add_job({.name = "j"}).error().code == errc::duplicate);
    CHECK(c.add_task({.name = "t"}).error().code == errc::duplicate);
    CHECK(c.add_task({.ns = "other", .name = "t"}).has_value());
    CHECK(c.add_node({}).error().code == errc::empty);
    CHECK(c.add_queue({}).error().code == errc::empty);
    CHECK(c.add_job({}).error().code == errc::empty);
    CHECK(c.add_task({}).error().code == errc::empty);
}

TEST_CASE("cluster: a removed id is refused, and its name is free again") {
    world w;
    auto& c = w.cluster;
    auto const n = w.node("n", "1/1Gi");
    auto const q = w.queue("q");
    auto const j = w.job("j", "q", 1);
    auto const t = w.pod("t", "j", "");
    CHECK(c.remove_task(t).has_value());
    CHECK(c.remove_job(j).has_value());
    CHECK(c.remove_queue(q).has_value());
    CHECK(c.remove_node(n).has_value());
    CHECK(c.remove_task(t).error().code == errc::wrong_state);
    CHECK(c.update_job(j, {}).error().code == errc::wrong_state);
    CHECK(c.update_queue(q, {}).error().code == errc::wrong_state);
    CHECK(c.update_node(n, {}).error().code == errc::wrong_state);
    CHECK(c.update_task(muster::task_id{}, {}).error().code == errc::wrong_state);
    CHECK(!c.node("n"));
    CHECK(c.add_node({.name = "n"}).has_value());
    c.compact();
    CHECK(c.tables().nodes.size() == 1);
    CHECK(c.node("n") == muster::node_id{0U});
}

TEST_CASE("cluster: a refused spec changes nothing") {
    world w;
    w.node("n", "4/8Gi", {.cards = {test::card("gpu-0", 1000)}});
    w.pod("t", "", "1/1Gi", test::running("n"));
    auto& c = w.cluster;
    auto const before = digest(c);
    auto const negative = [](std::string_view text) {
        auto list = amounts(text);
        list.emplace_back("example.com/fresh", test::quantity("1"));
        list.emplace_back("memory", test::quantity("-1"));
        return list;
    };
    auto const huge_card = test::card("gpu-1", std::int64_t{1} << 41);
    CHECK(c.add_node({.name = "m", .allocatable = negative("")}).error() == muster::error{errc::negative, 1});
    CHECK(c.update_node(c.node("n"), {.allocatable = negative("")}).error().code == errc::negative);
    CHECK(c.add_node({.name = "m", .allocatable = amounts("1/1 a.b/new=1"), .cards = {huge_card}}).error() ==
          muster::error{errc::out_of_range, 0});
    CHECK(c.add_queue({.name = "q", .capability = negative("")}).error().code == errc::negative);
    CHECK(c.add_job({.name = "j", .min_resources = negative("")}).error().code == errc::negative);
    CHECK(c.add_task({.name = "u", .requests = negative("")}).error().code == errc::negative);
    CHECK(c.update_task(c.task("default/t"), {.requests = negative("")}).error().code == errc::negative);
    CHECK(
        c.add_task({.name = "u", .requests = amounts("1/1 a.b/other=1"), .shares = {{"gpu-0", 0, muster::mib{-1}, {}}}})
            .error() == muster::error{errc::out_of_range, 0});
    CHECK(digest(c) == before);
    CHECK(test::flaws(c).empty());
}

TEST_CASE("cluster: what a task asks of cards is a share, not a debt") {
    muster::cluster c;
    auto const ask = [&](muster::container_request const& r) {
        return c.add_task({.name = "t", .devices = {.containers = {r}}});
    };
    CHECK(ask({.cards = -1}).error().code == errc::out_of_range);
    CHECK(ask({.memory = muster::mib{-1}}).error().code == errc::out_of_range);
    CHECK(ask({.memory_percent = muster::percent{-1}}).error().code == errc::out_of_range);
    CHECK(ask({.cores = muster::percent{-1}}).error().code == errc::out_of_range);
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    CHECK(ask({.memory = muster::mib{top}}).error().code == errc::out_of_range);
    CHECK(ask({.memory_percent = muster::percent{top}}).error().code == errc::out_of_range);
    CHECK(ask({.cores = muster::percent{top}}).error().code == errc::out_of_range);
}

TEST_CASE("cluster: amounts that no sum could hold are refused") {
    world w;
    auto& c = w.cluster;
    auto const large = amounts("1/5E"); // two of them leave 64 bits
    CHECK(c.add_node({.name = "a", .allocatable = large}).has_value());
    CHECK(c.add_node({.name = "b", .allocatable = large}).error().code == errc::overflow);
    auto const half = amounts("1/2E"); // two of them are more than a session's sums could bear
    muster::task_spec task{.name = "t", .requests = half, .status = task_status::running, .node = "a"};
    CHECK(c.add_task(task).has_value());
    task.name = "u";
    CHECK(c.add_task(task).error().code == errc::overflow);
    CHECK(c.update_task(c.task("default/t"), task).has_value()); // in its own place
    CHECK(c.add_job({.name = "j", .min_resources = half}).has_value());
    CHECK(c.add_job({.name = "k", .min_resources = half}).error().code == errc::overflow);
    CHECK(audit(c).empty());
    c.compact();
    CHECK(c.add_task(task).error().code == errc::overflow);
    CHECK(c.remove_task(c.task("default/t")).has_value());
    CHECK(c.add_task(task).has_value());
}

TEST_CASE("cluster: an updated node keeps its tasks and finds their cards again by name") {
    world w;
    auto const n = w.node("n", "4/8Gi", {.cards = {test::card("x", 1000), test::card("y", 1000)}});
    w.pod("t", "", "1/1Gi", test::running("n", {.shares = {{"y", 0, muster::mib{300}, {}}}}));
    auto& c = w.cluster;
    CHECK(c.update_node(n, {.allocatable = amounts("8/8Gi"), .cards = {test::card("y", 500)}}).has_value());
    muster::node_view const view{c.tables(), c.state(), n};
    REQUIRE(view.cards().size() == 1);
    CHECK(view.taken()[0].memory == muster::mib{300});
    CHECK(view.idle(muster::dimension::cpu) == 7000);
    CHECK(c.update_node(n, {.allocatable = amounts("8/8Gi")}).has_value());
    CHECK(c.state().shares_of(c.task("default/t")).empty());
    CHECK(c.update_node(n, {.allocatable = amounts("8/8Gi"), .cards = {test::card("y", 500)}}).has_value());
    CHECK(c.state().shares_of(c.task("default/t")).size() == 1);
    CHECK(audit(c).empty());
}

TEST_CASE("cluster: a name of two dashes or more ends in a number") {
    struct row {
        char const* name;
        std::optional<std::int64_t> number;
    };
    for (row const& r :
         {row{"job-task-7", 7}, row{"job-7", {}}, row{"a-b-c-12", 12}, row{"a-b-x", {}}, row{"a-b-", {}}}) {
        CAPTURE(r.name);
        world w;
        auto const t = w.pod(r.name, "", "");
        CHECK(w.cluster.tables().tasks[t.index()].number == r.number);
    }
}

TEST_CASE("cluster: tasks that ask for the same have one shape") {
    world w;
    auto const& c = w.cluster;
    auto const shape = [&](muster::task_id t) { return c.tables().tasks[t.index()].shape; };
    auto const a = w.pod("a", "", "1/1Gi");
    CHECK(shape(a) == shape(w.pod("b", "x", "1000m/1024Mi", {.role = "r", .priority = 3})));
    CHECK(shape(a) != shape(w.pod("c", "", "1/1Gi", {.devices = test::share(10)})));
    CHECK(shape(a) != shape(w.pod("d", "", "1/1Gi", {.rules = {.selector = {{"k", "v"}}}})));
}

TEST_CASE("cluster: a copy goes its own way") {
    world w;
    w.node("n", "1/1Gi");
    auto copy = w.cluster;
    CHECK(copy.remove_node(copy.node("n")).has_value());
    CHECK(w.cluster.node("n"));
}
