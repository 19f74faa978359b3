// expect: compile without -ffast-math
// flags: -ffast-math
#include <muster/config.hpp>
