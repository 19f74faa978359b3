#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

namespace {

std::string text_of(std::filesystem::path const& file) {
    std::stringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("interposer: each test that the checklist names is there") {
    std::filesystem::path const tests{MUSTER_TESTS};
    std::string sources;
    for (auto const* const folder : {"account", "ext", "interposer"})
        for (auto const& entry : std::filesystem::directory_iterator{tests / folder})
            if (entry.path().extension() == ".cpp") sources += text_of(entry.path());
    auto const checklist = text_of(tests / "interposer" / "CHECKLIST.md");
    std::regex const quoted{"\"([a-z_ ]+: [^\"]+)\""};
    int names = 0;
    for (std::sregex_iterator at{checklist.begin(), checklist.end(), quoted}, end; at != end; ++at, ++names) {
        auto const name = std::regex_replace((*at)[1].str(), std::regex{"\\s+"}, " ");
        CAPTURE(name);
        CHECK(sources.find("TEST_CASE(\"" + name + "\")") != std::string::npos);
    }
    CHECK(names > 40);
}
