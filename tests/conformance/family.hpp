#pragma once

/// \file
/// What a family of recorded lines needs to take part in `muster-conformance`.

#include <nlohmann/json.hpp>

namespace conformance {

using json = nlohmann::json;

/// One family. A later one, such as the scheduler's (lines with `conf` and `objects`), gets a header of its own and an
/// entry in main.cpp.
struct family {
    char const* name;
    bool (*takes)(json const& line);  ///< whether a recorded line is of this family
    json (*answer)(json const& line); ///< muster's answer, in the recorded shape
    json (*asked)(json const& line);  ///< the recorded answer, without what muster does not answer yet
};

} // namespace conformance
