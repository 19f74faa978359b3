#include <muster/policy/deviceshare.hpp>

#include <doctest/doctest.h>

#include <muster/policy/gang.hpp>
#include <muster/policy/predicates.hpp>
#include <muster/scheduler/scheduler.hpp>

#include "support/world.hpp"

using muster::errc;
using muster::reason_code;
using test::card;
using test::share;
using test::world;

namespace {

using deviceshare = muster::policy::deviceshare<muster::device::slices>;

static_assert(muster::has_fits<deviceshare::state> && muster::has_score<deviceshare::state> &&
              muster::has_assign<deviceshare::state> && muster::has_shape_key<deviceshare::state>);
static_assert(!muster::has_allocated<deviceshare::state>, "cards are counted by the journal alone");

using cards_only = muster::scheduler<muster::actions<muster::action::allocate>, muster::tier<deviceshare>>;

/// Places pods one by one, each asking the same way; the card of each, "-" where there is none.
struct row_of_pods {
    world w{};
    deviceshare policy{};

    std::vector<std::string> place(std::vector<muster::task_spec> specs) {
        muster::column<muster::task_id> pods;
        for (auto& spec : specs) {
            spec.name = "p" + std::to_string(pods.size());
            pods.push_back(test::must(w.cluster.add_task(spec)));
        }
        auto s = cards_only{policy}.open(w.cluster);
        std::vector<std::string> chosen;
        for (auto const p : pods) {
            if (!s.one(p)) {
                chosen.emplace_back("-");
                continue;
            }
            std::string names;
            for (auto const& got : s.view().view(p).shares())
                names += w.cluster.tables().text(w.cluster.tables().cards[got.card.index()].uuid);
            chosen.push_back(names);
        }
        CHECK(test::flaws(w.cluster.tables(), s.view().now()).empty());
        return chosen;
    }
};

muster::task_spec filtered(muster::card_filter filter, std::int64_t mib = 4096, std::int64_t cores = 25) {
    auto want = share(mib, cores);
    want.filter = std::move(filter);
    return {.devices = want};
}

using chosen = std::vector<std::string>;

std::vector<reason_code> why(world const& w, muster::task_id t, deviceshare const& policy = {}) {
    test::lens const lens{w};
    muster::reasons found;
    auto const s = policy.open(lens.view());
    CHECK(!s.fits(lens[muster::node_id{0U}], lens.shape(t)));
    s.explain_fits(lens[muster::node_id{0U}], lens.shape(t), found);
    std::vector<reason_code> codes;
    for (auto const& r : found) codes.push_back(r.code);
    return codes;
}

} // namespace

// Rows V and X: volcano, pkg/scheduler/api/devices/nvidia/vgpu/*_test.go, at ed72c7c8, and recordings of it
// (spec/device-fitting.md 7.1, 7.2).

TEST_CASE("deviceshare: uuid lists choose and exclude cards (V11, V13 to V15)") {
    struct row {
        muster::card_filter filter;
        char const* card;
    };
    for (row const& r : {row{{}, "B"}, row{{.use_uuid = {"A"}}, "A"}, row{{.avoid_uuid = {"B"}}, "A"},
                         row{{.use_uuid = {"unknown"}}, "-"}, row{{.avoid_uuid = {"A", "B"}}, "-"},
                         row{{.use_uuid = {"A"}, .avoid_uuid = {"A"}}, "-"}, row{{.use_uuid = {"AB"}}, "-"}}) {
        row_of_pods pods;
        pods.w.node("n", "9/9Gi", {.cards = {card("A", 16384), card("B", 16384)}});
        CHECK(pods.place({filtered(r.filter)}) == chosen{r.card});
    }
}

TEST_CASE("deviceshare: binpack stacks pods on one card, spread spreads them, else the last comes first (V19, V21)") {
    struct row {
        char const* order;
        chosen cards;
    };
    for (row const& r : {row{"binpack", {"A", "A", "A"}}, row{"spread", {"A", "B", "C"}}, row{"", {"C", "C", "C"}},
                         row{"BinPack", {"C", "C", "C"}}}) {
        CAPTURE(r.order);
        row_of_pods pods{.policy = {.order = r.order}};
        pods.w.node("n", "9/9Gi", {.cards = {card("A", 16384), card("B", 16384), card("C", 16384)}});
        CHECK(pods.place({filtered({}), filtered({}), filtered({})}) == r.cards);
    }
}

TEST_CASE("deviceshare: pods of a spread group keep off each other's cards (V17, V24 to V27)") {
    auto const of = [](char const* job, bool spreads) {
        auto spec = filtered({});
        spec.job = job;
        if (spreads) spec.devices.filter.spread_group = job;
        return spec;
    };
    auto const on = [](int cards, std::vector<muster::task_spec> specs) {
        row_of_pods pods{.policy = {.order = "binpack"}};
        muster::node_spec node;
        for (int i = 0; i != cards; ++i) node.cards.push_back(card(std::string(1, static_cast<char>('A' + i)), 16384));
        pods.w.node("n", "9/9Gi", node);
        return pods.place(std::move(specs));
    };
    CHECK(on(2, {of("ns/j1", true), of("ns/j1", true)}) == chosen{"A", "B"});  // V24
    CHECK(on(1, {of("ns/j1", true), of("ns/j2", true)}) == chosen{"A", "A"});  // V25
    CHECK(on(1, {of("ns/j1", true), of("ns/j1", true)}) == chosen{"A", "-"});  // V26
    CHECK(on(1, {of("ns/j1", true), of("ns/j1", false)}) == chosen{"A", "A"}); // V27
    auto idle = of("ns/j1", true);
    idle.devices.containers[0].memory = {};
    idle.devices.containers[0].cores = {};
    CHECK(on(1, {idle, of("ns/j1", true)}) == chosen{"A", "A"}); // V17
}

// Source: plugins/deviceshare/gpuexclusive_test.go.
TEST_CASE("deviceshare: pods of one exclusive set never share a card (V41)") {
    auto const labelled = [](muster::label_list labels) {
        auto spec = filtered({}, 100, 1);
        spec.labels = std::move(labels);
        return spec;
    };
    auto const training = labelled({{"app", "training"}, {"team", "ml"}, {"more", "x"}});
    auto const inference = labelled({{"workload", "inference"}});
    auto const both = labelled({{"app", "training"}, {"team", "ml"}, {"workload", "inference"}});
    auto const half = labelled({{"app", "training"}});
    auto const place = [](std::vector<muster::task_spec> specs) {
        row_of_pods pods{
            .policy = {.order = "binpack",
                       .exclusive = {{{"app", "training"}, {"team", "ml"}}, {{"workload", "inference"}}, {}}}};
        pods.w.node("n", "9/9Gi", {.cards = {card("A", 1000), card("B", 1000), card("C", 1000)}});
        return pods.place(std::move(specs));
    };
    CHECK(place({training, training, inference}) == chosen{"A", "B", "A"});
    CHECK(place({both, training, inference}) == chosen{"A", "B", "B"});
    CHECK(place({training, half, half}) == chosen{"A", "A", "A"});
    CHECK(place({half, training, training}) == chosen{"A", "A", "B"});
}

TEST_CASE("deviceshare: nodes of another mode, or with too few cards, are refused with the reason") {
    auto const asks = [](muster::device_request want, std::vector<muster::card_spec> cards) {
        world w;
        w.node("n", "9/9Gi", {.cards = std::move(cards)});
        return why(w, w.pod("t", "", "1/1Gi", {.devices = std::move(want)}));
    };
    using codes = std::vector<reason_code>;
    auto instance = card("A", 1000);
    instance.mode = muster::sharing::instances;
    auto wants_mig = share(100);
    wants_mig.filter.mode = "mig";
    auto wants_empty = share(100);
    wants_empty.filter.mode = "";
    auto listed = share(100);
    listed.filter.use_uuid = {"Z"};
    auto typed = share(100);
    typed.filter.use_type = "V100";
    CHECK(asks(share(100), {instance}) == codes{reason_code::card_mode});
    CHECK(asks(wants_mig, {card("A", 1000)}) == codes{reason_code::card_mode});
    CHECK(asks(wants_empty, {card("A", 1000)}) == codes{reason_code::card_mode});
    CHECK(asks(share(100, 0, 2), {card("A", 1000)}) == codes{reason_code::card_count});
    CHECK(asks(listed, {card("A", 1000)}) == codes{reason_code::card_filter});
    CHECK(asks(typed, {card("A", 1000)}) == codes{reason_code::card_fit});
    CHECK(asks(share(1001), {card("A", 1000)}) == codes{reason_code::card_fit});
}

TEST_CASE("deviceshare: a node without cards, and a policy that is off, have no say") {
    world w;
    w.node("bare", "9/9Gi");
    w.node("full", "9/9Gi", {.cards = {card("A", 10)}});
    auto const t = w.pod("t", "", "1/1Gi", {.devices = share(100)});
    auto const plain = w.pod("plain", "", "1/1Gi");
    test::lens const lens{w};
    auto const on = deviceshare{.weight = 5}.open(lens.view());
    auto const off = deviceshare{.vgpu = false, .weight = 5}.open(lens.view());
    CHECK(on.fits(lens[muster::node_id{0U}], lens.shape(t)));
    CHECK(!on.fits(lens[muster::node_id{1U}], lens.shape(t)));
    CHECK(on.fits(lens[muster::node_id{1U}], lens.shape(plain)));
    CHECK(off.fits(lens[muster::node_id{1U}], lens.shape(t)));
    CHECK(off.score(lens[muster::node_id{1U}], lens.shape(t)) == 0);
}

TEST_CASE("deviceshare: a node's score is rounded and weighted (V39)") {
    world w;
    w.node("n", "9/9Gi", {.cards = {card("A", 30000)}});
    w.pod("there", "", "1/1Gi", test::running("n", {.shares = {{"A", 0, muster::mib{3000}, {}}}}));
    auto const t = w.pod("t", "", "1/1Gi", {.devices = share(1000)});
    test::lens const lens{w};
    auto const score = [&](deviceshare const& policy) {
        return policy.open(lens.view()).score(lens[muster::node_id{0U}], lens.shape(t));
    };
    CHECK(score({.order = "binpack", .weight = 10}) == 130); // 13.33
    CHECK(score({.order = "spread", .weight = 10}) == 0);
    CHECK(score({.order = "binpack", .weight = 0}) == 0);
    CHECK(score({.order = "binpack", .weight = -1}) == 0);
}

TEST_CASE("deviceshare: a card without memory has a score that is a number") {
    world w;
    w.node("n", "9/9Gi", {.cards = {card("A", 0)}});
    auto const t = w.pod("t", "", "1/1Gi", {.devices = share(0, 10)});
    test::lens const lens{w};
    auto const s = deviceshare{.order = "binpack", .weight = 1}.open(lens.view());
    CHECK(s.fits(lens[muster::node_id{0U}], lens.shape(t)));
    CHECK(s.score(lens[muster::node_id{0U}], lens.shape(t)) == 0);
}

TEST_CASE("deviceshare: a locked node gives cards to one pod a session") {
    row_of_pods pods{.policy = {.node_lock = true}};
    pods.w.node("n", "9/9Gi", {.cards = {card("A", 1000)}});
    CHECK(pods.place({filtered({}, 100), filtered({}, 100), {}}) == chosen{"A", "-", ""});
}

TEST_CASE("deviceshare: with several nodes, a pod goes where cards are free, and back to them when given up") {
    world w;
    w.node("a", "9/9Gi", {.cards = {card("a-0", 1000)}});
    w.node("b", "9/9Gi", {.cards = {card("b-0", 1000), card("b-1", 1000)}});
    auto const pair = w.pod("pair", "", "1/1Gi", {.devices = share(800, 50, 2)});
    auto const one = w.pod("one", "", "1/1Gi", {.devices = share(800, 50)});
    auto const other = w.pod("other", "", "1/1Gi", {.devices = share(800, 50)});
    auto s = cards_only{}.open(w.cluster);
    CHECK(w.name(s.one(pair)->node) == "b");
    CHECK(s.view().view(pair).shares().size() == 2);
    CHECK(w.name(s.one(one)->node) == "a");
    CHECK(s.one(other).error().code == errc::no_fit);
    CHECK(s.release(pair).has_value());
    CHECK(w.name(s.one(other)->node) == "b");
}

TEST_CASE("deviceshare: a pod on its way out holds its cards until it is gone") {
    world w;
    w.node("n", "9/9Gi", {.cards = {card("a", 1000), card("b", 1000)}});
    w.pod("leaving", "", "1/1Gi",
          {.status = muster::task_status::releasing, .node = "n", .shares = {{"b", 0, muster::mib{900}, {}}}});
    struct row {
        std::int64_t memory;
        char const* card;
        muster::task_status status;
    };
    using muster::task_status;
    auto const rows = std::vector<row>{{500, "a", task_status::allocated},  // the last card comes first, but is held
                                       {800, "b", task_status::pipelined},  // room once the other has left
                                       {300, "a", task_status::allocated},  // what is promised is no room
                                       {150, "a", task_status::allocated},  // room now comes before room later
                                       {150, "b", task_status::pipelined}}; // and both count as what was placed
    for (auto const& r : rows)
        w.pod("p" + std::to_string(&r - rows.data()), "", "1/1Gi", {.devices = share(r.memory, 10)});
    auto s = cards_only{}.open(w.cluster);
    for (auto const& r : rows) {
        CAPTURE(r.memory);
        auto const task = w.cluster.task("default/p" + std::to_string(&r - rows.data()));
        auto const placed = s.one(task);
        REQUIRE(placed.has_value());
        CHECK(placed->status == r.status);
        auto const got = s.view().view(task).shares();
        REQUIRE(got.size() == 1);
        CHECK(w.cluster.tables().text(w.cluster.tables().cards[got[0].card.index()].uuid) == r.card);
    }
    CHECK(test::flaws_of_cycle(w, s.view().now(), false).empty());
}

TEST_CASE("deviceshare: a node with cards to give comes before one whose cards will be free") {
    world w;
    auto const leaving = [](char const* node) {
        return muster::task_spec{.status = muster::task_status::releasing,
                                 .node = node,
                                 .shares = {{std::string{node} + "-0", 0, muster::mib{900}, {}}}};
    };
    w.node("first", "9/9Gi", {.cards = {card("first-0", 1000)}});
    w.node("second", "9/9Gi", {.cards = {card("second-0", 1000)}});
    w.pod("leaving", "", "1/1Gi", leaving("first"));
    auto const t = w.pod("t", "", "1/1Gi", {.devices = share(500, 10)});
    CHECK(cards_only{}.open(w.cluster).one(t)->node == w.cluster.node("second"));
    w.pod("leaving-too", "", "1/1Gi", leaving("second"));
    auto const waits = cards_only{}.open(w.cluster).one(t);
    CHECK(waits->status == muster::task_status::pipelined);
    CHECK(waits->node == w.cluster.node("first"));
}

TEST_CASE("deviceshare: a spread pod meets none of its group on a card, not even one that leaves") {
    world w;
    w.node("n", "9/9Gi", {.cards = {card("a", 1000)}});
    w.queue("q");
    w.job("g", "q", 1);
    auto group = share(100, 10);
    group.filter.spread_group = "default/g";
    w.pod("leaving", "g", "1/1Gi",
          {.devices = group,
           .status = muster::task_status::releasing,
           .node = "n",
           .shares = {{"a", 0, muster::mib{100}, muster::percent{10}}}});
    auto const t = w.pod("t", "g", "1/1Gi", {.devices = group});
    CHECK(cards_only{}.open(w.cluster).one(t)->status == muster::task_status::pipelined);
}
