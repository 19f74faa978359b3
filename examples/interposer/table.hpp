#pragma once

// What is made of the rows: a slot for the driver's own function each, and the functions that are only called.

#include <span>

#include "entries.hpp"

namespace muster::interposer {

/// Functions of the driver that operations call and nothing stands before.
#define MUSTER_HELPERS(ROW)                                                                                            \
    ROW(cuCtxGetCurrent)                                                                                               \
    ROW(cuCtxGetDevice)                                                                                                \
    ROW(cuDeviceGetMemPool)                                                                                            \
    ROW(cuDeviceGetUuid_v2)                                                                                            \
    ROW(cuEventCreate)                                                                                                 \
    ROW(cuEventRecord)                                                                                                 \
    ROW(cuEventRecord_ptsz)                                                                                            \
    ROW(cuGetProcAddress_v2)                                                                                           \
    ROW(cuMemPoolGetAttribute)                                                                                         \
    ROW(cuStreamIsCapturing)                                                                                           \
    ROW(cuStreamIsCapturing_ptsz)                                                                                      \
    ROW(cuThreadExchangeStreamCaptureMode)

struct real_driver {
#define MUSTER_SLOT(name, ...) decltype(&::name) name = nullptr;
    MUSTER_ENTRIES(MUSTER_SLOT)
    MUSTER_HELPERS(MUSTER_SLOT)
#undef MUSTER_SLOT
    CUresult (*get_proc_address_v1)(char const*, void**, int, cuuint64_t) = nullptr;
};

/// One row, as the roads to the driver see it.
struct row {
    char const* name; ///< as the driver exports it
    void* wrapper;
    void* (*real)(); ///< null: the driver lacks it
};

[[nodiscard]] std::span<row const> rows() noexcept;

} // namespace muster::interposer
