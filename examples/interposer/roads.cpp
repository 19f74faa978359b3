// The roads by which a program comes by the driver's functions: besides the linker's, dlsym, dlvsym and the driver's
// own cuGetProcAddress.

#include <dlfcn.h>

#include <cstring>
#include <string_view>
#include <type_traits>

#include <muster/ext/loaded_library.hpp>

#include "driver.hpp"
#include "nvml.hpp"

namespace muster::interposer {

namespace {

struct linker {
    void* (*dlsym)(void*, char const*) = nullptr;
    void* (*dlvsym)(void*, char const*, char const*) = nullptr;
};

linker const& real_linker() noexcept {
    static linker const found = [] {
        auto const find = [](auto*& f, char const* name) {
            void* at = ext::find_in_loaded("/libc.so", name);
            if (at == nullptr) at = ext::find_in_loaded("/libdl.so", name); // before glibc 2.34
            f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(at);
        };
        linker l;
        find(l.dlsym, "dlsym");
        find(l.dlvsym, "dlvsym");
        return l;
    }();
    return found;
}

/// Whether an address lies in the driver or in NVML, so that a user's function of the same name stays the user's.
bool is_the_drivers(void* address) noexcept {
    auto const file = ext::library_at(address);
    auto const name = file.substr(file.rfind('/') + 1);
    return name.starts_with("libcuda.so") || name.starts_with("libnvidia-ml.so");
}

/// Our function of that name, or nothing.
void* wrapper_of(char const* name) noexcept;

void* in_place_of(char const* name, void* found) noexcept {
    return found != nullptr && is_the_drivers(found) ? wrapper_of(name) : found;
}

/// Whether a look-up is ours to answer. In the whole program's scope our functions come first by themselves.
bool is_ours_to_answer(void* handle, char const* name) noexcept {
    return handle != RTLD_DEFAULT && name != nullptr && wrapper_of(name) != nullptr;
}

// The jump leaves who asked in the fourth place. What comes next after the caller isn't what comes next after us.

extern "C" void* muster_dlsym(void* handle, char const* name, void*, void* caller) noexcept {
    return in_place_of(name, handle == RTLD_NEXT ? ext::find_after(caller, name) : real_linker().dlsym(handle, name));
}
extern "C" void* muster_dlvsym(void* handle, char const* name, char const* version, void* caller) noexcept {
    return in_place_of(name, handle == RTLD_NEXT ? ext::find_after(caller, name)
                                                 : real_linker().dlvsym(handle, name, version));
}

/// What one of our functions replaces where the driver hands out addresses itself.
void* in_place_of(void* found) noexcept;

} // namespace

void* find(void* handle, char const* name) noexcept { return real_linker().dlsym(handle, name); }

/// Where a look-up goes on: everything but the driver's names straight to the linker's own function, which then sees
/// the true caller; RTLD_NEXT means what it means.
extern "C" [[gnu::visibility("hidden")]] void* muster_dlsym_target(void* handle, char const* name) noexcept {
    return is_ours_to_answer(handle, name) ? reinterpret_cast<void*>(&muster_dlsym)
                                           : reinterpret_cast<void*>(real_linker().dlsym);
}
extern "C" [[gnu::visibility("hidden")]] void* muster_dlvsym_target(void* handle, char const* name) noexcept {
    return is_ours_to_answer(handle, name) ? reinterpret_cast<void*>(&muster_dlvsym)
                                           : reinterpret_cast<void*>(real_linker().dlvsym);
}

} // namespace muster::interposer

extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): the driver's name
[[gnu::visibility("default")]] CUresult cuGetProcAddress(char const* symbol, void** function, int version,
                                                         cuuint64_t flags) {
    using namespace muster::interposer;
    if (real().cuGetProcAddress == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    auto const result = real().cuGetProcAddress(symbol, function, version, flags);
    if (result == CUDA_SUCCESS && function != nullptr && *function != nullptr) *function = in_place_of(*function);
    return result;
}

[[gnu::visibility("default")]] CUresult cuGetProcAddress_v2(char const* symbol, void** function, int version,
                                                            cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
    using namespace muster::interposer;
    if (real().cuGetProcAddress_v2 == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    auto const result = real().cuGetProcAddress_v2(symbol, function, version, flags, status);
    if (result == CUDA_SUCCESS && function != nullptr && *function != nullptr) *function = in_place_of(*function);
    return result;
}
}

namespace muster::interposer {

namespace {

void* wrapper_of(char const* name) noexcept {
    if (std::strcmp(name, "cuGetProcAddress") == 0) return reinterpret_cast<void*>(&cuGetProcAddress);
    if (std::strcmp(name, "cuGetProcAddress_v2") == 0) return reinterpret_cast<void*>(&cuGetProcAddress_v2);
    if (std::strncmp(name, "nvml", 4) == 0) return nvml_wrapper_of(name);
    if (std::strncmp(name, "cu", 2) != 0) return nullptr;
    for (auto const& r : rows())
        if (std::strcmp(r.name, name) == 0) return r.wrapper;
    return nullptr;
}

void* in_place_of(void* found) noexcept {
    if (found == reinterpret_cast<void*>(real().cuGetProcAddress_v2))
        return reinterpret_cast<void*>(&cuGetProcAddress_v2);
    if (found == reinterpret_cast<void*>(real().cuGetProcAddress)) return reinterpret_cast<void*>(&cuGetProcAddress);
    for (auto const& r : rows())
        if (r.real() == found) return r.wrapper;
    return found;
}

} // namespace

} // namespace muster::interposer

// The jump itself: the arguments go on as they came, the return address stays the caller's.
// clang-format off
#define MUSTER_JUMP(name)                                                                                              \
    asm(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" MUSTER_JUMP_BODY(#name)                     \
        ".size " #name ",.-" #name "\n")
#if defined(__x86_64__)
#define MUSTER_JUMP_BODY(name)                                                                                         \
    "endbr64\npush %rdi\npush %rsi\npush %rdx\ncall muster_" name "_target\npop %rdx\npop %rsi\npop %rdi\n"              \
    "mov (%rsp), %rcx\njmp *%rax\n"
#elif defined(__aarch64__)
#define MUSTER_JUMP_BODY(name)                                                                                         \
    "hint #34\nstp x0, x1, [sp, #-32]!\nstp x2, x30, [sp, #16]\nbl muster_" name "_target\nmov x16, x0\n"                        \
    "ldp x2, x30, [sp, #16]\nldp x0, x1, [sp], #32\nmov x3, x30\nbr x16\n"
#else
#error "muster: dlsym's jump is not written for this processor; see examples/interposer/roads.cpp"
#endif
MUSTER_JUMP(dlsym);
MUSTER_JUMP(dlvsym);
// clang-format on
