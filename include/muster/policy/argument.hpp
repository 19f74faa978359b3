#pragma once

/// \file
/// The parameters of a policy under the names that a configuration's text gives them.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/hana/tuple.hpp>

namespace muster {

/// One parameter: its name, the member that holds it, and what is accepted.
///
/// A value outside the bounds, like one of the wrong type, leaves the default.
template <class P, class T>
struct argument {
    std::string_view name;
    T P::*member;
    std::optional<T> absent{}; ///< the value where a text doesn't say, if it differs from the aggregate's default
    std::optional<T> least{};
};

template <class P, class T>
argument(std::string_view, T P::*) -> argument<P, T>;

/// Names with weights, each name once.
using weight_list = std::vector<std::pair<std::string, std::int64_t>>;

/// Weights of resources: a comma list under `list` names them, `prefix` + name sets one.
template <class P>
struct weights_argument {
    std::string_view list;
    std::string_view prefix;
    weight_list P::*member;
};
template <class P>
weights_argument(std::string_view, std::string_view, weight_list P::*) -> weights_argument<P>;

/// Label sets, as a list of maps.
using label_set = std::vector<std::pair<std::string, std::string>>;
template <class P>
struct label_sets_argument {
    std::string_view name;
    std::vector<label_set> P::*member;
};
template <class P>
label_sets_argument(std::string_view, std::vector<label_set> P::*) -> label_sets_argument<P>;

/// A parameter of the original that does nothing here: a text may name it.
struct inert_argument {
    std::string_view name;
    bool warns = false; ///< what it switches on is not there yet: a value other than false or 0 deserves a warning
};

/// The arguments of a policy, a Hana tuple; empty for one without parameters.
template <class P>
inline constexpr auto arguments = boost::hana::make_tuple();

} // namespace muster
