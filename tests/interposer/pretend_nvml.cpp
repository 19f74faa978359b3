// A pretend libnvidia-ml.so.1 for the pretend driver's card.

#include <nvml.h>

#include <cstdio>

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int i, nvmlDevice_t* d) {
    static int card;
    *d = reinterpret_cast<nvmlDevice_t>(&card);
    return i == 0 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}
EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t, unsigned int* i) { return *i = 0, NVML_SUCCESS; }
EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char* text, unsigned int length) {
    std::snprintf(text, length, "GPU-07070707-0707-0707-0707-070707070707");
    return NVML_SUCCESS;
}
EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t* m) {
    m->total = 16ULL << 30U;
    m->used = 5ULL << 30U; // others' too
    m->free = m->total - m->used;
    return NVML_SUCCESS;
}
EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, nvmlMemory_v2_t* m) {
    m->total = 16ULL << 30U;
    m->reserved = 1ULL << 30U;
    m->used = 5ULL << 30U;
    m->free = m->total - m->used - m->reserved;
    return NVML_SUCCESS;
}
