// A pretend libnvidia-ml.so.1 for the pretend driver's cards. The environment chooses: PRETEND_CARDS (1);
// PRETEND_NVML_REVERSED (cards come the other way round); PRETEND_PID_OFFSET (processes are counted from there, as a
// host counts those of a container); PRETEND_NEIGHBOUR (somebody else has a context, too); PRETEND_NVML_BLIND
// (processes aren't listed).

#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT std::size_t pretend_in_use_of(int device);
EXPORT int pretend_contexts(int device);

namespace {

unsigned int setting(char const* name, unsigned int otherwise) {
    auto const* const text = std::getenv(name);
    return text == nullptr ? otherwise : static_cast<unsigned int>(std::strtoul(text, nullptr, 10));
}
unsigned int card_count() { return setting("PRETEND_CARDS", 1); }

int marks[2];
nvmlDevice_t handle_of(unsigned int i) { return reinterpret_cast<nvmlDevice_t>(&marks[i]); }
unsigned int index_of(nvmlDevice_t d) { return d == handle_of(1) ? 1 : 0; }
/// The driver's number of a card.
unsigned int device_of(nvmlDevice_t d) {
    return setting("PRETEND_NVML_REVERSED", 0) != 0 ? card_count() - 1 - index_of(d) : index_of(d);
}
std::string uuid_of(nvmlDevice_t d) {
    char const c = static_cast<char>('7' + device_of(d));
    std::string text = setting("PRETEND_MIG", 0) != 0 ? "MIG-" : "GPU-";
    text += "07070707-0707-0707-0707-070707070707";
    for (auto& x : text)
        if (x == '7') x = c;
    return text;
}

struct process {
    unsigned int pid;
    std::size_t bytes;
};
std::vector<process> processes_on(nvmlDevice_t d) {
    std::vector<process> all;
    if (setting("PRETEND_NEIGHBOUR", 0) != 0) all.push_back({999'999, std::size_t{1} << 30U});
    auto const device = static_cast<int>(device_of(d));
    if (pretend_contexts(device) != 0)
        all.push_back(
            {static_cast<unsigned int>(getpid()) + setting("PRETEND_PID_OFFSET", 0), pretend_in_use_of(device)});
    return all;
}

template <class Process>
nvmlReturn_t list(nvmlDevice_t d, unsigned int* n, Process* to) {
    if (setting("PRETEND_NVML_BLIND", 0) != 0) return NVML_ERROR_NOT_SUPPORTED;
    if (d == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    auto const all = processes_on(d);
    auto const room = *n;
    *n = static_cast<unsigned int>(all.size());
    if (room < all.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (auto const& p : all) {
        Process record{};
        record.pid = p.pid;
        record.usedGpuMemory = p.bytes;
        *to++ = record;
    }
    return NVML_SUCCESS;
}

} // namespace

EXPORT nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int i, nvmlDevice_t* d) {
    if (i >= card_count()) return NVML_ERROR_INVALID_ARGUMENT;
    return *d = handle_of(i), NVML_SUCCESS;
}
EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(char const* uuid, nvmlDevice_t* d) {
    for (unsigned int i = 0; i != card_count(); ++i)
        if (uuid_of(handle_of(i)) == uuid) return *d = handle_of(i), NVML_SUCCESS;
    return NVML_ERROR_NOT_FOUND;
}
EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t d, unsigned int* i) { return *i = index_of(d), NVML_SUCCESS; }
EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char* text, unsigned int length) {
    std::snprintf(text, length, "%s", uuid_of(d).c_str());
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
EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t d, unsigned int* n, nvmlProcessInfo_v1_t* to) {
    return list(d, n, to);
}
EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t d, unsigned int* n, nvmlProcessInfo_v2_t* to) {
    return list(d, n, to);
}
EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned int* n, nvmlProcessInfo_t* to) {
    return list(d, n, to);
}
EXPORT nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t d, unsigned int* n, nvmlProcessInfo_t* to) {
    return list(d, n, to);
}
EXPORT nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t d, nvmlProcessDetailList_t* l) {
    auto const all = processes_on(d);
    if (l->version != nvmlProcessDetailList_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    bool const room = l->numProcArrayEntries >= all.size();
    l->numProcArrayEntries = static_cast<unsigned int>(all.size());
    return room ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}
