// The program that smo.hpp solves, its options and what it returns.
//
//     min 1/2 b'Kb - c'b   s.t.  sum b = const,  low <= b <= high
//
// b_v is signed (s_v alpha_v of the usual form); several variables may share a row of K (epsilon
// regression has two per row).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::svm {

struct SmoProblem {
    std::span<const double> target;  // c
    std::span<const double> low;     // may be infinite: a hard margin
    std::span<const double> high;
    std::span<const std::int32_t> row_of;   // the row of each variable
    std::span<const double> diagonal = {};  // k(x, x) of each row; empty: all 1

    [[nodiscard]] std::size_t size() const noexcept { return target.size(); }
    [[nodiscard]] std::size_t row(std::size_t v) const noexcept {
        return static_cast<std::size_t>(row_of[v]);
    }
    // |k(x, x)| of the row of v.
    [[nodiscard]] double own(std::size_t v) const noexcept {
        return diagonal.empty() ? 1.0 : std::abs(diagonal[row(v)]);
    }
};

struct SmoOptions {
    double tol = 1e-3;
    std::size_t cache_bytes = std::size_t{200} << 20;
    bool shrinking = true;
    std::size_t max_steps = 10'000'000;
    std::size_t block = 512;
    int n_threads = 1;
    std::size_t certify_work = std::size_t{1} << 25;  // products spent on a certificate in float64
};

enum class Stop : int { converged, max_iter, unbounded, stalled };

struct SmoResult {
    Stop stop = Stop::converged;
    double violation = 0;
    std::size_t steps = 0;
    std::size_t rounds = 0;
    std::size_t kernel_rows = 0;
};

}  // namespace assay::svm
