// The smooth part of logistic regression: loss, gradient and curvature from one pass over the rows.
//
//     L(theta) = sum_i s_i loss(y_i, X theta)          weights s sum to 1
//     two classes:   loss = ln(1 + e^(-y f)), one output
//     K classes:     loss = -ln softmax(f)_y, K outputs (symmetric)
//
//     evaluate(theta, with_hessian)   loss(), gradient(), hessian(), and what the rows say
//     keep()                          the point evaluated last is the one to compare with
//     turn(v, out)                    out = Hessian at the point evaluated last, times v
//     entropy(alpha)                  -sum s q ln q, q between the labels (0) and the shares (1)
//
// theta, gradient and v are n_outputs rows of `stride` numbers; a compact vector has
// n_outputs * cols. The Hessian is compact, lower triangle.
//
// Needs   codes in [0, n_classes), weights >= 0 with sum 1; a BlasScope.
// Cost    one reading of the table per call. Rows are cut into at most 16 parts that depend on the
//         table alone; partial sums are added in their order: the same bits for any n_threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/exp_log.hpp"
#include "assay/common/parallel.hpp"
#include "assay/linear/logistic_design.hpp"
#include "assay/linear/logistic_kernels.hpp"

namespace assay::linear::logit {

template <class Design>
class LogisticProblem {
  public:
    static constexpr bool sparse = Design::sparse;

    LogisticProblem(const Design& design, std::span<const std::int32_t> codes,
                    std::span<const double> weight, std::size_t n_classes, int n_threads)
        : x_(design),
          codes_(codes),
          weight_(weight),
          outputs_(n_classes == 2 ? 1 : n_classes),
          n_threads_(n_threads),
          score_(design.rows * outputs_),
          before_(design.rows * outputs_),
          residual_(design.rows * outputs_),
          share_(design.rows * outputs_),
          gradient_(outputs_ * design.stride) {
        if (outputs_ == 1) {
            sign_.resize(design.rows);
            std::transform(codes.begin(), codes.end(), sign_.begin(),
                           [](std::int32_t code) { return code == 1 ? 1.0 : -1.0; });
        }
    }

    [[nodiscard]] const Design& design() const noexcept { return x_; }
    [[nodiscard]] std::size_t n_outputs() const noexcept { return outputs_; }
    [[nodiscard]] std::size_t stride() const noexcept { return x_.stride; }
    [[nodiscard]] std::size_t cols() const noexcept { return x_.cols; }
    [[nodiscard]] std::size_t size() const noexcept { return outputs_ * x_.cols; }
    [[nodiscard]] int n_threads() const noexcept { return n_threads_; }

    [[nodiscard]] double loss() const noexcept { return sums_.loss; }
    // Every row of positive weight is on its own side.
    [[nodiscard]] bool separated() const noexcept { return sums_.least_margin > 0; }
    // The largest change of a score since keep().
    [[nodiscard]] double moved() const noexcept { return sums_.moved; }
    [[nodiscard]] std::span<const double> gradient() const noexcept { return gradient_; }
    [[nodiscard]] std::span<const double> hessian() const noexcept { return hessian_; }

    void evaluate(std::span<const double> theta, bool with_hessian) {
        const std::size_t n_blocks = with_hessian ? outputs_ * (outputs_ + 1) / 2 : 0;
        const std::size_t gram_size = x_.stride * x_.stride;
        const Parts parts = cut(n_blocks * gram_size);
        std::vector<TileSums> sums(parts.count);
        std::vector<double> gradients(parts.count * gradient_.size());
        std::vector<double> grams(parts.count * n_blocks * gram_size);
        parallel_chunks(x_.rows, parts.rows, n_threads_, [&](Range part) {
            const std::size_t height = with_hessian ? tile_rows(x_.stride) : pass_height();
            double* gradient = gradients.data() + part.index * gradient_.size();
            double* gram = grams.data() + part.index * n_blocks * gram_size;
            std::vector<double> scratch(with_hessian ? height * x_.stride : 0);
            std::vector<double> curvature(height);
            TileRoom room(x_);
            for (std::size_t begin = part.begin; begin < part.end; begin += height) {
                const std::size_t end = std::min(begin + height, part.end);
                const std::size_t at = begin * outputs_;
                const auto tile = x_.tile(begin, end, room.data());
                tile.scores(theta.data(), outputs_, score_.data() + at);
                link(begin, end, sums[part.index]);
                tile.add_gradient(residual_.data() + at, outputs_, gradient);
                if (with_hessian) {
                    add_grams(tile, begin, end, gram, curvature, scratch);
                }
            }
        });
        reduce(parts.count, sums, gradients);
        if (with_hessian) {
            assemble(parts.count, n_blocks, grams);
        }
    }

    void keep() {
        std::swap(score_, before_);
        has_before_ = true;
    }

    void turn(std::span<const double> v, std::span<double> out) {
        const Parts parts = cut(0);
        std::vector<double> partial(parts.count * out.size());
        parallel_chunks(x_.rows, parts.rows, n_threads_, [&](Range part) {
            const std::size_t height = pass_height();
            double* to = partial.data() + part.index * out.size();
            std::vector<double> turned(height * outputs_);
            TileRoom room(x_);
            for (std::size_t begin = part.begin; begin < part.end; begin += height) {
                const std::size_t end = std::min(begin + height, part.end);
                const std::size_t count = end - begin;
                const auto tile = x_.tile(begin, end, room.data());
                tile.scores(v.data(), outputs_, turned.data());
                const double* share = share_.data() + begin * outputs_;
                if (outputs_ == 1) {
                    for (std::size_t i = 0; i < count; ++i) {
                        turned[i] *= share[i];
                    }
                } else {
                    dispatch([&](auto level) {
                        LogisticKernels<decltype(level)>::softmax_turn(
                            share, weight_.data() + begin, turned.data(), count, outputs_,
                            turned.data());
                    });
                }
                tile.add_gradient(turned.data(), outputs_, to);
            }
        });
        add_parts(parts.count, partial, out);
    }

    // sum_i c_i x_i x_i' of the curvature summed over the outputs, one matrix of stride x stride:
    // the Hessian's block for one output, on average (a preconditioner).
    void mean_gram(std::vector<double>& gram) {
        const std::size_t size = x_.stride * x_.stride;
        const Parts parts = cut(size);
        std::vector<double> partial(parts.count * size);
        parallel_chunks(x_.rows, parts.rows, n_threads_, [&](Range part) {
            const std::size_t height = tile_rows(x_.stride);
            std::vector<double> scratch(height * x_.stride);
            std::vector<double> curvature(height);
            TileRoom room(x_);
            for (std::size_t begin = part.begin; begin < part.end; begin += height) {
                const std::size_t end = std::min(begin + height, part.end);
                mean_curvature(begin, end, curvature);
                const auto tile = x_.tile(begin, end, room.data());
                tile.add_gram(curvature.data(), partial.data() + part.index * size, scratch.data());
            }
        });
        gram.assign(size, 0.0);
        add_parts(parts.count, partial, gram);
    }

    // The Hessian's own block of every output, n_outputs matrices of stride x stride, for a
    // preconditioner: rows with less than a thousandth of the largest curvature are left out (of
    // sure predictions, that is most rows).
    void output_grams(std::vector<double>& grams)
        requires(!sparse)
    {
        constexpr double least = 1e-3;
        const std::size_t size = x_.stride * x_.stride;
        const std::size_t height = tile_rows(x_.stride);
        const Parts parts = cut(outputs_ * size);
        std::vector<double> floor(outputs_);
        for (std::size_t begin = 0; begin < x_.rows; begin += height) {
            const std::size_t count = std::min(begin + height, x_.rows) - begin;
            const double* share = share_.data() + begin * outputs_;
            for (std::size_t at = 0; at < count * outputs_; ++at) {
                const double p = share[at];
                double& most = floor[at / count];
                most = std::max(most, least * weight_[begin + at % count] * p * (1 - p));
            }
        }
        std::vector<double> partial(parts.count * outputs_ * size);
        parallel_chunks(x_.rows, parts.rows, n_threads_, [&](Range part) {
            std::vector<double> scratch(height * x_.stride);
            std::vector<double> some(height * x_.stride);
            std::vector<double> curvature(height);
            TileRoom room(x_);
            double* to = partial.data() + part.index * outputs_ * size;
            for (std::size_t begin = part.begin; begin < part.end; begin += height) {
                const std::size_t end = std::min(begin + height, part.end);
                const std::size_t count = end - begin;
                const auto tile = x_.tile(begin, end, room.data());
                for (std::size_t k = 0; k < outputs_; ++k) {
                    const double* share = share_.data() + begin * outputs_ + k * count;
                    std::size_t kept = 0;
                    for (std::size_t i = 0; i < count; ++i) {
                        const double c = weight_[begin + i] * share[i] * (1 - share[i]);
                        if (c >= floor[k] && c > 0) {
                            std::copy_n(tile.x.data + i * x_.stride, x_.stride,
                                        some.data() + kept * x_.stride);
                            curvature[kept++] = c;
                        }
                    }
                    if (kept > 0) {
                        const DenseTile chosen{{some.data(), kept, x_.stride}};
                        chosen.add_gram(curvature.data(), to + k * size, scratch.data());
                    }
                }
            }
        });
        grams.assign(outputs_ * size, 0.0);
        add_parts(parts.count, partial, grams);
    }

    // The same on the diagonal, per output: n_outputs rows of stride.
    void diagonal(std::vector<double>& out) {
        const Parts parts = cut(0);
        const std::size_t size = outputs_ * x_.stride;
        std::vector<double> partial(parts.count * size);
        parallel_chunks(x_.rows, parts.rows, n_threads_, [&](Range part) {
            const std::size_t height = tile_rows(x_.stride);
            double* to = partial.data() + part.index * size;
            TileRoom room(x_);
            for (std::size_t begin = part.begin; begin < part.end; begin += height) {
                const std::size_t end = std::min(begin + height, part.end);
                const std::size_t count = end - begin;
                const auto tile = x_.tile(begin, end, room.data());
                for (std::size_t k = 0; k < outputs_; ++k) {
                    const double* share = share_.data() + begin * outputs_ + k * count;
                    for (std::size_t i = 0; i < count; ++i) {
                        const double c = outputs_ == 1
                                             ? share[i]
                                             : weight_[begin + i] * share[i] * (1 - share[i]);
                        tile.add_squares(i, c, to + k * x_.stride);
                    }
                }
            }
        });
        out.assign(size, 0.0);
        add_parts(parts.count, partial, out);
    }

    // The dual objective of the loss at alpha times the residuals of the point evaluated last.
    [[nodiscard]] double entropy(double alpha) const {
        const auto term = [](double q) {
            return q > 1e-300 ? q * log_of<double, std::uint64_t>(q) : 0.0;
        };
        double sum = 0;
        const std::size_t height = tile_rows(x_.stride);
        for (std::size_t begin = 0; begin < x_.rows; begin += height) {
            const std::size_t count = std::min(begin + height, x_.rows) - begin;
            const std::size_t at = begin * outputs_;
            for (std::size_t i = 0; i < count; ++i) {
                const double weight = weight_[begin + i];
                if (outputs_ == 1) {
                    const double q = weight > 0 ? alpha * std::abs(residual_[at + i]) / weight : 0;
                    sum -= weight * (term(q) + term(1 - q));
                    continue;
                }
                const auto own = static_cast<std::size_t>(codes_[begin + i]);
                for (std::size_t k = 0; k < outputs_; ++k) {
                    const double share = alpha * share_[at + k * count + i];
                    sum -= weight * term(share + (k == own ? 1 - alpha : 0.0));
                }
            }
        }
        return sum;
    }

  private:
    struct Parts {
        std::size_t rows;
        std::size_t count;
    };

    // At most 16 parts of whole tiles, fewer where each carries much.
    [[nodiscard]] Parts cut(std::size_t numbers_each) const noexcept {
        constexpr std::size_t room = std::size_t{1} << 23;
        const std::size_t most =
            numbers_each == 0 ? 16 : std::clamp<std::size_t>(room / numbers_each, 2, 16);
        const std::size_t height = tile_rows(x_.stride);
        const std::size_t least = std::max<std::size_t>((x_.rows + most - 1) / most, 1024);
        const std::size_t rows = (least + height - 1) / height * height;
        return {rows, chunk_count(x_.rows, rows)};
    }

    // Several outputs are kept tile by tile, class by class: their tiles are those of all passes.
    [[nodiscard]] std::size_t pass_height() const noexcept {
        return outputs_ == 1 && !sparse ? pass_rows(x_.stride) : tile_rows(x_.stride);
    }

    void link(std::size_t begin, std::size_t end, TileSums& sums) {
        const std::size_t at = begin * outputs_;
        const double* before = has_before_ ? before_.data() + at : nullptr;
        dispatch([&](auto level) {
            using Kernels = LogisticKernels<decltype(level)>;
            if (outputs_ == 1) {
                Kernels::logistic(score_.data() + at, before, sign_.data() + begin,
                                  weight_.data() + begin, end - begin, residual_.data() + at,
                                  share_.data() + at, sums);
            } else {
                Kernels::softmax(score_.data() + at, before, codes_.data() + begin,
                                 weight_.data() + begin, end - begin, outputs_, share_.data() + at,
                                 residual_.data() + at, sums);
            }
        });
    }

    // Block (k, l), l <= k, of the Hessian: weights s p_k ([k = l] - p_l).
    template <class Tile>
    void add_grams(const Tile& tile, std::size_t begin, std::size_t end, double* gram,
                   std::vector<double>& curvature, std::vector<double>& scratch) {
        const std::size_t count = end - begin;
        const double* share = share_.data() + begin * outputs_;
        if (outputs_ == 1) {
            tile.add_gram(share, gram, scratch.data());
            return;
        }
        for (std::size_t k = 0; k < outputs_; ++k) {
            const double* left = share + k * count;
            for (std::size_t l = 0; l <= k; ++l) {
                const double* right = share + l * count;
                for (std::size_t i = 0; i < count; ++i) {
                    curvature[i] = weight_[begin + i] * left[i] * (k == l ? 1 - left[i] : right[i]);
                }
                tile.add_gram(curvature.data(), gram, scratch.data());
                gram += x_.stride * x_.stride;
            }
        }
    }

    void mean_curvature(std::size_t begin, std::size_t end, std::vector<double>& curvature) const {
        const std::size_t count = end - begin;
        const double* share = share_.data() + begin * outputs_;
        for (std::size_t i = 0; i < count; ++i) {
            if (outputs_ == 1) {
                curvature[i] = share[i];
                continue;
            }
            double sum = 0;
            for (std::size_t k = 0; k < outputs_; ++k) {
                const double p = share[k * count + i];
                sum += p * (1 - p);
            }
            curvature[i] = weight_[begin + i] * sum / static_cast<double>(outputs_);
        }
    }

    void reduce(std::size_t n_parts, const std::vector<TileSums>& sums,
                const std::vector<double>& gradients) {
        sums_ = {};
        for (const TileSums& each : sums) {
            sums_.loss += each.loss;
            sums_.least_margin = std::min(sums_.least_margin, each.least_margin);
            sums_.moved = std::max(sums_.moved, each.moved);
        }
        add_parts(n_parts, gradients, gradient_);
    }

    static void add_parts(std::size_t n_parts, const std::vector<double>& partial,
                          std::span<double> out) {
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t part = 0; part < n_parts; ++part) {
            const double* from = partial.data() + part * out.size();
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] += from[i];
            }
        }
    }

    void assemble(std::size_t n_parts, std::size_t n_blocks, const std::vector<double>& grams) {
        const std::size_t gram_size = x_.stride * x_.stride;
        std::vector<double> total(n_blocks * gram_size);
        add_parts(n_parts, grams, total);
        const std::size_t side = size();
        hessian_.assign(side * side, 0.0);
        const double* gram = total.data();
        for (std::size_t k = 0; k < outputs_; ++k) {
            for (std::size_t l = 0; l <= k; ++l, gram += gram_size) {
                const double sign = k == l ? 1 : -1;
                for (std::size_t i = 0; i < x_.cols; ++i) {
                    double* row = hessian_.data() + (k * x_.cols + i) * side + l * x_.cols;
                    for (std::size_t j = 0; j < x_.cols; ++j) {
                        row[j] =
                            sign * (j <= i ? gram[i * x_.stride + j] : gram[j * x_.stride + i]);
                    }
                }
            }
        }
    }

    const Design& x_;
    std::span<const std::int32_t> codes_;
    std::span<const double> weight_;
    std::size_t outputs_;
    int n_threads_;
    std::vector<double> sign_;
    std::vector<double> score_;
    std::vector<double> before_;
    std::vector<double> residual_;
    std::vector<double> share_;  // curvature (one output) or probabilities
    std::vector<double> gradient_;
    std::vector<double> hessian_;
    TileSums sums_;
    bool has_before_ = false;
};

}  // namespace assay::linear::logit
