#pragma once

/// \file
/// The node annotation in which a device plugin registers its cards.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/config.hpp>
#include <muster/core/result.hpp>
#include <muster/device/card.hpp>
#include <muster/resource/units.hpp>
#include <muster/wire/volcano/field.hpp>

namespace muster::wire::volcano {

/// One card of a node's registration.
struct registered_card {
    std::size_t index = 0; ///< of the segment, counting those that hold no card
    std::string_view uuid; ///< points into the decoded text
    std::int64_t slots = 0;
    std::int64_t memory = 0; ///< in blocks of gpuMemoryFactor MiB
    std::string_view type;   ///< points into the decoded text
    bool healthy = false;
    sharing mode = sharing::slices;
    std::optional<error> fault; ///< why the card takes no new share; slots and memory are then 0

    friend bool operator==(registered_card const&, registered_card const&) noexcept = default;
};

namespace detail {

/// Reads a card's fields; what Volcano would wrap or take for 0 becomes the card's fault.
[[nodiscard]] inline registered_card card_from(std::array<piece, 6> const& field, std::size_t index) noexcept {
    constexpr std::array<std::string_view, 6> truths{"1", "t", "T", "TRUE", "true", "True"}; // Go's ParseBool
    registered_card card{.index = index,
                         .uuid = field[0].text,
                         .type = field[3].text,
                         .healthy = std::ranges::find(truths, field[4].text) != truths.end(),
                         .mode = field[5].text == "mig" ? sharing::instances : sharing::slices,
                         .fault = {}};
    auto const unsigned_number = [](piece digits) {
        if (digits.text.starts_with('+')) digits.text.remove_prefix(1), ++digits.at;
        return number(digits, card_memory_limit.value);
    };
    auto const slots = unsigned_number(field[1]);
    auto const memory = unsigned_number(field[2]);
    if (card.uuid.empty()) card.fault = error{errc::empty, static_cast<std::uint32_t>(field[0].at)};
    // A ';' would end a container in the pod's annotation.
    else if (auto const bad = card.uuid.find(';'); bad != std::string_view::npos)
        card.fault = error{errc::bad_field, static_cast<std::uint32_t>(field[0].at + bad)};
    else if (!slots)
        card.fault = slots.error();
    else if (!memory)
        card.fault = memory.error();
    else
        card.slots = *slots, card.memory = *memory;
    return card;
}

} // namespace detail

/// Decodes `volcano.sh/node-vgpu-register`: `UUID,SLOTS,MEMORY,TYPE,HEALTH,MODE:` a card.
///
/// Shape:  segments without a comma hold no card, but count in `index`; fields past the sixth are ignored. MODE is
///         instances for the word `mig` and slices for any other; HEALTH is true for the words Go takes for true.
/// Units:  SLOTS in containers, MEMORY in blocks of gpuMemoryFactor MiB; neither passes `card_memory_limit`.
/// Errors: the node has no cards: `empty` without text; `missing_field` at the end of a text without ':' and at the
///         end of a segment of fewer than six fields. One card's `fault`: `empty` without UUID; `bad_field` at a ';' in
///         it; `bad_field`, `negative` and `out_of_range` at a number.
/// Cost:   one pass, one vector; the result borrows from `text`.
/// Source: Volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go, decodeNodeDevices. It wraps negative numbers to
///         huge ones and reads 0 from garbage; here such a card takes no share.
[[nodiscard]] inline result<std::vector<registered_card>> decode_register(std::string_view text) {
    if (text.empty()) return fail(errc::empty);
    if (text.find(':') == std::string_view::npos) return fail(errc::missing_field, text.size());
    std::vector<registered_card> cards;
    std::optional rest{detail::piece{text}};
    for (std::size_t index = 0; rest; ++index) {
        auto const segment = detail::take(rest, ':');
        if (segment.text.find(',') == std::string_view::npos) continue;
        auto const fields = detail::fields<6>(segment);
        if (!fields) return tl::unexpected{fields.error()};
        cards.push_back(detail::card_from(*fields, index));
    }
    return cards;
}

/// How a node shares its cards: as its last card does.
///
/// Source: Volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go, decodeNodeDevices. There a last card of a model
///         without known instances makes the node share by slices; that table is no part of the wire.
[[nodiscard]] inline sharing node_mode(std::span<registered_card const> cards) noexcept {
    return cards.empty() ? sharing::slices : cards.back().mode;
}

/// Writes the annotation that `decode_register` reads.
///
/// Shape:  cards in ascending `index`; a gap becomes empty segments, so that the indices come back. UUID and type hold
///         no ',' or ':', which no decoded card does. A fault is not written: such a card reads as one of 0 slots.
/// Source: volcano-vgpu-device-plugin, pkg/util/util.go, EncodeNodeDevices, at 4fb76ba.
[[nodiscard]] inline std::string encode_register(std::span<registered_card const> cards) {
    std::string text;
    std::size_t index = 0;
    for (auto const& card : cards) {
        MUSTER_ASSERT(card.uuid.find_first_of(",:") == std::string_view::npos);
        MUSTER_ASSERT(card.type.find_first_of(",:") == std::string_view::npos);
        for (; index < card.index; ++index) text += ':';
        text.append(card.uuid).append(",").append(std::to_string(card.slots)).append(",");
        text.append(std::to_string(card.memory)).append(",").append(card.type);
        text.append(card.healthy ? ",true," : ",false,");
        text.append(card.mode == sharing::instances ? "mig:" : "hami-core:");
        ++index;
    }
    return text;
}

} // namespace muster::wire::volcano
