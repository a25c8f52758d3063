#include <doctest/doctest.h>

#include "assay/common/distance.hpp"
#include "assay/neighbors/tiled_search.hpp"
#include "definition.hpp"

using assay::MatrixView;
using namespace definition;

namespace {

Found search(MatrixView<const double> queries, MatrixView<const double> refs, std::size_t k,
             double p, int n_threads = 2) {
    Found found(queries.rows, k);
    assay::with_metric(p, [&](auto metric) {
        assay::neighbors::TiledSearch<double, decltype(metric)> search(queries, refs, k, metric,
                                                                       n_threads);
        search.run();
        search.write(found.distances(), found.indices());
    });
    return found;
}

}  // namespace

TEST_CASE("tiled search is exact across tiles, whether it screens or compares") {
    constexpr std::size_t n = 9000;  // tiles hold 3200 rows of this width
    constexpr std::size_t d = 40;
    for (const Kind kind : {Kind::normal, Kind::clusters, Kind::outliers, Kind::duplicates}) {
        const auto values = table<double>(kind, n + 20, d, 6);
        const MatrixView<const double> refs{values.data(), n, d};
        const MatrixView<const double> queries{values.data() + n * d, 20, d};
        CAPTURE(static_cast<int>(kind));
        CHECK(search(queries, refs, 5, 2) == sorted(queries, refs, 5, 2));
        CHECK(search(queries, refs, 5, 1) == sorted(queries, refs, 5, 1));
    }
}

TEST_CASE("tiled search is exact for every number of queries in a group") {
    const auto values = table<double>(Kind::normal, 400, 3, 7);
    const MatrixView<const double> refs{values.data(), 400, 3};
    for (std::size_t m = 1; m <= 17; ++m) {
        CHECK(search(refs.middle_rows(0, m), refs, 4, 2) ==
              sorted(refs.middle_rows(0, m), refs, 4, 2));
    }
}

TEST_CASE("tiled search handles rows wider than a tile") {
    constexpr std::size_t d = 3000;
    const auto values = table<double>(Kind::normal, 320, d, 8);
    const MatrixView<const double> refs{values.data(), 300, d};
    const MatrixView<const double> queries{values.data() + 300 * d, 20, d};
    CHECK(search(queries, refs, 5, 2) == sorted(queries, refs, 5, 2));
}

TEST_CASE("tiled search does not depend on the number of threads") {
    const auto values = table<double>(Kind::normal, 5000, 7, 9);
    const MatrixView<const double> rows{values.data(), 5000, 7};
    const Found one = search(rows, rows, 8, 2, 1);
    CHECK(search(rows, rows, 8, 2, 2) == one);
    CHECK(search(rows, rows, 8, 2, 5) == one);
}
