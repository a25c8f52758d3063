#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/criterion.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

// Weighted impurity of the parent less that of the sides, from its definition.
double gain(Criterion criterion, const std::vector<double>& left, const std::vector<double>& all) {
    std::vector<double> right(all.size());
    double l = 0;
    double r = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
        right[k] = all[k] - left[k];
        l += left[k];
        r += right[k];
    }
    const auto of = [&](const std::vector<double>& counts) {
        return class_impurity<double>(criterion, counts);
    };
    return (l + r) * of(all) - l * of(left) - r * of(right);
}

}  // namespace

TEST_CASE("impurities have the values of the textbook") {
    const std::vector<double> fair = {5, 5};
    CHECK(class_impurity<double>(Criterion::entropy, fair) == doctest::Approx(1));
    CHECK(class_impurity<double>(Criterion::gini, fair) == doctest::Approx(0.5));
    CHECK(class_impurity<double>(Criterion::error, fair) == doctest::Approx(0.5));
    const std::vector<double> die = {1, 1, 1, 1};
    CHECK(class_impurity<double>(Criterion::entropy, die) == doctest::Approx(2));
    const std::vector<double> loaded = {99, 1};
    CHECK(class_impurity<double>(Criterion::entropy, loaded) ==
          doctest::Approx(0.0808).epsilon(0.001));
}

TEST_CASE("scores order splits as the decrease of impurity does") {
    RandomStream stream(1, 0);
    for (const Criterion criterion : {Criterion::gini, Criterion::entropy, Criterion::error}) {
        for (int round = 0; round < 200; ++round) {
            std::vector<std::uint32_t> total(3);
            std::vector<std::uint32_t> a(3);
            std::vector<std::uint32_t> b(3);
            for (std::size_t k = 0; k < 3; ++k) {
                total[k] = 2 + stream.below(20U);
                a[k] = 1 + stream.below(total[k] - 1);
                b[k] = 1 + stream.below(total[k] - 1);
            }
            using Target = ClassTarget<Criterion::at_run_time, std::uint32_t>;
            const Target target(criterion, {}, 3);
            std::vector<typename Target::Number> scratch(target.scratch_size());
            Target::Scan scan(target, total.data(), scratch.data());
            scan.add(a.data());
            const double score_a = scan.score();
            scan.remove(a.data());
            scan.add(b.data());
            const double score_b = scan.score();
            const std::vector<double> all(total.begin(), total.end());
            const double gain_a = gain(criterion, {a.begin(), a.end()}, all);
            const double gain_b = gain(criterion, {b.begin(), b.end()}, all);
            CHECK(score_a - score_b == doctest::Approx(gain_a - gain_b).epsilon(1e-9));
        }
    }
}

TEST_CASE("two packed classes score as two counted ones") {
    RandomStream stream(2, 0);
    std::vector<std::int32_t> y = {0, 1};
    const BinaryTarget packed(y);
    const ClassTarget<Criterion::gini, std::uint32_t> counted(y, 2);
    std::vector<std::uint32_t> scratch(counted.scratch_size());
    for (int round = 0; round < 200; ++round) {
        const std::uint32_t total[2] = {2 + stream.below(50U), 2 + stream.below(50U)};
        const std::uint32_t left[2] = {1 + stream.below(total[0] - 1),
                                       1 + stream.below(total[1] - 1)};
        const std::uint64_t word = std::uint64_t{total[0] + total[1]} << 32 | total[1];
        const std::uint64_t part = std::uint64_t{left[0] + left[1]} << 32 | left[1];
        BinaryTarget::Scan a(packed, &word, nullptr);
        ClassTarget<Criterion::gini, std::uint32_t>::Scan b(counted, total, scratch.data());
        const double n = total[0] + total[1];
        a.clear();
        a.add(&part);
        b.add(left);
        // sum_side sum_k c_k^2 / w = const + 2 difference^2 / (n^2 w_left w_right) * n
        const double base = (double(total[0]) * total[0] + double(total[1]) * total[1]) / n;
        CHECK(b.score() - base == doctest::Approx(2 * a.score() / n / n * n).epsilon(1e-9));
        CHECK(a.left_weight() == b.left_weight());
        CHECK(a.right_value() == doctest::Approx(b.right_value()));
    }
}

TEST_CASE("the squared error of a split is the sum of squares between its sides") {
    const std::vector<double> y = {1, 2, 4, 8, 16};
    const std::vector<double> offset = {4};
    const MeanTarget<1> target(Criterion::squared_error, y, 1, offset);
    std::vector<double> total(2);
    for (std::size_t i = 0; i < 5; ++i) {
        target.add(total.data(), target.entry(i, 1));
    }
    std::vector<double> scratch(2);
    MeanTarget<1>::Scan scan(target, total.data(), scratch.data());
    scan.add_entry(target.entry(0, 1));
    scan.add_entry(target.entry(1, 1));
    const double left = 1.5;
    const double right = 28.0 / 3;
    // (S_l w_r - S_r w_l)^2 / (w_l w_r) = w_l w_r (left - right)^2
    CHECK(scan.score() == doctest::Approx(2 * 3 * (left - right) * (left - right)));
    CHECK(scan.left_value() == doctest::Approx(left));
    CHECK(scan.right_value() == doctest::Approx(right));
}

TEST_CASE("a sum of entries below a code is what a loop adds") {
    RandomStream stream(3, 0);
    std::vector<std::int32_t> y(100);
    std::vector<std::uint8_t> codes(100);
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = static_cast<std::int32_t>(stream.below(2U));
        codes[i] = static_cast<std::uint8_t>(stream.below(256U));
    }
    const BinaryTarget target(y);
    std::vector<BinaryTarget::Entry> entries;
    for (std::size_t i = 0; i < y.size(); ++i) {
        entries.push_back(target.entry(i, 1 + stream.below(9U)));
    }
    for (std::size_t n = 1; n <= entries.size(); n += 7) {
        for (const int last : {0, 100, 254}) {
            std::uint64_t expected = 0;
            for (std::size_t i = 0; i < n; ++i) {
                expected += codes[i] <= last ? BinaryTarget::unit(entries[i].load) : 0;
            }
            std::uint64_t sum = 0;
            BinaryTarget::add_below(&sum, std::span(entries).first(n), codes.data(), last);
            CHECK(sum == expected);
        }
        // Four columns at once, here shifted copies of one.
        std::vector<std::uint8_t> columns;
        for (std::size_t g = 0; g < 4; ++g) {
            for (std::size_t i = 0; i < n; ++i) {
                columns.push_back(static_cast<std::uint8_t>(codes[i] + 60 * g));
            }
        }
        const std::uint8_t lasts[4] = {0, 90, 180, 255};
        std::uint64_t sums[4];
        assay::dispatch([&](auto level) {
            Below<decltype(level)>::weights4(entries.data(), columns.data(), n, lasts, sums);
        });
        for (std::size_t g = 0; g < 4; ++g) {
            std::uint64_t sum = 0;
            BinaryTarget::add_below(&sum, std::span(entries).first(n), columns.data() + g * n,
                                    lasts[g]);
            CHECK(sums[g] == sum);
        }
    }
}
