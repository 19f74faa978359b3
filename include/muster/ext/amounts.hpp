#pragma once

/// \file
/// Resource lists of objects, read with file, line and path of what is wrong.

#include <string>
#include <string_view>

#include <muster/core/result.hpp>
#include <muster/ext/field.hpp>
#include <muster/resource/amounts.hpp>
#include <muster/resource/dimension.hpp>
#include <muster/resource/quantity.hpp>

namespace muster::ext {

/// A quantity. Errors: `bad_input` for text that is none, or that no 64 bits hold.
[[nodiscard]] inline quantity read_quantity(field const& f) {
    auto const text = f.quantity();
    auto const parsed = parse_quantity(text);
    if (!parsed)
        f.fail("expected a quantity such as 500m, 2 or 4Gi, found \"" + text +
               "\": " + std::string{message(parsed.error().code)});
    return *parsed;
}

/// A map of amounts, each zero or more and countable in its dimension. Absent: empty.
[[nodiscard]] inline resource_list read_amounts(field const& map) {
    resource_list list;
    for (auto const& [name, f] : map.members()) {
        auto const q = read_quantity(f);
        if (q.is_negative()) f.fail("expected an amount of zero or more, found " + to_string(q));
        auto const how = counting_of(name);
        if (how && !count(q, *how)) f.fail("expected an amount that 64 bits can count, found " + to_string(q));
        list.emplace_back(name, q);
    }
    return list;
}

/// The amount of a name in a list, or nothing.
[[nodiscard]] inline quantity const* find(resource_list const& list, std::string_view name) noexcept {
    for (auto const& [key, amount] : list)
        if (key == name) return &amount;
    return nullptr;
}

} // namespace muster::ext
