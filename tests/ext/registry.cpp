#include <muster/ext/registry.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ext = muster::ext;

namespace {

/// What is told of a configuration, or refused in it.
std::vector<std::string> told(std::string const& conf) {
    std::vector<ext::warning> warnings;
    ext::conf_place const place{"f", "", 1, true};
    std::vector<std::string> texts;
    try {
        (void)ext::make_scheduler(ext::parse_conf(conf, place), place, warnings);
    } catch (ext::bad_input const& wrong) {
        texts.emplace_back(wrong.what());
    }
    for (auto const& w : warnings) texts.push_back(to_string(w));
    return texts;
}
using strings = std::vector<std::string>;

/// A configuration with one plugin, on line 4, with more of it on the lines that follow.
std::string plugin(std::string const& name, std::string const& more = "") {
    return "actions: \"allocate\"\ntiers:\n- plugins:\n  - name: " + name + "\n" + more;
}
std::string argument(std::string const& name, std::string const& text) {
    return plugin(name, "    arguments:\n      " + text + "\n");
}

} // namespace

TEST_CASE("registry: the default configuration is taken without a word, and so is every plugin alone") {
    CHECK(told(std::string{ext::default_conf}).empty());
    for (auto const& entry : ext::detail::registered_policies) {
        CAPTURE(entry.name);
        CHECK(told(plugin(std::string{entry.name})).empty());
    }
}

TEST_CASE("registry: unknown names are refused with those that are known") {
    CHECK(told(plugin("frob")) == strings{"f:4: unknown plugin \"frob\"; known are: binpack, conformance, deviceshare, "
                                          "drf, gang, nodeorder, predicates, priority, proportion"});
    CHECK(told("actions: \"allocate, frob\"") ==
          strings{"f:1: unknown action \"frob\"; known are: allocate, backfill, enqueue"});
    CHECK(told("actions: \"allocate\"\nconfigurations:\n- name: frob\n") ==
          strings{"f:3: unknown action \"frob\"; known are: allocate, backfill, enqueue"});
    CHECK(told(argument("gang", "frob: 1")) == strings{"f:6: plugin gang has no argument \"frob\"; known are: none"});
    CHECK(told(argument("binpack", "frob: 1")) ==
          strings{"f:6: plugin binpack has no argument \"frob\"; known are: binpack.cpu, binpack.memory, "
                  "binpack.resources, binpack.resources.NAME, binpack.weight"});
    CHECK(told(plugin("gang", "    enableHierarchy: true\n")) ==
          strings{"f:5: enableHierarchy: hierarchical fairness is not supported yet; leave it off"});
}

TEST_CASE("registry: an argument of another type, or out of bounds, keeps its default and is told") {
    CHECK(told(argument("binpack", "binpack.weight: heavy")) ==
          strings{"f:6: binpack.weight: expected a whole number, found the string \"heavy\"; the default is kept"});
    CHECK(told(argument("binpack", "binpack.weight: 1.5")).size() == 1);
    CHECK(told(argument("binpack", "binpack.weight: \"5\"")).size() == 1); // a string is no number, in Volcano too
    CHECK(told(argument("binpack", "binpack.cpu: -1")) ==
          strings{"f:6: binpack.cpu: -1 is below what is allowed; the default is kept"});
    CHECK(told(argument("deviceshare", "deviceshare.VGPUEnable: \"T\"")).empty()); // words may stand for true
    CHECK(told(argument("binpack", "binpack.weight: 10")).empty());
}

TEST_CASE("registry: a plugin listed twice in a tier counts once and is told; in two tiers it is not") {
    CHECK(told(plugin("gang", "  - name: gang\n")) ==
          strings{"f:5: plugin gang is listed twice in a tier; the first counts"});
    CHECK(told(plugin("gang", "- plugins:\n  - name: gang\n")).empty());
}
