// The rows that may be among the k nearest of one query, while leaves are scanned.
//
//     smallest   the k smallest sums S so far, ascending, behind as many -infinity as
//                make a power of two of at least 8
//     kept       sum and place of every row that did not exceed the limit when it was seen
//     limit      what S may be at most: the k-th smallest, and a little for roots that tie
//
// To put v among sorted sums a is a'[i] = max(a[i - 1], min(a[i], v)) for all i at once: a vector
// or two, no branch and no heap. Which row has which sum is looked up once, at the end.
//
// Needs   k <= most_sums; leaves as in tree_kernels.hpp; room for the rows of a leaf among
//         those kept, and 8 more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "assay/common/dispatch.hpp"
#include "assay/neighbors/tree_kernels.hpp"

namespace assay::neighbors {

inline constexpr std::size_t most_sums = 32;

struct Candidates {
    alignas(64) double smallest[most_sums];
    std::size_t width = 8;
    double limit = std::numeric_limits<double>::infinity();
    double slack = 1;  // limit = slack * k-th smallest
    std::size_t k = 0;
    double* sums = nullptr;  // of the kept rows
    std::uint32_t* places = nullptr;
    std::size_t n_kept = 0;
    std::uint32_t ranked[most_sums + 1];  // places of the k nearest, if no two sums are equal
};

template <class Level, class Query>
struct CandidateScan {
    // Takes in the rows of a leaf, whose first stands at `place`.
    static void run(const Query& query, const double* leaf, std::size_t lanes, std::size_t rows,
                    std::uint32_t place, Candidates& candidates) noexcept;
    // Ranks what does not exceed the limit by now; returns how many rows that are.
    static std::size_t rank(Candidates& candidates) noexcept;
};

// For the CPU level in use.
template <class Query>
struct CandidateCalls {
    void (*scan)(const Query&, const double*, std::size_t, std::size_t, std::uint32_t,
                 Candidates&) noexcept;

    std::size_t (*rank)(Candidates&) noexcept;

    [[nodiscard]] static CandidateCalls in_use() {
        return dispatch([](auto level) {
            using Scan = CandidateScan<decltype(level), Query>;
            return CandidateCalls{&Scan::run, &Scan::rank};
        });
    }
};

}  // namespace assay::neighbors
