/// \file
/// `muster-conformance`: recorded answers of the originals beside muster's own.
///
///     muster-conformance FILE...           a line a file, then `N passed, N failed`
///     muster-conformance --answers FILE|-  `{"name", "expect"}` for each recorded line
///
/// Exit status: 0 all equal, 1 some differ, 2 a file or line could not be read.

#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <zlib.h>

#include "conformance/cycles.hpp"
#include "conformance/family.hpp"
#include "conformance/jobs.hpp"

namespace {

using conformance::family;
using conformance::json;

constexpr std::array families{conformance::jobs::volcano_jobs, conformance::cycles::volcano_scheduler};
constexpr int shown_failures = 3;

struct tally {
    int passed = 0;
    int failed = 0;
};

[[nodiscard]] family const& family_of(json const& line) {
    for (auto const& one : families)
        if (one.takes(line)) return one;
    throw std::runtime_error{"no family that is answered yet"};
}

/// Calls `action` with every line of a file, plain or gzip; `-` is standard input.
void for_each_line(std::string const& path, std::function<void(json const&)> const& action) {
    std::unique_ptr<gzFile_s, int (*)(gzFile)> const file{path == "-" ? gzdopen(0, "rb") : gzopen(path.c_str(), "rb"),
                                                          gzclose};
    if (!file) throw std::runtime_error{path + ": can't be opened"};
    std::string text;
    std::array<char, 1 << 16> block{};
    int number = 0;
    auto const take = [&] {
        ++number;
        if (text.find_first_not_of(" \t\r") == std::string::npos) return text.clear();
        try {
            action(json::parse(text));
        } catch (std::exception const& error) {
            throw std::runtime_error{path + ":" + std::to_string(number) + ": " + error.what()};
        }
        text.clear();
    };
    for (;;) {
        int const got = gzread(file.get(), block.data(), block.size());
        if (got < 0) throw std::runtime_error{path + ": can't be read"};
        if (got == 0) break;
        for (char const c : std::string_view{block.data(), static_cast<std::size_t>(got)}) {
            if (c == '\n') {
                take();
            } else {
                text += c;
            }
        }
    }
    if (!text.empty()) take();
}

/// Shows where two answers part.
void explain(std::string const& name, json const& got, json const& wanted) {
    std::cerr << name << ":\n";
    for (auto const& change : json::diff(wanted, got)) {
        auto const where = json::json_pointer{change.at("path").get<std::string>()};
        std::cerr << "  " << change.at("path").get<std::string>() << "\n    recorded "
                  << (wanted.contains(where) ? wanted.at(where).dump() : "nothing") << "\n    muster   "
                  << (got.contains(where) ? got.at(where).dump() : "nothing") << '\n';
    }
}

[[nodiscard]] tally compare(std::string const& path) {
    tally count;
    for_each_line(path, [&](json const& line) {
        auto const& of = family_of(line);
        auto const got = of.answer(line);
        auto const wanted = of.asked(line);
        if (got == wanted) {
            ++count.passed;
        } else if (++count.failed <= shown_failures) {
            explain(line.value("name", ""), got, wanted);
        }
    });
    std::cout << path << ": " << count.passed << " passed, " << count.failed << " failed\n";
    return count;
}

int run(int count, char** arguments) {
    if (count == 3 && std::string_view{arguments[1]} == "--answers") {
        for_each_line(arguments[2], [](json const& line) {
            std::cout << json{{"name", line.value("name", "")}, {"expect", family_of(line).answer(line)}} << '\n';
        });
        return 0;
    }
    if (count < 2 || std::string_view{arguments[1]}.starts_with("--")) {
        std::cerr << "usage: muster-conformance FILE...\n       muster-conformance --answers FILE|-\n";
        return 2;
    }
    tally all;
    for (int i = 1; i != count; ++i) {
        auto const one = compare(arguments[i]);
        all.passed += one.passed;
        all.failed += one.failed;
    }
    std::cout << all.passed << " passed, " << all.failed << " failed\n";
    return all.failed == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
    try {
        return run(count, arguments);
    } catch (std::exception const& error) {
        std::cerr << "muster-conformance: " << error.what() << '\n';
        return 2;
    }
}
