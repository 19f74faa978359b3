#include <muster/ext/ledger_file.hpp>

#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/ext/process.hpp>

#include "support/scratch.hpp"

using muster::bytes;
using muster::ext::ledger_file;

namespace {

std::string refusal(std::string const& path) {
    auto const file = ledger_file::open(path);
    REQUIRE(!file.has_value());
    return file.error();
}

void write(std::string const& path, std::string const& text) { std::ofstream{path, std::ios::binary} << text; }

} // namespace

TEST_CASE("ledger_file: who comes first makes it, its directory too, and all see the same") {
    support::scratch const scratch{"ledger-file"};
    auto const path = (scratch.path / "deep/er/ledger").string();
    auto first = ledger_file::open(path);
    REQUIRE(first.has_value());
    auto const card = *(*first)->card("GPU-0");
    auto const place = *first->join();
    REQUIRE(first->reserve(place, card, bytes{42}));
    auto second = ledger_file::open(path);
    REQUIRE(second.has_value());
    CHECK((*second)->used(*(*second)->card("GPU-0")) == bytes{42});
    CHECK(std::filesystem::file_size(path) == muster::account::ledger::size());
    CHECK(std::distance(std::filesystem::directory_iterator{(scratch.path / "deep/er").string()}, {}) ==
          1); // no drafts
    struct stat about {};
    REQUIRE(stat(path.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777U) == 0666U); // the umask has no say
}

TEST_CASE("ledger_file: many at once make one") {
    support::scratch const scratch{"ledger-file"};
    auto const path = (scratch.path / "ledger").string();
    std::vector<pid_t> children;
    for (int i = 0; i != 16; ++i) {
        auto const child = fork();
        if (child == 0) {
            auto file = ledger_file::open(path);
            if (!file) _exit(1);
            auto& ledger = **file;
            auto const card = ledger.card("GPU-0");
            auto const place = file->join();
            _exit(card && place && file->reserve(*place, *card, bytes{10}) ? 0 : 2);
        }
        children.push_back(child);
    }
    for (auto const child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    auto file = ledger_file::open(path);
    REQUIRE(file.has_value());
    auto& ledger = **file;
    CHECK(ledger.used(*ledger.card("GPU-0")) == bytes{160});
    file->sweep();
    CHECK(ledger.used(*ledger.card("GPU-0")) == bytes{0});
}

TEST_CASE("ledger_file: what is no ledger is refused with its name, what it is and what helps, and left as it is") {
    support::scratch const scratch{"ledger-file"};
    auto const path = (scratch.path / "file").string();
    std::string const way_out = "; remove it, or name another file for the ledger";
    write(path, "something else altogether");
    CHECK(refusal(path) ==
          path + ": is no ledger of this muster: it holds something else; name another file for the ledger");
    CHECK(std::filesystem::file_size(path) == 25);
    std::filesystem::remove(path);
    {
        auto older = ledger_file::open(path);
        REQUIRE(older.has_value());
    }
    std::fstream{path, std::ios::binary | std::ios::in | std::ios::out}.seekp(16).put('\1'); // the version
    CHECK(refusal(path) == path + ": is no ledger of this muster: " +
                               std::string{muster::message(muster::errc::other_version)} + way_out);
    write(path, std::string(2'008'952, '\1'));
    CHECK(refusal(path) ==
          path + ": is no ledger of this muster: it holds something else; name another file for the ledger");
    write(path, "");
    CHECK(refusal(path) == path + ": is no ledger of this muster: it is cut short or was never finished" + way_out);
    std::filesystem::remove(path);
    REQUIRE(ledger_file::open(path).has_value());
    std::filesystem::resize_file(path, 4096);
    CHECK(refusal(path) == path + ": is no ledger of this muster: it is cut short or was never finished" + way_out);
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    CHECK(refusal(path).starts_with(path + ": can't be opened: "));
    CHECK(refusal("/proc/none/ledger").starts_with("/proc/none/ledger: can't be made: "));
    CHECK(refusal("/dev/null") == "/dev/null: is no regular file; name another for the ledger");
}

TEST_CASE("ledger_file: one of its own is shared with nobody") {
    auto a = ledger_file::isolated();
    auto b = ledger_file::isolated();
    REQUIRE(a.has_value());
    REQUIRE(b.has_value());
    auto const place = *a->join();
    REQUIRE(a->reserve(place, *(*a)->card("x"), bytes{1}));
    a->sweep();
    CHECK((*a)->used(*(*a)->card("x")) == bytes{1});
    CHECK((*b)->used(*(*b)->card("x")) == bytes{0});
}
