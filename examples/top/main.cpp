// Who of a container holds how much of its cards, read from the ledger that its processes share.
//
//     muster-top FILE
//
// Process numbers are the container's, and from outside it they are somebody else's; who is gone is told by the locks
// that the living hold. What a dead process held counts until another one in the container needs it.
//
// Exit 0, or 2 with what is wrong with the file.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <muster/ext/ledger_file.hpp>
#include <muster/ext/process.hpp>

namespace {

namespace account = muster::account;

std::string mib(muster::bytes amount) {
    constexpr std::int64_t one = std::int64_t{1} << 20;
    return std::to_string((amount.value + one - 1) / one) + "MiB";
}

/// A process's program, as /proc tells it; nothing where its number is another's.
std::string program(muster::ext::ledger_file& file, account::place place, account::process p) {
    if (file.is_gone(place)) return "<gone>";
    auto const home = file->home_of(place);
    if (home != 0 && home != muster::ext::this_namespace()) return "<unknown>";
    if (!muster::ext::proc_is_ours() || !muster::ext::is_alive(p)) return "<unknown>";
    std::error_code gone;
    auto const path = std::filesystem::read_symlink("/proc/" + std::to_string(p.pid) + "/exe", gone);
    return gone ? std::string{"<unknown>"} : path.filename().string();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2 || std::string_view{argv[1]}.starts_with("-")) {
        std::fputs("usage: muster-top FILE; the FILE is what CUDA_DEVICE_MEMORY_SHARED_CACHE names in the container\n",
                   stderr);
        return 2;
    }
    std::string const path{argv[1]};
    if (!std::filesystem::exists(path)) { // a monitor makes none
        std::fprintf(stderr, "muster-top: %s: no such file; expected the ledger of a container\n", path.c_str());
        return 2;
    }
    auto file = muster::ext::ledger_file::open(path);
    if (!file) {
        std::fprintf(stderr, "muster-top: %s\n", file.error().c_str());
        return 2;
    }
    auto& ledger = **file;

    std::printf("%-43s%-12s%s\n", "CARD", "USED", "LIMIT");
    std::vector<std::pair<account::card_row, std::string>> cards;
    ledger.each_card([&](account::card_row card, std::string_view uuid) {
        cards.emplace_back(card, uuid);
        auto const limit = ledger.limit(card);
        std::printf("%-43s%-12s%s\n", cards.back().second.c_str(), mib(ledger.used(card)).c_str(),
                    limit == muster::bytes{0} ? "<none>" : mib(limit).c_str());
    });
    std::printf("\n%-10s%-20s%-43s%s\n", "PID", "PROGRAM", "CARD", "MEMORY");
    ledger.each_process([&](account::place place, account::process process) {
        for (auto const& [card, uuid] : cards)
            if (auto const all = ledger.held(place, card) + ledger.beside(place, card); all != muster::bytes{0})
                std::printf("%-10u%-20s%-43s%s\n", process.pid, program(*file, place, process).c_str(), uuid.c_str(),
                            mib(all).c_str());
    });
    return 0;
}
