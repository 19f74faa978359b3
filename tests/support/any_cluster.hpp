#pragma once

/// \file
/// Random small clusters, drawn by rapidcheck.

#include <rapidcheck.h>

#include "support/law.hpp"
#include "support/world.hpp"

namespace test {

/// A number from 0 to `most`.
int up_to(int most);

/// A few nodes with cards, queues of different weight and limits, gangs of tasks of a few kinds; some of them run, or
/// are on their way out, some find no place. A node may start oversold.
world any_world();

} // namespace test
