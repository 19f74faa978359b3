// NVML's answers about memory and processes, so that nvidia-smi shows the limit, and who of this container holds what.

#include "nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include <muster/ext/guarded.hpp>
#include <muster/ext/published.hpp>

#include "driver.hpp"
#include "nvml_entries.hpp"
#include "session.hpp"

namespace muster::interposer {

namespace {

struct real_nvml {
#define MUSTER_SLOT(name, ...) decltype(&::name) name = nullptr;
    MUSTER_NVML_ENTRIES(MUSTER_SLOT)
    MUSTER_NVML_HELPERS(MUSTER_SLOT)
#undef MUSTER_SLOT
};

std::atomic<real_nvml const*> the_nvml{nullptr};

real_nvml const& nvml() noexcept {
    return ext::published(the_nvml, [](real_nvml& r) {
        auto* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return;
#define MUSTER_FIND(name, ...) r.name = reinterpret_cast<decltype(r.name)>(find(library, #name));
        MUSTER_NVML_ENTRIES(MUSTER_FIND)
        MUSTER_NVML_HELPERS(MUSTER_FIND)
#undef MUSTER_FIND
    });
}

/// The card, in an NVML that was started for our own questions; null: it can't be asked.
nvmlDevice_t card_of(std::string const& uuid) noexcept {
    static std::atomic<int> started{0}; // 1: it is, -1: it can't be
    if (started == 0) started = nvml().nvmlInit_v2 != nullptr && nvml().nvmlInit_v2() == NVML_SUCCESS ? 1 : -1;
    nvmlDevice_t device = nullptr;
    if (started != 1 || nvml().nvmlDeviceGetHandleByUUID == nullptr ||
        nvml().nvmlDeviceGetHandleByUUID(uuid.c_str(), &device) != NVML_SUCCESS)
        return nullptr;
    return device;
}

/// What the container may have of a card, and who has what; nothing: the answers stay NVML's own.
std::optional<session::figures> figures_of(nvmlDevice_t device) {
    std::array<char, 96> uuid{};
    unsigned int index = 0;
    if (nvml().nvmlDeviceGetUUID == nullptr || nvml().nvmlDeviceGetIndex == nullptr ||
        nvml().nvmlDeviceGetUUID(device, uuid.data(), uuid.size()) != NVML_SUCCESS ||
        nvml().nvmlDeviceGetIndex(device, &index) != NVML_SUCCESS)
        return std::nullopt;
    return session::current().figures_of(uuid.data(), index);
}

/// Replaces total, free and used by what the container may have and has.
template <class Ask, class Memory>
nvmlReturn_t confined(Ask ask, nvmlDevice_t device, Memory* m) {
    if (auto const refused = ask(device, m); refused != NVML_SUCCESS) return refused;
    auto const f = figures_of(device);
    if (!f) return NVML_SUCCESS;
    m->total = std::min<unsigned long long>(m->total, f->limit);
    m->used = std::min<unsigned long long>(f->used, m->total);
    m->free = m->total - m->used;
    if constexpr (requires { m->reserved; }) m->reserved = 0; // total is free and used
    return NVML_SUCCESS;
}

/// A list that isn't asked for its entries may only say that there is no room for them.
bool is_fine(nvmlReturn_t result) noexcept { return result == NVML_SUCCESS || result == NVML_ERROR_INSUFFICIENT_SIZE; }

/// Lists the container's processes in place of the card's, in records of the size that was asked for.
template <class Ask, class Process>
nvmlReturn_t listed(Ask ask, nvmlDevice_t device, unsigned int* count, Process* to, bool members) {
    auto const f = count == nullptr ? std::nullopt : figures_of(device);
    if (!f) return ask(device, count, to);
    unsigned int none = 0;
    if (auto const refused = ask(device, &none, nullptr); !is_fine(refused)) return refused;
    auto const all = members ? f->members : processes{};
    auto const room = *count;
    *count = static_cast<unsigned int>(all.size());
    if (room < all.size() || (to == nullptr && !all.empty())) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (auto const& m : all) {
        Process p{};
        p.pid = m.number;
        p.usedGpuMemory = m.bytes;
        if constexpr (requires { p.gpuInstanceId; }) p.gpuInstanceId = p.computeInstanceId = 0xFFFF'FFFF;
        *to++ = p;
    }
    return NVML_SUCCESS;
}

template <class Ask>
nvmlReturn_t detailed(Ask ask, nvmlDevice_t device, nvmlProcessDetailList_t* list) {
    if (list == nullptr || !figures_of(device)) return ask(device, list);
    constexpr unsigned int compute = 0; // of the modes in nvml.h
    auto const ask_for = [&](nvmlDevice_t d, unsigned int* count, nvmlProcessDetail_v1_t* to) {
        auto question = *list;
        question.numProcArrayEntries = *count;
        question.procArray = to;
        return ask(d, &question);
    };
    return listed(ask_for, device, &list->numProcArrayEntries, list->procArray, list->mode == compute);
}

} // namespace

std::optional<processes> processes_on(std::string const& uuid) {
    auto* const card = card_of(uuid);
    auto* const list = nvml().nvmlDeviceGetComputeRunningProcesses_v3;
    if (card == nullptr || list == nullptr) return std::nullopt;
    std::vector<nvmlProcessInfo_t> found(64);
    auto count = static_cast<unsigned int>(found.size());
    auto result = list(card, &count, found.data());
    if (result == NVML_ERROR_INSUFFICIENT_SIZE) {
        found.resize(count += 64); // some may have come meanwhile
        result = list(card, &count, found.data());
    }
    if (result != NVML_SUCCESS) return std::nullopt;
    processes all;
    for (unsigned int i = 0; i != count; ++i) {
        if (found[i].usedGpuMemory == static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE)) return std::nullopt;
        all.push_back({found[i].pid, found[i].usedGpuMemory});
    }
    return all;
}

bool is_in_nvml(std::string const& uuid) noexcept { return card_of(uuid) != nullptr; }

std::optional<unsigned int> position_in_nvml(std::string const& uuid) noexcept {
    unsigned int index = 0;
    auto* const card = card_of(uuid);
    if (card == nullptr || nvml().nvmlDeviceGetIndex == nullptr ||
        nvml().nvmlDeviceGetIndex(card, &index) != NVML_SUCCESS)
        return std::nullopt;
    return index;
}

} // namespace muster::interposer

using namespace muster::interposer; // NOLINT: the rows read as what they do

#define MUSTER_EXPORT(name, parameters, arguments, ...)                                                                \
    extern "C" [[gnu::visibility("default")]] nvmlReturn_t name parameters {                                           \
        auto* const ask = nvml().name;                                                                                 \
        if (ask == nullptr) return NVML_ERROR_FUNCTION_NOT_FOUND;                                                      \
        return muster::ext::guarded(NVML_ERROR_MEMORY,                                                                 \
                                    [&] { return session::current().on() ? __VA_ARGS__ : ask arguments; });            \
    }
MUSTER_NVML_ENTRIES(MUSTER_EXPORT)

namespace muster::interposer {

void* nvml_wrapper_of(char const* name) noexcept {
#define MUSTER_MATCH(entry, ...)                                                                                       \
    if (std::strcmp(name, #entry) == 0) return reinterpret_cast<void*>(&::entry);
    MUSTER_NVML_ENTRIES(MUSTER_MATCH)
#undef MUSTER_MATCH
    return nullptr;
}

} // namespace muster::interposer
