#pragma once

/// \file
/// The kernel over tiers and actions that are chosen at run time.

#include <variant>

#include <muster/policy/dynamic_tiers.hpp>
#include <muster/scheduler/actions/allocate.hpp>
#include <muster/scheduler/actions/backfill.hpp>
#include <muster/scheduler/actions/enqueue.hpp>
#include <muster/scheduler/kernel.hpp>

namespace muster {

/// Actions chosen at run time.
class action_list {
public:
    using any_action = std::variant<action::enqueue, action::allocate, action::backfill>;

    void add(any_action a) { list_.push_back(a); }

    [[nodiscard]] bool enqueues() const noexcept {
        for (auto const& a : list_)
            if (std::holds_alternative<action::enqueue>(a)) return true;
        return false;
    }

    template <class Session>
    void run(Session& s) const {
        for (auto const& a : list_) std::visit([&](auto const& which) { s.run(which); }, a);
    }

private:
    column<any_action> list_;
};

/// A scheduler whose configuration is a value.
class dynamic_scheduler : public detail::kernel<action_list, dynamic_tiers> {
public:
    using kernel::kernel;
};

} // namespace muster
