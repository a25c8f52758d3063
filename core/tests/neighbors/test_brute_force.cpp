#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/neighbors/brute_force.hpp"
#include "definition.hpp"

using assay::MatrixView;
using namespace definition;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
Found search(MatrixView<const T> queries, MatrixView<const T> refs, std::size_t k, double p,
             int n_threads = 2) {
    Found found(queries.rows, k);
    assay::neighbors::brute_force(queries, refs, p, found.distances(), found.indices(), n_threads);
    return found;
}

}  // namespace

TEST_CASE_TEMPLATE("brute force equals sorting all distances", T, float, double) {
    std::uint64_t key = 0;
    for (const Kind kind : all_kinds) {
        for (const std::size_t n : {1U, 33U, 700U}) {
            for (const std::size_t d : {1U, 4U, 20U}) {
                for (const std::size_t m : {1U, 9U, 140U}) {
                    const std::size_t k = std::min<std::size_t>(n, 1 + key % 12);
                    const auto values = table<T>(kind, n + m, d, key++);
                    const MatrixView<const T> refs{values.data(), n, d};
                    const MatrixView<const T> queries{values.data() + n * d, m, d};
                    CAPTURE(static_cast<int>(kind));
                    CAPTURE(n);
                    CAPTURE(d);
                    CAPTURE(m);
                    CHECK(search(queries, refs, k, 2) == sorted(queries, refs, k, 2));
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("brute force serves every p", T, float, double) {
    constexpr std::size_t n = 500;
    constexpr std::size_t m = 20;
    constexpr std::size_t d = 6;
    const auto values = table<T>(Kind::integers, n + m, d, 77);
    const MatrixView<const T> refs{values.data(), n, d};
    const MatrixView<const T> queries{values.data() + n * d, m, d};
    for (const double p : {1.0, 1.3, 1.5, 2.0, 3.0, 7.25, 20.0, infinity}) {
        CAPTURE(p);
        CHECK(search(queries, refs, 13, p) == sorted(queries, refs, 13, p));
    }
}

TEST_CASE("brute force returns all rows when k is their number") {
    const auto values = table<double>(Kind::integers, 90, 3, 5);
    const MatrixView<const double> rows{values.data(), 90, 3};
    CHECK(search(rows, rows, 90, 2) == sorted(rows, rows, 90, 2));
}

TEST_CASE("brute force crosses blocks of queries") {
    const auto values = table<float>(Kind::normal, 9000, 2, 7);
    const MatrixView<const float> queries{values.data(), 9000, 2};
    const MatrixView<const float> refs{values.data(), 40, 2};
    CHECK(search(queries, refs, 3, 2) == sorted(queries, refs, 3, 2));
}

TEST_CASE("brute force does not depend on the number of threads") {
    const auto values = table<double>(Kind::clusters, 3000, 7, 8);
    const MatrixView<const double> rows{values.data(), 3000, 7};
    for (const double p : {2.0, 1.0}) {
        const Found one = search(rows, rows, 8, p, 1);
        CHECK(search(rows, rows, 8, p, 2) == one);
        CHECK(search(rows, rows, 8, p, 5) == one);
    }
}

TEST_CASE("brute force accepts no queries and no features") {
    const std::vector<double> values = {1, 2, 3};
    const MatrixView<const double> refs{values.data(), 3, 1};
    CHECK(search(MatrixView<const double>{values.data(), 0, 1}, refs, 2, 2).index.empty());
    const MatrixView<const double> no_features{values.data(), 3, 0};
    CHECK(search(no_features, no_features, 2, 2).index ==
          std::vector<std::int64_t>{0, 1, 0, 1, 0, 1});
}
