#include <doctest/doctest.h>

#include "assay/common/distance.hpp"
#include "assay/neighbors/scan.hpp"
#include "definition.hpp"

using assay::MatrixView;
using namespace definition;

namespace {

template <class T>
Found scan(MatrixView<const T> queries, MatrixView<const T> refs, std::size_t k, double p) {
    Found found(queries.rows, k);
    assay::with_metric(p, [&](auto metric) {
        assay::neighbors::scan(queries, refs, metric, found.distances(), found.indices(), 2);
    });
    return found;
}

}  // namespace

TEST_CASE_TEMPLATE("scan equals sorting all distances", T, float, double) {
    for (const Kind kind : all_kinds) {
        for (const std::size_t n : {1U, 300U}) {
            const auto values = table<T>(kind, n + 3, 5, n);
            const MatrixView<const T> refs{values.data(), n, 5};
            const MatrixView<const T> queries{values.data() + n * 5, 3, 5};
            const std::size_t k = std::min<std::size_t>(n, 7);
            CHECK(scan(queries, refs, k, 2) == sorted(queries, refs, k, 2));
            CHECK(scan(queries, refs, k, 1) == sorted(queries, refs, k, 1));
        }
    }
}

TEST_CASE("scan merges chunks of rows, with ties across them") {
    constexpr std::size_t n = 40000;  // three chunks
    const auto values = table<double>(Kind::integers, n + 2, 2, 10);
    const MatrixView<const double> refs{values.data(), n, 2};
    const MatrixView<const double> queries{values.data() + n * 2, 2, 2};
    for (const std::size_t k : {1U, 40U, 3000U, 20000U}) {
        CHECK(scan(queries, refs, k, 2) == sorted(queries, refs, k, 2));
    }
    CHECK(scan(queries, refs, 40, 3) == sorted(queries, refs, 40, 3));
}
