#include <muster/policy/tiers.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/policy/dynamic_tiers.hpp>

#include "support/world.hpp"

using muster::vote;
using test::world;

namespace {

namespace tiers = muster::detail::tiers;

/// Answers as it is told.
struct parrot {
    int order = 0;
    bool yes = true;
    vote voice = vote::permit;
    muster::column<muster::task_id> offers{};

    [[nodiscard]] int job_order(muster::job_view, muster::job_view) const noexcept { return order; }
    [[nodiscard]] bool job_valid(muster::job_view) const noexcept { return yes; }
    [[nodiscard]] bool job_starving(muster::job_view) const noexcept { return yes; }
    [[nodiscard]] vote job_pipelined(muster::job_view) const noexcept { return voice; }
    [[nodiscard]] bool overused(muster::queue_view) const noexcept { return yes; }
    vote preemptable(muster::session_view, muster::task_view, std::span<muster::task_id const>,
                     muster::column<muster::task_id>& victims) const {
        victims = offers;
        return voice;
    }
};

/// A policy without any of those hooks.
struct silent {
    [[nodiscard]] bool job_ready(muster::job_view) const noexcept { return true; }
};

struct stage {
    world w{};
    muster::job_id job{};
    muster::queue_id queue{};
    muster::column<muster::task_id> tasks{};

    stage() {
        queue = w.queue("q");
        job = w.job("j", "q", 1);
        for (auto const* name : {"a", "b", "c", "p"}) tasks.push_back(w.pod(name, "j", "1/1Gi"));
    }

    using list = std::vector<std::vector<parrot>>;

    /// Asks tiers of parrots.
    template <class Ask>
    auto with(list const& of, Ask ask) const {
        test::lens const lens{w};
        muster::dynamic_tiers all;
        for (std::size_t t = 0; t != of.size(); ++t) {
            all.add(t, muster::erased_policy{silent{}});
            for (auto const& p : of[t]) all.add(t, muster::erased_policy{p});
        }
        return ask(all.open(lens.view()), lens);
    }

    [[nodiscard]] parrot offering(std::string_view letters, vote voice = vote::permit) const {
        parrot p{.voice = voice};
        for (char const c : letters) p.offers.push_back(tasks[static_cast<std::size_t>(c - 'a')]);
        return p;
    }

    [[nodiscard]] std::string victims(list const& of) const {
        return with(of, [&](auto const& states, auto const& lens) {
            std::string letters;
            for (auto const t : tiers::preemptable(states, lens.view(), lens[tasks[3]], tasks))
                letters += w.name(t).back();
            return letters;
        });
    }
};

} // namespace

TEST_CASE("tiers: the first that tells two apart orders them") {
    stage const s;
    struct row {
        stage::list of;
        int order;
    };
    for (row const& r : {row{{}, 0}, row{{{{.order = 0}, {.order = -1}}, {{.order = 1}}}, -1},
                         row{{{{.order = 0}}, {{.order = 7}, {.order = -1}}}, 7}})
        CHECK(s.with(r.of, [&](auto const& states, auto const& lens) {
            return tiers::compare(states, lens[s.job], lens[s.job]);
        }) == r.order);
}

TEST_CASE("tiers: all agree that a job is valid, any finds a queue overused") {
    stage const s;
    struct row {
        stage::list of;
        bool valid, overused;
    };
    for (row const& r :
         {row{{}, true, false}, row{{{{.yes = true}}, {{.yes = true}}}, true, true},
          row{{{{.yes = true}}, {{.yes = false}}}, false, true}, row{{{{.yes = false}}}, false, false}}) {
        CHECK(s.with(r.of, [&](auto const& states, auto const& lens) {
            return tiers::job_valid(states, lens[s.job]);
        }) == r.valid);
        CHECK(s.with(r.of, [&](auto const& states, auto const& lens) {
            return tiers::overused(states, lens[s.queue]);
        }) == r.overused);
    }
}

TEST_CASE("tiers: a reject ends the vote, a permit ends it after its tier, silence is consent") {
    stage const s;
    parrot const yes{.voice = vote::permit};
    parrot const no{.voice = vote::reject};
    parrot const none{.voice = vote::abstain};
    struct row {
        stage::list of;
        bool passes;
    };
    for (row const& r : {row{{}, true}, row{{{none}, {none}}, true}, row{{{no}}, false}, row{{{yes, no}}, false},
                         row{{{no, yes}}, false}, row{{{yes, none}, {no}}, true}, row{{{none}, {no}, {yes}}, false},
                         row{{{none}, {yes}, {no}}, true}})
        CHECK(s.with(r.of, [&](auto const& states, auto const& lens) {
            return tiers::job_pipelined(states, lens[s.job]);
        }) == r.passes);
}

TEST_CASE("tiers: only the first tier that knows of starving is asked, and all of it agree") {
    stage const s;
    struct row {
        stage::list of;
        bool starving;
    };
    for (row const& r :
         {row{{}, false}, row{{{{.yes = true}}, {{.yes = false}}}, true}, row{{{{.yes = true}, {.yes = false}}}, false},
          row{{{}, {{.yes = true}}}, true}, row{{{{.yes = false}}, {{.yes = true}}}, false}})
        CHECK(s.with(r.of, [&](auto const& states, auto const& lens) {
            return tiers::job_starving(states, lens[s.job]);
        }) == r.starving);
}

// Source: volcano, pkg/scheduler/framework/session_plugins_test.go, at ed72c7c8, for V1 to V3.
TEST_CASE("tiers: victims are those whom a whole tier lets go (V1 to V3)") {
    stage const s;
    auto const on = [&](std::string_view letters) { return s.offering(letters); };
    auto const mute = s.offering("", vote::abstain);
    CHECK(s.victims({}) == "");
    CHECK(s.victims({{on("ab"), on("bc")}}) == "b");         // V1
    CHECK(s.victims({{mute, on("a")}}) == "a");              // V2
    CHECK(s.victims({{on(""), on("a")}, {on("a")}}) == "a"); // V3: the first tier ended without victims
    CHECK(s.victims({{on(""), on("a")}}) == "");
    CHECK(s.victims({{on("a")}, {on("b")}}) == "a");
    CHECK(s.victims({{on("a"), on("b"), on("c")}}) == "c"); // an empty overlap starts afresh
    CHECK(s.victims({{on("a"), on("b")}, {on("c")}}) == "c");
    CHECK(s.victims({{on("cab"), on("abc")}}) == "cab"); // in the first one's order
}
