// Any text: what Volcano's decoders accept they write back and read again, and every offset lies in the text.
#include <muster/wire/volcano.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

namespace volcano = muster::wire::volcano;

void require(bool holds) {
    if (!holds) std::abort();
}

void check_register(std::string_view text) {
    auto const cards = volcano::decode_register(text);
    if (!cards) {
        require(cards.error().at <= text.size());
        return;
    }
    for (auto const& card : *cards) {
        require(card.slots >= 0 && card.memory >= 0);
        require(!card.fault || (card.slots == 0 && card.memory == 0 && card.fault->at <= text.size()));
    }
    if (cards->empty()) return;
    auto const written = volcano::encode_register(*cards);
    auto const back = volcano::decode_register(written);
    require(back && back->size() == cards->size() && volcano::node_mode(*back) == volcano::node_mode(*cards));
    for (std::size_t i = 0; i != cards->size(); ++i) {
        auto expected = (*cards)[i];
        auto found = (*back)[i];
        // An unreadable number is written as 0; what is wrong with a UUID stays, elsewhere in the text.
        expected.fault.reset();
        found.fault.reset();
        require(found == expected);
    }
}

void check_pod(std::string_view text) {
    auto const containers = volcano::decode_pod(text);
    if (!containers) {
        require(containers.error().at <= text.size());
        return;
    }
    for (auto const& shares : *containers) {
        auto const variables = volcano::environment(shares, "id", {.memory_factor = 1024});
        require(variables && variables->size() == (shares.empty() ? 0 : shares.size() + 6));
    }
    auto const written = volcano::encode_pod(*containers);
    auto const back = volcano::decode_pod(written);
    require(back && volcano::encode_pod(*back) == written);
    if (!written.empty()) require(*back == *containers);
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer names it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    check_register(text);
    check_pod(text);
    return 0;
}
