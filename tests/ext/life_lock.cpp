#include <muster/ext/detail/life_lock.hpp>

#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <muster/ext/ledger_file.hpp>
#include <muster/ext/process.hpp>

#include "support/actor.hpp"
#include "support/scratch.hpp"

using muster::bytes;
using muster::errc;
using muster::account::card_row;
using muster::account::place;
using muster::ext::ledger_file;
using muster::ext::detail::lock_of;
using support::actor;
using support::birth;
using support::line;

namespace {

constexpr bytes limit{1000};

/// A file system to keep a ledger in: the test's own, or an overlay, as containers have, where a mapping keeps no lock.
class ground {
public:
    explicit ground(bool overlay) : overlay_(overlay) {
        if (!overlay_) return;
        auto const& at = scratch_.path;
        there_ = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                 mount("tmpfs", at.c_str(), "tmpfs", 0, nullptr) == 0;
        for (auto const* name : {"lower", "upper", "work", "all"}) std::filesystem::create_directory(at / name);
        auto const options = "lowerdir=" + (at / "lower").string() + ",upperdir=" + (at / "upper").string() +
                             ",workdir=" + (at / "work").string();
        there_ = there_ && mount("overlay", (at / "all").c_str(), "overlay", 0, options.c_str()) == 0;
    }
    ground(ground const&) = delete;
    ground& operator=(ground const&) = delete;
    ~ground() {
        if (!overlay_) return;
        umount2((scratch_.path / "all").c_str(), MNT_DETACH);
        umount2(scratch_.path.c_str(), MNT_DETACH);
    }
    [[nodiscard]] explicit operator bool() const { return there_; }
    [[nodiscard]] std::string path() const { return (scratch_.path / (overlay_ ? "all/ledger" : "ledger")).string(); }

private:
    support::scratch scratch_{"life-lock"};
    bool overlay_;
    bool there_ = true;
};

/// Calls `f(path, whether it is an overlay)` on each ground that this system lets a test have.
template <class F>
void on_each_ground(F f) {
    for (bool const overlay : {false, true}) {
        ground const g{overlay};
        if (!g) {
            MESSAGE("no overlay file system may be mounted here");
            continue;
        }
        struct statfs about {};
        REQUIRE(statfs(std::filesystem::path{g.path()}.parent_path().c_str(), &about) == 0);
        bool const layered = about.f_type == OVERLAYFS_SUPER_MAGIC; // the test's own may be one too
        CAPTURE(layered);
        f(g.path(), layered);
    }
}

/// Calls `f(birth)` for each way into a pid namespace that this system lets a test go.
template <class F>
void in_each_namespace(F f) {
    for (auto const where : {birth::in_namespace, birth::in_namespace_proc}) {
        if (!actor::may(where)) {
            MESSAGE("no pid namespace may be made here, or no /proc mounted in it");
            continue;
        }
        bool const own_proc = where == birth::in_namespace_proc;
        CAPTURE(own_proc);
        f(where);
    }
}

/// A process's share in a ledger of one card.
struct member {
    ledger_file file;
    card_row card;
    place seat{};

    explicit member(std::string const& path) : file(std::move(*ledger_file::open(path))), card(*file->card("GPU-0")) {
        file->tighten(card, limit);
    }
    member& join() {
        seat = *file.join();
        return *this;
    }
    [[nodiscard]] bool take(std::int64_t amount) { return file.reserve(seat, card, bytes{amount}).has_value(); }
    [[nodiscard]] bytes used() { return file->used(card); }
};

/// Joins, takes 900 of 1000, says so, and lives on.
auto holder(std::string const& path) {
    return [path](line const& to) {
        member all{path};
        to.say(all.join().take(900) ? 'y' : 'n');
        pause();
    };
}

} // namespace

TEST_CASE("life_lock: nobody buries the living of another pid namespace, and the killed are gone at once") {
    on_each_ground([](std::string const& path, bool) {
        in_each_namespace([&](birth where) {
            std::filesystem::remove(path);
            member outer{path};
            outer.join();
            actor inner{where, holder(path)};
            REQUIRE(inner.answer() == 'y');
            CHECK(outer.file->home_of(outer.seat) == muster::ext::this_namespace());
            place other;
            outer.file->each_process([&](place p, muster::account::process owner) {
                if (p != outer.seat) other = p;
                CHECK(owner.pid == (p == outer.seat ? static_cast<std::uint32_t>(getpid()) : 1));
            });
            CHECK(outer.file->home_of(other) != muster::ext::this_namespace());
            CHECK(!outer.take(101));
            CHECK(!outer.file.is_gone(other));
            CHECK(outer.file->held(other, outer.card) == bytes{900});
            inner.end();
            CHECK(outer.file.is_gone(other));
            CHECK(outer.file->held(other, outer.card) == bytes{900}); // looking buries nobody
            CHECK(outer.take(1000));
            CHECK(outer.file->owner_of(other).pid == 0);
            CHECK(outer.file->home_of(other) == 0);

            actor const late{where, [&](line const& to) { // and the other way round
                                 member all{path};
                                 to.say(!all.join().take(1) && all.file->held(outer.seat, all.card) == limit ? 'y'
                                                                                                             : 'n');
                                 pause();
                             }};
            CHECK(late.answer() == 'y');
        });
    });
}

TEST_CASE("life_lock: within a namespace the dead are found, whosever /proc is there") {
    on_each_ground([](std::string const& path, bool) {
        in_each_namespace([&](birth where) {
            std::filesystem::remove(path);
            actor const init{where, [&](line const& to) {
                                 member all{path};
                                 all.join();
                                 actor neighbour{birth::here, holder(path)};
                                 if (neighbour.answer() != 'y') to.say('1');
                                 if (all.take(101)) to.say('2');
                                 kill(neighbour.pid(), SIGKILL);
                                 siginfo_t corpse{};
                                 waitid(P_PID, static_cast<id_t>(neighbour.pid()), &corpse, WEXITED | WNOWAIT);
                                 to.say(all.take(1000) ? 'y' : '3');
                             }};
            CHECK(init.answer() == 'y');
        });
    });
}

TEST_CASE("life_lock: a container that starts again finds all of before dead, though its numbers come again") {
    on_each_ground([](std::string const& path, bool) {
        in_each_namespace([&](birth where) {
            std::filesystem::remove(path);
            for (int start = 0; start != 4; ++start) {
                CAPTURE(start);
                actor const init{where, [&](line const& to) {
                                     member all{path};
                                     if (!all.join().take(1000)) to.say('1');
                                     all.file->release(all.seat, all.card, bytes{950});
                                     actor const child{birth::here, holder(path)};
                                     to.say(child.answer());
                                     pause();
                                 }};
                CHECK(init.answer() == 'y');
            }
        });
    });
}

TEST_CASE("life_lock: a forked child keeps no dead parent alive") {
    on_each_ground([](std::string const& path, bool) {
        member self{path};
        self.join();
        actor parent{birth::here, [&](line const& to) {
                         member all{path};
                         to.say(all.join().take(900) ? 'y' : 'n');
                         if (fork() == 0) to.say_number(getpid());
                         pause();
                     }};
        REQUIRE(parent.answer() == 'y');
        auto const child = parent.number();
        CHECK(!self.take(101));
        parent.end();
        CHECK(self.take(1000));
        CHECK(kill(child, SIGKILL) == 0);
    });
}

TEST_CASE("life_lock: who closes all its descriptors isn't taken for dead") {
    on_each_ground([](std::string const& path, bool overlay) {
        for (auto const where : {birth::here, birth::in_namespace}) {
            // Where the lock needs a descriptor, the number alone speaks for it, and to its own namespace only.
            if (!actor::may(where) || (overlay && where == birth::in_namespace)) continue;
            std::filesystem::remove(path);
            member self{path};
            self.join();
            actor daemon{where, [&](line const& to) {
                             member all{path};
                             auto const took = all.join().take(900);
                             for (int number = 3; number != 1024; ++number) {
                                 bool kept = false;
                                 for (int const end : to.ends()) kept = kept || end == number;
                                 if (!kept) close(number);
                             }
                             auto const again = !all.take(200) && all.take(100); // its own sweep does it no harm
                             all.file->release(all.seat, all.card, bytes{100});
                             to.say(took && again ? 'y' : 'n');
                             pause();
                         }};
            REQUIRE(daemon.answer() == 'y');
            CHECK(!self.take(101));
            CHECK(self.used() == bytes{900});
            daemon.end();
            CHECK(self.take(1000));
        }
    });
}

TEST_CASE("life_lock: no descriptor stays open but where the lock needs one") {
    on_each_ground([](std::string const& path, bool overlay) {
        auto const open_files = [] { return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}); };
        auto const before = open_files();
        member self{path};
        CHECK(open_files() == before);
        self.join();
        CHECK(open_files() == before + (overlay ? 1 : 0));
        self.file.sweep();
        CHECK(open_files() == before + (overlay ? 1 : 0));
        auto const child = fork();
        if (child == 0) _exit(open_files() <= before ? 0 : 1); // fewer: what other tests left is closed too
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
        self.file.leave();
        CHECK(open_files() == before);
        CHECK(self.file->owner_of(self.seat).pid == 0);
        CHECK(self.file.join() == self.seat); // it is free in every respect
        self.file.leave();
    });
}

TEST_CASE("life_lock: a number that another file has by now is not closed") {
    ground const g{true};
    if (!g) return;
    actor const parent{birth::here, [&](line const& to) {
                           member self{g.path()};
                           self.join();
                           int last = -1; // the newest is the lock's
                           for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
                               std::error_code gone;
                               if (std::filesystem::read_symlink(entry, gone) == g.path())
                                   last = std::stoi(entry.path().filename());
                           }
                           if (last < 0 || dup2(2, last) != last) to.say('1');
                           if (fork() == 0) {
                               to.say(fcntl(last, F_GETFD) >= 0 ? 'y' : '2');
                               _exit(0);
                           }
                           self.file.leave();
                           to.say(fcntl(last, F_GETFD) >= 0 ? 'y' : '3');
                           pause();
                       }};
    CHECK(parent.answer() == 'y');
    CHECK(parent.answer() == 'y');
}

TEST_CASE("life_lock: who is about to bury is left alone, and buried too when it is killed over it") {
    static line const* up = nullptr;
    for (auto const where : {birth::here, birth::in_namespace, birth::in_namespace_proc}) {
        if (!actor::may(where)) continue;
        ground const g{false};
        member self{g.path()};
        self.join();
        std::vector<std::unique_ptr<member>> others; // so that what follows is not in the page of the cards
        for (int i = 0; i != 8; ++i) others.emplace_back(std::make_unique<member>(g.path()))->join();
        place grave;
        {
            actor const victim{birth::here, holder(g.path())};
            REQUIRE(victim.answer() == 'y');
            self.file->each_process([&](place p, auto) { grave = p; });
        }
        actor burier{where, [&](line const& to) {
                         member all{g.path()};
                         all.join();
                         up = &to;
                         signal(SIGSEGV, [](int) {
                             up->say('y');
                             pause();
                         });
                         // It gets as far as the card's total, from which it must take what it took from the place.
                         auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
                         auto const at = reinterpret_cast<std::uintptr_t>(&all.file->paid_until(all.card));
                         mprotect(reinterpret_cast<void*>(at / page * page), page, PROT_READ);
                         all.file.sweep();
                         to.say('n');
                     }};
        REQUIRE(burier.answer() == 'y');
        auto const number = static_cast<std::uint32_t>(where == birth::here ? burier.pid() : 1);
        CHECK(!self.take(1000));
        CHECK(self.file->owner_of(grave).pid == number);
        CHECK(self.used() == bytes{900});
        burier.end();
        CHECK(self.take(1000));
        CHECK(self.file->owner_of(grave).pid == 0);
    }
}

TEST_CASE("life_lock: of many that join at once each holds the lock of its place") {
    on_each_ground([](std::string const& path, bool) {
        for (int round = 0; round != 20; ++round) {
            std::filesystem::remove(path);
            member self{path};
            std::vector<std::unique_ptr<actor>> all;
            for (int i = 0; i != 8; ++i)
                all.push_back(std::make_unique<actor>(birth::here, [&](line const& to) {
                    member one{path};
                    to.wait();
                    to.say(one.join().file->home_of(one.seat) != 0 ? 'y' : 'n');
                    pause();
                }));
            for (auto const& one : all) one->go();
            for (auto const& one : all) CHECK(one->answer() == 'y');
            struct stat about {};
            REQUIRE(stat(path.c_str(), &about) == 0);
            muster::ext::detail::known_file const known{path, about.st_dev, about.st_ino};
            auto const file = known.open();
            int places = 0;
            self.file->each_process([&](place p, auto) {
                ++places;
                CHECK(muster::ext::detail::look(file, lock_of(p)) == muster::ext::detail::lock_state::shut);
            });
            CHECK(places == 8);
        }
    });
}

TEST_CASE("life_lock: a place whose lock somebody holds is passed over") {
    ground const g{false};
    member first{g.path()};
    struct stat about {};
    REQUIRE(stat(g.path().c_str(), &about) == 0);
    muster::ext::detail::known_file const known{g.path(), about.st_dev, about.st_ino};
    {
        auto const file = known.open();
        REQUIRE(muster::ext::detail::try_shut(file, lock_of(place{0U})) == muster::ext::detail::lock_state::open);
        CHECK(first.join().seat == place{1U});
    }
    member second{g.path()};
    CHECK(second.join().seat == place{0U});
    for (std::uint32_t p = 0; p != 3; ++p)
        CHECK(muster::ext::detail::look(known.open(), lock_of(place{p})) ==
              (p == 2 ? muster::ext::detail::lock_state::open : muster::ext::detail::lock_state::shut));
}

TEST_CASE("life_lock: whether a number of another namespace is somebody's here says nothing") {
    ground const g{false};
    member self{g.path()};
    self.join();
    auto const parent = muster::ext::process_of(static_cast<std::uint32_t>(getppid()));
    auto const nobody = [](auto...) { return false; };
    for (bool const here : {true, false}) {
        auto const seat = *self.file->join(parent, nobody);
        self.file->set_home(seat, muster::ext::this_namespace() + (here ? 0 : 1));
        REQUIRE(self.file->reserve(seat, self.card, bytes{900}, nobody));
        CHECK(self.file.is_gone(seat) == !here);
        CHECK(self.take(1000) == !here);
        self.file->release(self.seat, self.card, limit);
        if (here) self.file->leave(seat);
    }
}

TEST_CASE("life_lock: what this process was before exec is dead") {
    ground const g{false};
    member before{g.path()};
    // A place of its number, home and all, whose lock nobody holds.
    auto const seat = *before.file->join(muster::ext::this_process(), [](auto...) { return false; });
    before.file->set_home(seat, muster::ext::this_namespace());
    REQUIRE(before.file->reserve(seat, before.card, bytes{900}, [](auto...) { return false; }));
    member after{g.path()};
    CHECK(after.join().take(1000));
    CHECK(after.file->owner_of(seat).pid == 0);
    CHECK(!after.file.is_gone(after.seat));
    before.file.sweep();
    CHECK(before.used() == limit); // another object of this process, whose lock is held
}

TEST_CASE("life_lock: threads that bury at once bury each of the dead once") {
    ground const g{false};
    member self{g.path()};
    self.join();
    for (int round = 0; round != 20; ++round) {
        for (int i = 0; i != 8; ++i) {
            actor const dead{birth::here, [&](line const& to) {
                                 member all{g.path()};
                                 to.say(all.join().take(50) ? 'y' : 'n');
                                 pause();
                             }};
            REQUIRE(dead.answer() == 'y');
        }
        std::vector<std::thread> threads;
        for (int i = 0; i != 4; ++i) threads.emplace_back([&] { self.file.sweep(); });
        for (auto& t : threads) t.join();
        CHECK(self.used() == bytes{0});
        int places = 0;
        self.file->each_process([&](place, auto) { ++places; });
        CHECK(places == 1);
    }
}

TEST_CASE("life_lock: where a name has become another file's nobody is buried") {
    ground const g{false};
    member self{g.path()};
    self.join();
    actor const other{birth::in_namespace, holder(g.path())};
    if (!other) return;
    REQUIRE(other.answer() == 'y');
    auto const moved = g.path() + "-moved";
    std::filesystem::rename(g.path(), moved);
    member stranger{g.path()};
    CHECK(!self.take(101));
    CHECK(self.used() == bytes{900});
    CHECK(stranger.join().take(1000));
    std::filesystem::remove(moved);
}

TEST_CASE("life_lock: who has no descriptor left buries nobody") {
    ground const g{false};
    member self{g.path()};
    auto const took = self.join().take(900);
    REQUIRE(took);
    actor const poor{birth::here, [&](line const& to) {
                         member all{g.path()};
                         all.join();
                         rlimit const none{3, 3};
                         setrlimit(RLIMIT_NOFILE, &none);
                         to.say(!all.take(101) && muster::ext::is_alive({static_cast<std::uint32_t>(getppid()), 0}) &&
                                        all.used() == bytes{900}
                                    ? 'y'
                                    : 'n');
                         pause();
                     }};
    CHECK(poor.answer() == 'y');
}

TEST_CASE("life_lock: where there are no such locks, /proc alone tells") {
    auto const forbid = [] { // F_OFD_*: 36 to 38
        sock_filter program[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 4),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
            BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, F_OFD_GETLK, 0, 2),
            BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, F_OFD_SETLKW, 1, 0),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        sock_fprog const filter{sizeof program / sizeof *program, program};
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    };
    ground const g{false};
    actor const outer{birth::here, [&](line const& to) {
                          if (!forbid()) to.say('-');
                          member all{g.path()};
                          all.join();
                          if (all.file->home_of(all.seat) != 0) to.say('1');
                          actor neighbour{birth::here, holder(g.path())};
                          if (neighbour.answer() != 'y') to.say('2');
                          if (all.take(101)) to.say('3');
                          neighbour.end();
                          to.say(all.take(1000) ? 'y' : '4');
                          pause();
                      }};
    auto const answer = outer.answer();
    if (answer == '-')
        MESSAGE("no system call may be forbidden here");
    else
        CHECK(answer == 'y');
}
