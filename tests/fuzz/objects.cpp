// Any text: it is refused in words, or its cycles run to their end and can be told.
#include <muster/ext/answer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/conf.hpp>
#include <muster/ext/read.hpp>
#include <muster/ext/registry.hpp>
#include <muster/ext/scenario.hpp>
#include <muster/ext/simulation.hpp>

namespace {

namespace ext = muster::ext;
using nlohmann::json;

/// The text as a scenario if it looks like one, else as objects.
void simulate(std::string const& text) {
    ext::scenario scenario;
    if (text.find("\"objects\"") != std::string::npos)
        scenario = ext::parse_scenario(text, "f", 1);
    else
        scenario.objects = ext::read_text(text, "f");
    if (scenario.conf.empty()) scenario.conf = ext::default_conf;
    ext::conf_place const place{"f", "", 1, false};
    std::vector<ext::warning> warnings;
    auto scheduler = ext::make_scheduler(ext::parse_conf(scenario.conf, place), place, warnings);
    ext::simulation s{ext::world{std::move(scenario.objects), warnings},
                      ext::cycles_of(std::move(scheduler)),
                      {4, scenario.now},
                      warnings};
    s.run();
    (void)ext::answer(s).dump();
}

/// The values inside a value, itself first.
void collect(json& value, std::vector<json*>& all) {
    all.push_back(&value);
    if (!value.is_structured()) return;
    for (auto& child : value) collect(child, all);
}

/// Changes one place of a value: another value of it moves there, or an odd one, or it goes away.
void change(json& root, std::minstd_rand& random) {
    static std::vector<json> const odd{nullptr,
                                       true,
                                       0,
                                       -1,
                                       1.5,
                                       101,
                                       std::int64_t{1} << 31,
                                       INT64_MAX,
                                       UINT64_MAX,
                                       1e300,
                                       "",
                                       "-1",
                                       "1e30",
                                       "9223372036854775807",
                                       "8Ei",
                                       "500m",
                                       "x",
                                       ",",
                                       "GPU-a,NVIDIA,1,1:;",
                                       "Running",
                                       "default",
                                       json::array(),
                                       json::object()};
    std::vector<json*> all;
    collect(root, all);
    auto const any = [&](std::size_t size) { return static_cast<std::size_t>(random()) % size; };
    auto& target = *all[any(all.size())];
    switch (any(5)) {
    case 0:
        target = odd[any(odd.size())];
        break;
    case 1: {
        auto copy = *all[any(all.size())]; // may hold the target
        target = std::move(copy);
        break;
    }
    case 2:
        if (target.is_structured() && !target.empty()) {
            auto at = target.begin();
            std::advance(at, static_cast<std::ptrdiff_t>(any(target.size())));
            target.erase(at);
        }
        break;
    case 3:
        if (target.is_array() && !target.empty()) {
            auto copy = target[any(target.size())];
            target.push_back(std::move(copy));
        }
        break;
    default:
        if (target.is_number_integer())
            target = static_cast<std::int64_t>(target.get<std::uint64_t>() * 7 + 1);
        else if (target.is_string())
            target = target.get<std::string>() + "0";
    }
}

} // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer names it
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    std::minstd_rand random{seed};
    auto value = json::parse(data, data + size, nullptr, false);
    if (value.is_discarded() || random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
    for (auto times = random() % 4 + 1; times != 0; --times) change(value, random);
    auto const text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::memcpy(data, text.data(), text.size());
    return text.size();
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer names it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        simulate({reinterpret_cast<char const*>(data), size});
    } catch (ext::bad_input const&) { // NOLINT(bugprone-empty-catch): that is an answer
    }
    return 0;
}
