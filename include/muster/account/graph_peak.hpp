#pragma once

/// \file
/// What the allocations of a graph take at most at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::account {

/// Bytes by device.
using takings = std::map<int, std::uint64_t>;

/// A node of a graph, and what it allocates or frees, if it does.
struct graph_step {
    std::uint64_t node = 0;
    std::uint64_t block = 0; ///< its address; zero: neither
    int device = 0;
    std::uint64_t size = 0; ///< zero: it frees the block
};

/// A node and one that follows it.
using graph_edge = std::pair<std::uint64_t, std::uint64_t>;

/// The steps in their order, if each but the last is followed by one other and all are one chain.
[[nodiscard]] inline std::optional<std::vector<graph_step>> chain_of(std::vector<graph_step> const& steps,
                                                                     std::vector<graph_edge> const& edges) {
    if (edges.size() + 1 != steps.size()) return std::nullopt;
    std::unordered_map<std::uint64_t, std::uint64_t> next;
    std::unordered_map<std::uint64_t, graph_step> left;
    for (auto const& s : steps) left[s.node] = s;
    auto first = left;
    for (auto const& [from, to] : edges) {
        next[from] = to;
        first.erase(to);
    }
    if (first.size() != 1) return std::nullopt;
    std::vector<graph_step> ordered;
    for (auto at = left.find(first.begin()->first); at != left.end();) {
        ordered.push_back(at->second);
        auto const after = next.find(at->first);
        left.erase(at);
        at = after == next.end() ? left.end() : left.find(after->second);
    }
    if (ordered.size() != steps.size()) return std::nullopt;
    return ordered;
}

/// Adds what the steps take at most: in a chain, what is freed can be taken again; else everything may be there at
/// once.
inline void add_peak(std::vector<graph_step> const& steps, std::vector<graph_edge> const& edges, takings& to) {
    auto const chain = chain_of(steps, edges);
    takings now;
    takings most;
    std::unordered_map<std::uint64_t, graph_step> live;
    for (auto const& s : chain ? *chain : steps) {
        if (s.block == 0) continue;
        if (s.size != 0) {
            live[s.block] = s;
            now[s.device] += s.size;
            most[s.device] = std::max(most[s.device], now[s.device]);
        } else if (auto const at = live.find(s.block); chain && at != live.end()) {
            now[at->second.device] -= at->second.size;
            live.erase(at);
        }
    }
    for (auto const& [device, size] : most) to[device] += size;
}

} // namespace muster::account
