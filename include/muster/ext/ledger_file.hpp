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
#include <vector>

#include <tl/expected.hpp>

#include <muster/account/ledger.hpp>
#include <muster/account/overhead.hpp>
#include <muster/config.hpp>
#include <muster/core/result.hpp>
#include <muster/ext/detail/life_lock.hpp>
#include <muster/ext/process.hpp>
#include <muster/ext/uncancelled.hpp>
#include <muster/resource/units.hpp>

namespace muster::ext {

/// A ledger with the memory it lies in. The mapping lasts as long as the object; the file stays.
///
/// Processes of several pid namespaces may share it, one after another or at a time. A process that has joined holds
/// its place's lock in the file until it ends. Whose lock is open is dead, if it is of another namespace; of one of
/// this namespace /proc must say so too. Where there are no such locks /proc alone tells.
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
        : memory_(std::exchange(other.memory_, nullptr)), ledger_(other.ledger_), file_(std::move(other.file_)),
          life_(std::exchange(other.life_, {})), joined_(std::exchange(other.joined_, {})) {}
    ledger_file& operator=(ledger_file&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(ledger_, other.ledger_);
        std::swap(file_, other.file_);
        std::swap(life_, other.life_);
        std::swap(joined_, other.joined_);
        return *this;
    }
    ledger_file(ledger_file const&) = delete;
    ledger_file& operator=(ledger_file const&) = delete;
    ~ledger_file() {
        if (memory_ != nullptr) munmap(memory_, account::ledger::size());
    }

    [[nodiscard]] account::ledger& operator*() noexcept { return ledger_; }
    [[nodiscard]] account::ledger* operator->() noexcept { return &ledger_; }

    /// Takes a place for this process, once. It stays the process's until that leaves or ends, also without the object.
    ///
    /// A child that another thread forks meanwhile, and that doesn't call exec, may keep the place beyond that.
    /// Errors: `full`.
    [[nodiscard]] result<account::place> join() noexcept {
        MUSTER_ASSERT(!joined_);
        auto const found = ledger_.join(this_process(), witness{*this}, [&](account::place p) {
            return life_.hold(file_, p) != detail::lock_state::shut; // without locks its number alone tells of it
        });
        if (!found) {
            life_.let_go();
            return found;
        }
        if (life_) ledger_.set_home(*found, this_namespace());
        joined_ = *found;
        return found;
    }

    /// Gives back all that this process holds, and its place.
    void leave() noexcept {
        if (!joined_) return;
        ledger_.leave(std::exchange(joined_, {}));
        life_.let_go();
    }

    /// Takes bytes of a card; the dead are looked for only if it seems full. Errors: `over_limit`; nothing is taken.
    [[nodiscard]] result<void> reserve(account::place p, account::card_row card, bytes amount) noexcept {
        return ledger_.reserve(p, card, amount, witness{*this});
    }

    /// Gives back what the dead held.
    void sweep() noexcept { ledger_.sweep(this_process(), witness{*this}); }

    /// The processes of this pid namespace that have something of a card, with what that is.
    [[nodiscard]] std::vector<account::card_process> holders(account::card_row card) const {
        std::vector<account::card_process> all;
        ledger_.each_process([&](account::place p, account::process who) {
            auto const used = (ledger_.held(p, card) + ledger_.beside(p, card)).value;
            auto const home = ledger_.home_of(p); // a number means nothing in another namespace
            if (used > 0 && (home == 0 || home == this_namespace()))
                all.push_back({who.pid, static_cast<std::uint64_t>(used)});
        });
        return all;
    }

    /// Whether the process of a place is dead. Nothing is changed.
    [[nodiscard]] bool is_gone(account::place p) const noexcept {
        return witness{*this}.finds_gone(p, ledger_.owner_of(p), ledger_.home_of(p));
    }

private:
    using descriptor = detail::descriptor;

    /// Tells the dead from the living. It opens the file when it is first asked: each has locks of its own, so that
    /// threads exclude each other as processes do.
    class witness {
    public:
        explicit witness(ledger_file const& all) noexcept : all_(all) {}

        /// Who is called dead is kept from others until the answer is destroyed.
        [[nodiscard]] detail::grave operator()(account::place p, account::process owner, std::uint64_t home) noexcept {
            uncancelled const while_looking;
            if (!finds_gone(p, owner, home)) return {};
            switch (detail::try_shut(file_, detail::lock_of(p))) {
            case detail::lock_state::open:
                return {&file_, p};
            case detail::lock_state::shut:
                return {};
            case detail::lock_state::unknown:
                break;
            }
            return home == 0 ? detail::grave{nullptr, p} : detail::grave{};
        }

        [[nodiscard]] bool finds_gone(account::place p, account::process owner, std::uint64_t home) noexcept {
            if (p == all_.joined_ || !ready()) return false;
            auto const lock = detail::look(file_, detail::lock_of(p));
            if (lock == detail::lock_state::shut) return false;
            if (home == 0) return !is_alive(owner);
            if (lock == detail::lock_state::unknown) return false; // who has told its home has held its lock
            bool const former = owner.pid == self_;                // had our number, or was this process before exec
            return home != home_ || former || !is_alive(owner);
        }

    private:
        [[nodiscard]] bool ready() noexcept {
            if (asked_) return bool{file_};
            asked_ = true;
            file_ = all_.file_.open();
            self_ = static_cast<std::uint32_t>(getpid());
            home_ = this_namespace();
            return bool{file_};
        }

        ledger_file const& all_;
        bool asked_ = false;
        descriptor file_{};
        std::uint32_t self_ = 0;
        std::uint64_t home_ = 0;
    };

    ledger_file(void* memory, account::ledger const& l, detail::known_file file = {}) noexcept
        : memory_(memory), ledger_(l), file_(std::move(file)) {}

    [[nodiscard]] static tl::unexpected<std::string> refuse(std::string const& path, std::string const& what,
                                                            int failure) {
        return tl::unexpected{path + ": " + what + ": " + std::generic_category().message(failure)};
    }
    [[nodiscard]] static detail::known_file known(std::string const& path, struct stat const& about) {
        std::error_code ignored; // without a working directory the path is as good as it gets
        auto const whole = std::filesystem::absolute(path, ignored);
        return {ignored ? path : whole.string(), about.st_dev, about.st_ino};
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
        if (found) return ledger_file{memory, *found, known(path, about)};
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
        struct stat about {};
        if (fstat(file.number(), &about) != 0) return refuse(path, "can't be looked at", errno);
        auto* const memory = map(file.number(), MAP_SHARED);
        if (memory == MAP_FAILED) return refuse(path, "can't be mapped", errno);
        return ledger_file{memory, *account::ledger::create(span_of(memory)), known(path, about)};
    }

    void* memory_;
    account::ledger ledger_;
    detail::known_file file_;
    detail::life life_{};
    account::place joined_{};
};

} // namespace muster::ext
