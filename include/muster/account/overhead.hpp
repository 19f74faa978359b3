#pragma once

/// \file
/// Memory that nobody announces: what a process has of a card beside what it asked for, by the driver's own figure.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace muster::account {

/// A process on a card, by the number that the driver gives it, with all that it has there.
///
/// In a container that isn't the process's own number: the driver counts as the host does.
struct card_process {
    unsigned int number = 0;
    std::uint64_t bytes = 0;
};

/// Which of the driver's processes this one is, and what to make of its figure.
///
/// Source: spec/driver-boundary.md B4 and D; on an H200 the figures follow each allocation at once.
class overhead {
public:
    /// Whether this process is known.
    [[nodiscard]] bool known() const noexcept { return number_ != 0; }

    /// Learns from who was there before the process's first context, and who is there with it. Where several came at
    /// once they can't be told apart, but contexts are of one size: then that is the answer.
    std::optional<std::uint64_t> learn(std::vector<card_process> const& before, std::vector<card_process> after,
                                       unsigned int own_number) {
        std::erase_if(after, [&](card_process const& p) { return find(before, p.number) != nullptr; });
        if (find(after, own_number) != nullptr)
            number_ = own_number;
        else if (after.size() == 1)
            number_ = after.front().number;
        else if (!after.empty()) // by now another may have asked for more
            return std::min_element(after.begin(), after.end(),
                                    [](auto const& a, auto const& b) { return a.bytes < b.bytes; })
                ->bytes;
        return std::nullopt;
    }

    /// Whether the process is alone there.
    [[nodiscard]] bool alone(std::vector<card_process> const& all) const noexcept {
        return known() && all.size() == 1 && all.front().number == number_;
    }

    /// What is there beside the bytes `held`, as two figures of one moment; `last` keeps the answer. With `managed`
    /// memory about, which lies on the card or doesn't, what was beside it before still is.
    [[nodiscard]] std::uint64_t beside(std::vector<card_process> const& all, std::uint64_t held, bool managed,
                                       std::uint64_t& last) const noexcept {
        auto const* const mine = find(all, number_);
        if (mine == nullptr) return last = 0; // no context any more
        auto const rest = mine->bytes > held ? mine->bytes - held : 0;
        return last = managed ? std::max(rest, last) : rest;
    }

private:
    [[nodiscard]] static card_process const* find(std::vector<card_process> const& all, unsigned int number) noexcept {
        for (auto const& p : all)
            if (p.number == number) return &p;
        return nullptr;
    }

    std::atomic<unsigned int> number_{0}; ///< zero: not known
};

} // namespace muster::account
