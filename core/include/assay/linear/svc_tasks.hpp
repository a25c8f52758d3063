// The binary problems of a linear SVM, one per class, each by the solver that suits it.
//
//     hinge, few columns    svc_interior.hpp          squared hinge, few columns    factors
//     hinge, many columns   dual_coordinate.hpp       squared hinge, many columns   conjugate
//     squared hinge with an L1 penalty                svc_sparse.hpp
//
// Problems are tasks of the pool; a single problem uses the threads within itself. Rows of
// weight 0 are left out. The result does not depend on n_threads.
//
// Needs   coef of targets.count() rows and X.cols columns, intercept of as many values;
//         a BlasScope lives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/common/csr_view.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/thread_pool.hpp"
#include "assay/linear/descent_tasks.hpp"
#include "assay/linear/dual_coordinate.hpp"
#include "assay/linear/svc_newton.hpp"
#include "assay/linear/svc_sparse.hpp"

namespace assay::linear {

// More columns (with the intercept's) than these are many.
inline constexpr std::size_t few_columns = 320;

struct SvcOptions {
    bool squared = false;
    bool sparse = false;  // L1 instead of L2; squared hinge only
    double C = 1;
    double constant = 1;  // value of the intercept's column; 0 = no intercept
    double tol = 1e-8;    // of the duality gap, relative to the objective
    std::int64_t max_iter = 1000;
    std::uint64_t seed = 0;
    int solver = 0;  // 0 by size, 1 as for few columns, 2 as for many
};

namespace detail {

// One problem, of rows that all have a positive weight.
template <class Rows>
[[nodiscard]] SvcResult solve_one(Rows X, const SvcRows* packed, std::span<const double> y,
                                  std::span<const double> C, const SvcOptions& options,
                                  std::uint64_t key, std::span<double> w, int n_threads) {
    if (options.sparse) {
        return solve_sparse(X, packed, options.constant, y, C, options.tol, options.max_iter, w,
                            n_threads);
    }
    if (packed != nullptr) {
        if (options.squared) {
            return solve_squared(FactorSteps(*packed, n_threads), y, C, options.tol,
                                 options.max_iter, w);
        }
        const SvcResult found =
            solve_interior(*packed, y, C, options.tol, options.max_iter, w, n_threads);
        if (found.stop != SvcStop::stalled) {
            return found;
        }
        // The factors failed: the slower way has none.
        std::vector<double> other(w.size());
        const SvcResult slow = solve_dual(X, options.constant, y, C, options.tol, options.max_iter,
                                          RandomStream(options.seed, key), other);
        if (slow.objective < found.objective) {
            std::copy(other.begin(), other.end(), w.begin());
            return slow;
        }
        return found;
    }
    if (options.squared) {
        return solve_squared(ConjugateSteps<Rows>(X, options.constant), y, C, options.tol,
                             options.max_iter, w);
    }
    return solve_dual(X, options.constant, y, C, options.tol, options.max_iter,
                      RandomStream(options.seed, key), w);
}

}  // namespace detail

template <class Rows>
[[nodiscard]] std::vector<SvcResult> solve_svc(Rows X, const Targets& targets,
                                               const SvcOptions& options, MatrixView<double> coef,
                                               std::span<double> intercept, int n_threads) {
    const std::size_t width = X.cols + (options.constant != 0 ? 1 : 0);
    const bool few = options.solver == 1 || (options.solver == 0 && width <= few_columns);
    std::optional<SvcRows> packed;
    if (few) {
        packed.emplace(X, options.constant);
    }
    std::vector<SvcResult> results(targets.count());
    const int inner = targets.count() == 1 ? n_threads : 1;
    run_tasks(targets.count(), n_threads, [&](std::size_t k) {
        std::vector<double> y, C;
        targets.fill(k, false, y, C);
        double largest = 0;
        for (double& c : C) {
            c *= options.C;
            largest = std::max(largest, c);
        }
        for (double& c : C) {  // a class of weight 0: an interior needs some room
            c = packed && !options.squared ? std::max(c, 1e-14 * largest) : c;
        }
        const std::size_t size = packed ? packed->stride() : width;
        std::vector<double> w(size);
        results[k] = detail::solve_one(X, packed ? &*packed : nullptr, y, C, options, k, w, inner);
        std::copy_n(w.begin(), X.cols, coef.row(k).begin());
        intercept[k] = options.constant != 0 ? options.constant * w[X.cols] : 0;
    });
    return results;
}

}  // namespace assay::linear
