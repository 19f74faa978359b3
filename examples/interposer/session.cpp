#include "session.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "launch.hpp"
#include "memory.hpp"
#include "table.hpp"

namespace muster::interposer {

namespace {

std::mutex making;

/// A device's UUID as NVML writes it.
std::string text_of(CUuuid const& id) {
    std::array<char, 48> text{};
    auto const* const b = reinterpret_cast<unsigned char const*>(id.bytes);
    std::snprintf(text.data(), text.size(), "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                  b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    return text.data();
}

std::optional<std::string_view> environment(std::string const& name) {
    auto const* const text = std::getenv(name.c_str());
    return text == nullptr ? std::nullopt : std::optional<std::string_view>{text};
}

bool allows_on_error() {
    auto const* const text = std::getenv("MUSTER_ON_ERROR");
    return text != nullptr && std::strcmp(text, "allow") == 0;
}

} // namespace

void say(int level, char const* format, ...) noexcept {
    static int const asked = [] {
        auto const* const text = std::getenv("MUSTER_LOG_LEVEL");
        return text == nullptr ? 1 : std::atoi(text);
    }();
    if (level > asked) return;
    std::array<char, 512> line{};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line.data(), line.size(), format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "muster: %s\n", line.data());
}

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
    bool const denied = !read.sound() && !limits_.off && !allows_on_error();
    for (auto const& o : read.oddities)
        say(o.malformed && denied ? 1 : 2, "%s=%s: %s%s", o.variable.c_str(), o.text.c_str(),
            std::string{message(o.what.code)}.c_str(),
            o.malformed && denied ? "; no device memory is given out: correct it, or set MUSTER_ON_ERROR=allow" : "");
    bool const limited = std::any_of(limits_.cards.begin(), limits_.cards.end(),
                                     [](account::card_limit const& card) { return card != account::card_limit{}; });
    bool const metered = !environment("CUDA_DEVICE_MEMORY_SHARED_CACHE").value_or("").empty();
    on_ = !limits_.off && (limited || metered || !read.sound());
    if (!on_) return;
    deny_ = denied;
    auto file = ext::ledger_file::open(limits_.ledger);
    if (!file) {
        say(1, "%s; this process is held to its limits alone", file.error().c_str());
        file = ext::ledger_file::isolated();
    }
    if (!file) {
        deny_ = true;
        return;
    }
    file_.emplace(std::move(*file));
    auto const place = (*file_)->join(ext::this_process(), ext::is_alive);
    if (!place) {
        say(1, "%s: no place for another process: %s", limits_.ledger.c_str(),
            std::string{message(place.error().code)}.c_str());
        deny_ = true;
        return;
    }
    place_ = *place;
    if (limits_.policy != account::throttling::never)
        for (auto const& card : limits_.cards) paced_ = paced_ || account::pace{card.cores}.limits();
}

gate* session::gate_of(CUdevice device) noexcept {
    auto const card = row(device);
    if (!card) return nullptr;
    auto const at = static_cast<std::size_t>(device);
    if (auto* const there = gates_[at].load(std::memory_order_acquire); there != nullptr) return there;
    account::pace const pace{limits_.cards[at].cores};
    if (!pace.limits()) return nullptr;
    std::lock_guard const lock{mutex_};
    if (gates_[at] == nullptr) gates_[at] = new (std::nothrow) gate{pace, (*file_)->paid_until(*card)};
    return gates_[at];
}

std::optional<account::card_row> session::row(CUdevice device) noexcept {
    // Without a ledger or a place in it nothing is given out, and there is nothing to count.
    if (!file_ || !place_ || device < 0 || static_cast<std::size_t>(device) >= rows_.size()) return std::nullopt;
    auto& known = rows_[static_cast<std::size_t>(device)];
    if (auto const r = known.load(std::memory_order_relaxed); r != 0) return account::card_row{r - 1};
    CUuuid id{};
    if (real().cuDeviceGetUuid_v2 == nullptr || real().cuDeviceGetUuid_v2(&id, device) != CUDA_SUCCESS)
        return std::nullopt;
    auto const found = (*file_)->card(text_of(id));
    if (!found) return std::nullopt;
    auto const& limit = limits_.cards[static_cast<std::size_t>(device)].memory;
    (*file_)->tighten(*found, limit.value_or(bytes{0}));
    known.store(found->value + 1);
    return *found;
}

bool session::reserve(CUdevice device, std::size_t size) noexcept {
    if (deny_) return false;
    auto const card = row(device);
    if (!card) return true; // no such device: the driver will say so
    bytes const amount{static_cast<std::int64_t>(std::min<std::size_t>(size, INT64_MAX))};
    if ((*file_)->reserve(place_, *card, amount, ext::is_alive)) return true;
    refresh_pools(*this);
    return (*file_)->reserve(place_, *card, amount, ext::is_alive).has_value();
}

void session::release(CUdevice device, std::size_t size) noexcept {
    if (auto const card = row(device); card && size != 0)
        (*file_)->release(place_, *card, bytes{static_cast<std::int64_t>(size)});
}

void session::count(CUdevice device, std::size_t size) noexcept {
    if (auto const card = row(device); card && size != 0)
        (*file_)->charge(place_, *card, bytes{static_cast<std::int64_t>(size)});
}

std::size_t session::limit(CUdevice device) noexcept {
    auto const card = deny_ ? std::nullopt : row(device);
    return card ? static_cast<std::size_t>((*file_)->limit(*card).value) : 0;
}

std::size_t session::used(CUdevice device) noexcept {
    auto const card = row(device);
    return card ? static_cast<std::size_t>((*file_)->used(*card).value) : 0;
}

std::optional<session::figures> session::figures_of(char const* uuid, unsigned int index) noexcept {
    if (!file_) return std::nullopt;
    auto const card = (*file_)->card(uuid);
    if (!card) return std::nullopt;
    if (index < limits_.cards.size()) (*file_)->tighten(*card, limits_.cards[index].memory.value_or(bytes{0}));
    (*file_)->sweep(ext::this_process(), ext::is_alive); // the dead hold nothing
    auto const limit = static_cast<std::size_t>((*file_)->limit(*card).value);
    if (limit == 0) return std::nullopt;
    return figures{limit, static_cast<std::size_t>((*file_)->used(*card).value)};
}

void session::keep(CUdeviceptr p, holding const& h) {
    auto& s = shard_of(p);
    std::lock_guard const lock{s.mutex};
    s.held.insert_or_assign(p, h);
}

std::optional<holding> session::take(CUdeviceptr p) {
    auto& s = shard_of(p);
    std::lock_guard const lock{s.mutex};
    auto const found = s.held.find(p);
    if (found == s.held.end()) return std::nullopt;
    auto const h = found->second;
    s.held.erase(found);
    return h;
}

} // namespace muster::interposer
