// The table of a linear classifier as its solvers read it: tiles of rows, columns of like size.
//
//     DenseDesign   row i = ((x_i - centre) / scale, 1, 0 ... 0)     padded to a multiple of 8
//     CsrDesign     row i = (x_i / scale, 1)                         the 1 is not stored
//
// The column of ones is there when an intercept is fitted. Dense columns are centred and scaled,
// sparse ones scaled (centring would fill the zeros): Newton steps do not care, but factors,
// conjugate gradients and coordinate descent keep digits. Which centre and scale is of no
// consequence for the solution: penalties are stated for the user's coefficients.
//
// A narrow dense table is not copied: tile(begin, end, room) centres the rows of a tile into
// `room`, TileRoom(design), where they stay in the first-level cache; a copy would be read from
// memory in every pass, and be larger than the table. Tiles offer, with per-row arrays that are
// class-major:
//
//     scores(theta, n_outputs, f)       f[k] = X theta[k]
//     add_gradient(r, n_outputs, g)     g[k] += X' r[k]
//     add_gram(d, gram, scratch)        gram += X' diag(d) X, d >= 0; lower triangle
//     add_squares(i, c, out)            out_j += c x_ij^2, for row i of the tile
//
// theta[k], g[k] and the rows of a gram matrix are `stride` apart.
//
// Needs   a BlasScope for tables wider than `narrow` and for several outputs; the table outlives
//         its design.
// Cost    one copy of the table (dense, wider than `narrow`) or of its values (sparse).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/blas.hpp"
#include "assay/common/csr_view.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/linear/logistic_kernels.hpp"

namespace assay::linear::logit {

// Up to here our own product of columns beats BLAS; several outputs are one product for BLAS.
inline constexpr std::size_t narrow = 64;

// Rows of a tile: narrow ones stay in the first-level cache, BLAS wants more to do.
[[nodiscard]] constexpr std::size_t tile_rows(std::size_t stride) noexcept {
    return stride <= narrow ? 128 : 512;
}

// Rows of a tile that is read twice without BLAS, for scores and for the gradient: the second time
// from the second-level cache.
[[nodiscard]] constexpr std::size_t pass_rows(std::size_t stride) noexcept {
    constexpr std::size_t cached = std::size_t{1} << 16;  // numbers
    const std::size_t whole = tile_rows(stride);
    return stride <= narrow ? whole : std::clamp(cached / stride / 8 * 8, std::size_t{8}, whole);
}

[[nodiscard]] constexpr std::size_t padded(std::size_t cols) noexcept {
    return (cols + lane_count - 1) / lane_count * lane_count;
}

// Sums per column in fixed chunks of rows: the same bits for any number of threads.
struct ColumnFrame {
    std::vector<double> centre;
    std::vector<double> scale;  // > 0
};

namespace detail {

inline constexpr std::size_t frame_rows = 4096;

// The scale of a column from its mean square; 1 for a column without spread. Powers of two:
// dividing by them is exact.
[[nodiscard]] inline double scale_of(double mean_square) noexcept {
    if (!(mean_square > 1e-300) || !std::isfinite(mean_square)) {
        return 1;
    }
    return std::exp2(std::round(std::log2(mean_square) / 2));
}

}  // namespace detail

// Mean and root mean square around it. `about`: the first row, so that large means cost no digits.
[[nodiscard]] inline ColumnFrame frame_of(MatrixView<const double> X, bool centred, int n_threads) {
    const std::size_t n_chunks = chunk_count(X.rows, detail::frame_rows);
    std::vector<double> sums(n_chunks * X.cols * 2);
    const std::vector<double> about(X.data, X.data + X.cols);
    parallel_chunks(X.rows, detail::frame_rows, n_threads, [&](Range range) {
        double* first = sums.data() + range.index * X.cols * 2;
        double* second = first + X.cols;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const double* row = X.data + i * X.cols;
            for (std::size_t j = 0; j < X.cols; ++j) {
                const double gap = row[j] - about[j];
                first[j] += gap;
                second[j] += gap * gap;
            }
        }
    });
    ColumnFrame frame{std::vector<double>(X.cols), std::vector<double>(X.cols, 1.0)};
    const auto n = static_cast<double>(X.rows);
    for (std::size_t j = 0; j < X.cols; ++j) {
        double first = 0;
        double second = 0;
        for (std::size_t c = 0; c < n_chunks; ++c) {
            first += sums[c * X.cols * 2 + j];
            second += sums[c * X.cols * 2 + X.cols + j];
        }
        const double gap = first / n;
        const double mean = about[j] + gap;
        const double variance = std::max(second / n - gap * gap, 0.0);
        frame.centre[j] = centred && std::isfinite(mean) ? mean : 0.0;
        frame.scale[j] = detail::scale_of(centred ? variance : variance + mean * mean);
    }
    return frame;
}

template <class Index>
[[nodiscard]] ColumnFrame frame_of(const CsrView<const double, Index>& X) {
    ColumnFrame frame{std::vector<double>(X.cols), std::vector<double>(X.cols)};
    for (std::size_t t = 0; t < X.values.size(); ++t) {
        const double value = X.values[t];
        frame.scale[static_cast<std::size_t>(X.columns[t])] += value * value;
    }
    for (double& each : frame.scale) {
        each = detail::scale_of(each / static_cast<double>(X.rows));
    }
    return frame;
}

// Rows of a tile of a dense design.
struct DenseTile {
    MatrixView<const double> x;
    const double* next = nullptr;  // what the tile behind it is made of
    std::size_t ahead = 0;

    void scores(const double* theta, std::size_t n_outputs, double* f) const {
        if (n_outputs == 1) {
            for (std::size_t k = 0; k < n_outputs; ++k) {
                dispatch([&](auto level) {
                    LogisticKernels<decltype(level)>::dots(x.data, x.cols, x.rows,
                                                           theta + k * x.cols, f + k * x.rows, next,
                                                           k == 0 ? ahead : 0);
                });
            }
            return;
        }
        gemm<double>(Op::none, Op::transpose, 1.0, {theta, n_outputs, x.cols}, x, 0.0,
                     MatrixView<double>{f, n_outputs, x.rows});
    }

    void add_gradient(const double* r, std::size_t n_outputs, double* g) const {
        if (n_outputs == 1) {
            for (std::size_t k = 0; k < n_outputs; ++k) {
                dispatch([&](auto level) {
                    LogisticKernels<decltype(level)>::add_gradient(x.data, x.cols, x.rows,
                                                                   r + k * x.rows, g + k * x.cols);
                });
            }
            return;
        }
        gemm<double>(Op::none, Op::none, 1.0, {r, n_outputs, x.rows}, x, 1.0,
                     MatrixView<double>{g, n_outputs, x.cols});
    }

    // `scratch` holds tile_rows(stride) * stride numbers.
    void add_gram(const double* d, double* gram, double* scratch) const {
        if (x.cols <= narrow) {
            dispatch([&](auto level) {
                LogisticKernels<decltype(level)>::add_gram(x.data, x.cols, x.rows, d, gram,
                                                           scratch);
            });
            return;
        }
        for (std::size_t i = 0; i < x.rows; ++i) {
            const double root = std::sqrt(d[i]);
            for (std::size_t j = 0; j < x.cols; ++j) {
                scratch[i * x.cols + j] = root * x(i, j);
            }
        }
        syrk<double>(Op::transpose, 1.0, {scratch, x.rows, x.cols}, 1.0,
                     MatrixView<double>{gram, x.cols, x.cols});
    }

    void add_squares(std::size_t i, double c, double* out) const noexcept {
        const double* row = x.data + i * x.cols;
        for (std::size_t j = 0; j < x.cols; ++j) {
            out[j] += c * (row[j] * row[j]);
        }
    }
};

struct DenseDesign {
    static constexpr bool sparse = false;

    std::size_t rows = 0;
    std::size_t cols = 0;  // with the column of ones
    std::size_t stride = 0;

    DenseDesign() = default;
    DenseDesign(MatrixView<const double> X, const ColumnFrame& frame, bool intercept, int n_threads)
        : rows(X.rows),
          cols(X.cols + (intercept ? 1 : 0)),
          stride(padded(cols)),
          table_(X),
          centre_(frame.centre),
          factor_(X.cols) {
        for (std::size_t j = 0; j < X.cols; ++j) {
            factor_[j] = 1 / frame.scale[j];
        }
        if (stride > narrow) {
            is_packed_ = true;
            packed_ = AlignedBuffer<double>(rows * stride);
            parallel_chunks(rows, detail::frame_rows, n_threads, [&](Range range) {
                fill_tail(packed_.data() + range.begin * stride, range.end - range.begin, X.cols);
                centre_rows(range.begin, range.end, packed_.data() + range.begin * stride);
            });
        }
    }

    // Some columns, with the column of ones if that is wanted (and there).
    [[nodiscard]] DenseDesign gather(std::span<const std::size_t> columns, bool ones) const {
        DenseDesign part;
        part.rows = rows;
        part.cols = columns.size() + (ones ? 1 : 0);
        part.stride = padded(part.cols);
        part.is_packed_ = true;
        part.packed_ = AlignedBuffer<double>(rows * part.stride);
        part.fill_tail(part.packed_.data(), rows, columns.size());
        for (std::size_t i = 0; i < rows; ++i) {
            double* to = part.packed_.data() + i * part.stride;
            for (std::size_t c = 0; c < columns.size(); ++c) {
                to[c] = value(i, columns[c]);
            }
        }
        return part;
    }

    [[nodiscard]] std::size_t entries() const noexcept { return rows * cols; }

    // Numbers that the room of a tile has.
    [[nodiscard]] std::size_t room_size() const noexcept {
        return is_packed_ ? 0 : tile_rows(stride) * stride;
    }

    // Makes a room ready: the column of ones and the zeros behind it.
    void furnish(double* room) const noexcept {
        if (!is_packed_) {
            fill_tail(room, tile_rows(stride), table_.cols);
        }
    }

    [[nodiscard]] DenseTile tile(std::size_t begin, std::size_t end, double* room) const noexcept {
        if (is_packed_) {
            return {{packed_.data() + begin * stride, end - begin, stride}};
        }
        centre_rows(begin, end, room);
        const std::size_t behind = std::min(rows - end, tile_rows(stride));
        return {{room, end - begin, stride}, table_.data + end * table_.cols, behind * table_.cols};
    }

  private:
    [[nodiscard]] double value(std::size_t i, std::size_t j) const noexcept {
        return is_packed_ ? packed_[i * stride + j] : (table_(i, j) - centre_[j]) * factor_[j];
    }

    void centre_rows(std::size_t begin, std::size_t end, double* out) const noexcept {
        dispatch([&](auto level) {
            LogisticKernels<decltype(level)>::centred(table_.data + begin * table_.cols,
                                                      table_.cols, end - begin, centre_.data(),
                                                      factor_.data(), out, stride);
        });
    }

    void fill_tail(double* out, std::size_t n_rows, std::size_t first) const noexcept {
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::size_t j = first; j < stride; ++j) {
                out[i * stride + j] = j < cols ? 1 : 0;
            }
        }
    }

    MatrixView<const double> table_{};
    std::vector<double> centre_;
    std::vector<double> factor_;
    bool is_packed_ = false;
    AlignedBuffer<double> packed_;  // of a wide table, or of gathered columns
};

template <class Index>
struct CsrDesign;

// Rows of a tile of a sparse design.
template <class Index>
struct CsrTile {
    const CsrDesign<Index>& design;
    std::size_t begin;
    std::size_t end;

    void scores(const double* theta, std::size_t n_outputs, double* f) const {
        design.scores(begin, end, theta, n_outputs, f);
    }
    void add_gradient(const double* r, std::size_t n_outputs, double* g) const {
        design.add_gradient(begin, end, r, n_outputs, g);
    }
    void add_gram(const double* d, double* gram, double* /*scratch*/) const {
        design.add_gram(begin, end, d, gram);
    }
    void add_squares(std::size_t i, double c, double* out) const noexcept {
        design.add_squares(begin + i, c, out);
    }
};

template <class Index>
struct CsrDesign {
    static constexpr bool sparse = true;

    std::vector<double> values;
    std::span<const Index> columns;
    std::span<const Index> offsets;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::size_t stride = 0;
    bool intercept = false;
    std::vector<Index> own_columns;  // of a gathered design
    std::vector<Index> own_offsets;

    CsrDesign() = default;
    CsrDesign(const CsrDesign&) = delete;  // the spans may look at the design's own vectors
    CsrDesign& operator=(const CsrDesign&) = delete;
    CsrDesign(CsrDesign&&) = default;
    CsrDesign& operator=(CsrDesign&&) = default;
    CsrDesign(const CsrView<const double, Index>& X, const ColumnFrame& frame, bool with_intercept)
        : values(X.values.begin(), X.values.end()),
          columns(X.columns),
          offsets(X.offsets),
          rows(X.rows),
          cols(X.cols + (with_intercept ? 1 : 0)),
          stride(padded(cols)),
          intercept(with_intercept) {
        for (std::size_t t = 0; t < values.size(); ++t) {
            values[t] /= frame.scale[static_cast<std::size_t>(columns[t])];
        }
    }

    [[nodiscard]] std::size_t entries() const noexcept { return values.size(); }

    [[nodiscard]] CsrDesign gather(std::span<const std::size_t> chosen, bool ones) const {
        CsrDesign part;
        std::vector<Index> place(cols, Index{-1});
        for (std::size_t c = 0; c < chosen.size(); ++c) {
            place[chosen[c]] = static_cast<Index>(c);
        }
        part.own_offsets.push_back(0);
        for (std::size_t i = 0; i < rows; ++i) {
            for (auto t = static_cast<std::size_t>(offsets[i]);
                 t < static_cast<std::size_t>(offsets[i + 1]); ++t) {
                const Index to = place[static_cast<std::size_t>(columns[t])];
                if (to >= 0) {
                    part.own_columns.push_back(to);
                    part.values.push_back(values[t]);
                }
            }
            part.own_offsets.push_back(static_cast<Index>(part.values.size()));
        }
        part.columns = part.own_columns;
        part.offsets = part.own_offsets;
        part.rows = rows;
        part.cols = chosen.size() + (ones ? 1 : 0);
        part.stride = padded(part.cols);
        part.intercept = ones;
        return part;
    }

    [[nodiscard]] std::size_t room_size() const noexcept { return 0; }
    void furnish(double* /*room*/) const noexcept {}
    [[nodiscard]] CsrTile<Index> tile(std::size_t begin, std::size_t end,
                                      double* /*room*/) const noexcept {
        return {*this, begin, end};
    }

  private:
    friend struct CsrTile<Index>;

    void scores(std::size_t begin, std::size_t end, const double* theta, std::size_t n_outputs,
                double* f) const {
        const std::size_t count = end - begin;
        for (std::size_t k = 0; k < n_outputs; ++k) {
            const double* w = theta + k * stride;
            for (std::size_t i = 0; i < count; ++i) {
                double sum = intercept ? w[cols - 1] : 0.0;
                visit(begin + i, [&](std::size_t j, double value) { sum += value * w[j]; });
                f[k * count + i] = sum;
            }
        }
    }

    void add_gradient(std::size_t begin, std::size_t end, const double* r, std::size_t n_outputs,
                      double* g) const {
        const std::size_t count = end - begin;
        for (std::size_t k = 0; k < n_outputs; ++k) {
            double* to = g + k * stride;
            for (std::size_t i = 0; i < count; ++i) {
                const double scale = r[k * count + i];
                visit(begin + i, [&](std::size_t j, double value) { to[j] += scale * value; });
                if (intercept) {
                    to[cols - 1] += scale;
                }
            }
        }
    }

    void add_gram(std::size_t begin, std::size_t end, const double* d, double* gram) const {
        for (std::size_t i = begin; i < end; ++i) {
            const double weight = d[i - begin];
            const auto first = static_cast<std::size_t>(offsets[i]);
            const auto last = static_cast<std::size_t>(offsets[i + 1]);
            for (std::size_t a = first; a < last; ++a) {
                const double scaled = weight * values[a];
                double* to = gram + static_cast<std::size_t>(columns[a]) * stride;
                for (std::size_t b = first; b <= a; ++b) {
                    to[static_cast<std::size_t>(columns[b])] += scaled * values[b];
                }
            }
            if (intercept) {
                double* to = gram + (cols - 1) * stride;
                for (std::size_t a = first; a < last; ++a) {
                    to[static_cast<std::size_t>(columns[a])] += weight * values[a];
                }
                to[cols - 1] += weight;
            }
        }
    }

    void add_squares(std::size_t i, double c, double* out) const noexcept {
        visit(i, [&](std::size_t j, double value) { out[j] += c * (value * value); });
        if (intercept) {
            out[cols - 1] += c;
        }
    }

    template <class Visit>
    [[gnu::always_inline]] void visit(std::size_t i, const Visit& call) const {
        const auto last = static_cast<std::size_t>(offsets[i + 1]);
        for (auto t = static_cast<std::size_t>(offsets[i]); t < last; ++t) {
            call(static_cast<std::size_t>(columns[t]), values[t]);
        }
    }
};

// Where tiles of a design are made; one per thread at work.
class TileRoom {
  public:
    template <class Design>
    explicit TileRoom(const Design& design) : numbers_(design.room_size()) {
        design.furnish(numbers_.data());
    }
    [[nodiscard]] double* data() noexcept { return numbers_.data(); }

  private:
    AlignedBuffer<double> numbers_;
};

}  // namespace assay::linear::logit
