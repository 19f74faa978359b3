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
using ext::say;

namespace {

std::mutex making;

bytes context_size() {
    auto const text = environment("MUSTER_CONTEXT_MEMORY").value_or("");
    auto const read = account::parse_memory_limit(text);
    if (!read) say(1, "MUSTER_CONTEXT_MEMORY=%s: no amount of memory; taken as 0", std::string{text}.c_str());
    return read ? read->value_or(bytes{0}) : bytes{0};
}

} // namespace

session& session::make() noexcept {
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
        say(o.malformed && denied ? 1 : 2, "%s=%s: %s%s", o.variable.c_str(), o.text.c_str(),
            std::string{message(o.what.code)}.c_str(),
            o.malformed && denied ? "; no device memory is given out: correct it, or set MUSTER_ON_ERROR=allow" : "");
    if (environment("ACTIVE_OOM_KILLER"))
        say(2, "ACTIVE_OOM_KILLER: nobody is killed here; what doesn't fit is refused");
    bool const metered = !environment("CUDA_DEVICE_MEMORY_SHARED_CACHE").value_or("").empty();
    on_ = !limits_.off && (limits_.any() || metered || !read.sound());
    if (!on_) return;
    context_size_ = context_size();
    auto file = ext::ledger_file::open(limits_.ledger);
    if (!file) {
        say(1, "%s; this process is held to its limits alone", file.error().c_str());
        file = ext::ledger_file::isolated();
    }
    deny_ = denied || !file;
    if (!file) return;
    file_.emplace(std::move(*file));
    auto const place = file_->join();
    deny_ = deny_ || !place;
    if (!place)
        say(1, "%s: no place for another process: %s", limits_.ledger.c_str(),
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
    if (real().cuDeviceGetUuid_v2 == nullptr || real().cuDeviceGetUuid_v2(&id, device) != CUDA_SUCCESS)
        return std::nullopt;
    int count = 0;
    if (ask(real().cuDeviceGetCount, &count)) devices = count;
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
    if (!card) return true; // no such device: the driver will say so
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
    auto const card = file_ ? (*file_)->card(uuid) : fail(errc::empty);
    if (!card) return std::nullopt;
    if (index < limits_.cards.size()) (*file_)->tighten(*card, limits_.cards[index].memory.value_or(bytes{0}));
    file_->sweep(); // the dead hold nothing
    figures out{static_cast<std::size_t>((*file_)->limit(*card).value),
                static_cast<std::size_t>((*file_)->used(*card).value)};
    if (out.limit == 0) return std::nullopt;
    (*file_)->each_process([&](account::place p, account::process who) {
        auto const used = ((*file_)->held(p, *card) + (*file_)->beside(p, *card)).value;
        auto const home = (*file_)->home_of(p); // a number means nothing in another pid namespace
        if (used > 0 && (home == 0 || home == ext::this_namespace()))
            out.members.push_back({who.pid, static_cast<std::uint64_t>(used)});
    });
    return out;
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
    if (!after || after->empty()) return (*file_)->set_beside(place_, *card, context_size_);
    auto const size = can_measure() ? std::nullopt : overhead_.learn(before, *after, static_cast<unsigned>(getpid()));
    if (size) (*file_)->set_beside(place_, *card, bytes{static_cast<std::int64_t>(*size)});
    measure(device);
}

void session::measure(CUdevice device) {
    auto const row_there = row(device);
    if (!row_there || !can_measure()) return;
    auto& card = cards_[static_cast<std::size_t>(device)];
    std::lock_guard const lock{card.measuring};
    ext::uncancelled const while_asking;
    bool settled = books.under_way() == 0 && books.managed() == 0;
    auto const held = (*file_)->held(place_, *row_there);
    auto const all = processes_on(card.uuid);
    if (!all) return;
    settled = settled && books.under_way() == 0 && (*file_)->held(place_, *row_there) == held;
    auto const beside = overhead_.beside(*all, static_cast<std::uint64_t>(held.value), settled, card.beside);
    (*file_)->set_beside(place_, *row_there, bytes{static_cast<std::int64_t>(beside)});
}

void session::measure_all() {
    for (std::size_t i = 0; i != cards_.size(); ++i)
        if (cards_[i].row != 0) measure(static_cast<CUdevice>(i));
}

void session::measure_now_and_then() {
    if (can_measure() && ext::is_due(next_measure_, 250)) measure_all();
}

} // namespace muster::interposer
