#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/select.hpp"

using assay::neighbors::Select;

namespace {

// Numbers with ties: of `distinct` values only.
std::vector<float> numbers(std::size_t n, std::uint32_t distinct, std::uint64_t key) {
    assay::RandomStream stream(3, key);
    std::vector<float> x(n);
    for (float& value : x) {
        value = static_cast<float>(stream.below(distinct)) - 7;
    }
    return x;
}

std::size_t count(const std::vector<float>& x, float limit) {
    return static_cast<std::size_t>(
        std::count_if(x.begin(), x.end(), [&](float value) { return value <= limit; }));
}

}  // namespace

TEST_CASE("bound leaves at least k numbers, and few more where they are distinct") {
    for (const std::size_t n : {1U, 2U, 15U, 16U, 17U, 300U, 1000U}) {
        for (const std::size_t k : {std::size_t{1}, (n + 1) / 2, n}) {
            for (const std::uint32_t distinct : {1U, 4U, 1U << 24}) {
                const auto x = numbers(n, distinct, n + k);
                const float bound = assay::dispatch(
                    [&](auto level) { return Select<decltype(level)>::bound(x.data(), n, k); });
                CAPTURE(n);
                CAPTURE(k);
                CAPTURE(distinct);
                CHECK(count(x, bound) >= k);
                auto sorted = x;
                std::sort(sorted.begin(), sorted.end());
                if (distinct > 4) {
                    CHECK(count(x, bound) <= k + k / 16 + 1);
                }
            }
        }
    }
}

TEST_CASE("keep moves the small numbers to the front in their order") {
    for (const std::size_t n : {1U, 16U, 333U}) {
        auto x = numbers(n, 20, n);
        const auto before = x;
        std::vector<std::uint32_t> row(n);
        std::iota(row.begin(), row.end(), 0U);
        const std::size_t kept = assay::dispatch([&](auto level) {
            return Select<decltype(level)>::keep(x.data(), row.data(), n, 2.0F);
        });
        REQUIRE(kept == count(before, 2.0F));
        for (std::size_t i = 0; i < kept; ++i) {
            CHECK(x[i] == before[row[i]]);
            CHECK((i == 0 || row[i - 1] < row[i]));
        }
    }
}

TEST_CASE("ranks are those of a stable sort") {
    for (const std::size_t n : {1U, 7U, 64U, 200U}) {
        const auto small = numbers(n, 9, n);
        const std::vector<double> x(small.begin(), small.end());
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return x[a] < x[b]; });
        std::vector<std::uint32_t> rank(n);
        assay::dispatch(
            [&](auto level) { Select<decltype(level)>::ranks(x.data(), n, rank.data()); });
        for (std::uint32_t t = 0; t < n; ++t) {
            CHECK(rank[order[t]] == t);
        }
    }
}
