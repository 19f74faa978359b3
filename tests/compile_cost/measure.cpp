// Compiles two files several times and fails if the second costs more user time than a bound allows.
//
//     muster_compile_cost RATIO MIB BASELINE COMPOSITION COMPILER ARGUMENT...
//
// RATIO bounds seconds against the baseline's, so that it holds on a slow machine; MIB bounds the second's memory.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

struct cost {
    double seconds = 1e9;
    double mib = 0;
};

cost compile(std::span<char* const> command, char* file) {
    std::vector<char*> arguments(command.begin(), command.end());
    arguments.push_back(file);
    arguments.push_back(nullptr);
    auto const child = fork();
    if (child == 0) {
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child || status != 0) {
        std::printf("%s does not compile\n", file);
        std::exit(2);
    }
    return {static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_utime.tv_usec) / 1e6,
            static_cast<double>(used.ru_maxrss) / 1024.0};
}

} // namespace

int main(int count, char** words) {
    if (count < 6) return 2;
    auto const bound = std::atof(words[1]);
    auto const most = std::atof(words[2]);
    auto const command = std::span<char* const>(words, static_cast<std::size_t>(count)).subspan(5);
    cost baseline;
    cost composition;
    for (int round = 0; round != 3; ++round) {
        baseline.seconds = std::min(baseline.seconds, compile(command, words[3]).seconds);
        auto const c = compile(command, words[4]);
        composition.seconds = std::min(composition.seconds, c.seconds);
        composition.mib = std::max(composition.mib, c.mib);
    }
    auto const ratio = composition.seconds / baseline.seconds;
    std::printf("umbrella and one composition: %.2f s, %.0f MiB; baseline %.2f s; ratio %.1f (bound %.1f)\n",
                composition.seconds, composition.mib, baseline.seconds, ratio, bound);
    return ratio <= bound && composition.mib <= most ? 0 : 1;
}
