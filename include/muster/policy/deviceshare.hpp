#pragma once

/// \file
/// Policy deviceshare: a pod's shares of cards must fit the cards of its node.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <muster/cluster/view.hpp>
#include <muster/core/column.hpp>
#include <muster/core/ids.hpp>
#include <muster/core/real.hpp>
#include <muster/device/filter.hpp>
#include <muster/device/fit.hpp>
#include <muster/device/order.hpp>
#include <muster/device/slices.hpp>
#include <muster/policy/argument.hpp>
#include <muster/policy/hooks.hpp>

namespace muster::policy {

/// Fits, ranks and chooses cards shared in mode `Mode`.
///
/// Source: volcano, pkg/scheduler/plugins/deviceshare and api/devices/nvidia/vgpu, at ed72c7c8 (spec/device-fitting.md
///         3.1, 4.1). Differs: a discarded gang gives its cards back, every container of a pod is counted, a card is
///         known by its whole uuid, one with a broken registration takes nobody, and a pod on its way out holds its
///         cards until it is gone.
template <class Mode>
struct deviceshare {
    bool vgpu = true;                   ///< look at cards at all
    std::string order{};                ///< "binpack", "spread", or anything else: the last card first
    std::int64_t weight = 0;            ///< of the node's score; zero: cards don't rank nodes
    bool node_lock = false;             ///< one pod with cards a node and session
    std::vector<label_set> exclusive{}; ///< pods that have all labels of one set never share a card with another such

    class state {
    public:
        state(deviceshare const& p, session_view view)
            : order_(device::order_of(p.order)), weight_(p.vgpu ? p.weight : 0), enabled_(p.vgpu),
              node_lock_(p.node_lock), scratch_(most_cards(view)), busier_(most_cards(view)) {
            if (!enabled_) return;
            if (node_lock_) locked_.resize(view.in().nodes.size());
            prepare_filters(view.in());
            prepare_exclusive(p, view.in());
        }

        [[nodiscard]] static locality reads(shape_view) noexcept { return locality::node; }

        [[nodiscard]] bool fits(node_view node, shape_view shape) const noexcept {
            return !asks(node, shape) || (right_mode(node, shape) && try_fit(node, shape, when::later).fits);
        }

        /// A pod that leaves holds its cards until it is gone, and one that waits for them has them promised.
        [[nodiscard]] bool fits_at_once(node_view node, shape_view shape) const noexcept {
            return node.now().cards_in_motion == 0 || !asks(node, shape) || try_fit(node, shape, when::now).fits;
        }

        [[nodiscard]] double score(node_view node, shape_view shape) const noexcept {
            if (weight_ <= 0 || !asks(node, shape)) return 0;
            auto const found = try_fit(node, shape, when::later);
            return std::floor(found.score + 0.5) * static_cast<double>(weight_);
        }

        [[nodiscard]] assignment assign(node_view node, shape_view shape, column<share>& out) {
            if (!asks(node, shape)) return assignment::none;
            if (node_lock_ && locked_[node.id().index()] != 0) return assignment::refused;
            if (!choose(node, shape, when::now, out) && !choose(node, shape, when::later, out))
                return assignment::refused;
            if (node_lock_) locked_[node.id().index()] = 1;
            return assignment::chosen;
        }

        /// A task that leaves its node gives the lock back.
        void deallocated(task_view task) noexcept {
            if (node_lock_ && !task.shares().empty()) locked_[task.where().node.index()] = 0;
        }

        /// The exclusive sets that the task belongs to.
        [[nodiscard]] std::uint64_t shape_key(task_view task) const noexcept {
            return exclusive_.empty() ? 0 : exclusive_[task.id().index()];
        }

        void explain_fits(node_view node, shape_view shape, reasons& out) const {
            auto const& want = shape.shape().devices;
            auto const cards = static_cast<std::int64_t>(node.cards().size());
            std::int64_t most = 0;
            for (auto const& request : want.containers) most = std::max(most, request.cards);
            bool listed = want.filter.use_uuid.empty() && want.filter.avoid_uuid.empty();
            for (auto const& c : node.cards()) listed = listed || device::accepts_uuid(want.filter, node.text(c.uuid));
            reason why{.code = reason_code::card_fit, .asked = most, .limit = static_cast<double>(cards)};
            if (!right_mode(node, shape))
                why.code = reason_code::card_mode;
            else if (most > cards)
                why.code = reason_code::card_count;
            else if (!listed)
                why.code = reason_code::card_filter;
            out.push_back(why);
        }

    private:
        [[nodiscard]] static std::size_t most_cards(session_view view) noexcept {
            std::size_t most = 0;
            for (auto const n : view.nodes()) most = std::max(most, view.view(n).cards().size());
            return most;
        }

        /// Which cards each shape may use at all; shapes of one filter share the answers.
        void prepare_filters(tables const& t) {
            column<shape_id> distinct;
            for (shape_id id{0}; id.index() != t.shapes.size(); ++id.value) {
                auto const& devices = t.shapes[id.index()].devices;
                auto const& filter = devices.filter;
                groups_.push_back(filter.spread_group ? t.symbols.find(*filter.spread_group) : symbol{});
                std::size_t which = 0;
                while (which != distinct.size() && !(t.shapes[distinct[which].index()].devices.filter == filter))
                    ++which;
                filters_.push_back(which * t.cards.size());
                if (which != distinct.size() || devices.empty()) continue;
                distinct.push_back(id);
                accept(t, filter);
            }
        }

        /// Appends an answer a card; the rules for types are asked once a run of cards of one type.
        void accept(tables const& t, card_filter const& filter) {
            symbol type{};
            bool type_fits = false;
            for (auto const& c : t.cards) {
                if (c.type != type) {
                    type = c.type;
                    type_fits = device::accepts_type(filter, t.text(type));
                }
                accepted_.push_back(type_fits && device::accepts_uuid(filter, t.text(c.uuid)) ? 1 : 0);
            }
        }

        void prepare_exclusive(deviceshare const& p, tables const& t) {
            if (p.exclusive.empty()) return;
            exclusive_.resize(t.tasks.size());
            for (std::size_t i = 0; i != t.tasks.size(); ++i)
                for (std::size_t rule = 0; rule != std::min<std::size_t>(p.exclusive.size(), 64); ++rule) {
                    auto const& wanted = p.exclusive[rule];
                    bool const all = std::all_of(wanted.begin(), wanted.end(), [&](auto const& l) {
                        auto const* const has = find(t.tasks[i].labels, t.symbols.find(l.first));
                        return has != nullptr && t.text(has->value) == l.second;
                    });
                    if (all && !wanted.empty()) exclusive_[i] |= std::uint64_t{1} << rule;
                }
        }

        /// A node without cards is somebody else's business: its amounts decide.
        [[nodiscard]] bool asks(node_view node, shape_view shape) const noexcept {
            return enabled_ && !shape.shape().devices.empty() && !node.cards().empty();
        }

        [[nodiscard]] static bool right_mode(node_view node, shape_view shape) noexcept {
            auto const& asked = shape.shape().devices.filter.mode;
            auto const mode = node.cards().back().mode;
            return mode == Mode::mode && (!asked || *asked == (mode == sharing::slices ? "hami-core" : "mig"));
        }

        /// What counts as taken: also what leaves, or what will be there once that has left.
        enum class when : std::uint8_t { now, later };

        [[nodiscard]] bool choose(node_view node, shape_view shape, when at, column<share>& out) const {
            auto const before = out.size();
            bool const fits = try_fit(node, shape, at, &out).fits;
            if (!fits) out.resize(before);
            return fits;
        }

        /// The node's cards as they are taken now, and as promised besides.
        [[nodiscard]] std::span<card_usage const> taken_at_once(node_view node) const noexcept {
            auto const now = node.taken();
            auto const later = node.taken_later();
            for (std::size_t i = 0; i != now.size(); ++i)
                busier_[i] = {std::max(now[i].slots, later[i].slots), std::max(now[i].memory, later[i].memory),
                              std::max(now[i].cores, later[i].cores)};
            return {busier_.data(), now.size()};
        }

        [[nodiscard]] device::fit_result try_fit(node_view node, shape_view shape, when at,
                                                 column<share>* chosen = nullptr) const {
            auto const which = shape.example().row().shape.index();
            auto const* const accepts = accepted_.data() + filters_[which];
            auto const first = node.first_card();
            auto const group = groups_[which];
            auto const rules = shape_key(shape.example());
            auto const usable = [&](std::uint32_t position) {
                card_id const c{first.index() + position};
                if (accepts[c.index()] == 0) return false;
                if (!group && rules == 0) return true;
                return !shared_with(node, c, group, rules, at);
            };
            bool const differ = at == when::now && node.now().cards_in_motion != 0;
            return device::fit<Mode>(shape.shape().devices, node.cards(),
                                     differ ? taken_at_once(node) : node.taken_later(), first, order_, scratch_, usable,
                                     chosen);
        }

        /// Whether a card holds a pod of the group, or one of the same exclusive set.
        [[nodiscard]] bool shared_with(node_view node, card_id c, symbol group, std::uint64_t rules,
                                       when at) const noexcept {
            bool shared = false;
            node.each_task([&](task_view other) {
                if (at == when::later && other.status() == task_status::releasing) return;
                bool const same_group = group && other.row().group == group;
                if (!same_group && (rules & shape_key(other)) == 0) return;
                for (auto const& s : other.shares())
                    if (s.card == c && (!same_group || s.memory != mib{0} || s.cores != percent{0})) shared = true;
            });
            return shared;
        }

        device::card_order order_;
        std::int64_t weight_;
        bool enabled_;
        bool node_lock_;
        mutable device::fit_scratch scratch_;
        mutable column<card_usage> busier_; ///< a card of one node
        column<std::size_t> filters_;       ///< a cluster shape: position in `accepted_`
        column<std::uint8_t> accepted_;     ///< `[filter][card]`
        column<symbol> groups_;             ///< a cluster shape: spread its pods
        column<std::uint64_t> exclusive_;   ///< a task: bits of its sets
        column<std::uint8_t> locked_;       ///< a node
    };

    [[nodiscard]] state open(session_view view) const { return {*this, view}; }
};

} // namespace muster::policy

namespace muster {

template <class Mode>
inline constexpr auto arguments<policy::deviceshare<Mode>> = boost::hana::make_tuple(
    argument<policy::deviceshare<Mode>, bool>{"deviceshare.VGPUEnable", &policy::deviceshare<Mode>::vgpu, false, {}},
    argument<policy::deviceshare<Mode>, std::string>{
        "deviceshare.SchedulePolicy", &policy::deviceshare<Mode>::order, {}, {}},
    argument<policy::deviceshare<Mode>, std::int64_t>{
        "deviceshare.ScheduleWeight", &policy::deviceshare<Mode>::weight, {}, {}},
    argument<policy::deviceshare<Mode>, bool>{
        "deviceshare.NodeLockEnable", &policy::deviceshare<Mode>::node_lock, {}, {}},
    label_sets_argument<policy::deviceshare<Mode>>{"deviceshare.GPUExclusiveRules",
                                                   &policy::deviceshare<Mode>::exclusive},
    inert_argument{"deviceshare.GPUSharingEnable", true}, inert_argument{"deviceshare.GPUNumberEnable", true},
    inert_argument{"deviceshare.AscendMindClusterVNPUEnable", true},
    inert_argument{"deviceshare.AscendHAMiVNPUEnable", true},
    inert_argument{"deviceshare.KnownGeometriesCMName", false},
    inert_argument{"deviceshare.KnownGeometriesCMNamespace", false});

} // namespace muster
