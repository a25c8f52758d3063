#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/neighbors/code_space.hpp"

using namespace assay::neighbors;

namespace {

const double missing = std::nan("");
// Two levels that are alike by half, weight 2.
const std::vector<double> alike = {0, 1, 2, 1, 0, 2, 2, 2, 2};

std::vector<CodeSpace::Column> columns() {
    return {{CodeColumn::number, 1, nullptr, 0},
            {CodeColumn::level, 1, nullptr, 0},
            {CodeColumn::table, 2, alike.data(), 3}};
}

double one_distance(const CodeSpace& space, const double* query, const double* row) {
    auto asked = space.start();
    space.ask(asked, query);
    std::vector<double> leaf(3 * 8, 0.0);
    for (std::size_t j = 0; j < 3; ++j) {
        leaf[j * 8] = row[j];
    }
    LeafHit hits[8];
    const auto calls = TreeCalls<CodeQuery>::in_use();
    REQUIRE(calls.scan(asked.query, leaf.data(), 8, 1, 1e300, hits) == 1);
    return hits[0].reduced;
}

}  // namespace

TEST_CASE("the mixed distance skips missing values and counts the rest for them") {
    const std::vector<double> rows = {0.25, 3, 1, missing, 3, missing, missing, missing, missing};
    const CodeSpace space(columns(), {rows.data(), 3, 3});
    const double query[3] = {0.5, 4, 0};
    for (const auto level :
         {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
        assay::limit_cpu(level);
        CHECK(one_distance(space, query, rows.data()) == (0.25 + 1 + 1) / 4);
        CHECK(one_distance(space, query, rows.data() + 3) == 1.0);
        CHECK(one_distance(space, query, rows.data() + 6) == 1.0);
        const double half[3] = {0.5, missing, missing};
        CHECK(one_distance(space, half, rows.data()) == 0.25);
    }
    assay::limit_cpu({});
}

TEST_CASE("a column of weight zero has no say") {
    auto given = columns();
    given[1].weight = 0;
    const std::vector<double> rows = {0.25, 3, 1};
    const CodeSpace space(given, {rows.data(), 1, 3});
    const double query[3] = {0.5, 4, 0};
    CHECK(one_distance(space, query, rows.data()) == (0.25 + 1) / 3);
}
