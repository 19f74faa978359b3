#pragma once

/// \file
/// All policies.

#include <muster/policy/binpack.hpp>
#include <muster/policy/conformance.hpp>
#include <muster/policy/deviceshare.hpp>
#include <muster/policy/drf.hpp>
#include <muster/policy/gang.hpp>
#include <muster/policy/nodeorder.hpp>
#include <muster/policy/predicates.hpp>
#include <muster/policy/priority.hpp>
#include <muster/policy/proportion.hpp>
