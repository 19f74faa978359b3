#pragma once

/// \file
/// Laws under rapidcheck with a fixed seed, so that a check that passes does so every time.

#include <cstdint>
#include <iostream>
#include <utility>

#include <rapidcheck.h>

namespace test {

/// `rc::check` with the seed given; RC_PARAMS has no say.
template <class Law>
bool holds(Law law, int runs = 100, std::uint64_t seed = 20261130) {
    rc::detail::TestParams params;
    params.seed = seed;
    params.maxSuccess = runs;
    auto const result = rc::detail::checkTestable(std::move(law), rc::detail::TestMetadata{}, params);
    bool const good = result.template is<rc::detail::SuccessResult>();
    if (!good) rc::detail::printResultMessage(result, std::cerr);
    return good;
}

} // namespace test
