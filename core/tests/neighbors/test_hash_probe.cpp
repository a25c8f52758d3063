#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/neighbors/hash_probe.hpp"

using namespace assay::neighbors;

namespace {

// Every bin within one step in each coordinate, by ascending score.
std::vector<double> all_scores(const HashShape& shape, const std::vector<float>& projected,
                               const std::vector<float>& shifts) {
    const std::size_t m = shape.n_projections;
    std::vector<double> scores;
    for (std::size_t table = 0; table < shape.n_tables; ++table) {
        std::size_t count = 1;
        for (std::size_t j = 0; j < m; ++j) {
            count *= shape.sign ? 2 : 3;
        }
        for (std::size_t code = 0; code < count; ++code) {
            double score = 0;
            std::size_t rest = code;
            for (std::size_t j = 0; j < m; ++j) {
                const auto at =
                    hash_coordinate(shape, projected[table * m + j], shifts[table * m + j]);
                const double inside = at.inside;
                const std::size_t step = rest % (shape.sign ? 2 : 3);
                rest /= shape.sign ? 2 : 3;
                score += step == 0 ? 0 : step == 1 ? inside * inside : (1 - inside) * (1 - inside);
            }
            scores.push_back(score);
        }
    }
    std::sort(scores.begin(), scores.end());
    return scores;
}

}  // namespace

TEST_CASE("the probes are all bins within one step, each once") {
    for (const bool sign : {false, true}) {
        const HashShape shape{2, 4, 16, 0.7F, sign};
        assay::RandomStream stream(5, sign ? 1 : 0);
        std::vector<float> projected(16);
        std::vector<float> shifts(16);
        for (std::size_t j = 0; j < 8; ++j) {
            projected[j] = static_cast<float>(stream.normal());
            shifts[j] = static_cast<float>(stream.uniform());
        }
        HashProbes probes(shape);
        probes.start(projected.data(), shifts);
        std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
        HashProbes::Bin bin{};
        std::size_t count = 0;
        while (probes.next(bin)) {
            seen.insert({bin.table, bin.key});
            if (count < 2) {
                CHECK(bin.key ==
                      hash_key(shape, projected.data() + 4 * count, shifts.data() + 4 * count));
            }
            ++count;
        }
        CHECK(count == all_scores(shape, projected, shifts).size());
        CHECK(seen.size() == count);
    }
}

TEST_CASE("a step to the next bin is the key of a point there") {
    const HashShape shape{1, 1, 16, 1.0F, false};
    const std::vector<float> shifts(16, 0.25F);
    const std::vector<float> projected{3.6F};  // bin 3, near to bin 4
    HashProbes probes(shape);
    probes.start(projected.data(), shifts);
    HashProbes::Bin bin{};
    for (const float point : {3.6F, 4.0F, 2.0F}) {
        REQUIRE(probes.next(bin));
        CHECK(bin.key == hash_key(shape, &point, shifts.data()));
    }
    CHECK_FALSE(probes.next(bin));
}

TEST_CASE("extreme projections have a bin") {
    const HashShape shape{1, 1, 16, 1.0F, false};
    CHECK(hash_coordinate(shape, 1e30F, 0).bin == 1000000000);
    CHECK(hash_coordinate(shape, -1e30F, 0).bin == -1000000000);
}
