#include "batch.hpp"

#include <cerrno>
#include <exception>
#include <istream>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/ext/answer.hpp>
#include <muster/ext/scenario.hpp>

namespace muster::tool {

namespace {

nlohmann::json answer_line(std::string const& line, std::string const& file, std::size_t number, std::string& name) {
    auto const object = ext::read_line(line, file, number);
    name = ext::field{object}["name"].string_or("");
    auto scenario = ext::read_scenario(object);
    std::vector<ext::warning> warnings;
    ext::conf_place const place{file, "conf of " + name, number, false};
    auto const text = scenario.conf.empty() ? std::string{ext::default_conf} : scenario.conf;
    auto scheduler = ext::make_scheduler(ext::parse_conf(text, place), place, warnings);
    ext::simulation_options options;
    options.cycles = scenario.cycles;
    options.now = scenario.now;
    ext::simulation s{ext::world{std::move(scenario.objects), warnings}, ext::cycles_of(std::move(scheduler)), options,
                      warnings};
    s.run();
    auto answer = ext::answer(s);
    answer["name"] = name;
    return answer;
}

} // namespace

int run_batch(std::istream& in, std::string const& file, std::ostream& out) {
    std::string line;
    for (std::size_t number = 1; out && std::getline(in, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        std::string name;
        nlohmann::json answer;
        try {
            answer = answer_line(line, file, number, name);
        } catch (std::exception const& problem) {
            answer = {{"name", name}, {"error", problem.what()}};
        }
        out << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    }
    if (in.bad()) throw ext::bad_input{file, 0, "", "can't read it: " + std::generic_category().message(errno)};
    return 0;
}

} // namespace muster::tool
