#pragma once

/// \file
/// A simulation as tables, in the shape that kubectl gives them.

#include <iosfwd>

#include <muster/ext/simulation.hpp>

namespace muster::tool {

/// Prints what an operator would ask for: jobs, PodGroups, pods, queues, and for those that wait the reasons.
///
/// `wide` adds queues, nodes, cards and the containers' environment.
void print_tables(std::ostream& out, ext::simulation const& s, bool wide);

} // namespace muster::tool
