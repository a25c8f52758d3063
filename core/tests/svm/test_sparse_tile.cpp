#include <doctest/doctest.h>

#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/svm/sparse_tile.hpp"
#include "samples.hpp"

using namespace assay::svm;

TEST_CASE("sparse_tile gives dot products and squared distances at every level") {
    // Rows (0, 2, 0), (1, 0, 3), (0, 0, 0).
    const std::vector<double> values = {2, 1, 3};
    const std::vector<std::int64_t> columns = {1, 0, 2};
    const std::vector<std::int64_t> offsets = {0, 1, 3, 3};
    const std::vector<std::uint32_t> index = {2, 1, 0};
    std::vector<double> table(3 * sparse_queries);
    std::vector<double> query_norms(sparse_queries);
    for (std::size_t lane = 0; lane < sparse_queries; ++lane) {
        for (std::size_t c = 0; c < 3; ++c) {
            const double x = static_cast<double>(lane + c);
            table[c * sparse_queries + lane] = x;
            query_norms[lane] += x * x;
        }
    }
    const std::vector<double> norms = {0, 10, 4};
    samples::at_every_level([&] {
        std::vector<double> out(3 * sparse_queries);
        assay::dispatch([&](auto level) {
            SparseTile<decltype(level)>::run(values.data(), columns.data(), offsets.data(),
                                             index.data(), 3, table.data(), nullptr, nullptr,
                                             out.data());
        });
        for (std::size_t l = 0; l < sparse_queries; ++l) {
            const double x = static_cast<double>(l);
            CHECK(out[l] == 0);
            CHECK(out[sparse_queries + l] == x + 3 * (x + 2));
            CHECK(out[2 * sparse_queries + l] == 2 * (x + 1));
        }
        assay::dispatch([&](auto level) {
            SparseTile<decltype(level)>::run(values.data(), columns.data(), offsets.data(),
                                             index.data(), 3, table.data(), norms.data(),
                                             query_norms.data(), out.data());
        });
        for (std::size_t l = 0; l < sparse_queries; ++l) {
            const double x = static_cast<double>(l);
            CHECK(out[2 * sparse_queries + l] == x * x + (x - 1) * (x - 1) + (x + 2) * (x + 2));
        }
    });
}
