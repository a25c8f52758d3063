#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/hash_projection.hpp"

using assay::neighbors::HashProjection;

TEST_CASE("projections are the sums in order, at every level and for any number of rows") {
    for (const std::size_t d : {1U, 7U, 64U}) {
        for (const std::size_t n : {1U, 3U, 4U, 9U}) {
            constexpr std::size_t width = 48;
            assay::RandomStream stream(1, d * 100 + n);
            std::vector<double> rows(n * d);
            std::vector<double> centre(d);
            std::vector<float> directions(d * width);
            for (double& x : rows) {
                x = stream.normal();
            }
            for (double& x : centre) {
                x = stream.normal();
            }
            for (float& x : directions) {
                x = static_cast<float>(stream.normal());
            }
            std::vector<float> room(4 * d);
            std::vector<float> out(n * width);
            assay::dispatch([&](auto level) {
                HashProjection<decltype(level), double>::run(rows.data(), n, d, centre.data(), 0.5,
                                                             directions.data(), width, room.data(),
                                                             out.data());
            });
            bool equal = true;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t p = 0; p < width; ++p) {
                    float sum = 0;
                    for (std::size_t j = 0; j < d; ++j) {
                        const auto z = static_cast<float>((rows[i * d + j] - centre[j]) * 0.5);
                        const float product = z * directions[j * width + p];
                        sum += product;
                    }
                    equal = equal && sum == out[i * width + p];
                }
            }
            CHECK(equal);
        }
    }
}

TEST_CASE("values beyond float32 are kept finite") {
    const std::vector<double> rows{1e300, -1e300};
    const std::vector<double> centre{0, 0};
    const std::vector<float> directions(2 * 16, 1.0F);
    std::vector<float> room(8);
    std::vector<float> out(16);
    assay::dispatch([&](auto level) {
        HashProjection<decltype(level), double>::run(
            rows.data(), 1, 2, centre.data(), 1.0, directions.data(), 16, room.data(), out.data());
    });
    CHECK(out[0] == 0.0F);
}
