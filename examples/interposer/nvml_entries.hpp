#pragma once

// NVML's entry points that the library stands before; `nvml.cpp` has the answers.

#define NVML_NO_UNVERSIONED_FUNC_DEFS // nvml.h's name: with it all versions are declared
#include <nvml.h>

// Each row: the name as NVML exports it, its parameters as nvml.h has them, its arguments, and the answer, in which
// `ask` is NVML's own function. It is always asked: what is wrong with a question it knows best.
#define MUSTER_PROCESS_LISTS(ROW, kind, members)                                                                       \
    ROW(nvmlDeviceGet##kind##RunningProcesses, (nvmlDevice_t d, unsigned int* n, nvmlProcessInfo_v1_t* to),            \
        (d, n, to), listed(ask, d, n, to, members))                                                                    \
    ROW(nvmlDeviceGet##kind##RunningProcesses_v2, (nvmlDevice_t d, unsigned int* n, nvmlProcessInfo_v2_t* to),         \
        (d, n, to), listed(ask, d, n, to, members))                                                                    \
    ROW(nvmlDeviceGet##kind##RunningProcesses_v3, (nvmlDevice_t d, unsigned int* n, nvmlProcessInfo_t* to),            \
        (d, n, to), listed(ask, d, n, to, members))

#define MUSTER_NVML_ENTRIES(ROW)                                                                                       \
    ROW(nvmlDeviceGetMemoryInfo, (nvmlDevice_t d, nvmlMemory_t * to), (d, to), confined(ask, d, to))                   \
    ROW(nvmlDeviceGetMemoryInfo_v2, (nvmlDevice_t d, nvmlMemory_v2_t * to), (d, to), confined(ask, d, to))             \
    MUSTER_PROCESS_LISTS(ROW, Compute, true)                                                                           \
    MUSTER_PROCESS_LISTS(ROW, MPSCompute, false)                                                                       \
    MUSTER_PROCESS_LISTS(ROW, Graphics, false)                                                                         \
    ROW(nvmlDeviceGetRunningProcessDetailList, (nvmlDevice_t d, nvmlProcessDetailList_t * to), (d, to),                \
        detailed(ask, d, to))

/// Functions of NVML that answers call and nothing stands before.
#define MUSTER_NVML_HELPERS(ROW)                                                                                       \
    ROW(nvmlDeviceGetHandleByUUID)                                                                                     \
    ROW(nvmlDeviceGetIndex)                                                                                            \
    ROW(nvmlDeviceGetUUID)                                                                                             \
    ROW(nvmlInit_v2)
