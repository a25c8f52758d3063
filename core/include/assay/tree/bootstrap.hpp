// How often each row is in the bootstrap sample of a tree.
//
//     counts[i] = number of the n_draws draws, uniform on 0 .. n_rows - 1, that gave i
//
// A pure function of (seed, tree): the out-of-bag predictor asks again instead of
// storing n_trees x n_rows numbers.
//
// Needs   1 <= n_rows = counts.size() < 2^32, n_draws < 2^32.
// Cost    O(n_rows + n_draws); about 2 ns per draw.
// Source  Efron: Bootstrap methods: another look at the jackknife (1979).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/common/random.hpp"

namespace assay::tree {

// A good mixer of 64 bits (splitmix64's), for keys of streams.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

// Keys of the streams of one tree: the bootstrap, and the nodes by their path.
[[nodiscard]] constexpr std::uint64_t bootstrap_key(std::uint64_t tree) noexcept {
    return mixed(tree) ^ 0xB007;
}
[[nodiscard]] constexpr std::uint64_t root_key(std::uint64_t tree) noexcept {
    return mixed(mixed(tree) + 1);
}
[[nodiscard]] constexpr std::uint64_t child_key(std::uint64_t parent, bool is_right) noexcept {
    return mixed(2 * parent + (is_right ? 1 : 0));
}

inline void bootstrap_counts(std::uint64_t seed, std::uint64_t tree, std::size_t n_draws,
                             std::span<std::uint32_t> counts, std::uint64_t attempt = 0) noexcept {
    assert(!counts.empty());
    std::fill(counts.begin(), counts.end(), 0U);
    RandomStream stream(seed, bootstrap_key(tree) + attempt);
    const auto n_rows = static_cast<std::uint32_t>(counts.size());
    for (std::size_t draw = 0; draw < n_draws; ++draw) {
        ++counts[stream.below(n_rows)];
    }
}

}  // namespace assay::tree
