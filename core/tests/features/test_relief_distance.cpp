#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "assay/features/relief_distance.hpp"
#include "relief_example.hpp"

using namespace assay::features;

TEST_CASE("relief distances are the sums of all differences, at any size") {
    for (const std::int64_t n : {2, 15, 16, 17, 70}) {
        const testing::Example example({0, n / 2, n}, 9, 4, 3, 2);
        const auto table = example.table();
        const ReliefDistance distances(table, 2);
        const std::vector<std::int64_t> queries{n - 1, 0};
        std::vector<float> found(2 * distances.stride());
        distances.write(queries, found.data());
        for (std::size_t q = 0; q < 2; ++q) {
            for (std::size_t j = 0; j < table.n_rows(); ++j) {
                CHECK(found[q * distances.stride() + j] ==
                      doctest::Approx(example.distance(static_cast<std::size_t>(queries[q]), j)));
            }
        }
    }
}

TEST_CASE("relief distances exist without complete columns") {
    const testing::Example example({0, 20}, 0, 0, 2, 0);
    const auto table = example.table();
    const ReliefDistance distances(table, 1);
    const std::vector<std::int64_t> queries{3};
    std::vector<float> found(distances.stride());
    distances.write(queries, found.data());
    CHECK(found[7] == doctest::Approx(example.distance(3, 7)));
}
