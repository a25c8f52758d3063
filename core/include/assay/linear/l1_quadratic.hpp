// A small quadratic with an L1 penalty, to the last digits.
//
//     min over z   g'(z - z0) + 1/2 (z - z0)' A (z - z0) + sum_j l1_j |z_j|
//
// Coordinate descent finds the signs; then the linear system of the nonzero coordinates is solved
// at once. If its solution keeps the signs and no zero wants to leave, it is the minimum;
// otherwise the point moves towards it until the first coordinate vanishes, and descent goes on.
//
// Needs   A symmetric (both triangles) and positive semidefinite with a positive diagonal where
//         it matters; l1 >= 0; a BlasScope.
// Cost    O(P^2) per sweep, O(S^3 / 3) per system of S nonzero coordinates.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/blas.hpp"
#include "assay/linear/newton.hpp"

namespace assay::linear::logit {

class L1Quadratic {
  public:
    // `slope` is g; all references must outlive the object.
    L1Quadratic(MatrixView<const double> a, std::span<const double> slope,
                std::span<const double> l1)
        : a_(a), slope_(slope), l1_(l1), pull_(slope.size()) {}

    // z: the start on entry (any), the minimum on exit.
    void solve(std::span<const double> z0, std::span<double> z) {
        const std::size_t n = z.size();
        assert(z0.size() == n && pull_.size() == n && l1_.size() == n && a_.rows == n);
        std::vector<double> step(n);
        for (std::size_t round = 0; round < max_rounds; ++round) {
            set_pull(z0, z, step);
            for (std::size_t sweep = 0; sweep < sweeps_per_round; ++sweep) {
                if (!descend(z)) {
                    break;
                }
            }
            if (settle(z0, z, step)) {
                return;
            }
        }
    }

  private:
    static constexpr std::size_t max_rounds = 60;
    static constexpr std::size_t sweeps_per_round = 12;

    // pull = g + A (z - z0), the gradient of the quadratic.
    void set_pull(std::span<const double> z0, std::span<const double> z,
                  std::vector<double>& step) {
        std::copy(slope_.begin(), slope_.end(), pull_.begin());
        for (std::size_t j = 0; j < z.size(); ++j) {
            step[j] = z[j] - z0[j];
            if (step[j] != 0) {
                add_column(j, step[j]);
            }
        }
    }

    void add_column(std::size_t j, double by) noexcept {
        const double* row = a_.data + j * a_.cols;
        for (std::size_t i = 0; i < pull_.size(); ++i) {
            pull_[i] += by * row[i];
        }
    }

    // One sweep; false when nothing moves any more.
    bool descend(std::span<double> z) noexcept {
        double largest = 0;
        for (std::size_t j = 0; j < z.size(); ++j) {
            const double curve = a_(j, j);
            if (!(curve > 0)) {
                continue;
            }
            const double aim = curve * z[j] - pull_[j];
            const double size = std::max(std::abs(aim) - l1_[j], 0.0);
            const double next = std::copysign(size / curve, aim);
            const double by = next - z[j];
            if (by != 0) {
                z[j] = next == 0 ? 0.0 : next;
                add_column(j, by);
                largest = std::max(largest, by * by * curve);
            }
        }
        return largest > 1e-26;
    }

    // Solves for the nonzero coordinates with their signs held; true when that is the minimum.
    bool settle(std::span<const double> z0, std::span<double> z, std::vector<double>& step) {
        std::vector<std::size_t> active;
        for (std::size_t j = 0; j < z.size(); ++j) {
            if ((z[j] != 0 || l1_[j] == 0) && a_(j, j) > 0) {
                active.push_back(j);
            }
        }
        const std::size_t m = active.size();
        set_pull(z0, z, step);
        if (m > 0) {
            std::vector<double> small(m * m);
            std::vector<double> right(m);
            for (std::size_t p = 0; p < m; ++p) {
                for (std::size_t q = 0; q <= p; ++q) {
                    small[p * m + q] = a_(active[p], active[q]);
                }
                const std::size_t j = active[p];
                right[p] = -(pull_[j] + (z[j] == 0 ? 0.0 : std::copysign(l1_[j], z[j])));
            }
            solve_definite(MatrixView<double>{small.data(), m, m}, right, 1e-15);
            double t = 1;
            std::size_t first = m;
            for (std::size_t p = 0; p < m; ++p) {
                const std::size_t j = active[p];
                if (l1_[j] > 0 && (z[j] + right[p]) * z[j] <= 0) {
                    const double until = z[j] / -right[p];
                    if (until < t) {
                        t = until;
                        first = p;
                    }
                }
            }
            for (std::size_t p = 0; p < m; ++p) {
                z[active[p]] = p == first ? 0.0 : z[active[p]] + t * right[p];
            }
            if (t < 1) {
                return false;
            }
            set_pull(z0, z, step);
        }
        for (std::size_t j = 0; j < z.size(); ++j) {
            const double slack = 1e-13 * std::abs(slope_[j]) + 1e-300;
            if (z[j] == 0 && std::abs(pull_[j]) > l1_[j] * (1 + 1e-12) + slack && a_(j, j) > 0) {
                return false;
            }
        }
        return true;
    }

    MatrixView<const double> a_;
    std::span<const double> slope_;
    std::span<const double> l1_;
    std::vector<double> pull_;
};

}  // namespace assay::linear::logit
