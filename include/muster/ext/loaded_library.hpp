#pragma once

/// \file
/// Symbols of libraries that are loaded, without the dynamic linker's help.

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace muster::ext {

// NOLINTBEGIN(performance-no-int-to-ptr): addresses are what these tables hold

/// A library of this process, as its own tables describe it: a way to its symbols that asks no linker, so that nothing
/// that stands before the linker's dlsym is asked either.
///
/// Shape: made from what dl_iterate_phdr gives; valid while the library stays loaded.
/// Cost:  allocates nothing.
/// Source: the ELF specification's dynamic section; the table of hashes is GNU's (DT_GNU_HASH).
class loaded_library {
public:
    explicit loaded_library(dl_phdr_info const& info) noexcept : base_(info.dlpi_addr) {
        for (int i = 0; i != info.dlpi_phnum; ++i)
            if (auto const& segment = info.dlpi_phdr[i]; segment.p_type == PT_DYNAMIC)
                read(reinterpret_cast<ElfW(Dyn) const*>(base_ + segment.p_vaddr));
    }

    /// The address of a symbol that the library defines; null if it doesn't, or has no such table.
    [[nodiscard]] void* find(char const* name) const noexcept {
        if (symbols_ == nullptr || names_ == nullptr || hash_ == nullptr) return nullptr;
        std::uint32_t wanted = 5381;
        for (auto const* c = name; *c != 0; ++c) wanted = wanted * 33 + static_cast<unsigned char>(*c);
        auto const buckets = hash_[0];
        if (buckets == 0) return nullptr;
        auto const first_symbol = hash_[1];
        auto const bloom_words = hash_[2];
        auto const* const bucket = hash_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
        auto const* const chain = bucket + buckets;
        for (auto i = bucket[wanted % buckets]; i >= first_symbol; ++i) {
            auto const hash = chain[i - first_symbol];
            if ((hash | 1U) == (wanted | 1U) && std::strcmp(names_ + symbols_[i].st_name, name) == 0 &&
                symbols_[i].st_value != 0 && symbols_[i].st_shndx != SHN_UNDEF)
                return reinterpret_cast<void*>(base_ + symbols_[i].st_value);
            if ((hash & 1U) != 0) break;
        }
        return nullptr;
    }

private:
    void read(ElfW(Dyn) const* d) noexcept {
        for (; d != nullptr && d->d_tag != DT_NULL; ++d) {
            // glibc has turned these into addresses already; a small one is still an offset.
            auto const at = d->d_un.d_ptr < base_ ? base_ + d->d_un.d_ptr : d->d_un.d_ptr;
            if (d->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<ElfW(Sym) const*>(at);
            if (d->d_tag == DT_STRTAB) names_ = reinterpret_cast<char const*>(at);
            if (d->d_tag == DT_GNU_HASH) hash_ = reinterpret_cast<std::uint32_t const*>(at);
        }
    }

    ElfW(Addr) base_ = 0;
    ElfW(Sym) const* symbols_ = nullptr;
    char const* names_ = nullptr;
    std::uint32_t const* hash_ = nullptr;
};

// NOLINTEND(performance-no-int-to-ptr)

/// A symbol in the first library that has a name of this shape and defines it; null if none does.
[[nodiscard]] inline void* find_in_loaded(std::string_view library, char const* symbol) noexcept {
    struct search {
        std::string_view library;
        char const* symbol;
        void* found = nullptr;
    } s{library, symbol};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            auto& wanted = *static_cast<search*>(to);
            if (std::string_view{info->dlpi_name}.find(wanted.library) == std::string_view::npos) return 0;
            wanted.found = loaded_library{*info}.find(wanted.symbol);
            return wanted.found != nullptr ? 1 : 0;
        },
        &s);
    return s.found;
}

/// A symbol in the libraries that were loaded after the one that has code at `caller`, as they are now; null if none
/// has it. This is what RTLD_NEXT finds for that caller, but for versions, and libraries that were opened for others.
[[nodiscard]] inline void* find_after(void const* caller, char const* symbol) noexcept {
    struct search {
        ElfW(Addr) caller;
        char const* symbol;
        bool after = false;
        void* found = nullptr;
    } s{reinterpret_cast<std::uintptr_t>(caller), symbol};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            auto& wanted = *static_cast<search*>(to);
            if (wanted.after) wanted.found = loaded_library{*info}.find(wanted.symbol);
            for (int i = 0; i != info->dlpi_phnum && !wanted.after; ++i) {
                auto const& segment = info->dlpi_phdr[i];
                wanted.after =
                    segment.p_type == PT_LOAD && wanted.caller - (info->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
            }
            return wanted.found != nullptr ? 1 : 0;
        },
        &s);
    return s.found;
}

/// The file of the library that has code or data at an address; empty if none has.
[[nodiscard]] inline std::string_view library_at(void const* address) noexcept {
    Dl_info about{};
    return dladdr(address, &about) != 0 && about.dli_fname != nullptr ? about.dli_fname : std::string_view{};
}

} // namespace muster::ext
