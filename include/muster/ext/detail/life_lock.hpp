#pragma once

/// \file
/// Locks in a ledger's file that tell whether the process of a place lives, whatever pid namespace it is in.

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <muster/account/ledger.hpp>

namespace muster::ext::detail {

/// An open file.
class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    descriptor(descriptor const&) = delete;
    descriptor& operator=(descriptor const&) = delete;
    ~descriptor() {
        if (number_ >= 0) close(number_);
    }
    [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

/// A file that can be opened again: each time its locks are another's.
struct known_file {
    std::string path{}; ///< from the root; empty: there is no file
    dev_t device = 0;
    ino_t node = 0;

    [[nodiscard]] bool is(int number) const noexcept {
        struct stat about {};
        return fstat(number, &about) == 0 && about.st_dev == device && about.st_ino == node;
    }
    /// Nothing where it can't be had, or another has taken its name.
    [[nodiscard]] descriptor open() const noexcept {
        if (path.empty()) return {};
        descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
        if (!file || !is(file.number())) return {};
        return file;
    }
};

enum class lock_state : std::uint8_t {
    open,
    shut,   ///< somebody holds it
    unknown ///< this file, or this kernel, has no such locks
};

/// Where a place's lock lies: behind the end of the file, a byte for each place.
[[nodiscard]] constexpr off_t lock_of(account::place p) noexcept {
    constexpr off_t first = off_t{1} << 20;
    static_assert(account::ledger::size() <= std::size_t{first});
    return first + static_cast<off_t>(p.index());
}

[[nodiscard]] inline struct flock one_byte(off_t at, short type) noexcept {
    struct flock out {};
    out.l_type = type;
    out.l_whence = SEEK_SET;
    out.l_start = at;
    out.l_len = 1;
    return out;
}

/// How a lock looks to an open file. Nothing is changed.
[[nodiscard]] inline lock_state look(descriptor const& file, off_t at) noexcept {
    auto lock = one_byte(at, F_WRLCK);
    if (fcntl(file.number(), F_OFD_GETLK, &lock) != 0) return lock_state::unknown;
    return lock.l_type == F_UNLCK ? lock_state::open : lock_state::shut;
}

/// Takes a lock for an open file, if it was open.
[[nodiscard]] inline lock_state try_shut(descriptor const& file, off_t at) noexcept {
    auto lock = one_byte(at, F_WRLCK);
    if (fcntl(file.number(), F_OFD_SETLK, &lock) == 0) return lock_state::open;
    return errno == EAGAIN || errno == EACCES ? lock_state::shut : lock_state::unknown;
}

/// A place's lock while its process is being buried.
class grave {
public:
    grave() = default;
    /// Without a file: dead, but there is nothing to lock.
    grave(descriptor const* file, account::place p) noexcept : file_(file), place_(p) {}
    grave(grave const&) = delete;
    grave& operator=(grave const&) = delete;
    ~grave() {
        if (file_ == nullptr) return;
        // Unlocked and not only closed, since a child forked meanwhile has the open file too.
        auto lock = one_byte(lock_of(place_), F_UNLCK);
        (void)fcntl(file_->number(), F_OFD_SETLK, &lock);
    }
    [[nodiscard]] explicit operator bool() const noexcept { return bool{place_}; }

private:
    descriptor const* file_ = nullptr;
    account::place place_{};
};

/// Descriptors that keep a lock; a forked child closes them, lest it keep its dead parent alive.
class kept_descriptor {
public:
    /// The slot stays for good: it may be looked at while a child is forked.
    [[nodiscard]] static kept_descriptor* keep(descriptor file, known_file const& what) noexcept {
        auto* const slot = armed ? new (std::nothrow) kept_descriptor : nullptr;
        if (slot == nullptr) return nullptr;
        slot->device_ = what.device;
        slot->node_ = what.node;
        slot->number_ = file.release();
        slot->next_ = all.load();
        while (!all.compare_exchange_weak(slot->next_, slot)) {
        }
        return slot;
    }
    /// Closes it, if the number is still the file's: the program may have closed it and opened another.
    void close() noexcept {
        known_file const what{{}, device_, node_};
        if (auto const number = number_.exchange(-1); number >= 0 && what.is(number)) ::close(number);
    }

private:
    static void close_all() noexcept {
        for (auto* slot = all.load(); slot != nullptr; slot = slot->next_) slot->close();
    }
    static inline std::atomic<kept_descriptor*> all{nullptr};
    // At load: glibc before 2.36 keeps a lock of its own while the handlers run, and who joins may hold one of theirs.
    static inline bool const armed = pthread_atfork(nullptr, nullptr, &close_all) == 0;

    std::atomic<int> number_{-1};
    dev_t device_ = 0;
    ino_t node_ = 0;
    kept_descriptor* next_ = nullptr;
};

/// The lock of a process's own place, held until the process ends.
///
/// What holds it is a mapping, which keeps the open file, and so its locks, when the descriptor is closed: a program
/// that closes all its descriptors doesn't lose it, and no forked child has it, however it was forked. On some file
/// systems (overlayfs) the mapping is another file's, and the descriptor must stay.
/// Source: Linux, fs/file_table.c, __fput calls locks_remove_file; fs/overlayfs/file.c, ovl_mmap.
class life {
public:
    /// Whether a lock is held that others see.
    [[nodiscard]] explicit operator bool() const noexcept { return mapping_ != nullptr || kept_ != nullptr; }

    /// Takes a place's lock, if it is open, and lets go of the one before.
    [[nodiscard]] lock_state hold(known_file const& what, account::place p) noexcept {
        let_go();
        if (keeper_ == keeper::untried) keeper_ = tried(what);
        if (keeper_ == keeper::none) return lock_state::unknown;
        auto file = what.open();
        if (!file) return lock_state::unknown;
        if (auto const state = try_shut(file, lock_of(p)); state != lock_state::open) return state;
        if (keeper_ == keeper::mapping)
            mapping_ = mapped(file);
        else
            kept_ = kept_descriptor::keep(std::move(file), what);
        return *this ? lock_state::open : lock_state::unknown;
    }
    void let_go() noexcept {
        if (mapping_ != nullptr) munmap(std::exchange(mapping_, nullptr), 1);
        if (kept_ != nullptr) std::exchange(kept_, nullptr)->close();
    }

private:
    enum class keeper : std::uint8_t { untried, none, descriptor, mapping };

    /// What keeps a lock of this file, so that others see it: tried on one that nobody else asks for.
    [[nodiscard]] static keeper tried(known_file const& what) noexcept {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        auto const at = (off_t{1} << 61) + (off_t{gettid()} << 30) + now.tv_nsec;
        auto const other = what.open();
        auto file = what.open();
        if (!other || !file || try_shut(file, at) != lock_state::open || look(other, at) != lock_state::shut)
            return keeper::none;
        auto* const mapping = mapped(file);
        file = {};
        if (mapping == nullptr) return keeper::descriptor;
        bool const keeps = look(other, at) == lock_state::shut;
        munmap(mapping, 1);
        return keeps ? keeper::mapping : keeper::descriptor;
    }

    /// A page of a file, for this process alone; null if it can't be had.
    [[nodiscard]] static void* mapped(descriptor const& file) noexcept {
        auto* const page = mmap(nullptr, 1, PROT_NONE, MAP_SHARED, file.number(), 0);
        if (page == MAP_FAILED) return nullptr;
        if (madvise(page, 1, MADV_DONTFORK) == 0) return page;
        munmap(page, 1);
        return nullptr;
    }

    keeper keeper_ = keeper::untried;
    void* mapping_ = nullptr; ///< a page
    kept_descriptor* kept_ = nullptr;
};

} // namespace muster::ext::detail
