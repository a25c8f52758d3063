// Rows in the form in which kernel values are computed: dense, sparse, or a Gram matrix.
//
//     fill    out[q][j] = k(row which_q of `from`, own row j)     for j in [begin, end)
//     take    some of the rows, in the given order, as new Rows
//
// A value depends on its two rows alone: it has the same bits wherever and with whatever others
// it is computed, and k(x, z) = k(z, x). Dense rows are computed in T (float32 or float64), sparse
// rows in float64 and rounded to T; a Gram matrix is rounded to T.
//
// Needs   begin a multiple of panel_rows; out[q] has room up to `padded()` numbers (what is
//         written from `size()` on has no meaning). fill may be called by several threads.
// Cost    dense: tile.hpp. Sparse: O(nonzeros of the own rows) per 8 queries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/csr_view.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/svm/kernel_function.hpp"
#include "assay/svm/sparse_tile.hpp"
#include "assay/svm/tile.hpp"

namespace assay::svm {

using RowList = std::span<const std::uint32_t>;
using SparseView = CsrView<const double, std::int64_t>;

// Whether every index is where CsrView needs it: nothing is read out of bounds.
[[nodiscard]] inline bool is_sound(const SparseView& X) noexcept {
    if (X.offsets.front() != 0 || X.columns.size() != X.values.size() ||
        X.offsets.back() != static_cast<std::int64_t>(X.values.size())) {
        return false;
    }
    for (std::size_t i = 0; i < X.rows; ++i) {
        if (X.offsets[i] > X.offsets[i + 1] ||
            X.offsets[i + 1] > static_cast<std::int64_t>(X.values.size())) {
            return false;
        }
        for (std::int64_t t = X.offsets[i]; t < X.offsets[i + 1]; ++t) {
            const std::int64_t column = X.columns[static_cast<std::size_t>(t)];
            if (column < 0 || column >= static_cast<std::int64_t>(X.cols)) {
                return false;
            }
        }
    }
    return true;
}

[[nodiscard]] constexpr std::size_t padded_to_panels(std::size_t n) noexcept {
    return (n + panel_rows - 1) / panel_rows * panel_rows;
}

namespace detail {

[[nodiscard]] inline std::vector<std::uint32_t> all_or(RowList which, std::size_t n) {
    std::vector<std::uint32_t> rows(which.begin(), which.end());
    if (which.empty()) {
        rows.resize(n);
        std::iota(rows.begin(), rows.end(), 0U);
    }
    return rows;
}

}  // namespace detail

template <class T>
class Rows {
  public:
    virtual ~Rows() = default;
    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    // What one kernel value costs.
    [[nodiscard]] virtual std::size_t products_per_value() const noexcept = 0;
    // Whether all values are in memory, row by row: then nobody need keep copies, and `fill` writes
    // nothing beyond `end`.
    [[nodiscard]] virtual bool at_hand() const noexcept { return false; }
    [[nodiscard]] std::size_t padded() const noexcept { return padded_to_panels(size()); }
    // k(row i of `from`, own row j) at [j], where that is in memory already; else nullptr.
    [[nodiscard]] virtual const T* direct(const KernelFunction& /*k*/, const Rows& /*from*/,
                                          std::size_t /*i*/) const noexcept {
        return nullptr;
    }
    [[nodiscard]] virtual std::unique_ptr<Rows> take(RowList which) const = 0;
    virtual void fill(const KernelFunction& k, const Rows& from, RowList which, std::size_t begin,
                      std::size_t end, T* const* out) const = 0;
};

template <class T>
class DenseRows final : public Rows<T> {
  public:
    // Of all rows, or of those in `which`.
    template <class S>
    explicit DenseRows(MatrixView<const S> X, RowList which = {})
        : DenseRows(which.empty() ? X.rows : which.size(), X.cols) {
        for (std::size_t i = 0; i < n_; ++i) {
            T* to = place(i);
            const S* from = X.data + (which.empty() ? i : which[i]) * d_;
            for (std::size_t c = 0; c < d_; ++c) {
                to[c * panel_rows] = static_cast<T>(from[c]);
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept override { return n_; }
    [[nodiscard]] std::size_t products_per_value() const noexcept override { return d_; }

    [[nodiscard]] std::unique_ptr<Rows<T>> take(RowList which) const override {
        auto taken = std::unique_ptr<DenseRows>(new DenseRows(which.size(), d_));
        for (std::size_t i = 0; i < which.size(); ++i) {
            const T* from = place(which[i]);
            T* to = taken->place(i);
            for (std::size_t c = 0; c < d_; ++c) {
                to[c * panel_rows] = from[c * panel_rows];
            }
        }
        return taken;
    }

    void fill(const KernelFunction& k, const Rows<T>& from, RowList which, std::size_t begin,
              std::size_t end, T* const* out) const override {
        const auto& source = static_cast<const DenseRows&>(from);
        AlignedBuffer<T> queries(which.size() * d_);
        std::vector<const T*> pointers(which.size());
        for (std::size_t q = 0; q < which.size(); ++q) {
            T* to = queries.data() + q * d_;
            source.copy_row(which[q], to);
            pointers[q] = to;
        }
        const std::size_t n_panels = (end - begin + panel_rows - 1) / panel_rows;
        dispatch([&](auto level) {
            Tile<decltype(level), T>::run(k, pointers.data(), which.size(), d_,
                                          panels_.data() + begin * d_, n_panels, out, begin);
        });
    }

  private:
    DenseRows(std::size_t n, std::size_t d) : n_(n), d_(d), panels_(padded_to_panels(n) * d) {
        std::fill(panels_.begin() + n_ / panel_rows * panel_rows * d_, panels_.end(), T{0});
    }

    [[nodiscard]] T* place(std::size_t i) noexcept {
        return panels_.data() + i / panel_rows * panel_rows * d_ + i % panel_rows;
    }
    [[nodiscard]] const T* place(std::size_t i) const noexcept {
        return panels_.data() + i / panel_rows * panel_rows * d_ + i % panel_rows;
    }
    void copy_row(std::size_t i, T* to) const noexcept {
        const T* from = place(i);
        for (std::size_t c = 0; c < d_; ++c) {
            to[c] = from[c * panel_rows];
        }
    }

    std::size_t n_;
    std::size_t d_;
    AlignedBuffer<T> panels_;
};

template <class T>
class SparseRows final : public Rows<T> {
  public:
    explicit SparseRows(SparseView X, RowList which = {})
        : X_(X), index_(detail::all_or(which, X.rows)), norms_(index_.size()) {
        for (std::size_t i = 0; i < index_.size(); ++i) {
            double sum = 0;
            X.for_each_nonzero(index_[i],
                               [&](std::size_t, double value) { sum = sum + value * value; });
            norms_[i] = sum;
        }
    }

    [[nodiscard]] std::size_t size() const noexcept override { return index_.size(); }
    [[nodiscard]] std::size_t products_per_value() const noexcept override {
        return 8 * X_.values.size() / std::max<std::size_t>(1, X_.rows);
    }

    [[nodiscard]] std::unique_ptr<Rows<T>> take(RowList which) const override {
        auto taken = std::unique_ptr<SparseRows>(new SparseRows);
        taken->X_ = X_;
        for (const std::uint32_t i : which) {
            taken->index_.push_back(index_[i]);
            taken->norms_.push_back(norms_[i]);
        }
        return taken;
    }

    void fill(const KernelFunction& k, const Rows<T>& from, RowList which, std::size_t begin,
              std::size_t end, T* const* out) const override {
        const auto& source = static_cast<const SparseRows&>(from);
        end = std::min(end, size());
        AlignedBuffer<double> table(X_.cols * sparse_queries);
        std::fill(table.begin(), table.end(), 0.0);
        AlignedBuffer<double> products((end - begin) * sparse_queries);
        for (std::size_t q = 0; q < which.size(); q += sparse_queries) {
            const std::size_t count = std::min(sparse_queries, which.size() - q);
            double norms[sparse_queries] = {};
            for (std::size_t lane = 0; lane < count; ++lane) {
                norms[lane] = source.norms_[which[q + lane]];
                source.scatter(which[q + lane], lane, table.data(), false);
            }
            dispatch([&](auto level) {
                SparseTile<decltype(level)>::run(
                    X_.values.data(), X_.columns.data(), X_.offsets.data(), index_.data() + begin,
                    end - begin, table.data(), k.needs_distance() ? norms_.data() + begin : nullptr,
                    norms, products.data());
                ShapeAll<decltype(level), double>::run(k, products.data(), products.size());
            });
            for (std::size_t lane = 0; lane < count; ++lane) {
                source.scatter(which[q + lane], lane, table.data(), true);
                for (std::size_t j = 0; j < end - begin; ++j) {
                    out[q + lane][begin + j] = static_cast<T>(products[j * sparse_queries + lane]);
                }
            }
        }
    }

  private:
    SparseRows() = default;

    void scatter(std::uint32_t i, std::size_t lane, double* table, bool clear) const {
        X_.for_each_nonzero(index_[i], [&](std::size_t column, double value) {
            table[column * sparse_queries + lane] = clear ? 0.0 : value;
        });
    }

    SparseView X_;
    std::vector<std::uint32_t> index_;
    std::vector<double> norms_;
};

// Values of a square matrix, S -> T; `k` is not used but for its scale (smo.hpp). Rows that lie
// beside each other in the matrix are copied together.
template <class T, class S>
class GramRows final : public Rows<T> {
  public:
    explicit GramRows(MatrixView<const S> gram, RowList which = {})
        : gram_(gram), index_(detail::all_or(which, gram.rows)), runs_(runs_of(index_)) {}

    [[nodiscard]] std::size_t size() const noexcept override { return index_.size(); }
    [[nodiscard]] std::size_t products_per_value() const noexcept override { return 1; }
    [[nodiscard]] bool at_hand() const noexcept override {
        return std::is_same_v<T, S> && runs_.size() == 1;
    }

    [[nodiscard]] const T* direct(const KernelFunction& k, const Rows<T>& from,
                                  std::size_t i) const noexcept override {
        if constexpr (std::is_same_v<T, S>) {
            if (k.gamma == 1 && runs_.size() == 1) {
                const auto& source = static_cast<const GramRows&>(from);
                return gram_.data + gram_.cols * source.index_[i] + index_[0];
            }
        }
        return nullptr;
    }

    [[nodiscard]] std::unique_ptr<Rows<T>> take(RowList which) const override {
        auto taken = std::unique_ptr<GramRows>(new GramRows);
        taken->gram_ = gram_;
        taken->index_.reserve(which.size());
        for (const std::uint32_t i : which) {
            taken->index_.push_back(index_[i]);
        }
        taken->runs_ = runs_of(taken->index_);
        return taken;
    }

    void fill(const KernelFunction& k, const Rows<T>& from, RowList which, std::size_t begin,
              std::size_t end, T* const* out) const override {
        const auto& source = static_cast<const GramRows&>(from);
        end = std::min(end, size());
        const bool copies = std::is_same_v<T, S> && k.gamma == 1 && 8 * runs_.size() <= size();
        for (std::size_t q = 0; q < which.size(); ++q) {
            const S* row = gram_.data + gram_.cols * source.index_[which[q]];
            if (copies) {
                copy_runs(row, begin, end, out[q]);
                continue;
            }
            if (k.gamma == 1) {
                for (std::size_t j = begin; j < end; ++j) {
                    out[q][j] = static_cast<T>(row[index_[j]]);
                }
                continue;
            }
            for (std::size_t j = begin; j < end; ++j) {
                out[q][j] = static_cast<T>(static_cast<double>(row[index_[j]]) * k.gamma);
            }
        }
    }

  private:
    GramRows() = default;

    // Where runs of consecutive numbers begin.
    [[nodiscard]] static std::vector<std::uint32_t> runs_of(RowList index) {
        std::vector<std::uint32_t> runs;
        for (std::size_t j = 0; j < index.size(); ++j) {
            if (j == 0 || index[j] != index[j - 1] + 1) {
                runs.push_back(static_cast<std::uint32_t>(j));
            }
        }
        return runs;
    }

    void copy_runs(const S* row, std::size_t begin, std::size_t end, T* out) const {
        for (std::size_t r = 0; r < runs_.size(); ++r) {
            const std::size_t next = r + 1 < runs_.size() ? runs_[r + 1] : size();
            const std::size_t first = std::max<std::size_t>(runs_[r], begin);
            const std::size_t last = std::min(next, end);
            if (first < last) {
                std::copy_n(row + index_[first], last - first, out + first);
            }
        }
    }

    MatrixView<const S> gram_;
    std::vector<std::uint32_t> index_;
    std::vector<std::uint32_t> runs_;
};

}  // namespace assay::svm
