// From a table and a kernel to a solved program: scale, precision, certificate.
//
//     min 1/2 b'Kb - c'b   s.t.  sum b = const,  low <= b <= high             (smo.hpp)
//
// Scale. K is divided by a power of two near its largest diagonal entry and b multiplied by it:
// exact, and float32 kernel values then never overflow (polynomials of unscaled columns).
// Precision. Kernel values are float32; a run on float64 values follows from where it ended if
// it stalled, if the classes seem inseparable, if f differs from its float64 value by more than a
// quarter of tol on a sample of rows, or (where all rows are looked at) if the violation by float64
// values is above tol. Where float32 would lose the data themselves
// (columns far from zero with a small spread, numbers beyond its range) float64 is used at once.
//
// Cost    that of smo.hpp; the sample: `sample_rows` float64 kernel values per support vector.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/csr_view.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/svm/block_matrix.hpp"
#include "assay/svm/certificate.hpp"
#include "assay/svm/kernel_sum.hpp"
#include "assay/svm/rows.hpp"
#include "assay/svm/smo.hpp"

namespace assay::svm {

template <class S>
struct GramView {
    MatrixView<const S> values;
};

using Table = std::variant<MatrixView<const float>, MatrixView<const double>, SparseView,
                           GramView<float>, GramView<double>>;

[[nodiscard]] inline std::size_t n_rows(const Table& table) {
    return std::visit(
        [](const auto& X) -> std::size_t {
            if constexpr (requires { X.values.rows; }) {
                return X.values.rows;
            } else {
                return X.rows;
            }
        },
        table);
}

[[nodiscard]] inline std::size_t n_columns(const Table& table) {
    return std::visit(
        [](const auto& X) -> std::size_t {
            if constexpr (requires { X.values.cols; }) {
                return X.values.cols;
            } else {
                return X.cols;
            }
        },
        table);
}

// The given rows of the table (all: empty).
template <class T>
[[nodiscard]] std::unique_ptr<Rows<T>> make_rows(const Table& table, RowList which = {}) {
    return std::visit(
        [&](const auto& X) -> std::unique_ptr<Rows<T>> {
            using View = std::remove_cvref_t<decltype(X)>;
            if constexpr (std::is_same_v<View, SparseView>) {
                return std::make_unique<SparseRows<T>>(X, which);
            } else if constexpr (requires { X.values; }) {
                using S = typename decltype(X.values)::value_type;
                return std::make_unique<GramRows<T, S>>(X.values, which);
            } else {
                return std::make_unique<DenseRows<T>>(X, which);
            }
        },
        table);
}

namespace detail {

// Whether float32 keeps what matters of dense rows.
template <class S>
[[nodiscard]] bool float32_suffices(MatrixView<const S> X, bool distances) {
    constexpr double far = 256;  // offset over spread: 8 of 24 bits
    std::vector<double> least(X.cols, std::numeric_limits<double>::infinity());
    std::vector<double> most(X.cols, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < X.rows; ++i) {
        const S* row = X.data + i * X.cols;
        for (std::size_t c = 0; c < X.cols; ++c) {
            const auto value = static_cast<double>(row[c]);
            least[c] = value < least[c] ? value : least[c];
            most[c] = value > most[c] ? value : most[c];
        }
    }
    double largest = 0;
    for (std::size_t c = 0; c < X.cols; ++c) {
        const double size = std::max(std::abs(least[c]), std::abs(most[c]));
        largest = std::max(largest, size);
        const double spread = most[c] - least[c];
        if (distances && spread > 0 && size > far * spread) {
            return false;
        }
    }
    return largest == 0 || (largest < 1e15 && largest > 1e-15);
}

}  // namespace detail

[[nodiscard]] inline bool float32_suffices(const Table& table, const KernelFunction& k) {
    return std::visit(
        [&](const auto& X) -> bool {
            if constexpr (requires { X.data; }) {
                return detail::float32_suffices(X, k.needs_distance());
            } else {
                return true;
            }
        },
        table);
}

struct ScaledKernel {
    KernelFunction kernel;
    double factor = 1;  // K = factor * (values of `kernel`)
};

// k(x, x) of every row.
[[nodiscard]] inline std::vector<double> diagonal(const Table& table, const KernelFunction& k) {
    return std::visit(
        [&](const auto& X) {
            std::vector<double> values(n_rows(table));
            for (std::size_t i = 0; i < values.size(); ++i) {
                if constexpr (requires { X.values.rows; }) {
                    values[i] = static_cast<double>(X.values(i, i)) * k.gamma;
                } else {
                    double sum = 0;
                    if (!k.needs_distance()) {
                        X.for_each_nonzero(i, [&](std::size_t, auto x) {
                            sum += static_cast<double>(x) * static_cast<double>(x);
                        });
                    }
                    values[i] = shape<double>(k, sum);
                }
            }
            return values;
        },
        table);
}

[[nodiscard]] inline ScaledKernel scaled(KernelFunction k, const Table& table) {
    ScaledKernel result{k, 1};
    if (k.kind == KernelKind::precomputed) {
        result.kernel.gamma = k.gamma = 1;
    }
    if (k.kind == KernelKind::rbf || k.kind == KernelKind::sigmoid || k.degree == 0) {
        return result;
    }
    double largest = 0;
    for (const double value : diagonal(table, k)) {
        largest = std::max(largest, std::abs(value));
    }
    if (!(largest > 0) || !std::isfinite(largest)) {
        return result;
    }
    const bool power = k.kind == KernelKind::poly;
    const int degree = power ? static_cast<int>(k.degree) : 1;
    const int exponent = (std::ilogb(largest) + 1) / degree;
    result.kernel.gamma = std::ldexp(k.gamma, -exponent);
    result.kernel.coef0 = power ? std::ldexp(k.coef0, -exponent) : k.coef0;
    result.factor = std::ldexp(1.0, exponent * degree);
    return result;
}

inline constexpr std::size_t sample_rows = 256;

struct MachineResult {
    SmoResult run;
    bool used_float64 = false;
    bool certified = false;   // f at the end is from float64 kernel values
    double kernel_error = 0;  // largest difference of f from its float64 value, where looked
};

class Machine {
  public:
    // `values`, `exact`: the kernel matrix of the table in float32 and in float64 as kernel_matrix
    // writes it, if the caller has it; the result is the same with and without (empty).
    Machine(const Table& table, const KernelFunction& kernel, const SmoOptions& options,
            MatrixView<const float> values = {}, MatrixView<const double> exact = {})
        : table_(table), options_(options), n_(n_rows(table)) {
        scaled_ = scaled(kernel, table);
        diagonal_ = diagonal(table, scaled_.kernel);
        exact_ = std::make_unique<Lazy>();
        narrow_ = float32_suffices(table, kernel);
        narrow_kernel_ = exact_kernel_ = scaled_.kernel;
        const KernelFunction gram{KernelKind::precomputed, 1 / scaled_.factor, 0, 1};
        if (narrow_ && is_known(values)) {
            rows_ = std::make_unique<GramRows<float, float>>(values);
            narrow_kernel_ = gram;
            known_ = true;
        } else if (narrow_) {
            rows_ = make_rows<float>(table);
        }
        if (is_known(exact)) {
            exact_->rows = std::make_unique<GramRows<double, double>>(exact);
            exact_kernel_ = gram;
            exact_known_ = true;
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return n_; }

    // Whether all kernel values were given.
    [[nodiscard]] bool is_known() const noexcept { return narrow_ && known_ && exact_known_; }

    // The machine of some rows, with their kernel values side by side: for several programs over
    // the same rows. solve({}, ...) of the part has the bits of solve(which, ...).
    // Needs   is_known(). One variable per row; one call of solve at a time.
    [[nodiscard]] Machine part(RowList which) const {
        Machine some(*this, which.size());
        some.values_ = copied<float>(*rows_, narrow_kernel_, which);
        some.exact_values_ = copied<double>(*exact_->rows, exact_kernel_, which);
        const KernelFunction gram{KernelKind::precomputed, 1, 0, 1};
        const std::size_t n = which.size();
        some.rows_ = std::make_unique<GramRows<float, float>>(
            MatrixView<const float>{some.values_.data(), n, n});
        some.exact_->rows = std::make_unique<GramRows<double, double>>(
            MatrixView<const double>{some.exact_values_.data(), n, n});
        some.narrow_kernel_ = some.exact_kernel_ = gram;
        const std::size_t block = std::min(options_.block, n);
        some.block_ = std::make_unique<BlockMatrix<float>>(block, block_stride(block));
        for (std::size_t i = 0; i < n; ++i) {
            some.diagonal_[i] = diagonal_[which[i]];
        }
        return some;
    }

    // The program over the given rows (all: empty) of the table.
    MachineResult solve(RowList which, const SmoProblem& problem, std::span<double> b,
                        std::span<double> f) const {
        std::vector<double> low(problem.low.begin(), problem.low.end());
        std::vector<double> high(problem.high.begin(), problem.high.end());
        for (std::size_t v = 0; v < b.size(); ++v) {
            low[v] *= scaled_.factor;
            high[v] *= scaled_.factor;
            b[v] *= scaled_.factor;
        }
        std::vector<double> own(which.empty() ? n_ : which.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
            own[i] = diagonal_[which.empty() ? i : which[i]];
        }
        const SmoProblem scaled_problem{problem.target, low, high, problem.row_of, own};
        const bool from_zero = std::all_of(b.begin(), b.end(), [](double x) { return x == 0; });
        MachineResult result;
        bool widen = !narrow_;
        if (narrow_) {
            run<float>(*rows_, which, scaled_problem, b, f, result);
            widen = result.run.stop == Stop::stalled || result.run.stop == Stop::unbounded;
            check(which, scaled_problem, b, f, result);
            widen = widen || result.kernel_error > 0.25 * options_.tol;
            if (result.certified && result.run.stop == Stop::converged) {
                widen = widen || certify(scaled_problem, b, f).violation > options_.tol;
            }
        }
        if (widen) {
            result.used_float64 = true;
            run<double>(exact_rows(), which, scaled_problem, b, f, result, from_zero);
            result.certified = true;
            result.kernel_error = 0;
        }
        for (std::size_t v = 0; v < b.size(); ++v) {
            b[v] /= scaled_.factor;
        }
        return result;
    }

  private:
    // All of another machine but its rows.
    Machine(const Machine& whole, std::size_t n)
        : table_(whole.table_),
          options_(whole.options_),
          n_(n),
          scaled_(whole.scaled_),
          known_(true),
          exact_known_(true),
          diagonal_(n),
          exact_(std::make_unique<Lazy>()) {}

    template <class T>
    [[nodiscard]] static AlignedBuffer<T> copied(const Rows<T>& all, const KernelFunction& k,
                                                 RowList which) {
        const auto own = all.take(which);
        AlignedBuffer<T> values(which.size() * which.size());
        std::vector<T*> out(which.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = values.data() + i * which.size();
        }
        own->fill(k, all, which, 0, which.size(), out.data());
        return values;
    }

    template <class T>
    [[nodiscard]] bool is_known(MatrixView<const T> values) const {
        bool known = values.rows == n_ && values.cols == n_;
        for (std::size_t i = 0; i < n_ && known; ++i) {
            known = std::isfinite(values(i, i));
        }
        return known;
    }

    struct Lazy {
        std::mutex mutex;
        std::unique_ptr<Rows<double>> rows;
    };

    // Rows in float64, made when first needed.
    [[nodiscard]] const Rows<double>& exact_rows() const {
        const std::lock_guard lock(exact_->mutex);
        if (exact_->rows == nullptr) {
            exact_->rows = make_rows<double>(table_);
        }
        return *exact_->rows;
    }

    template <class T>
    void run(const Rows<T>& all, RowList which, const SmoProblem& problem, std::span<double> b,
             std::span<double> f, MachineResult& result, bool from_zero = false) const {
        const auto some = which.empty() ? nullptr : all.take(which);
        SmoOptions options = options_;
        options.max_steps -= std::min(options.max_steps, result.run.steps);
        const KernelFunction& k = std::is_same_v<T, float> ? narrow_kernel_ : exact_kernel_;
        BlockMatrix<T>* matrix = nullptr;
        if constexpr (std::is_same_v<T, float>) {
            matrix = block_.get();
        }
        Smo<T> smo(k, some == nullptr ? all : *some, problem, options, b, matrix);
        const SmoResult before = result.run;
        result.run = smo.run(f, from_zero);
        result.run.steps += before.steps;
        result.run.rounds += before.rounds;
        result.run.kernel_rows += before.kernel_rows;
    }

    // f of some rows (of all where that costs little) from float64 kernel values.
    void check(RowList which, const SmoProblem& problem, std::span<const double> b,
               std::span<double> f, MachineResult& result) const {
        const auto row_of = [&](std::size_t i) {
            return which.empty() ? static_cast<std::uint32_t>(i) : which[i];
        };
        std::vector<double> by_row(f.size());
        for (std::size_t v = 0; v < b.size(); ++v) {
            by_row[static_cast<std::size_t>(problem.row_of[v])] += b[v];
        }
        std::vector<std::uint32_t> used;
        std::vector<double> coef;
        for (std::size_t i = 0; i < by_row.size(); ++i) {
            if (by_row[i] != 0) {
                used.push_back(row_of(i));
                coef.push_back(by_row[i]);
            }
        }
        const std::size_t per_value = n_columns(table_) + 16;
        const bool all = used.size() * f.size() * per_value <= options_.certify_work;
        const std::size_t step = all ? 1 : std::max<std::size_t>(1, f.size() / sample_rows);
        std::vector<std::uint32_t> looked;
        for (std::size_t i = 0; i < f.size(); i += step) {
            looked.push_back(row_of(i));
        }
        std::vector<double> exact(looked.size());
        std::vector<std::uint32_t> order(used.size());
        std::iota(order.begin(), order.end(), 0U);
        const auto rows = [&](RowList some) {
            return exact_known_ ? exact_->rows->take(some) : make_rows<double>(table_, some);
        };
        add_kernel_rows<double>(exact_kernel_, *rows(looked), *rows(used), order, coef, exact,
                                options_.n_threads);
        for (std::size_t l = 0; l < looked.size(); ++l) {
            result.kernel_error = std::max(result.kernel_error, std::abs(exact[l] - f[l * step]));
        }
        if (all) {
            std::copy(exact.begin(), exact.end(), f.begin());
            result.certified = true;
        }
    }

    Table table_;
    SmoOptions options_;
    std::size_t n_;
    ScaledKernel scaled_;
    KernelFunction narrow_kernel_;
    KernelFunction exact_kernel_;
    bool known_ = false;
    bool exact_known_ = false;
    std::vector<double> diagonal_;
    bool narrow_ = true;
    std::unique_ptr<Rows<float>> rows_;
    std::unique_ptr<Lazy> exact_;
    AlignedBuffer<float> values_;  // of a part
    AlignedBuffer<double> exact_values_;
    std::unique_ptr<BlockMatrix<float>> block_;
};

}  // namespace assay::svm
