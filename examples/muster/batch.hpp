#pragma once

/// \file
/// `muster simulate --batch`: scenarios in, answers out, a line each.

#include <iosfwd>
#include <string>

namespace muster::tool {

/// Answers every line of `in`; a line that can't be answered gives `{name, error}`. Returns the exit status.
int run_batch(std::istream& in, std::string const& file, std::ostream& out);

} // namespace muster::tool
