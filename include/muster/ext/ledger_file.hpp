#pragma once

/// \file
/// A ledger in a file that a container's processes map.

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <tl/expected.hpp>

#include <muster/account/ledger.hpp>
#include <muster/core/result.hpp>

namespace muster::ext {

/// A ledger with the memory it lies in. The mapping lasts as long as the object; the file stays.
class ledger_file {
public:
    /// Maps the ledger of a file, made first if there is none; its directory as well.
    ///
    /// A new one appears whole or not at all. The file is open to everybody who reaches its directory, since a
    /// container's processes may run as different users.
    /// Errors: a sentence that names the file, what is wrong with it and what helps.
    [[nodiscard]] static tl::expected<ledger_file, std::string> open(std::string const& path) {
        for (int tries = 0; tries != 8; ++tries) {
            descriptor const file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
            if (file) return attach(path, file);
            if (errno != ENOENT) return refuse(path, "can't be opened", errno);
            auto made = create(path);
            if (made || !made.error().empty()) return made;
        }
        return tl::unexpected{path + ": it comes and goes; let nobody remove it"};
    }

    /// A ledger that no other process sees.
    [[nodiscard]] static tl::expected<ledger_file, std::string> isolated() {
        auto* const memory = map(-1, MAP_SHARED | MAP_ANONYMOUS);
        if (memory == MAP_FAILED) return refuse("memory", "can't be had", errno);
        return ledger_file{memory, *account::ledger::create(span_of(memory))};
    }

    ledger_file(ledger_file&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), ledger_(other.ledger_) {}
    ledger_file& operator=(ledger_file&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(ledger_, other.ledger_);
        return *this;
    }
    ledger_file(ledger_file const&) = delete;
    ledger_file& operator=(ledger_file const&) = delete;
    ~ledger_file() {
        if (memory_ != nullptr) munmap(memory_, account::ledger::size());
    }

    [[nodiscard]] account::ledger& operator*() noexcept { return ledger_; }
    [[nodiscard]] account::ledger* operator->() noexcept { return &ledger_; }

private:
    /// An open file.
    class descriptor {
    public:
        explicit descriptor(int number) noexcept : number_(number) {}
        descriptor(descriptor const&) = delete;
        descriptor& operator=(descriptor const&) = delete;
        ~descriptor() {
            if (number_ >= 0) close(number_);
        }
        [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
        [[nodiscard]] int number() const noexcept { return number_; }

    private:
        int number_;
    };

    ledger_file(void* memory, account::ledger const& l) noexcept : memory_(memory), ledger_(l) {}

    [[nodiscard]] static tl::unexpected<std::string> refuse(std::string const& path, std::string const& what,
                                                            int failure) {
        return tl::unexpected{path + ": " + what + ": " + std::generic_category().message(failure)};
    }
    [[nodiscard]] static void* map(int file, int flags) noexcept {
        return mmap(nullptr, account::ledger::size(), PROT_READ | PROT_WRITE, flags, file, 0);
    }
    [[nodiscard]] static std::span<std::byte> span_of(void* memory) noexcept {
        return {static_cast<std::byte*>(memory), account::ledger::size()};
    }

    [[nodiscard]] static tl::expected<ledger_file, std::string> attach(std::string const& path,
                                                                       descriptor const& file) {
        struct stat about {};
        if (fstat(file.number(), &about) != 0) return refuse(path, "can't be looked at", errno);
        if (!S_ISREG(about.st_mode)) return tl::unexpected{path + ": is no regular file; name another for the ledger"};
        auto const unusable = [&](errc why) {
            std::string const way_out = why == errc::foreign ? "; name another" : "; remove it, or name another";
            return tl::unexpected{path + ": is no ledger of this muster: " + std::string{message(why)} + way_out +
                                  " file for the ledger"};
        };
        if (static_cast<std::uint64_t>(about.st_size) < account::ledger::size()) {
            // Pages behind the end of a file are not memory; what there is still tells whose it is.
            alignas(64) std::array<std::byte, 64> head{};
            auto const length = pread(file.number(), head.data(), head.size(), 0);
            auto const there = account::ledger::attach(std::span{head}.first(length < 0 ? 0 : std::size_t(length)));
            return unusable(there.error().code);
        }
        auto* const memory = map(file.number(), MAP_SHARED);
        if (memory == MAP_FAILED) return refuse(path, "can't be mapped", errno);
        auto const found = account::ledger::attach(span_of(memory));
        if (found) return ledger_file{memory, *found};
        munmap(memory, account::ledger::size());
        return unusable(found.error().code);
    }

    /// Makes a ledger under a name of its own and gives it the right one; an empty error: somebody else was quicker.
    [[nodiscard]] static tl::expected<ledger_file, std::string> create(std::string const& path) {
        std::error_code ignored; // what is wrong shows when the file is made
        if (auto const directory = std::filesystem::path{path}.parent_path(); !directory.empty())
            std::filesystem::create_directories(directory, ignored);
        auto const draft = path + '.' + std::to_string(getpid()) + '.' + std::to_string(gettid());
        unlink(draft.c_str()); // of a process of our number that died over it
        descriptor const file{::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
        if (!file) return refuse(path, "can't be made", errno);
        auto made = fill(path, file);
        bool const linked = made && link(draft.c_str(), path.c_str()) == 0;
        auto const failure = errno;
        unlink(draft.c_str());
        if (!made || linked) return made;
        if (failure == EEXIST) return tl::unexpected{std::string{}};
        return refuse(path, "can't be made", failure);
    }

    [[nodiscard]] static tl::expected<ledger_file, std::string> fill(std::string const& path, descriptor const& file) {
        constexpr mode_t everybody = 0666;
        if (fchmod(file.number(), everybody) != 0 ||
            posix_fallocate(file.number(), 0, static_cast<off_t>(account::ledger::size())) != 0)
            return refuse(path, "can't be filled", errno);
        auto* const memory = map(file.number(), MAP_SHARED);
        if (memory == MAP_FAILED) return refuse(path, "can't be mapped", errno);
        return ledger_file{memory, *account::ledger::create(span_of(memory))};
    }

    void* memory_;
    account::ledger ledger_;
};

} // namespace muster::ext
