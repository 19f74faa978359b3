#pragma once

/// \file
/// What Volcano's scheduler and its vGPU device plugin write for each other: node and pod annotations, and the
/// environment that a container gets.

#include <muster/wire/volcano/environment.hpp>
#include <muster/wire/volcano/keys.hpp>
#include <muster/wire/volcano/pod.hpp>
#include <muster/wire/volcano/register.hpp>
