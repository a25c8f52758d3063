// A Cholesky factor that gains and loses single columns: which of them are independent.
//
//     L L' = S G_BB S,   S = diag(1 / sqrt(G_bb))        for the columns B added so far
//
// A column is refused when it is a combination of those in B: when what B leaves of it is
// not more than `least` of its square.
//
// Needs   gram symmetric, k x k, positive semidefinite.
// Cost    |B|^2 / 2 multiplications to add, 3/2 |B|^2 to remove (Givens rotations); k^2 / 2
//         numbers of memory at most.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"

namespace assay::linear {

class GrowingCholesky {
  public:
    static constexpr double least = 1e-12;

    explicit GrowingCholesky(MatrixView<const double> gram) : gram_(gram) {}

    [[nodiscard]] std::span<const std::size_t> columns() const noexcept { return columns_; }

    // False, and nothing changes, when column j depends on those in B.
    [[nodiscard]] bool add(std::size_t j) {
        assert(std::find(columns_.begin(), columns_.end(), j) == columns_.end());
        const double diagonal = gram_(j, j);
        if (!(diagonal > 0)) {
            return false;
        }
        const double scale = 1 / std::sqrt(diagonal);
        std::vector<double> row = forward(j, scale);
        double left = 1;
        for (const double value : row) {
            left -= value * value;
        }
        if (!(left > least)) {
            return false;
        }
        row.push_back(std::sqrt(left));
        rows_.push_back(std::move(row));
        columns_.push_back(j);
        scales_.push_back(scale);
        return true;
    }

    // Removes the column at this place of columns().
    void remove(std::size_t place) {
        assert(place < columns_.size());
        const auto at = static_cast<std::ptrdiff_t>(place);
        rows_.erase(rows_.begin() + at);
        columns_.erase(columns_.begin() + at);
        scales_.erase(scales_.begin() + at);
        for (std::size_t i = place; i < rows_.size(); ++i) {
            // Row i reaches one column too far: turn columns i and i + 1 until it does not.
            const double a = rows_[i][i];
            const double b = rows_[i][i + 1];
            const double size = std::hypot(a, b);
            for (std::size_t r = i; r < rows_.size(); ++r) {
                const double x = rows_[r][i];
                const double y = rows_[r][i + 1];
                rows_[r][i] = (a * x + b * y) / size;
                rows_[r][i + 1] = (a * y - b * x) / size;
            }
            rows_[i].pop_back();
            assert(rows_[i].size() == i + 1);
        }
    }

    // Weights of the columns B whose combination is nearest to column j.
    [[nodiscard]] std::vector<double> combination(std::size_t j) const {
        std::vector<double> x = forward(j, 1.0);
        for (std::size_t a = x.size(); a-- > 0;) {
            x[a] /= rows_[a][a];
            for (std::size_t b = 0; b < a; ++b) {
                x[b] -= rows_[a][b] * x[a];
            }
        }
        for (std::size_t a = 0; a < x.size(); ++a) {
            x[a] *= scales_[a];
        }
        return x;
    }

  private:
    // Solves L x = scale S G_Bj.
    [[nodiscard]] std::vector<double> forward(std::size_t j, double scale) const {
        std::vector<double> x(columns_.size());
        for (std::size_t a = 0; a < x.size(); ++a) {
            double sum = scale * scales_[a] * gram_(columns_[a], j);
            for (std::size_t b = 0; b < a; ++b) {
                sum -= rows_[a][b] * x[b];
            }
            x[a] = sum / rows_[a][a];
        }
        return x;
    }

    MatrixView<const double> gram_;
    std::vector<std::vector<double>> rows_;
    std::vector<std::size_t> columns_;
    std::vector<double> scales_;
};

}  // namespace assay::linear
