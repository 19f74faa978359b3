#pragma once

/// \file
/// The decision library, composed as a type. `scheduler/dynamic_scheduler.hpp` (composed at run time), `ext/`,
/// `workload/` and `account/` are included by themselves.

#include <muster/cluster/cluster.hpp>
#include <muster/policy.hpp>
#include <muster/report/message.hpp>
#include <muster/scheduler/scheduler.hpp>
#include <muster/version.hpp>
