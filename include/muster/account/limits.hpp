#pragma once

/// \file
/// What a container may use of its cards, as its environment says.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/core/ascii.hpp>
#include <muster/core/result.hpp>
#include <muster/resource/units.hpp>

namespace muster::account {

/// The cards of a container are numbered from 0; the environment can name as many.
inline constexpr std::size_t most_cards = 16;

/// What may be had of one card.
struct card_limit {
    std::optional<bytes> memory{}; ///< none: all there is
    percent cores{100};            ///< of the card's time, 1 to 100; 100: no limit

    friend constexpr bool operator==(card_limit const&, card_limit const&) noexcept = default;
};

/// Whether the share of time is held.
enum class throttling : std::uint8_t { by_default, always, never };

/// What a container may use.
struct limits {
    std::array<card_limit, most_cards> cards{}; ///< by position among the container's cards
    std::string ledger{"/tmp/cudevshr.cache"};  ///< the file that its processes share
    throttling policy = throttling::by_default;
    bool oversubscribe = false; ///< memory beyond the card's may be had from the host
    bool off = false;           ///< the container asks for no limits at all
    bytes context{0};           ///< that a context takes, where the driver can't tell

    /// Whether there is a limit of anything.
    [[nodiscard]] constexpr bool any() const noexcept {
        return std::any_of(cards.begin(), cards.end(), [](card_limit const& c) { return c != card_limit{}; });
    }
    /// Whether some card's share of time is held.
    [[nodiscard]] constexpr bool paced() const noexcept {
        return policy != throttling::never &&
               std::any_of(cards.begin(), cards.end(), [](card_limit const& c) { return c.cores < percent{100}; });
    }
    friend bool operator==(limits const&, limits const&) = default;
};

/// A variable that doesn't read as it should.
///
/// A malformed limit of memory is no limit that could be kept: whoever enforces it should refuse, not guess. A share of
/// time outside 1 to 100 is not malformed; the nearest one counts.
struct oddity {
    std::string variable;
    std::string text;
    error what{}; ///< `at`: byte offset in the text
    bool malformed = true;

    friend bool operator==(oddity const&, oddity const&) = default;
};

/// The limits, with what was odd about the variables.
struct reading {
    account::limits limits{};
    std::vector<oddity> oddities{};

    [[nodiscard]] bool sound() const noexcept {
        for (auto const& o : oddities)
            if (o.malformed) return false;
        return true;
    }
};

namespace detail {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// Reads a text from left to right.
struct cursor {
    std::string_view text;
    std::size_t at = 0;

    [[nodiscard]] constexpr char peek() const noexcept { return at < text.size() ? text[at] : '\0'; }
    [[nodiscard]] constexpr bool done() const noexcept { return at == text.size(); }
    constexpr bool skip(char wanted) noexcept {
        bool const there = !done() && lower(text[at]) == wanted;
        at += there ? 1 : 0;
        return there;
    }
    constexpr void skip_blanks() noexcept {
        while (!done() && is_blank(text[at])) ++at;
    }
};

/// The power of two of a unit's letter; 0 for none.
[[nodiscard]] constexpr unsigned power_of_unit(cursor& in) noexcept {
    constexpr std::string_view units = "kmgt";
    auto const found = in.done() ? units.npos : units.find(lower(in.peek()));
    if (found == units.npos) return 0;
    ++in.at;
    (void)in.skip('i');
    return 10 * (static_cast<unsigned>(found) + 1);
}

} // namespace detail

/// A limit of memory: digits with a fraction or not, then one of k, m, g, t (powers of 1024; an `i` or `b` behind it
/// changes nothing), `b` or nothing. Zero and an empty text are no limit.
///
/// Errors: `bad_field` where no number stands, `bad_suffix` for another unit, `trailing` for what follows, `overflow`
///         from 2^63 bytes, `underflow` for a part of a byte. `at` is the byte offset.
/// Source: spec/driver-boundary.md C. HAMi-core reads `4Gi` as 4 bytes, `010m` as 8 MiB and `-1` as no limit.
[[nodiscard]] constexpr result<std::optional<bytes>> parse_memory_limit(std::string_view text) noexcept {
    detail::cursor in{text};
    in.skip_blanks();
    if (in.done()) return std::optional<bytes>{};
    auto const start = in.at;
    std::int64_t whole = 0;
    for (; detail::is_digit(in.peek()); ++in.at)
        if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, in.peek() - '0', &whole))
            return fail(errc::overflow, start);
    if (in.at == start) return fail(errc::bad_field, start);
    // Eighteen places tell the bytes of a terabyte apart; what lies behind is cut, and only tells zero from a little.
    std::uint64_t part = 0;
    std::uint64_t places = 1;
    bool more = false;
    if (in.skip('.')) {
        if (!detail::is_digit(in.peek())) return fail(errc::bad_field, in.at);
        for (; detail::is_digit(in.peek()); ++in.at) {
            auto const digit = static_cast<unsigned>(in.peek() - '0');
            if (places == 1'000'000'000'000'000'000) {
                more = more || digit != 0;
                continue;
            }
            part = part * 10 + digit;
            places *= 10;
        }
    }
    in.skip_blanks();
    auto const unit_at = in.at;
    auto const power = detail::power_of_unit(in);
    bool const has_unit = in.skip('b') || power != 0;
    if (!in.done()) return fail(has_unit ? errc::trailing : errc::bad_suffix, has_unit ? in.at : unit_at);
    bool const nothing = whole == 0 && part == 0 && !more;
    for (unsigned bit = 0; bit != power; ++bit) {
        part *= 2;
        auto const carry = static_cast<std::int64_t>(part / places);
        part %= places;
        if (__builtin_mul_overflow(whole, 2, &whole) || __builtin_add_overflow(whole, carry, &whole))
            return fail(errc::overflow, start);
    }
    if (nothing) return std::optional<bytes>{};
    return whole == 0 ? fail(errc::underflow, start) : result<std::optional<bytes>>{bytes{whole}};
}

/// A share of time: digits, with a `%` behind them or not. Zero and an empty text are no limit of its own.
///
/// Errors: `bad_field` where no number stands, `trailing` for what follows. A share above 100 reads as it stands, up to
///         1,000,000.
[[nodiscard]] constexpr result<std::optional<percent>> parse_core_limit(std::string_view text) noexcept {
    detail::cursor in{text};
    in.skip_blanks();
    if (in.done()) return std::optional<percent>{};
    auto const start = in.at;
    std::int64_t value = 0;
    for (; detail::is_digit(in.peek()); ++in.at)
        value = std::min<std::int64_t>(value * 10 + (in.peek() - '0'), 1'000'000);
    if (in.at == start) return fail(errc::bad_field, start);
    in.skip_blanks();
    (void)in.skip('%');
    if (!in.done()) return fail(errc::trailing, in.at);
    return value == 0 ? std::nullopt : std::optional{percent{value}};
}

/// The lower of two limits, of which zero is none.
[[nodiscard]] constexpr bytes strictest(bytes a, bytes b) noexcept {
    return a == bytes{0} || (b != bytes{0} && b < a) ? b : a;
}

/// Which card, by position among the container's, a process's device number is, as CUDA_VISIBLE_DEVICES has it.
/// Nothing where it doesn't say, or names cards in another way: then somebody must be asked who knows them by UUID.
[[nodiscard]] constexpr std::optional<std::size_t> visible_position(std::string_view visible,
                                                                    std::size_t device) noexcept {
    for (; device != 0 && !visible.empty(); --device)
        visible.remove_prefix(std::min(visible.find(','), visible.size() - 1) + 1);
    auto const text = visible.substr(0, visible.find(','));
    std::size_t position = 0;
    for (auto const c : text) {
        if (!detail::is_digit(c) || position >= most_cards) return std::nullopt;
        position = position * 10 + static_cast<std::size_t>(c - '0');
    }
    return text.empty() || position >= most_cards ? std::nullopt : std::optional{position};
}

namespace detail {

/// Words, small letters, with what they mean.
template <class T, std::size_t N>
using words = std::array<std::pair<std::string_view, T>, N>;

/// Reads variables one by one and keeps what is odd about them.
template <class Lookup>
class limit_reader {
public:
    explicit limit_reader(Lookup lookup) : lookup_(lookup) {}

    [[nodiscard]] reading read() {
        card_limit common;
        memory("CUDA_DEVICE_MEMORY_LIMIT", common);
        cores("CUDA_DEVICE_SM_LIMIT", common);
        for (std::size_t i = 0; i != most_cards; ++i) {
            auto const position = '_' + std::to_string(i);
            auto& card = out_.limits.cards[i] = common;
            memory("CUDA_DEVICE_MEMORY_LIMIT" + position, card);
            cores("CUDA_DEVICE_SM_LIMIT" + position, card);
        }
        if (auto const path = text("CUDA_DEVICE_MEMORY_SHARED_CACHE"); !path.empty()) out_.limits.ledger = path;
        constexpr words<throttling, 3> policies{
            {{"force", throttling::always}, {"disable", throttling::never}, {"default", throttling::by_default}}};
        word("GPU_CORE_UTILIZATION_POLICY", policies, out_.limits.policy);
        flag("CUDA_OVERSUBSCRIBE", out_.limits.oversubscribe);
        flag("CUDA_DISABLE_CONTROL", out_.limits.off);
        context("MUSTER_CONTEXT_MEMORY");
        return std::move(out_);
    }

private:
    /// Unset and empty are the same.
    [[nodiscard]] std::string_view text(std::string const& name) const {
        std::optional<std::string_view> const found = lookup_(name);
        return found.value_or(std::string_view{});
    }

    void note(std::string const& name, error what, bool malformed) {
        out_.oddities.push_back({name, std::string{text(name)}, what, malformed});
    }

    void memory(std::string const& name, card_limit& into) {
        auto const read = parse_memory_limit(text(name));
        if (!read) return note(name, read.error(), true);
        if (*read) into.memory = *read;
    }

    void context(std::string const& name) {
        auto const read = parse_memory_limit(text(name));
        if (!read) return note(name, read.error(), false);
        out_.limits.context = read->value_or(bytes{0});
    }

    void cores(std::string const& name, card_limit& into) {
        auto const read = parse_core_limit(text(name));
        if (!read) return note(name, read.error(), true);
        if (!*read) return;
        if (**read > percent{100}) note(name, {errc::out_of_range, 0}, false);
        into.cores = std::min(**read, percent{100});
    }

    template <class T, std::size_t N>
    void word(std::string const& name, words<T, N> const& known_words, T& into) {
        auto const given = text(name);
        if (given.empty()) return;
        for (auto const& [known, meaning] : known_words) {
            bool same = known.size() == given.size();
            for (std::size_t i = 0; same && i != known.size(); ++i) same = lower(given[i]) == known[i];
            if (same) return void(into = meaning);
        }
        note(name, {errc::unknown_name, 0}, false);
    }

    void flag(std::string const& name, bool& into) {
        constexpr words<bool, 4> switches{{{"true", true}, {"1", true}, {"false", false}, {"0", false}}};
        word(name, switches, into);
    }

    Lookup lookup_;
    reading out_{};
};

} // namespace detail

/// The limits of an environment: `lookup(name)` gives the text of a variable, or nothing where it isn't set.
///
/// Shape:  CUDA_DEVICE_MEMORY_LIMIT and CUDA_DEVICE_SM_LIMIT count for every card without its own, whose name ends in
///         `_` and its position; CUDA_DEVICE_MEMORY_SHARED_CACHE names the ledger; GPU_CORE_UTILIZATION_POLICY,
///         CUDA_OVERSUBSCRIBE and CUDA_DISABLE_CONTROL switch. Volcano's device plugin and HAMi's write the same;
///         MUSTER_CONTEXT_MEMORY is muster's own.
/// Errors: none; what is odd is listed, and a malformed limit of a card leaves the common one in force.
/// Source: HAMi-core, src/multiprocess/multiprocess_memory_limit.c, at 8f3a89c (spec/driver-boundary.md C).
template <class Lookup>
[[nodiscard]] reading read_limits(Lookup lookup) {
    return detail::limit_reader<Lookup>{lookup}.read();
}

} // namespace muster::account
