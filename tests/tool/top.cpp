#include <string>

#include <doctest/doctest.h>

#include <muster/ext/ledger_file.hpp>
#include <muster/ext/process.hpp>

#include "support/actor.hpp"
#include "support/process.hpp"

using muster::bytes;

namespace {

support::finished top(std::string const& arguments) { return support::run(std::string{MUSTER_TOP} + ' ' + arguments); }

} // namespace

TEST_CASE("top: shows cards with their limits, and who holds what") {
    support::scratch const scratch{"top"};
    auto const path = (scratch.path / "ledger").string();
    auto file = muster::ext::ledger_file::open(path);
    REQUIRE(file.has_value());
    auto& ledger = **file;
    auto const card = *ledger.card("GPU-0");
    (void)*ledger.card("GPU-1");
    ledger.tighten(card, bytes{std::int64_t{2000} << 20});
    auto const self = muster::ext::this_process();
    auto const place = *file->join();
    REQUIRE(file->reserve(place, card, bytes{(std::int64_t{300} << 20) + 1}));
    auto const shown = top(path);
    CHECK(shown.status == 0);
    CHECK(shown.err.empty());
    CHECK(shown.out == "CARD                                       USED        LIMIT\n"
                       "GPU-0                                      301MiB      2000MiB\n"
                       "GPU-1                                      0MiB        <none>\n"
                       "\n"
                       "PID       PROGRAM             CARD                                       MEMORY\n" +
                           (std::to_string(self.pid) + std::string(10, ' ')).substr(0, 10) +
                           "muster_tool_tests   GPU-0                                      301MiB\n");
}

TEST_CASE("top: who is gone is called so, and stays where it is") {
    support::scratch const scratch{"top"};
    auto const path = (scratch.path / "ledger").string();
    auto file = muster::ext::ledger_file::open(path);
    REQUIRE(file.has_value());
    support::actor holder{support::birth::here, [&](support::line const& to) {
                              auto own = muster::ext::ledger_file::open(path);
                              auto const place = *own->join();
                              to.say(own->reserve(place, *(*own)->card("GPU-0"), bytes{1 << 20}) ? 'y' : 'n');
                              pause();
                          }};
    REQUIRE(holder.answer() == 'y');
    auto const row = (std::to_string(holder.pid()) + std::string(10, ' ')).substr(0, 10);
    CHECK(
        top(path).out.ends_with("\n" + row + "muster_tool_tests   GPU-0                                      1MiB\n"));
    holder.end();
    for (int again = 0; again != 2; ++again)
        CHECK(top(path).out.ends_with("\n" + row +
                                      "<gone>              GPU-0                                      1MiB\n"));
}

TEST_CASE("top: what is no ledger is told, and nothing is made of it") {
    support::scratch const scratch{"top"};
    auto const none = (scratch.path / "none").string();
    CHECK(top(none).status == 2);
    CHECK(top(none).err == "muster-top: " + none + ": no such file; expected the ledger of a container\n");
    CHECK(!std::filesystem::exists(none));
    auto const other = scratch.write("other", "text");
    CHECK(top(other).status == 2);
    CHECK(top(other).err.starts_with("muster-top: " + other + ": is no ledger of this muster: "));
    CHECK(top("").status == 2);
    CHECK(top("--help").err.starts_with("usage: muster-top FILE"));
}
