#include <doctest/doctest.h>

#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/marked_rows.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

// The list of some rows, ascending in their values: what every part must look like.
std::vector<MarkedRow> listed(const std::vector<int>& values,
                              const std::vector<std::uint32_t>& rows) {
    std::vector<MarkedRow> list;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        list.push_back(
            marked_row(rows[i], i > 0 && values[rows[i]] == values[rows[i - 1]], rows[i] % 3 == 0));
    }
    return list;
}

}  // namespace

TEST_CASE("a parted list is the list of each side, equal values and labels included") {
    RandomStream stream(3, 0);
    for (int round = 0; round < 300; ++round) {
        const std::size_t n = 1 + stream.below(40U);
        const std::uint32_t step = 1 + stream.below(4U);  // long runs of equal values, or none
        std::vector<int> values(n);
        std::vector<std::uint32_t> all(n);
        std::vector<std::uint8_t> side(n);
        std::vector<std::uint32_t> left;
        std::vector<std::uint32_t> right;
        for (std::size_t i = 0; i < n; ++i) {
            values[i] = (i > 0 ? values[i - 1] : 0) + (stream.below(step) == 0 ? 1 : 0);
            all[i] = static_cast<std::uint32_t>(i);
            side[i] = static_cast<std::uint8_t>(stream.below(2U));
            (side[i] != 0 ? left : right).push_back(all[i]);
        }
        auto list = listed(values, all);
        std::vector<MarkedRow> scratch(n);
        part_marked(list, side.data(), scratch.data());
        auto expected = listed(values, left);
        const auto rest = listed(values, right);
        expected.insert(expected.end(), rest.begin(), rest.end());
        CHECK(list == expected);
    }
}
