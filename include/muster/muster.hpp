#pragma once

/// \file
/// The whole decision library. `ext/`, `workload/` and `account/` are included by themselves.

#include <muster/cluster/cluster.hpp>
#include <muster/policy.hpp>
#include <muster/report/message.hpp>
#include <muster/scheduler/dynamic_scheduler.hpp>
#include <muster/scheduler/scheduler.hpp>
#include <muster/version.hpp>
