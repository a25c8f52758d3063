#include <doctest/doctest.h>

#include "assay/neighbors/shortlist_search.hpp"
#include "definition.hpp"

using assay::MatrixView;
using assay::neighbors::ShortlistSearch;
using namespace definition;

namespace {

// Whether the search could do it, and then whether it found what the definition says.
template <class T>
bool found_or_refused(Kind kind, std::size_t n, std::size_t d, std::size_t k, bool& refused) {
    constexpr std::size_t n_queries = 19;
    const auto values = table<T>(kind, n + n_queries, d, n + k);
    const MatrixView<const T> refs{values.data(), n, d};
    const MatrixView<const T> queries{values.data() + n * d, n_queries, d};
    ShortlistSearch<T> search(queries, refs, k, 2);
    refused = !search.run();
    if (refused) {
        return true;
    }
    Found found(n_queries, k);
    search.write(found.distances(), found.indices());
    return found == sorted(queries, refs, k, 2);
}

}  // namespace

TEST_CASE_TEMPLATE("shortlist search finds the nearest rows or refuses", T, float, double) {
    for (const Kind kind : all_kinds) {
        for (const std::size_t k : {1U, 9U, 100U, 600U}) {
            for (const std::size_t n : {600U, 5000U}) {
                CAPTURE(static_cast<int>(kind));
                CAPTURE(k);
                CAPTURE(n);
                bool refused = false;
                CHECK(found_or_refused<T>(kind, n, 6, k, refused));
                if (kind == Kind::normal || kind == Kind::outliers) {
                    CHECK_FALSE(refused);
                }
                if (kind == Kind::constant && n > 2 * k + 64) {
                    CHECK(refused);
                }
            }
        }
    }
}

TEST_CASE("shortlist search is exact across tiles and for wide rows") {
    bool refused = true;
    CHECK(found_or_refused<double>(Kind::normal, 9000, 40, 60, refused));
    CHECK_FALSE(refused);
    CHECK(found_or_refused<double>(Kind::normal, 300, 3000, 25, refused));
    CHECK_FALSE(refused);
}

TEST_CASE("shortlist search does not depend on the number of threads") {
    const auto values = table<double>(Kind::normal, 3000, 7, 9);
    const MatrixView<const double> rows{values.data(), 3000, 7};
    const auto search = [&](int n_threads) {
        Found found(rows.rows, 40);
        ShortlistSearch<double> search(rows, rows, 40, n_threads);
        REQUIRE(search.run());
        search.write(found.distances(), found.indices());
        return found;
    };
    const Found one = search(1);
    CHECK(search(2) == one);
    CHECK(search(5) == one);
}
