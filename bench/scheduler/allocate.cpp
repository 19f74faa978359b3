// One cycle that places gangs of ten: the kernel against a plain scheduler written by hand.
//
// Both start from the same snapshot (eight kinds of pods, nodes of eight cards, seeds 1 to 4 in turn) and must decide
// the same, which is checked before anything is measured. bench/README.md says how to run it and what was measured.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <muster/muster.hpp>
#include <muster/workload/synthetic.hpp>

namespace {

namespace action = muster::action;
namespace device = muster::device;
namespace policy = muster::policy;

using volcano_like =
    muster::scheduler<muster::actions<action::enqueue, action::allocate, action::backfill>,
                      muster::tier<policy::priority, policy::gang, policy::conformance>,
                      muster::tier<policy::drf, policy::deviceshare<device::slices>, policy::predicates,
                                   policy::proportion, policy::nodeorder, policy::binpack>>;

/// The rival: arrays of structs, one loop over all nodes a pod, and the rules that matter on such a cluster (one
/// queue that gets all it asks for, no selectors, no taints, nothing that leaves).
namespace plain {

struct card {
    std::int64_t slots = 0;
    std::int64_t memory = 0;
    std::int64_t used_slots = 0;
    std::int64_t used_memory = 0;
    std::int64_t used_cores = 0;
};

struct node {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t pods = 0;
    std::int64_t used_cpu = 0;
    std::int64_t used_memory = 0;
    std::int64_t used_pods = 0;
    std::array<card, 8> cards{};
};

struct pod {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t cards = 0;
    std::int64_t card_memory = 0;
    std::int64_t card_cores = 0;
};

struct gang {
    std::size_t first = 0;
    std::size_t count = 0;
};

struct placement {
    std::int64_t node = -1;
    std::array<bool, 8> on_card{};

    friend bool operator==(placement const&, placement const&) = default;
};

struct snapshot {
    std::vector<node> nodes;
    std::vector<pod> pods;
    std::vector<gang> gangs; ///< in the order they are served
};

bool takes(card const& c, pod const& p) {
    if (c.used_slots >= c.slots || c.memory - c.used_memory < p.card_memory) return false;
    if (c.used_cores + p.card_cores > 100 || (p.card_cores == 100 && c.used_slots > 0)) return false;
    return c.used_cores != 100 || p.card_cores != 0;
}

bool fits(node const& n, pod const& p) {
    if (p.cpu > n.cpu - n.used_cpu || p.memory > n.memory - n.used_memory || n.used_pods >= n.pods) return false;
    std::int64_t found = 0;
    for (auto const& c : n.cards) found += takes(c, p) ? 1 : 0;
    return found >= p.cards;
}

std::int64_t evenness(double cpu, double memory) {
    return static_cast<std::int64_t>((1.0 - std::abs((std::min(1.0, cpu) - std::min(1.0, memory)) / 2)) * 100.0);
}

/// binpack of weight 5, then least requested and balanced; the untainted nodes' 300 as well.
double score(node const& n, pod const& p) {
    auto const cpu = n.used_cpu + p.cpu;
    auto const memory = n.used_memory + p.memory;
    auto const all_cpu = static_cast<double>(n.cpu);
    auto const all_memory = static_cast<double>(n.memory);
    auto const packed = (static_cast<double>(cpu) / all_cpu + static_cast<double>(memory) / all_memory) / 2;
    auto const least = ((n.cpu - cpu) * 100 / n.cpu + (n.memory - memory) * 100 / n.memory) / 2;
    auto const with = evenness(static_cast<double>(cpu) / all_cpu, static_cast<double>(memory) / all_memory);
    auto const without =
        evenness(static_cast<double>(n.used_cpu) / all_cpu, static_cast<double>(n.used_memory) / all_memory);
    auto const balanced = 50 + (50 + with - without) / 2;
    return packed * 100.0 * 5.0 + static_cast<double>(least + balanced + 300);
}

void charge(node& n, pod const& p, placement const& at, std::int64_t sign) {
    n.used_cpu += sign * p.cpu;
    n.used_memory += sign * p.memory;
    n.used_pods += sign;
    for (std::size_t i = 0; i != n.cards.size(); ++i) {
        if (!at.on_card[i]) continue;
        n.cards[i].used_slots += sign;
        n.cards[i].used_memory += sign * p.card_memory;
        n.cards[i].used_cores += sign * p.card_cores;
    }
}

bool place(std::vector<node>& nodes, pod const& p, placement& to) {
    std::optional<std::size_t> best;
    double highest = 0;
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        if (!fits(nodes[i], p)) continue;
        auto const s = score(nodes[i], p);
        if (best && s <= highest) continue;
        best = i;
        highest = s;
    }
    if (!best) return false;
    auto& n = nodes[*best];
    to.node = static_cast<std::int64_t>(*best);
    auto missing = p.cards;
    for (auto i = n.cards.size(); i-- != 0 && missing != 0;)
        if (takes(n.cards[i], p)) to.on_card[i] = true, --missing;
    charge(n, p, to, +1);
    return true;
}

std::vector<placement> run(snapshot const& s) {
    auto nodes = s.nodes;
    std::vector<placement> placed(s.pods.size());
    for (auto const& g : s.gangs) {
        auto const end = g.first + g.count;
        auto at = g.first;
        while (at != end && place(nodes, s.pods[at], placed[at])) ++at;
        if (at == end) continue;
        while (at-- != g.first) {
            charge(nodes[static_cast<std::size_t>(placed[at].node)], s.pods[at], placed[at], -1);
            placed[at] = {};
        }
    }
    return placed;
}

} // namespace plain

/// The same snapshot for both, and which task a pod of the rival is.
struct input {
    muster::cluster cluster;
    plain::snapshot plain;
    muster::column<muster::task_id> tasks;
};

input make_input(std::size_t nodes, std::uint64_t seed) {
    input in{muster::workload::make_cluster({.seed = seed, .nodes = nodes}), {}, {}};
    auto const& t = in.cluster.tables();
    auto const& s = in.cluster.state();
    namespace dimension = muster::dimension;
    for (std::size_t n = 0; n != t.nodes.size(); ++n) {
        muster::node_view const view{t, s, muster::node_id{n}};
        auto& to = in.plain.nodes.emplace_back();
        to.cpu = view.allocatable(dimension::cpu);
        to.memory = view.allocatable(dimension::memory);
        to.pods = view.allocatable(dimension::pods);
        to.used_cpu = view.used(dimension::cpu);
        to.used_memory = view.used(dimension::memory);
        to.used_pods = view.used(dimension::pods);
        for (std::size_t c = 0; c != to.cards.size(); ++c)
            to.cards[c] = {view.cards()[c].slots, view.cards()[c].memory.value, view.taken()[c].slots,
                           view.taken()[c].memory.value, view.taken()[c].cores.value};
    }
    for (auto const& job : t.jobs) {
        in.plain.gangs.push_back({in.tasks.size(), job.tasks.size()});
        for (auto const task : job.tasks) {
            auto const& shape = t.shape_of(t.tasks[task.index()]);
            auto const& want = shape.devices.containers.front();
            in.plain.pods.push_back({shape.request[dimension::cpu], shape.request[dimension::memory], want.cards,
                                     want.memory.value, want.cores.value});
            in.tasks.push_back(task);
        }
    }
    return in;
}

/// What the kernel decided, in the rival's terms.
std::vector<plain::placement> in_plain_terms(input const& in, muster::outcome const& out) {
    std::vector<plain::placement> placed;
    for (auto const task : in.tasks) {
        auto& p = placed.emplace_back();
        auto const& where = out.state.tasks[task.index()];
        if (where.status != muster::task_status::binding) continue;
        p.node = static_cast<std::int64_t>(where.node.index());
        auto const first = in.cluster.tables().nodes[where.node.index()].cards.first;
        for (auto const& share : out.state.shares_of(task)) p.on_card[share.card.index() - first] = true;
    }
    return placed;
}

volcano_like const kernel{policy::binpack{.weight = 5}};

constexpr std::size_t seeds = 4;

std::vector<input> const& inputs(std::size_t nodes) {
    static std::vector<std::pair<std::size_t, std::vector<input>>> made;
    for (auto const& [size, list] : made)
        if (size == nodes) return list;
    auto& list = made.emplace_back(nodes, std::vector<input>{}).second;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) list.push_back(make_input(nodes, seed));
    return list;
}

/// `run(input)` gives how many pods found a place; each of them is a decision.
template <class Run>
void measure(benchmark::State& state, std::size_t nodes, Run run) {
    auto const& all = inputs(nodes);
    std::size_t turn = 0;
    std::size_t decided = 0;
    for (auto _ : state) {
        auto const& in = all[turn++ % seeds];
        auto bound = run(in);
        benchmark::DoNotOptimize(bound);
        decided += in.tasks.size();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(decided));
}

void bench_kernel(benchmark::State& state, std::size_t nodes) {
    measure(state, nodes, [](input const& in) { return kernel.run(in.cluster).bound.size(); });
}

void bench_plain(benchmark::State& state, std::size_t nodes) {
    measure(state, nodes, [](input const& in) { return plain::run(in.plain).size(); });
}

double least(std::vector<double> const& values) { return *std::min_element(values.begin(), values.end()); }

/// Whether both decide the same on every input of a size.
bool agree(std::size_t nodes) {
    for (auto const& in : inputs(nodes)) {
        auto const out = kernel.run(in.cluster);
        if (in_plain_terms(in, out) != plain::run(in.plain)) return false;
        std::printf("%zu nodes: %zu of %zu pods placed, both alike\n", nodes, out.bound.size(), in.tasks.size());
    }
    return true;
}

} // namespace

int main(int count, char** words) {
    benchmark::Initialize(&count, words);
    if (benchmark::ReportUnrecognizedArguments(count, words)) return 2;
    for (std::size_t const nodes : {100U, 1'000U, 10'000U}) {
        if (!agree(nodes)) {
            std::printf("%zu nodes: the kernel and the plain scheduler decide differently\n", nodes);
            return 1;
        }
        auto const end = "/nodes:" + std::to_string(nodes);
        for (auto const& [name, body] : {std::pair{"kernel", &bench_kernel}, std::pair{"plain", &bench_plain}})
            benchmark::RegisterBenchmark(("scheduler/allocate/" + std::string{name} + end).c_str(), body, nodes)
                ->Unit(benchmark::kMillisecond)
                ->ComputeStatistics("min", least);
    }
    benchmark::RunSpecifiedBenchmarks();
}
