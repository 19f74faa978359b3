// NVML's answers about memory, so that nvidia-smi shows the limit and what this container holds of it.

#include "nvml.hpp"

#include <dlfcn.h>
#include <nvml.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "real.hpp"
#include "session.hpp"

namespace muster::interposer {

namespace {

struct real_nvml {
    decltype(&nvmlDeviceGetMemoryInfo) memory_info = nullptr;
    decltype(&nvmlDeviceGetMemoryInfo_v2) memory_info_v2 = nullptr;
    decltype(&nvmlDeviceGetUUID) uuid = nullptr;
    decltype(&nvmlDeviceGetIndex) index = nullptr;
};

real_nvml const& nvml() noexcept {
    static real_nvml const found = [] {
        real_nvml r;
        auto* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return r;
        r.memory_info = reinterpret_cast<decltype(r.memory_info)>(find(library, "nvmlDeviceGetMemoryInfo"));
        r.memory_info_v2 = reinterpret_cast<decltype(r.memory_info_v2)>(find(library, "nvmlDeviceGetMemoryInfo_v2"));
        r.uuid = reinterpret_cast<decltype(r.uuid)>(find(library, "nvmlDeviceGetUUID"));
        r.index = reinterpret_cast<decltype(r.index)>(find(library, "nvmlDeviceGetIndex"));
        return r;
    }();
    return found;
}

/// Replaces total, free and used by what the container may have and has; without a limit they stay the card's.
template <class Memory>
void confine(nvmlDevice_t device, Memory& m) noexcept {
    auto& s = session::current();
    if (!s.on() || nvml().uuid == nullptr || nvml().index == nullptr) return;
    std::array<char, 96> uuid{};
    unsigned int index = 0;
    if (nvml().uuid(device, uuid.data(), uuid.size()) != NVML_SUCCESS) return;
    if (nvml().index(device, &index) != NVML_SUCCESS) return;
    auto const f = s.figures_of(uuid.data(), index);
    if (!f) return;
    m.total = std::min<unsigned long long>(m.total, f->limit);
    m.used = std::min<unsigned long long>(f->used, m.total);
    m.free = m.total - m.used;
}

} // namespace

} // namespace muster::interposer

extern "C" {

[[gnu::visibility("default")]] nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
    using namespace muster::interposer;
    if (nvml().memory_info == nullptr) return NVML_ERROR_FUNCTION_NOT_FOUND;
    auto const result = nvml().memory_info(device, memory);
    if (result == NVML_SUCCESS && memory != nullptr) confine(device, *memory);
    return result;
}

[[gnu::visibility("default")]] nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
    using namespace muster::interposer;
    if (nvml().memory_info_v2 == nullptr) return NVML_ERROR_FUNCTION_NOT_FOUND;
    auto const result = nvml().memory_info_v2(device, memory);
    if (result != NVML_SUCCESS || memory == nullptr) return result;
    auto const total = memory->total;
    confine(device, *memory);
    if (memory->total != total) memory->reserved = 0; // total is free and used
    return result;
}
}

namespace muster::interposer {

void* nvml_wrapper_of(char const* name) noexcept {
    if (std::strcmp(name, "nvmlDeviceGetMemoryInfo") == 0) return reinterpret_cast<void*>(&nvmlDeviceGetMemoryInfo);
    if (std::strcmp(name, "nvmlDeviceGetMemoryInfo_v2") == 0)
        return reinterpret_cast<void*>(&nvmlDeviceGetMemoryInfo_v2);
    return nullptr;
}

} // namespace muster::interposer
