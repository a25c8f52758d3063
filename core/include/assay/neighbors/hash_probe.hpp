// Which bins of which tables to look into for one query, the most promising first.
//
//     bin_j = floor(v_j * inverse_width + shift_j)     or   [v_j >= 0]   (sign hashing)
//     key   = sum_j bin_j * multiplier_j  mod 2^64
//
// v are the m projections of the query in one table. A bin beside the query's own differs by
// +-1 in some of the m coordinates; its score is the sum over them of the squared distance from
// the query to the border crossed, in bin widths. `next` gives the bins of all tables together by
// ascending score, first the query's own bins. A key is a sum, so a step to a neighbouring bin is
// one addition.
//
// Needs   1 <= m <= 32; projections of all tables, m after m.
// Cost    O(log) per bin, after O(m log m) per table.
// Source  Lv, Josephson, Wang, Charikar, Li: Multi-probe LSH (VLDB 2007), section 4.4, where each
//         table has a sequence of its own; here one heap serves all tables.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::neighbors {

struct HashShape {
    std::size_t n_tables = 1;
    std::size_t n_projections = 1;  // m
    std::size_t width = 16;         // columns of projections, at least n_tables * m
    float inverse_width = 1;
    bool sign = false;
};

inline constexpr std::size_t most_projections = 32;

// The odd factor of coordinate j in a key: splitmix64.
[[nodiscard]] constexpr std::uint64_t hash_multiplier(std::size_t j) noexcept {
    std::uint64_t z = (static_cast<std::uint64_t>(j) + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return (z ^ (z >> 31)) | 1;
}

// Where a coordinate lies: its bin, and how far into it (in bin widths).
struct HashCoordinate {
    std::int64_t bin;
    float inside;
};

[[nodiscard]] inline HashCoordinate hash_coordinate(const HashShape& shape, float v,
                                                    float shift) noexcept {
    if (shape.sign) {
        return {v >= 0 ? 1 : 0, std::abs(v) * shape.inverse_width};
    }
    constexpr float most = 1e9F;
    const float at = std::clamp(v * shape.inverse_width + shift, -most, most);
    const float floor = std::floor(at);
    return {static_cast<std::int64_t>(floor), at - floor};
}

[[nodiscard]] inline std::uint64_t hash_key(const HashShape& shape, const float* projected,
                                            const float* shift) noexcept {
    std::uint64_t key = 0;
    for (std::size_t j = 0; j < shape.n_projections; ++j) {
        const auto bin = hash_coordinate(shape, projected[j], shift[j]).bin;
        key += static_cast<std::uint64_t>(bin) * hash_multiplier(j);
    }
    return key;
}

class HashProbes {
  public:
    struct Bin {
        std::uint64_t key;
        std::uint32_t table;
    };

    explicit HashProbes(const HashShape& shape)
        : shape_(shape),
          steps_(shape.n_tables * per_table()),
          own_(shape.n_tables),
          multiplier_(shape.n_projections) {
        for (std::size_t j = 0; j < multiplier_.size(); ++j) {
            multiplier_[j] = hash_multiplier(j);
        }
    }

    void start(const float* projected, std::span<const float> shifts) {
        const std::size_t m = shape_.n_projections;
        heap_.clear();
        given_ = 0;
        for (std::size_t table = 0; table < shape_.n_tables; ++table) {
            Step* steps = steps_.data() + table * per_table();
            std::uint64_t key = 0;
            std::size_t count = 0;
            for (std::size_t j = 0; j < m; ++j) {
                const auto at =
                    hash_coordinate(shape_, projected[table * m + j], shifts[table * m + j]);
                key += static_cast<std::uint64_t>(at.bin) * multiplier_[j];
                const auto coordinate = static_cast<std::uint32_t>(j);
                if (shape_.sign) {
                    const std::uint64_t flip = at.bin == 0 ? multiplier_[j] : 0 - multiplier_[j];
                    steps[count++] = {at.inside * at.inside, coordinate, flip};
                } else {
                    const float beyond = 1 - at.inside;
                    steps[count++] = {at.inside * at.inside, coordinate, 0 - multiplier_[j]};
                    steps[count++] = {beyond * beyond, coordinate, multiplier_[j]};
                }
            }
            std::stable_sort(steps, steps + count,
                             [](const Step& a, const Step& b) { return a.score < b.score; });
            own_[table] = key;
        }
    }

    // The next bin; false when there are no more.
    [[nodiscard]] bool next(Bin& bin) {
        if (given_ < shape_.n_tables) {
            const auto table = static_cast<std::uint32_t>(given_++);
            bin = {own_[table], table};
            push({steps_of(table)[0].score, 0, own_[table], 0, table, 0});
            return true;
        }
        while (!heap_.empty()) {
            const Node node = heap_.front();
            pop();
            const Step* steps = steps_of(node.table);
            const Step& step = steps[node.last];
            const std::uint64_t bit = std::uint64_t{1} << step.coordinate;
            const bool clash = (node.used & bit) != 0;
            if (node.last + 1U < per_table()) {
                const Step& after = steps[node.last + 1];
                // Shift: the last step becomes the next one.
                push({node.before + after.score, node.before, node.key, node.used, node.table,
                      node.last + 1});
                // Expand: one step more. A coordinate that moved twice clashes for ever.
                if (!clash) {
                    push({node.score + after.score, node.score, node.key + step.delta,
                          node.used | bit, node.table, node.last + 1});
                }
            }
            if (!clash) {
                bin = {node.key + step.delta, node.table};
                return true;
            }
        }
        return false;
    }

  private:
    struct Step {
        float score;
        std::uint32_t coordinate;
        std::uint64_t delta;
    };
    struct Node {
        float score;
        float before;        // score without the last step
        std::uint64_t key;   // without the last step
        std::uint64_t used;  // coordinates moved, without the last step
        std::uint32_t table;
        std::uint32_t last;
    };

    [[nodiscard]] std::size_t per_table() const noexcept {
        return shape_.n_projections * (shape_.sign ? 1 : 2);
    }
    [[nodiscard]] const Step* steps_of(std::size_t table) const noexcept {
        return steps_.data() + table * per_table();
    }
    static bool later(const Node& a, const Node& b) noexcept { return a.score > b.score; }
    void push(const Node& node) {
        heap_.push_back(node);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    void pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
    }

    HashShape shape_;
    std::vector<Step> steps_;
    std::vector<std::uint64_t> own_;
    std::vector<std::uint64_t> multiplier_;
    std::vector<Node> heap_;
    std::size_t given_ = 0;
};

}  // namespace assay::neighbors
