#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/predict_masks.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

// Random trees on three columns; the second one may be nominal, with 200 levels.
struct Example {
    explicit Example(bool nominal = false) : n_levels{0, nominal ? 200 : 0, 0} {}

    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> left, feature, slot;
    std::vector<double> threshold;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int32_t> n_levels;
    std::vector<std::uint32_t> words;
    RandomStream random{3, 0};

    void add_tree(std::size_t splits, std::uint32_t n_values) {
        const std::size_t first = left.size();
        std::vector<std::size_t> leaves{add()};
        for (std::size_t s = 0; s < splits; ++s) {
            const std::size_t pick = random.below(static_cast<std::uint32_t>(leaves.size()));
            const std::size_t node = leaves[pick];
            leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(pick));
            left[node] = static_cast<std::int32_t>(left.size() - first);
            feature[node] = static_cast<std::int32_t>(random.below(3U));
            threshold[node] = random.below(n_values);
            missing_left[node] = static_cast<std::uint8_t>(random.below(2U));
            slot[node] = -1;
            if (n_levels[static_cast<std::size_t>(feature[node])] != 0) {
                slot[node] = static_cast<std::int32_t>(words.size());
                threshold[node] = 0;
                for (int word = 0; word < 7; ++word) {
                    words.push_back(random());
                }
            }
            leaves.push_back(add());
            leaves.push_back(add());
        }
        start.push_back(static_cast<std::int64_t>(left.size()));
    }

    std::size_t add() {
        left.push_back(0);
        feature.push_back(-1);
        slot.push_back(static_cast<std::int32_t>(slot.size()));
        threshold.push_back(0);
        missing_left.push_back(0);
        return left.size() - 1;
    }

    [[nodiscard]] NodesView view() const {
        NodesView nodes;
        nodes.start = start;
        nodes.left = left;
        nodes.feature = feature;
        nodes.threshold = threshold;
        nodes.missing_left = missing_left;
        nodes.slot = slot;
        nodes.n_levels = n_levels;
        nodes.words = words;
        return nodes;
    }

    template <class T>
    [[nodiscard]] std::uint32_t leaf(std::size_t t, const T* row) const {
        const auto first = static_cast<std::size_t>(start[t]);
        std::size_t at = 0;
        while (left[first + at] != 0) {
            const T x = row[feature[first + at]];
            at = static_cast<std::size_t>(left[first + at]) +
                 (view().goes_left(first + at, x) ? 0U : 1U);
        }
        return static_cast<std::uint32_t>(at);
    }
};

template <class T>
void check_leaves(Example& example, std::uint32_t n_values) {
    const MaskForest forest(example.view());
    REQUIRE(forest.is_usable());
    for (const std::size_t n : {MaskForest::rows, std::size_t{100}, std::size_t{1}}) {
        std::vector<T> X(n * 3);
        for (T& x : X) {
            const std::uint32_t kind = example.random.below(20U);
            x = kind == 0   ? std::numeric_limits<T>::quiet_NaN()
                : kind == 1 ? std::numeric_limits<T>::infinity()
                : kind == 2 ? -std::numeric_limits<T>::infinity()
                            : static_cast<T>(example.random.below(2 * n_values)) / 2;
        }
        std::vector<std::uint8_t> codes(forest.code_bytes());
        forest.code(X.data(), 3, n, codes.data());
        std::vector<std::uint32_t> found((n + 63) / 64 * 64);
        for (std::size_t t = 0; t + 1 < example.start.size(); ++t) {
            forest.leaves(t, codes.data(), n, found.data());
            bool same = true;
            for (std::size_t i = 0; i < n; ++i) {
                same = same && found[i] == example.leaf(t, X.data() + 3 * i);
            }
            CHECK(same);
        }
    }
}

}  // namespace

TEST_CASE("all nodes at once find the leaves that a walk finds") {
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        limit_cpu(level);
        // Above 1000: one column is nominal.
        for (const std::uint32_t n_values : {3U, 40U, 254U, 1003U, 1040U, 1254U}) {
            Example example(n_values > 1000U);
            for (const std::size_t splits : {0U, 1U, 7U, 30U, 254U}) {
                example.add_tree(splits, n_values % 1000);
            }
            CHECK(MaskForest::serves(example.view(), 256));
            check_leaves<double>(example, n_values % 1000);
            check_leaves<float>(example, n_values % 1000);
        }
    }
    limit_cpu({});
}

TEST_CASE("masks do not serve few rows, large trees, too many thresholds or levels") {
    Example example;
    example.add_tree(5, 10);
    CHECK(MaskForest::serves(example.view(), 256));
    CHECK(!MaskForest::serves(example.view(), 255));
    Example nominal(true);
    nominal.add_tree(60, 10);
    CHECK(MaskForest(nominal.view()).is_usable());
    nominal.n_levels[1] = 255;
    nominal.words.resize(nominal.words.size() + 1);
    CHECK(!MaskForest(nominal.view()).is_usable());
    Example many;
    for (int t = 0; t < 10; ++t) {
        many.add_tree(200, 1U << 30);
    }
    CHECK(MaskForest::serves(many.view(), 1000));
    CHECK(!MaskForest(many.view()).is_usable());
    example.add_tree(255, 10);
    CHECK(!MaskForest::serves(example.view(), 1000));
}
