// Minimal cost-complexity pruning: at which price does each inner node become a leaf?
//
//     R_a(T) = R(T) + a |leaves of T|
//     g(t)   = (R(t) - R(T_t)) / (|leaves of T_t| - 1)         the price at which t is not worth it
//
// Again and again the inner node with the smallest g is made a leaf (the weakest link). The trees
// that this leaves are nested and each is the smallest minimiser of R_a for its range of a, so one
// number per node says everything: node i is inner in the tree for price a when a < collapse[i].
//
// Needs   left[i] = 0 at a leaf, else children left[i] and left[i] + 1, both above i and below
//         left.size(); risk[i] = share of the weight in node i times its impurity.
//         Nodes that cannot be reached from node 0 are left out (a tree cut at some depth).
// Cost    O(n depth log n) for n nodes, by a heap whose stale entries are passed over.
// Source  Breiman, Friedman, Olshen, Stone: Classification and Regression Trees (1984), 3.3.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace assay::tree {

// One entry per step, beginning with the tree as it is: the price, never falling, and R(T) after.
struct PruningSteps {
    std::vector<double> alpha{0.0};
    std::vector<double> risk;
};

inline PruningSteps weakest_links(std::span<const std::int32_t> left, std::span<const double> risk,
                                  std::span<double> collapse) {
    const std::size_t n = left.size();
    assert(n >= 1 && risk.size() == n && collapse.size() == n);
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    constexpr auto none = static_cast<std::size_t>(-1);
    std::fill(collapse.begin(), collapse.end(), infinity);
    std::vector<std::size_t> parent(n, none);
    std::vector<std::int64_t> leaves(n, 0);
    std::vector<double> branch(n, 0.0);
    std::vector<char> inner(n, 0);
    std::vector<char> reached(n, 0);
    reached[0] = 1;
    for (std::size_t i = 0; i < n; ++i) {
        if (reached[i] != 0 && left[i] != 0) {
            const auto child = static_cast<std::size_t>(left[i]);
            assert(child > i && child + 1 < n);  // children come after their parent
            inner[i] = 1;
            for (const std::size_t c : {child, child + 1}) {
                parent[c] = i;
                reached[c] = 1;
            }
        }
    }
    const auto price = [&](std::size_t i) {
        return (risk[i] - branch[i]) / static_cast<double>(leaves[i] - 1);
    };
    using Link = std::pair<double, std::size_t>;
    std::vector<double> current(n, infinity);
    std::vector<Link> links;
    for (std::size_t i = n; i-- > 0;) {
        if (inner[i] == 0) {
            leaves[i] = 1;
            branch[i] = risk[i];
            continue;
        }
        const auto child = static_cast<std::size_t>(left[i]);
        leaves[i] = leaves[child] + leaves[child + 1];
        branch[i] = branch[child] + branch[child + 1];
        current[i] = price(i);
        links.emplace_back(current[i], i);
    }
    PruningSteps steps;
    steps.risk.push_back(branch[0]);
    std::priority_queue<Link, std::vector<Link>, std::greater<>> heap(std::greater<>{},
                                                                      std::move(links));
    std::vector<std::size_t> below;
    while (inner[0] != 0) {
        assert(!heap.empty());
        const auto [alpha, t] = heap.top();
        heap.pop();
        if (inner[t] == 0 || alpha != current[t]) {
            continue;  // pruned meanwhile, or priced anew
        }
        // Rounding may price a link a hair below the one before.
        const double reached_alpha = std::max(steps.alpha.back(), alpha);
        below.assign(1, t);
        while (!below.empty()) {
            const std::size_t i = below.back();
            below.pop_back();
            if (inner[i] != 0) {
                inner[i] = 0;
                collapse[i] = reached_alpha;
                below.push_back(static_cast<std::size_t>(left[i]));
                below.push_back(static_cast<std::size_t>(left[i]) + 1);
            }
        }
        const std::int64_t fewer = leaves[t] - 1;
        const double worse = risk[t] - branch[t];
        leaves[t] = 1;
        branch[t] = risk[t];
        for (std::size_t i = parent[t]; i != none; i = parent[i]) {
            leaves[i] -= fewer;
            branch[i] += worse;
            current[i] = price(i);
            heap.emplace(current[i], i);
        }
        steps.alpha.push_back(reached_alpha);
        steps.risk.push_back(branch[0]);
    }
    return steps;
}

}  // namespace assay::tree
