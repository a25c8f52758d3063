// Rows down small trees, 64 at a time: every node of a tree is asked about all rows.
//
//     reach(root) = all rows;  reach(left) = reach(i) & (code <= cut),  reach(right) = the rest
//
// A walk takes a step per level and row, each waiting for the one before. Here a node is one
// comparison of 64 codes and two words; for trees of up to 255 leaves that is far less. Codes
// are exact: code(x) is the number of thresholds of the column below x, over all trees, so that
// x <= threshold j is code <= j; a missing value has the code 255. The code of a nominal value is
// its level, and what goes left is a set of codes, looked up by the two halves of a code.
//
// Needs   nodes that passed predict_check.hpp; serves().
// Cost    about 3 ns to code a value, 1 ns per row and tree of 31 leaves (AVX-512).
// Source  Lucchese et al.: QuickScorer (SIGIR 2015), for the idea to ask all nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/tree/nodes.hpp"

namespace assay::tree {

struct MaskNode {
    std::uint16_t at;    // number of the node in its tree
    std::uint16_t left;  // of its first child
    std::uint16_t column;
    std::uint8_t cut;  // codes up to this one go left
    std::uint8_t missing_left;
    std::int32_t set;  // nominal: the place of its set, else -1
};

// A set of codes: bit (c / 16) % 8 of byte 16 (c / 128) + c % 16 is code c.
struct CodeSet {
    std::uint8_t bytes[32];

    void add(std::size_t c) noexcept {
        std::uint8_t& byte = bytes[c / 128 * 16 + c % 16];
        byte = static_cast<std::uint8_t>(byte | 1U << (c / 16 % 8));
    }
};

template <class Level>
struct MaskWalk {
    // `cuts`: 256 ascending numbers, +inf behind the last threshold. n values, `stride` apart.
    static void code(const double* cuts, const double* x, std::size_t stride, std::size_t n,
                     std::uint8_t* codes) noexcept;
    static void code(const double* cuts, const float* x, std::size_t stride, std::size_t n,
                     std::uint8_t* codes) noexcept;
    // Which of the leaves each of 64 rows reaches. Codes of column c begin at codes + c * stride;
    // `reach` has room for a word per node.
    static void leaves(const MaskNode* nodes, std::size_t n_nodes, const CodeSet* sets,
                       const std::uint16_t* leaf, std::size_t n_leaves, const std::uint8_t* codes,
                       std::size_t stride, std::uint64_t* reach, std::uint8_t* out) noexcept;
};

class MaskForest {
  public:
    static constexpr std::size_t rows = 512;  // coded at a time: they stay in L1

    // Whether it pays and is possible; thresholds are counted by the constructor only.
    [[nodiscard]] static bool serves(const NodesView& nodes, std::size_t n_rows) noexcept {
        if (n_rows < 256 || nodes.n_levels.size() > 65535) {
            return false;
        }
        for (std::size_t t = 0; t < nodes.n_trees(); ++t) {
            if (nodes.start[t + 1] - nodes.start[t] > 2 * most_leaves - 1) {
                return false;
            }
        }
        return true;
    }

    explicit MaskForest(const NodesView& nodes) {
        std::vector<std::vector<double>> cuts(nodes.n_levels.size());
        for (std::size_t i = 0; i < nodes.left.size(); ++i) {
            if (nodes.left[i] != 0) {  // nominal columns too: one number, whatever it means
                cuts[static_cast<std::size_t>(nodes.feature[i])].push_back(nodes.threshold[i]);
            }
        }
        std::vector<std::uint16_t> place(cuts.size());
        for (std::size_t f = 0; f < cuts.size(); ++f) {
            std::sort(cuts[f].begin(), cuts[f].end());
            cuts[f].erase(std::unique(cuts[f].begin(), cuts[f].end()), cuts[f].end());
            if (cuts[f].empty()) {
                continue;
            }
            if (cuts[f].size() > most_cuts ||
                nodes.n_levels[f] > static_cast<std::int32_t>(most_cuts)) {
                return;  // not usable
            }
            place[f] = static_cast<std::uint16_t>(columns_.size());
            columns_.push_back(f);
            n_levels_.push_back(nodes.n_levels[f]);
            cuts_.insert(cuts_.end(), cuts[f].begin(), cuts[f].end());
            cuts_.resize(columns_.size() * 256, std::numeric_limits<double>::infinity());
        }
        for (std::size_t t = 0; t < nodes.n_trees(); ++t) {
            const auto first = static_cast<std::size_t>(nodes.start[t]);
            const auto end = static_cast<std::size_t>(nodes.start[t + 1]);
            for (std::size_t i = first; i < end; ++i) {
                const auto at = static_cast<std::uint16_t>(i - first);
                if (nodes.left[i] == 0) {
                    leaf_.push_back(at);
                    if (nodes.n_outputs == 1 && !nodes.value.empty()) {
                        value_.push_back(nodes.value[static_cast<std::size_t>(nodes.slot[i])]);
                    }
                    continue;
                }
                const auto f = static_cast<std::size_t>(nodes.feature[i]);
                if (nodes.slot[i] >= 0) {
                    inner_.push_back({at, static_cast<std::uint16_t>(nodes.left[i]), place[f], 0, 0,
                                      static_cast<std::int32_t>(sets_.size())});
                    sets_.push_back(left_codes(nodes, i));
                    continue;
                }
                const auto cut =
                    std::lower_bound(cuts[f].begin(), cuts[f].end(), nodes.threshold[i]) -
                    cuts[f].begin();
                inner_.push_back({at, static_cast<std::uint16_t>(nodes.left[i]), place[f],
                                  static_cast<std::uint8_t>(cut), nodes.missing_left[i], -1});
            }
            inner_start_.push_back(inner_.size());
            leaf_start_.push_back(leaf_.size());
        }
        is_usable_ = true;
    }

    // False where a column has too many thresholds or levels.
    [[nodiscard]] bool is_usable() const noexcept { return is_usable_; }

    // Codes of up to `rows` rows, for leaves(): X begins at the first of them.
    template <class T>
    void code(const T* X, std::size_t n_cols, std::size_t n, std::uint8_t* codes) const noexcept {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const T* x = X + columns_[c];
            if (n_levels_[c] != 0) {
                const auto levels = static_cast<T>(n_levels_[c]);
                for (std::size_t i = 0; i < n; ++i) {
                    const T value = x[i * n_cols];
                    const bool is_level = (value >= 0) & (value < levels);
                    codes[c * rows + i] = static_cast<std::uint8_t>(is_level ? value : T{255});
                }
                continue;
            }
            dispatch([&](auto level) {
                MaskWalk<decltype(level)>::code(cuts_.data() + 256 * c, x, n_cols, n,
                                                codes + c * rows);
            });
        }
    }
    [[nodiscard]] std::size_t code_bytes() const noexcept {
        return std::max<std::size_t>(1, columns_.size()) * rows;
    }

    // Leaves of n coded rows in tree t, as numbers of nodes.
    void leaves(std::size_t t, const std::uint8_t* codes, std::size_t n,
                std::uint32_t* out) const noexcept {
        const std::uint16_t* leaf = leaf_.data() + leaf_start_[t];
        each_64(t, codes, n, [&](std::size_t i, const std::uint8_t* which, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) {
                out[i + k] = leaf[which[k]];
            }
        });
    }

    // sum[i * width] += value of the leaf of row i, where trees have one output.
    void add(std::size_t t, const std::uint8_t* codes, std::size_t n, double* sum,
             std::size_t width) const noexcept {
        const double* value = value_.data() + leaf_start_[t];
        each_64(t, codes, n, [&](std::size_t i, const std::uint8_t* which, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) {
                sum[(i + k) * width] += value[which[k]];
            }
        });
    }

  private:
    static constexpr std::int64_t most_leaves = 255;
    static constexpr std::size_t most_cuts = 254;

    // The codes that go left at a nominal split; missing values and unseen levels have code 255.
    [[nodiscard]] static CodeSet left_codes(const NodesView& nodes, std::size_t i) noexcept {
        CodeSet set{};
        const std::uint32_t* words = nodes.words.data() + nodes.slot[i];
        const auto n_levels =
            static_cast<std::size_t>(nodes.n_levels[static_cast<std::size_t>(nodes.feature[i])]);
        for (std::size_t level = 0; level < n_levels; ++level) {
            if ((words[level / 32] >> (level % 32) & 1U) != 0) {
                set.add(level);
            }
        }
        if (nodes.missing_left[i] != 0) {
            set.add(255);
        }
        return set;
    }

    // body(i, which, count): which of the leaves of tree t rows i .. i + count - 1 reach.
    template <class Body>
    void each_64(std::size_t t, const std::uint8_t* codes, std::size_t n,
                 Body body) const noexcept {
        std::array<std::uint64_t, 2 * most_leaves> reach;
        alignas(cache_line) std::array<std::uint8_t, 64> which;
        for (std::size_t i = 0; i < n; i += 64) {
            dispatch([&](auto level) {
                MaskWalk<decltype(level)>::leaves(inner_.data() + inner_start_[t],
                                                  inner_start_[t + 1] - inner_start_[t],
                                                  sets_.data(), leaf_.data() + leaf_start_[t],
                                                  leaf_start_[t + 1] - leaf_start_[t], codes + i,
                                                  rows, reach.data(), which.data());
            });
            body(i, which.data(), std::min<std::size_t>(64, n - i));
        }
    }

    bool is_usable_ = false;
    std::vector<std::size_t> columns_;    // those that are asked for
    std::vector<std::int32_t> n_levels_;  // of these, 0: numeric
    std::vector<double> cuts_;
    std::vector<MaskNode> inner_;
    std::vector<CodeSet> sets_;
    std::vector<std::size_t> inner_start_{0};
    std::vector<std::uint16_t> leaf_;
    std::vector<std::size_t> leaf_start_{0};
    std::vector<double> value_;  // of each leaf, with one output
};

}  // namespace assay::tree
