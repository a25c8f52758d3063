// Dividing rows keeps their order and loses none, for any peek and at every level.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/random.hpp"
#include "assay/tree/boost_divide.hpp"

using namespace assay;
using namespace assay::tree;

TEST_CASE("both sides have the rows of their codes in their old order") {
    RandomStream random(19, 0);
    for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 100U, 1000U}) {
        std::vector<std::uint8_t> codes(n + 6);
        for (auto& code : codes) {
            code = static_cast<std::uint8_t>(random.below(256U));
        }
        const std::uint8_t* column = codes.data() + 3;  // three bytes beside it on either side
        std::array<std::uint32_t, 8> set{};
        for (auto& word : set) {
            word = random();
        }
        std::vector<std::int32_t> rows;
        std::vector<std::int32_t> expected_left;
        std::vector<std::int32_t> expected_right;
        for (std::size_t i = 0; i < n; ++i) {
            if (random.below(4U) == 0) {
                continue;
            }
            rows.push_back(static_cast<std::int32_t>(i));
            const bool in = (set[column[i] / 32] >> (column[i] % 32) & 1U) != 0;
            (in ? expected_left : expected_right).push_back(static_cast<std::int32_t>(i));
        }
        for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
            limit_cpu(level);
            for (const int peek : {-1, 0, 1}) {
                std::vector<std::int32_t> left(rows.size());
                std::vector<std::int32_t> right(rows.size());
                const std::size_t n_left = dispatch([&](auto l) {
                    return BoostDivide<decltype(l)>::run(column, peek, set.data(), rows.data(),
                                                         rows.size(), left.data(), right.data());
                });
                left.resize(n_left);
                right.resize(rows.size() - n_left);
                CHECK(left == expected_left);
                CHECK(right == expected_right);
            }
        }
        limit_cpu(std::nullopt);
    }
}
