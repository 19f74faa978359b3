#pragma once

/// \file
/// Clusters in a few words, for tests.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/cluster/audit.hpp>
#include <muster/cluster/cluster.hpp>
#include <muster/cluster/view.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/scheduler/outcome.hpp>
#include <muster/scheduler/roster.hpp>

namespace test {

/// What a result holds; a refusal fails the test.
template <class T>
T must(muster::result<T> const& r) {
    REQUIRE(r.has_value());
    return *r;
}

muster::quantity quantity(std::string_view text);

/// "2/4Gi pods=10 nvidia.com/gpu=4": cpu and memory, then others by name. Empty: nothing.
muster::resource_list amounts(std::string_view text);

/// A status by its name, in small letters.
muster::task_status status(std::string_view name);

/// A healthy card of ten slots.
muster::card_spec card(std::string uuid, std::int64_t mib);

/// `cards` cards, each with so much memory and so many cores, for the first container.
muster::device_request share(std::int64_t mib, std::int64_t cores = 0, std::int64_t cards = 1);

using binds = std::map<std::string, std::string>;

/// A cluster that grows by one line an object. Names are "namespace/name", or "name" in namespace default.
struct world {
    muster::cluster cluster{};

    /// Ten pods fit, unless `what` says "pods=".
    muster::node_id node(std::string name, std::string_view what, muster::node_spec spec = {});
    muster::queue_id queue(std::string name, muster::queue_spec spec = {});
    /// A pending job, unless `spec` says otherwise.
    muster::job_id job(std::string_view name, std::string queue, std::int32_t min, muster::job_spec spec = {});
    muster::task_id pod(std::string_view name, std::string_view job, std::string_view what,
                        muster::task_spec spec = {});

    [[nodiscard]] std::string name(muster::task_id t) const;
    [[nodiscard]] std::string name(muster::node_id n) const; ///< empty for none
    [[nodiscard]] std::vector<std::string> names(muster::column<muster::task_id> const& tasks) const;

    /// What an outcome decided: pod to node.
    [[nodiscard]] test::binds binds(muster::outcome const& out) const;
};

/// A job that was let in already, for `world::job`.
muster::job_spec inqueue(muster::job_spec spec = {});

/// A running pod on a node, for `world::pod`.
muster::task_spec running(std::string node, muster::task_spec spec = {});

/// Findings in a line of text; empty where all is sound.
std::string report(muster::findings const& found);

/// The audits' findings, as text.
std::string flaws(muster::cluster const& c);
std::string flaws(muster::tables const& t, muster::state const& s);
std::string flaws_of_cycle(world const& w, muster::state const& after, bool gangs = true);

/// What policies see of a cluster before anything is decided.
class lens {
public:
    explicit lens(muster::cluster const& c);
    explicit lens(world const& w) : lens(w.cluster) {}

    [[nodiscard]] muster::session_view view() const noexcept { return view(cluster_->state()); }
    [[nodiscard]] muster::session_view view(muster::state const& now) const noexcept {
        return {cluster_->tables(), now, roster_.nodes(), roster_.queues(), roster_.jobs(), phases_};
    }
    template <class Id>
    [[nodiscard]] auto operator[](Id id) const noexcept {
        return view().view(id);
    }
    [[nodiscard]] muster::shape_view shape(muster::task_id t) const noexcept { return shape(t, cluster_->state()); }
    [[nodiscard]] muster::shape_view shape(muster::task_id t, muster::state const& now) const noexcept {
        return {cluster_->tables(), now, cluster_->tables().tasks[t.index()].shape, t};
    }

private:
    muster::cluster const* cluster_;
    muster::roster roster_;
    muster::column<muster::job_phase> phases_;
};

} // namespace test
