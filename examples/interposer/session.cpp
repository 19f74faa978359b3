#include "session.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <span>
#include <string>

#include <muster/account/card_uuid.hpp>
#include <muster/ext/clock.hpp>
#include <muster/ext/say.hpp>
#include <muster/ext/uncancelled.hpp>

#include "launch.hpp"
#include "nvml.hpp"
#include "pools.hpp"

namespace muster::interposer {

using ext::environment;

static std::mutex making; // NOLINT(misc-use-anonymous-namespace)

session& session::make() noexcept {
    ext::uncancelled const while_making;
    std::lock_guard const lock{making};
    if (auto* const there = the_one.load(); there != nullptr) return *there;
    static bool const armed = [] {
        // What the parent had is left alone: its locks may be held by threads that the child doesn't have.
        pthread_atfork([] { making.lock(); }, [] { making.unlock(); },
                       [] {
                           the_one.store(nullptr);
                           making.unlock();
                       });
        return true;
    }();
    (void)armed;
    auto* const made = new session; // NOLINT(bugprone-unhandled-exception-at-new): without it nothing goes on
    the_one.store(made, std::memory_order_release);
    return *made;
}

session::session() noexcept {
    auto const read = account::read_limits(environment);
    limits_ = read.limits;
    bool const denied = !read.sound() && !limits_.off && environment("MUSTER_ON_ERROR") != "allow";
    for (auto const& o : read.oddities)
        ext::say(o.malformed && denied ? 1 : 2, "%s=%s: %s%s", o.variable.c_str(), o.text.c_str(),
                 std::string{message(o.what.code)}.c_str(),
                 o.malformed && denied ? "; no device memory is given out: correct it, or set MUSTER_ON_ERROR=allow"
                                       : "");
    if (environment("ACTIVE_OOM_KILLER"))
        ext::say(2, "ACTIVE_OOM_KILLER: nobody is killed here; what doesn't fit is refused");
    bool const metered = !environment("CUDA_DEVICE_MEMORY_SHARED_CACHE").value_or("").empty();
    on_ = !limits_.off && (limits_.any() || metered || !read.sound());
    if (!on_) return;
    auto file = ext::ledger_file::open(limits_.ledger);
    if (!file) {
        ext::say(1, "%s; this process is held to its limits alone", file.error().c_str());
        file = ext::ledger_file::isolated();
    }
    deny_ = denied || !file;
    if (!file) return;
    file_.emplace(std::move(*file));
    auto const place = file_->join();
    deny_ = deny_ || !place;
    if (!place)
        ext::say(1, "%s: no place for another process: %s", limits_.ledger.c_str(),
                 std::string{message(place.error().code)}.c_str());
    place_ = place.value_or(account::place{});
    paced_ = limits_.paced();
}

// Which card a device is.

std::optional<account::card_row> session::row(CUdevice device) {
    // Without a ledger or a place in it nothing is given out, and there is nothing to count.
    if (!file_ || !place_ || device < 0 || static_cast<std::size_t>(device) >= cards_.size()) return std::nullopt;
    auto const r = cards_[static_cast<std::size_t>(device)].row.load(std::memory_order_acquire);
    return r != 0 ? account::card_row{r - 1} : look_up(device);
}

std::optional<account::card_row> session::look_up(CUdevice device) {
    CUuuid id{};
    int count = 0;
    if (ask(real().cuDeviceGetCount, &count)) devices = count;
    if (!ask(real().cuDeviceGetUuid_v2, &id, device) && !ask(real().cuDeviceGetUuid, &id, device)) return std::nullopt;
    ext::uncancelled const while_looking;
    auto uuid = account::uuid_text(std::as_bytes(std::span{id.bytes}));
    if (auto const part = "MIG" + uuid.substr(3); is_in_nvml(part)) uuid = part; // the driver tells no difference
    auto const position = position_of(device, uuid);
    std::lock_guard const lock{looking_};
    auto& card = cards_[static_cast<std::size_t>(device)];
    if (auto const r = card.row.load(); r != 0) return account::card_row{r - 1};
    auto const found = (*file_)->card(uuid);
    if (!found) return std::nullopt;
    card.uuid = uuid;
    card.position = position;
    (*file_)->tighten(*found, limits_.cards[position].memory.value_or(bytes{0}));
    card.row.store(found->value + 1, std::memory_order_release);
    return *found;
}

/// Limits go by NVML's order, devices by CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. Where all cards have one limit, or
/// NVML can't be asked, the position among the devices does.
std::size_t session::position_of(CUdevice device, std::string const& uuid) const {
    auto const own = static_cast<std::size_t>(device);
    auto const& all = limits_.cards;
    if (std::all_of(all.begin(), all.end(), [&](auto const& c) { return c == all.front(); })) return own;
    if (auto const position = position_in_nvml(uuid); position && *position < all.size()) return *position;
    return account::visible_position(environment("CUDA_VISIBLE_DEVICES").value_or(""), own).value_or(own);
}

gate* session::gate_of(CUdevice device) {
    auto const row_there = row(device);
    if (!row_there) return nullptr;
    auto& card = cards_[static_cast<std::size_t>(device)];
    if (auto* const there = card.its_gate.load(std::memory_order_acquire); there != nullptr) return there;
    account::pace const pace{limits_.cards[card.position].cores};
    if (!pace.limits()) return nullptr;
    std::lock_guard const lock{looking_};
    if (card.its_gate == nullptr)
        card.its_gate =
            new (std::nothrow) gate{account::throttle{pace, (*file_)->paid_until(*row_there)}, streams{device}};
    return card.its_gate;
}

gate* session::gate_made(std::size_t device) noexcept {
    return device < cards_.size() ? cards_[device].its_gate.load(std::memory_order_acquire) : nullptr;
}

bool session::alone(CUdevice device) {
    if (!row(device)) return false;
    auto& card = cards_[static_cast<std::size_t>(device)];
    if (ext::is_due(card.next_look, 1000)) card.alone = overhead_.alone(processes_on(card.uuid).value_or(processes{}));
    return card.alone;
}

// Memory.

bool session::reserve(CUdevice device, std::size_t size) {
    if (deny_) return false;
    auto const card = row(device);
    // No such device: the driver will say so. One without a row can't be counted, and has nothing to give.
    if (!card) return device < 0 || device >= devices || !limits_.any();
    bytes const amount{static_cast<std::int64_t>(std::min<std::size_t>(size, INT64_MAX))};
    if (file_->reserve(place_, *card, amount)) return true;
    make_room(*this, device);
    return file_->reserve(place_, *card, amount).has_value();
}

void session::release(CUdevice device, std::size_t size) {
    if (auto const card = row(device); card && size != 0)
        (*file_)->release(place_, *card, bytes{static_cast<std::int64_t>(size)});
}

void session::count(CUdevice device, std::size_t size) {
    if (auto const card = row(device); card && size != 0)
        (*file_)->charge(place_, *card, bytes{static_cast<std::int64_t>(size)});
}

std::size_t session::limit(CUdevice device) {
    auto const card = deny_ ? std::nullopt : row(device);
    return card ? static_cast<std::size_t>((*file_)->limit(*card).value) : 0;
}

std::size_t session::used(CUdevice device) {
    auto const card = row(device);
    if (!card) return 0;
    auto& ledger = **file_;
    // The dead hold nothing; nobody asks for them more than ten times a second.
    if (ledger.used(*card) > ledger.held(place_, *card) + ledger.beside(place_, *card) && ext::is_due(next_sweep_, 100))
        file_->sweep();
    return static_cast<std::size_t>(ledger.used(*card).value);
}

std::optional<session::figures> session::figures_of(std::string const& uuid, unsigned int index) {
    if (!file_) return std::nullopt;
    auto const card = (*file_)->find(uuid); // none is made for a card that nobody has used
    file_->sweep();                         // the dead hold nothing
    auto const own = index < limits_.cards.size() ? limits_.cards[index].memory.value_or(bytes{0}) : bytes{0};
    auto const most = account::strictest(own, card ? (*file_)->limit(*card) : bytes{0});
    if (most == bytes{0}) return std::nullopt;
    if (!card) return figures{static_cast<std::size_t>(most.value), 0};
    return figures{static_cast<std::size_t>(most.value), static_cast<std::size_t>((*file_)->used(*card).value),
                   file_->holders(*card)};
}

// What nobody announces.

processes session::others_on(CUdevice device) {
    if (can_measure() || !row(device)) return {};
    return processes_on(cards_[static_cast<std::size_t>(device)].uuid).value_or(processes{});
}

void session::context_made(CUdevice device, processes const& before) {
    auto const card = row(device);
    if (!card) return;
    auto const after = processes_on(cards_[static_cast<std::size_t>(device)].uuid);
    if (!after || after->empty()) return (*file_)->set_beside(place_, *card, limits_.context);
    std::optional<std::uint64_t> size; // by the first context alone: later this process is among those before
    if (!had_context_.exchange(true)) size = overhead_.learn(before, *after, static_cast<unsigned>(getpid()));
    if (size) (*file_)->set_beside(place_, *card, bytes{static_cast<std::int64_t>(*size)});
    measure(device);
}

void session::measure(CUdevice device) {
    auto const row_there = row(device);
    if (!row_there || !can_measure()) return;
    auto& card = cards_[static_cast<std::size_t>(device)];
    std::lock_guard const lock{card.measuring};
    ext::uncancelled const while_asking;
    for (int tries = 0; tries != 3; ++tries) { // until both figures are of one moment
        process_books::quiet const now{books};
        auto const held = static_cast<std::uint64_t>((*file_)->held(place_, *row_there).value);
        auto const all = processes_on(card.uuid);
        if (!all) return;
        if (!now.lasted()) continue;
        auto const beside = overhead_.beside(*all, held, books.managed() != 0, card.beside);
        return (*file_)->set_beside(place_, *row_there, bytes{static_cast<std::int64_t>(beside)});
    }
}

void session::measure_all() {
    for (std::size_t i = 0; i != cards_.size(); ++i)
        if (cards_[i].row != 0) measure(static_cast<CUdevice>(i));
}

} // namespace muster::interposer
