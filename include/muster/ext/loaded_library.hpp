#pragma once

/// \file
/// Symbols of libraries that are loaded, without the dynamic linker's help.

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

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
    explicit loaded_library(dl_phdr_info const& info) noexcept {
        for (int i = 0; i != info.dlpi_phnum; ++i) {
            auto const& segment = info.dlpi_phdr[i];
            if (segment.p_type != PT_DYNAMIC) continue;
            base_ = info.dlpi_addr;
            for (auto const* d = reinterpret_cast<ElfW(Dyn) const*>(base_ + segment.p_vaddr); d->d_tag != DT_NULL;
                 ++d) {
                // glibc has turned these into addresses already; a small one is still an offset.
                auto const at = d->d_un.d_ptr < base_ ? base_ + d->d_un.d_ptr : d->d_un.d_ptr;
                if (d->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<ElfW(Sym) const*>(at);
                if (d->d_tag == DT_STRTAB) names_ = reinterpret_cast<char const*>(at);
                if (d->d_tag == DT_GNU_HASH) hash_ = reinterpret_cast<std::uint32_t const*>(at);
            }
        }
    }

    /// The address of a symbol that the library defines; null if it doesn't, or has no such table.
    [[nodiscard]] void* find(char const* name) const noexcept {
        if (symbols_ == nullptr || names_ == nullptr || hash_ == nullptr) return nullptr;
        std::uint32_t wanted = 5381;
        for (auto const* c = name; *c != 0; ++c) wanted = wanted * 33 + static_cast<unsigned char>(*c);
        auto const buckets = hash_[0];
        auto const first_symbol = hash_[1];
        auto const bloom_words = hash_[2];
        auto const* const bucket = hash_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
        auto const* const chain = bucket + buckets;
        for (auto i = bucket[wanted % buckets]; i >= first_symbol; ++i) {
            auto const hash = chain[i - first_symbol];
            if ((hash | 1U) == (wanted | 1U) && std::strcmp(names_ + symbols_[i].st_name, name) == 0 &&
                symbols_[i].st_value != 0)
                return reinterpret_cast<void*>(base_ + symbols_[i].st_value);
            if ((hash & 1U) != 0) break;
        }
        return nullptr;
    }

private:
    ElfW(Addr) base_ = 0;
    ElfW(Sym) const* symbols_ = nullptr;
    char const* names_ = nullptr;
    std::uint32_t const* hash_ = nullptr;
};

// NOLINTEND(performance-no-int-to-ptr)

} // namespace muster::ext
