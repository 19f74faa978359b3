#include "support/world.hpp"

#include <tuple>

namespace test {

namespace {

std::pair<std::string, std::string> split(std::string_view name) {
    auto const slash = name.find('/');
    if (slash == std::string_view::npos) return {"default", std::string{name}};
    return {std::string{name.substr(0, slash)}, std::string{name.substr(slash + 1)}};
}

} // namespace

muster::quantity quantity(std::string_view text) { return must(muster::parse_quantity(text)); }

muster::resource_list amounts(std::string_view text) {
    muster::resource_list list;
    for (std::size_t at = 0; at < text.size();) {
        auto const word = text.substr(at, text.find(' ', at) - at);
        at += word.size() + 1;
        if (auto const is = word.find('='); is != std::string_view::npos) {
            list.emplace_back(std::string{word.substr(0, is)}, quantity(word.substr(is + 1)));
        } else {
            auto const slash = word.find('/');
            list.emplace_back("cpu", quantity(word.substr(0, slash)));
            list.emplace_back("memory", quantity(word.substr(slash + 1)));
        }
    }
    return list;
}

muster::task_status status(std::string_view name) {
    for (std::size_t s = 0; s != muster::task_statuses; ++s) {
        auto const known = name_of(static_cast<muster::task_status>(s));
        if (known.substr(1) == name.substr(1)) return static_cast<muster::task_status>(s);
    }
    FAIL("no status is called " << name);
    return {};
}

muster::card_spec card(std::string uuid, std::int64_t mib) {
    return {.uuid = std::move(uuid), .type = "NVIDIA-A100", .slots = 10, .memory = muster::mib{mib}};
}

muster::device_request share(std::int64_t mib, std::int64_t cores, std::int64_t cards) {
    return {.containers = {{.cards = cards, .memory = muster::mib{mib}, .cores = muster::percent{cores}}}};
}

muster::node_id world::node(std::string name, std::string_view what, muster::node_spec spec) {
    spec.name = std::move(name);
    spec.allocatable = amounts(what);
    if (what.find("pods=") == std::string_view::npos) spec.allocatable.emplace_back("pods", quantity("10"));
    return must(cluster.add_node(spec));
}

muster::queue_id world::queue(std::string name, muster::queue_spec spec) {
    spec.name = std::move(name);
    return must(cluster.add_queue(spec));
}

muster::job_id world::job(std::string_view name, std::string queue, std::int32_t min, muster::job_spec spec) {
    std::tie(spec.ns, spec.name) = split(name);
    spec.queue = std::move(queue);
    spec.min_available = min;
    return must(cluster.add_job(spec));
}

muster::task_id world::pod(std::string_view name, std::string_view job, std::string_view what, muster::task_spec spec) {
    std::tie(spec.ns, spec.name) = split(name);
    if (!job.empty()) spec.job = split(job).first + '/' + split(job).second;
    spec.requests = amounts(what);
    return must(cluster.add_task(spec));
}

std::string world::name(muster::task_id t) const {
    auto const& row = cluster.tables().tasks[t.index()];
    return cluster.tables().text(row.ns) + '/' + cluster.tables().text(row.name);
}

std::string world::name(muster::node_id n) const {
    return n ? cluster.tables().text(cluster.tables().nodes[n.index()].name) : std::string{};
}

test::binds world::binds(muster::outcome const& out) const {
    test::binds to;
    for (auto const t : out.bound) to[name(t)] = name(out.state.tasks[t.index()].node);
    return to;
}

std::vector<std::string> world::names(muster::column<muster::task_id> const& tasks) const {
    std::vector<std::string> all;
    for (auto const t : tasks) all.push_back(name(t));
    return all;
}

muster::job_spec inqueue(muster::job_spec spec) {
    spec.phase = muster::job_phase::inqueue;
    return spec;
}

muster::task_spec running(std::string node, muster::task_spec spec) {
    spec.status = muster::task_status::running;
    spec.node = std::move(node);
    return spec;
}

std::string report(muster::findings const& found) {
    std::string text;
    for (auto const& f : found) {
        auto const add = [&](char const* what, auto id) {
            if (id) text += std::string{" "} + what + std::to_string(id.value);
        };
        text += "finding " + std::to_string(static_cast<int>(f.code));
        add("node ", f.node), add("card ", f.card), add("job ", f.job), add("role ", f.role), add("task ", f.task);
        add("queue ", f.queue), add("dimension ", f.dimension);
        text += "; ";
    }
    return text;
}

std::string flaws(muster::cluster const& c) { return report(audit(c)); }
std::string flaws(muster::tables const& t, muster::state const& s) { return report(audit(t, s)); }
std::string flaws_of_cycle(world const& w, muster::state const& after, bool gangs) {
    return report(audit_cycle(w.cluster.tables(), w.cluster.state(), after, gangs));
}

lens::lens(muster::cluster const& c) : cluster_(&c), roster_(c), phases_(roster_.phases(c.tables())) {}

} // namespace test
