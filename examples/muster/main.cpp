// The command line of muster.

#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include <CLI/CLI.hpp>

#include <muster/ext/input.hpp>
#include <muster/ext/time.hpp>
#include <muster/version.hpp>

#include "simulate.hpp"

namespace {

std::string is_time(std::string const& text) {
    if (muster::ext::parse_time(text)) return {};
    return "expected a time such as 2024-01-01T00:00:00Z, found \"" + text + '"';
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app{"muster: what would start, what would wait, and why"};
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all");

    muster::tool::simulate_options options;
    auto* const simulate = app.add_subcommand("simulate", "Run scheduling cycles over Kubernetes objects");
    simulate->add_option("-f,--filename", options.files,
                         "File, directory or - (standard input) with YAML or JSON; may be repeated");
    simulate->add_option("--conf", options.conf, "volcano-scheduler.conf, or a ConfigMap that holds one");
    simulate->add_option("--cycles", options.cycles, "How many cycles; default: until nothing changes, at most 10")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000}));
    simulate->add_option("-o,--output", options.output, "table, wide, json or yaml")
        ->check(CLI::IsMember({"table", "wide", "json", "yaml"}))
        ->capture_default_str();
    simulate->add_option("--save", options.save, "Write what was read as a scenario, for bug reports");
    simulate
        ->add_option("--now", options.now,
                     "The time of the cycles, RFC 3339; default: the latest creationTimestamp read")
        ->check(is_time);
    simulate->add_flag("--strict", options.strict, "Warnings are errors");
    simulate->add_flag("--fail-on-pending", options.fail_on_pending, "Exit with 1 if a pod is left waiting");
    auto* const batch =
        simulate->add_option("--batch", options.batch,
                             "File or - with one scenario a line, answered by one line; goes with no other option");
    for (auto* const other : simulate->get_options())
        if (other != batch) batch->excludes(other);
    app.add_subcommand("version", "Print the version");

    std::signal(SIGPIPE, SIG_IGN); // a reader that left shows as a failed write
    try {
        app.parse(argc, argv);
        if (app.got_subcommand("version")) {
            std::cout << "muster " << muster::version_major << '.' << muster::version_minor << '.'
                      << muster::version_patch << '\n';
            return 0;
        }
        if (options.files.empty() && options.batch.empty())
            throw muster::ext::bad_input{"", 0, "", "nothing to read: name files by -f, or scenarios by --batch"};
        return muster::tool::simulate(options);
    } catch (CLI::ParseError const& problem) {
        return app.exit(problem) == 0 ? 0 : 2;
    } catch (muster::ext::bad_input const& problem) {
        std::cerr << "error: " << problem.what() << '\n';
    } catch (std::bad_alloc const&) {
        std::cerr << "error: out of memory\n";
    } catch (std::exception const& problem) {
        std::cerr << "error: " << problem.what() << '\n';
    }
    return 2;
}
