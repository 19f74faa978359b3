#include "simulate.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

#include <muster/ext/answer.hpp>
#include <muster/ext/read.hpp>
#include <muster/ext/scenario.hpp>
#include <muster/ext/text.hpp>

#include "batch.hpp"
#include "tables.hpp"

namespace muster::tool {

namespace {

bool is_directory(std::string const& file) {
    std::error_code unreadable; // what it is shows when it is opened
    return std::filesystem::is_directory(file, unreadable);
}

std::vector<ext::object> read_all(std::vector<std::string> const& files) {
    std::vector<ext::object> objects;
    for (auto const& file : files) {
        auto read = file == "-"          ? ext::read_stdin(std::cin)
                    : is_directory(file) ? ext::read_directory(file)
                                         : ext::read_file(file);
        std::move(read.begin(), read.end(), std::back_inserter(objects));
    }
    if (objects.empty())
        throw ext::bad_input{ext::joined(files, ", "), 0, "",
                             "found no object; expected Nodes, Queues, PodGroups, Pods or Jobs"};
    return objects;
}

/// A configuration with where it stands.
struct conf_text {
    std::string text;
    ext::conf_place place{};
};

conf_text of_field(ext::field const& f) {
    bool const block = f.is_block();
    return {f.as_string(), {f.root().file(), f.root().label(), f.line() + (block ? 1U : 0U), block}};
}

/// The file's text, or that of the ConfigMap in it; else that of a ConfigMap among the objects; else the default.
conf_text choose_conf(std::string const& file, std::vector<ext::object> const& objects) {
    if (!file.empty()) {
        auto text = ext::text_of_file(file);
        if (text.find("volcano-scheduler.conf") != std::string::npos && text.find("ConfigMap") != std::string::npos) {
            auto const read = ext::read_text(text, file);
            if (auto const f = ext::find_conf(read)) return of_field(*f);
        }
        return {std::move(text), {file, "", 1, true}};
    }
    if (auto const f = ext::find_conf(objects)) return of_field(*f);
    return {std::string{ext::default_conf}, {"<default conf>", "", 1, true}};
}

void emit(YAML::Emitter& out, nlohmann::json const& value) {
    if (value.is_object()) {
        out << YAML::BeginMap;
        for (auto const& [key, child] : value.items()) {
            out << YAML::Key << key << YAML::Value;
            emit(out, child);
        }
        out << YAML::EndMap;
    } else if (value.is_array()) {
        out << YAML::BeginSeq;
        for (auto const& child : value) emit(out, child);
        out << YAML::EndSeq;
    } else if (value.is_string()) {
        out << YAML::DoubleQuoted << value.get_ref<std::string const&>();
    } else {
        out << value.dump();
    }
}

void print(ext::simulation const& s, std::string const& output) {
    if (output == "json") {
        std::cout << ext::answer(s).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    } else if (output == "yaml") {
        YAML::Emitter out;
        emit(out, ext::answer(s));
        std::cout << out.c_str() << '\n';
    } else {
        print_tables(std::cout, s, output == "wide");
    }
}

/// Refuses output that did not arrive; a reader that left early, as `head` does, is no fault.
void flush(std::ostream& out) {
    if (!out.flush() && errno != EPIPE)
        throw ext::bad_input{"<stdout>", 0, "", "can't write to it: " + std::generic_category().message(errno)};
}

int batch(std::string const& file) {
    if (file == "-") return run_batch(std::cin, "<stdin>", std::cout);
    std::ifstream in{file, std::ios::binary};
    if (!in || is_directory(file))
        throw ext::bad_input{file, 0, "", "can't be read; expected a file with one scenario a line"};
    return run_batch(in, file, std::cout);
}

void save(std::string const& file, ext::scenario const& s) {
    std::ofstream out{file, std::ios::binary};
    out << ext::print_scenario(s) << '\n';
    if (!out.flush()) throw ext::bad_input{file, 0, "", "can't be written"};
}

bool any_waits(ext::simulation const& s) {
    auto const answer = ext::answer(s);
    return std::any_of(answer["pods"].begin(), answer["pods"].end(),
                       [](auto const& pod) { return pod["status"] == "Pending"; });
}

int run(simulate_options const& options) {
    auto objects = read_all(options.files);
    auto const conf = choose_conf(options.conf, objects);
    ext::simulation_options settings;
    if (options.cycles) settings.cycles = static_cast<std::size_t>(*options.cycles);
    settings.now = ext::parse_time(options.now);
    ext::scenario scenario;
    if (!options.save.empty()) { // before the run too: one that ends badly is to be reported
        scenario = {std::filesystem::path{options.save}.stem().string(), conf.text,
                    settings.cycles.value_or(ext::simulation_options::settle_limit), settings.now, objects};
        save(options.save, scenario);
    }
    std::vector<ext::warning> warnings;
    auto scheduler = ext::make_scheduler(ext::parse_conf(conf.text, conf.place), conf.place, warnings);
    ext::simulation s{ext::world{std::move(objects), warnings}, ext::cycles_of(std::move(scheduler)), settings,
                      warnings};
    s.run();
    if (!options.save.empty()) {
        scenario.cycles = s.cycles().size();
        save(options.save, scenario);
    }
    if (options.strict && !warnings.empty()) {
        for (auto const& w : warnings) std::cerr << "error: " << ext::to_string(w) << '\n';
        return 2;
    }
    print(s, options.output);
    return options.fail_on_pending && any_waits(s) ? 1 : 0;
}

} // namespace

int simulate(simulate_options const& options) {
    auto const status = options.batch.empty() ? run(options) : batch(options.batch);
    flush(std::cout);
    return status;
}

} // namespace muster::tool
