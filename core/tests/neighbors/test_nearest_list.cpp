#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/common/distance.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/nearest_list.hpp"

using assay::neighbors::NearestList;
using assay::neighbors::Neighbor;

namespace {

struct OwningList {
    std::vector<Neighbor> memory;
    NearestList list;
    explicit OwningList(std::size_t k) : memory(k), list(std::span<Neighbor>(memory)) {}
};

void check_best(NearestList& list, std::vector<Neighbor> offered, std::size_t k) {
    std::sort(offered.begin(), offered.end());
    std::vector<double> distance(k);
    std::vector<std::int64_t> index(k);
    list.write(distance, index);
    for (std::size_t t = 0; t < k; ++t) {
        CHECK(index[t] == offered[t].index);
        CHECK(distance[t] == offered[t].distance);
    }
}

}  // namespace

TEST_CASE("nearest list keeps the k smallest by distance and index") {
    assay::RandomStream stream(3, 0);
    for (const std::size_t k : {1U, 2U, 3U, 10U, 57U, 100U}) {
        for (const std::uint32_t levels : {1U, 5U, 20U, 100000U}) {  // many ties, and few
            std::vector<Neighbor> offered;
            OwningList owner(k);
            for (std::int64_t index = 0; index < 100; ++index) {
                const double distance = stream.below(levels);
                offered.push_back({distance, distance, index});
                owner.list.offer(offered.back());
                CHECK(owner.list.full() == (offered.size() >= k));
            }
            check_best(owner.list, offered, k);
        }
    }
}

TEST_CASE("nearest list knows its worst neighbour") {
    assay::RandomStream stream(4, 0);
    constexpr std::size_t k = 9;
    std::vector<Neighbor> offered;
    OwningList owner(k);
    for (std::int64_t index = 0; index < 500; ++index) {
        const double distance = stream.uniform();
        offered.push_back({distance, distance, index});
        owner.list.offer(offered.back());
        if (owner.list.full()) {
            std::sort(offered.begin(), offered.end());
            CHECK(owner.list.worst().index == offered[k - 1].index);
        }
    }
}

TEST_CASE("nearest list merges other lists, with ties across them") {
    assay::RandomStream stream(5, 0);
    for (int repeat = 0; repeat < 100; ++repeat) {
        const std::size_t k = 1 + stream.below(std::uint32_t{30});
        std::vector<Neighbor> offered;
        std::vector<OwningList> parts;
        parts.reserve(3);
        for (int part = 0; part < 3; ++part) {
            auto& owner = parts.emplace_back(k);
            const std::uint32_t n = 30 + stream.below(std::uint32_t{40});
            for (std::uint32_t i = 0; i < n; ++i) {
                const double distance = stream.below(std::uint32_t{6});  // many ties
                offered.push_back({distance, distance, static_cast<std::int64_t>(offered.size())});
                owner.list.offer(offered.back());
            }
        }
        parts[0].list.merge(parts[1].list);
        parts[0].list.merge(parts[2].list);
        check_best(parts[0].list, offered, k);
    }
}

TEST_CASE("the limit excludes what is as far as the worst where roots ascend") {
    OwningList owner(1);
    CHECK(owner.list.limit(assay::Euclidean{}) == std::numeric_limits<double>::infinity());
    owner.list.offer({2, 4, 0});
    CHECK(owner.list.limit(assay::Euclidean{}) < 4);
    CHECK(owner.list.limit(assay::Power{.p = 1.7}) > 4);
}
