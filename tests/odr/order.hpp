#pragma once

#include <cstddef>

/// What each of the two files decides on the same cluster.
std::size_t bound_by_first();
std::size_t bound_by_second();
