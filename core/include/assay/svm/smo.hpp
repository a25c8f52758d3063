// A quadratic program with one equality and a box, over a kernel matrix, in blocks.
//
//     min 1/2 b'Kb - c'b   s.t.  sum b = const,  low <= b <= high
//
// b_v is signed (s_v alpha_v of the usual form); several variables may share a row of K (epsilon
// regression has two per row). f = K b is kept in float64, one number per row; z = c - f.
//
//     repeat   choose a block of violating variables (working_set.hpp)
//              solve the block's own problem in the cache (inner.hpp)
//              f += K (change of b)                           (kernel_sum.hpp)
//     until    max z(may rise) - min z(may fall) <= tol
//
// Shrinking: variables at a bound that no pair would move are left out, rows without variables
// lose their column; before the end all come back, with f brought up to date by the changes
// since, and the test is made on all of them.
//
// Ends always: `max_steps` bounds the work, and a run whose blocks no longer lower the objective
// in float64 is `stalled` (with float32 kernel values: solve on with float64 ones).
//
// Needs   b feasible. Kernel values of Rows (bit-equal wherever they are computed): the result
//         does not depend on n_threads, the cache or the CPU level.
// Cost    a kernel row per changed variable and round, or its reading from the cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/svm/inner.hpp"
#include "assay/svm/kernel_sum.hpp"
#include "assay/svm/newton.hpp"
#include "assay/svm/row_cache.hpp"
#include "assay/svm/rows.hpp"
#include "assay/svm/working_set.hpp"

namespace assay::svm {

struct SmoProblem {
    std::span<const double> target;  // c
    std::span<const double> low;
    std::span<const double> high;
    std::span<const std::int32_t> row_of;   // the row of each variable
    std::span<const double> diagonal = {};  // k(x, x) of each row
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

template <class T>
class Smo {
  public:
    Smo(const KernelFunction& k, const Rows<T>& rows, const SmoProblem& problem,
        const SmoOptions& options)
        : k_(k),
          rows_(rows),
          problem_(problem),
          options_(options),
          n_vars_(problem.target.size()),
          block_(std::min(options.block, n_vars_)),
          stride_((block_ + inner_pad - 1) / inner_pad * inner_pad),
          cache_(rows.size(), rows.padded(), options.cache_bytes),
          set_(n_vars_, block_),
          matrix_(block_ * stride_),
          vectors_(4 * stride_),
          place_(rows.size(), none) {}

    // Changes b; f[row] = sum over the variables of b K at the end. A start that is worse than
    // zero is thrown away where zero is allowed (`zero_fits`).
    SmoResult run(std::span<double> b, std::span<double> f, bool zero_fits = false) {
        b_ = b;
        f_all_ = f;
        start_box(b);
        all_active();
        std::fill(f.begin(), f.end(), 0.0);
        const std::vector<double> zero(n_vars_);
        add_changes(zero, full(), f);
        double objective = 0;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            objective += b[v] * (0.5 * f[row(v)] - problem_.target[v]);
        }
        if (zero_fits && !(objective <= 0)) {
            std::fill(b.begin(), b.end(), 0.0);
            std::fill(f.begin(), f.end(), 0.0);
        }
        f_.assign(f.begin(), f.end());
        last_b_.assign(b.begin(), b.end());
        last_f_.assign(f.begin(), f.end());
        finish(loop());
        return result_;
    }

  private:
    struct Dropped {  // rows left out, and b when their f was right
        std::vector<std::uint32_t> rows;
        std::vector<double> b;
    };

    Stop loop() {
        std::size_t since_shrink = 0;
        std::size_t idle = 0;
        double gained = 0;
        for (;; ++result_.rounds) {
            const Violation now = look();
            result_.violation = now.size();
            if (now.size() <= options_.tol) {
                if (!dropped_.empty()) {
                    bring_back();
                    since_shrink = 0;
                    continue;
                }
                if (!at_box()) {
                    return Stop::converged;
                }
                if (is_unbounded()) {
                    return Stop::unbounded;
                }
                widen_box();
                continue;
            }
            if (result_.steps >= options_.max_steps) {
                return Stop::max_iter;
            }
            if (options_.shrinking && ++since_shrink > shrink_every && shrink(now)) {
                since_shrink = 0;
            }
            const InnerResult inner = solve_block(now);
            result_.steps += inner.steps;
            if (result_.rounds % precision_every == 0 && beyond_precision()) {
                return Stop::stalled;
            }
            if (result_.rounds % extrapolate_every == extrapolate_every - 1) {
                extrapolate();
            }
            gained += gain_;
            idle = gain_ > 1e-15 * gained ? 0 : idle + 1;
            if (idle >= patience) {
                if (dropped_.empty()) {
                    return Stop::stalled;
                }
                bring_back();
                idle = 0;
            }
        }
    }

    void finish(Stop stop) {
        if (!dropped_.empty()) {
            bring_back();
            result_.violation = look().size();
        }
        std::copy(f_.begin(), f_.end(), f_all_.begin());
        result_.stop = stop;
    }

    [[nodiscard]] bool may_rise(std::size_t v) const noexcept { return b_[v] < high_[v]; }
    [[nodiscard]] bool may_fall(std::size_t v) const noexcept { return b_[v] > low_[v]; }
    [[nodiscard]] double own(std::size_t v) const noexcept {
        return problem_.diagonal.empty() ? 1.0 : problem_.diagonal[row(v)];
    }
    [[nodiscard]] std::size_t row(std::size_t v) const noexcept {
        return static_cast<std::size_t>(problem_.row_of[v]);
    }

    // The rounding of the kernel values moves f by about eps |b|, in the kernel's scale: beyond
    // tol the violation says nothing.
    [[nodiscard]] bool beyond_precision() const {
        double sum = 0;
        double largest = 0;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            largest = std::max(largest, std::abs(own(v)));
            sum += b_[v] * b_[v] * std::abs(own(v));
        }
        return std::sqrt(sum * largest) * std::numeric_limits<T>::epsilon() > options_.tol;
    }

    // Infinite bounds (a hard margin) become a box that grows until no weight lies at it.
    void start_box(std::span<const double> b) {
        low_.assign(problem_.low.begin(), problem_.low.end());
        high_.assign(problem_.high.begin(), problem_.high.end());
        double largest = 0;
        double mean = 0;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            largest = std::max(largest, std::abs(b[v]));
            mean += std::abs(own(v)) / static_cast<double>(n_vars_);
        }
        box_ = std::max(2 * largest, mean > 0 ? first_box / mean : first_box);
        set_box();
    }

    void set_box() {
        for (std::size_t v = 0; v < n_vars_; ++v) {
            low_[v] = std::isinf(problem_.low[v]) ? -box_ : problem_.low[v];
            high_[v] = std::isinf(problem_.high[v]) ? box_ : problem_.high[v];
        }
    }

    [[nodiscard]] bool at_box() const {
        for (std::size_t v = 0; v < n_vars_; ++v) {
            if ((b_[v] >= box_ && std::isinf(problem_.high[v])) ||
                (b_[v] <= -box_ && std::isinf(problem_.low[v]))) {
                return true;
            }
        }
        return false;
    }

    // A wider box, and b as far along its own line as that is downhill.
    void widen_box() {
        constexpr double wider = 100;
        double slope = 0;
        double curvature = 0;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            slope += b_[v] * problem_.target[v];
            curvature += b_[v] * f_[row(v)];
        }
        double room = wider;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            const double bound = b_[v] > 0 ? problem_.high[v] : problem_.low[v];
            if (b_[v] != 0 && !std::isinf(bound)) {
                room = std::min(room, bound / b_[v]);
            }
        }
        const double factor =
            std::max(1.0, curvature > 0 ? std::min(room, slope / curvature) : room);
        for (double& value : b_) {
            value *= factor;
        }
        for (double& value : f_) {
            value *= factor;
        }
        box_ *= wider;
        set_box();
        std::copy(b_.begin(), b_.end(), last_b_.begin());
        last_f_ = f_;
    }

    // The convex hulls of the two sides are at most |w| / A apart, A the weight on either side.
    // Less than the kernel's rounding can tell, and f does not part the sides: they meet.
    [[nodiscard]] bool is_unbounded() const {
        double squared = 0;
        double reach = 0;
        double least = std::numeric_limits<double>::infinity();
        double most = -least;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            squared += b_[v] * f_[row(v)];
            reach += 0.5 * std::abs(b_[v]) * std::sqrt(std::abs(own(v)));
            least = std::isinf(problem_.high[v]) ? std::min(least, f_[row(v)]) : least;
            most = std::isinf(problem_.low[v]) ? std::max(most, f_[row(v)]) : most;
        }
        constexpr double nothing = std::is_same_v<T, float> ? 1e-4 : 3e-8;
        return !(least > most) && squared <= nothing * nothing * reach * reach;
    }

    // A line search along the way of the last rounds.
    void extrapolate() {
        if (!dropped_.empty()) {
            return;
        }
        double slope = 0;
        double curvature = 0;
        double room = std::numeric_limits<double>::infinity();
        for (std::size_t v = 0; v < n_vars_; ++v) {
            const double way = b_[v] - last_b_[v];
            if (way != 0) {
                const std::size_t i = row(v);
                slope += way * (problem_.target[v] - f_[i]);
                curvature += way * (f_[i] - last_f_[i]);
                room = std::min(room, ((way > 0 ? high_[v] : low_[v]) - b_[v]) / way);
            }
        }
        if (slope > 0 && curvature > 0 && room > 0) {
            const double step = std::min(room, slope / curvature);
            for (std::size_t v = 0; v < n_vars_; ++v) {
                const double to = b_[v] + step * (b_[v] - last_b_[v]);
                b_[v] = std::clamp(to, low_[v], high_[v]);
            }
            for (std::size_t i = 0; i < f_.size(); ++i) {
                f_[i] += step * (f_[i] - last_f_[i]);
            }
        }
        std::copy(b_.begin(), b_.end(), last_b_.begin());
        last_f_ = f_;
    }

    // z of the active variables, and the violation.
    Violation look() {
        Violation now;
        z_.resize(vars_.size());
        for (std::size_t a = 0; a < vars_.size(); ++a) {
            const std::uint32_t v = vars_[a];
            const double z = problem_.target[v] - f_[column_[row(v)]];
            z_[a] = z;
            now.top = may_rise(v) ? std::max(now.top, z) : now.top;
            now.bottom = may_fall(v) ? std::min(now.bottom, z) : now.bottom;
        }
        return now;
    }

    InnerResult solve_block(Violation now) {
        set_.choose(
            vars_, z_, now, [&](std::size_t v) { return may_rise(v); },
            [&](std::size_t v) { return may_fall(v); });
        const auto members = set_.members();
        const std::size_t size = members.size();
        fill_matrix(members);
        block_b_.resize(size);
        block_low_.resize(size);
        block_high_.resize(size);
        block_z_.resize(size);
        before_.resize(size);
        T* z = vectors_.data();
        const double middle = 0.5 * (now.top + now.bottom);
        for (std::size_t w = 0; w < size; ++w) {
            const std::uint32_t v = members[w];
            block_b_[w] = b_[v];
            block_low_[w] = low_[v];
            block_high_[w] = high_[v];
            block_z_[w] = problem_.target[v] - f_[column_[row(v)]];
            z[w] = static_cast<T>(block_z_[w] - middle);
        }
        const InnerBlock<T> block{size,
                                  stride_,
                                  matrix_.data(),
                                  z,
                                  z + stride_,
                                  z + 2 * stride_,
                                  z + 3 * stride_,
                                  block_b_.data(),
                                  block_low_.data(),
                                  block_high_.data()};
        const double tol = size == n_vars_ ? 0.9 * options_.tol
                                           : std::max(0.5 * options_.tol, inner_share * now.size());
        const std::size_t cap = std::min(options_.max_steps - result_.steps, 50 * block_ + 1000);
        const auto run = [&] {
            return dispatch(
                [&](auto level) { return Inner<decltype(level), T>::run(block, tol, cap); });
        };
        InnerResult inner = run();
        if (inner.steps == cap && newton_steps(block) > 0) {
            const std::size_t before = inner.steps;
            inner = run();
            inner.steps += before;
        }
        for (std::size_t w = 0; w < size; ++w) {
            before_[w] = std::exchange(b_[members[w]], block_b_[w]);
        }
        add_block(members);
        gain_ = 0;  // the fall of the objective: change . (z before + z after) / 2
        for (std::size_t w = 0; w < size; ++w) {
            const std::uint32_t v = members[w];
            const double after = problem_.target[v] - f_[column_[row(v)]];
            gain_ += 0.5 * (b_[v] - before_[w]) * (block_z_[w] + after - 2 * middle);
        }
        return inner;
    }

    // K over the block's variables: what stayed is moved, rows in the cache are read, the values
    // among the others are computed.
    void fill_matrix(RowList members) {
        const std::size_t size = members.size();
        const std::size_t stayed = set_.stayed();
        const std::size_t skipped = last_size_ - stayed;
        for (std::size_t w = 0; w < stayed && skipped > 0; ++w) {
            const T* from = matrix_.data() + (w + skipped) * stride_ + skipped;
            std::copy_n(from, stayed, matrix_.data() + w * stride_);
        }
        last_size_ = size;
        block_rows_.resize(size);
        new_.clear();
        lacking_.clear();
        for (std::size_t w = 0; w < size; ++w) {
            block_rows_[w] = static_cast<std::uint32_t>(row(members[w]));
            const T* cached = cache_.peek(block_rows_[w]);
            if (cached != nullptr) {
                copy_cached(w, cached, stayed, members);
            } else {
                lacking_.push_back(static_cast<std::uint32_t>(w));
                if (w >= stayed) {
                    new_.push_back(static_cast<std::uint32_t>(w));
                }
            }
        }
        compute_lacking();
        for (std::size_t w = 0; w < size; ++w) {
            std::fill(matrix_.data() + w * stride_ + size, matrix_.data() + (w + 1) * stride_,
                      T{0});
        }
    }

    void copy_cached(std::size_t w, const T* cached, std::size_t stayed, RowList members) {
        T* to = matrix_.data() + w * stride_;
        for (std::size_t u = w < stayed ? stayed : 0; u < members.size(); ++u) {
            const T value = cached[column_[row(members[u])]];
            to[u] = value;
            matrix_[u * stride_ + w] = value;
        }
    }

    // The new members that no cached row covers, against all such members.
    void compute_lacking() {
        if (new_.empty()) {
            return;
        }
        lacking_rows_.clear();
        for (const std::uint32_t w : lacking_) {
            lacking_rows_.push_back(block_rows_[w]);
        }
        const auto own = rows_.take(lacking_rows_);
        const std::size_t width = own->padded();
        if (block_values_.size() < new_.size() * width) {
            block_values_ = AlignedBuffer<T>(new_.size() * width);
        }
        constexpr std::size_t part = 32;
        parallel_chunks(new_.size(), part, options_.n_threads, [&](Range range) {
            std::uint32_t which[part] = {};
            T* out[part] = {};
            for (std::size_t a = range.begin; a < range.end; ++a) {
                which[a - range.begin] = block_rows_[new_[a]];
                out[a - range.begin] = block_values_.data() + a * width;
            }
            own->fill(k_, rows_, {which, range.end - range.begin}, 0, own->size(), out);
        });
        for (std::size_t a = 0; a < new_.size(); ++a) {
            const T* from = block_values_.data() + a * width;
            for (std::size_t u = 0; u < lacking_.size(); ++u) {
                matrix_[new_[a] * stride_ + lacking_[u]] = from[u];
                matrix_[lacking_[u] * stride_ + new_[a]] = from[u];
            }
        }
    }

    void add_block(RowList members) {
        changed_rows_.clear();
        changes_.clear();
        for (std::size_t w = 0; w < members.size(); ++w) {
            const double change = b_[members[w]] - before_[w];
            const std::size_t i = row(members[w]);
            if (change == 0) {
                continue;
            }
            if (place_[i] == none) {
                place_[i] = static_cast<std::uint32_t>(changes_.size());
                changed_rows_.push_back(static_cast<std::uint32_t>(i));
                changes_.push_back(change);
            } else {
                changes_[place_[i]] += change;
            }
        }
        for (const std::uint32_t i : changed_rows_) {
            place_[i] = none;
        }
        result_.kernel_rows += add_kernel_rows<T>(k_, active(), rows_, changed_rows_, changes_, f_,
                                                  cache_, options_.n_threads);
    }

    // sum += K(columns, rows) (b - before), without the cache.
    void add_changes(std::span<const double> before, const Rows<T>& columns,
                     std::span<double> sum) {
        std::vector<double> by_row(rows_.size());
        for (std::size_t v = 0; v < n_vars_; ++v) {
            by_row[row(v)] += b_[v] - before[v];
        }
        changed_rows_.clear();
        changes_.clear();
        for (std::size_t i = 0; i < by_row.size(); ++i) {
            if (by_row[i] != 0) {
                changed_rows_.push_back(static_cast<std::uint32_t>(i));
                changes_.push_back(by_row[i]);
            }
        }
        result_.kernel_rows += changed_rows_.size();
        add_kernel_rows<T>(k_, columns, rows_, changed_rows_, changes_, sum, options_.n_threads);
    }

    [[nodiscard]] const Rows<T>& full() const noexcept { return rows_; }
    [[nodiscard]] const Rows<T>& active() const noexcept {
        return active_ == nullptr ? rows_ : *active_;
    }

    void all_active() {
        active_.reset();
        vars_.resize(n_vars_);
        std::iota(vars_.begin(), vars_.end(), 0U);
        active_rows_.resize(rows_.size());
        std::iota(active_rows_.begin(), active_rows_.end(), 0U);
        column_ = active_rows_;
    }

    // Leaves out variables that no violating pair can use. False if that is not worth it.
    bool shrink(Violation now) {
        std::vector<std::uint32_t> keep;
        std::vector<char> row_stays(rows_.size(), 0);
        for (std::size_t a = 0; a < vars_.size(); ++a) {
            const std::uint32_t v = vars_[a];
            const bool useless_up = !may_rise(v) || z_[a] < now.bottom;
            const bool useless_down = !may_fall(v) || z_[a] > now.top;
            if (!(useless_up && useless_down)) {
                row_stays[row(v)] = 1;
            }
        }
        for (const std::uint32_t v : set_.members()) {
            row_stays[row(v)] = 1;
        }
        std::vector<std::uint32_t> kept_columns;
        Dropped out;
        for (std::size_t j = 0; j < active_rows_.size(); ++j) {
            if (row_stays[active_rows_[j]] != 0) {
                kept_columns.push_back(static_cast<std::uint32_t>(j));
            } else {
                out.rows.push_back(active_rows_[j]);
            }
        }
        if (out.rows.size() * 10 < active_rows_.size()) {
            return false;
        }
        for (const std::uint32_t i : out.rows) {
            f_all_[i] = f_[column_[i]];
        }
        out.b.assign(b_.begin(), b_.end());
        dropped_.push_back(std::move(out));
        for (std::size_t j = 0; j < kept_columns.size(); ++j) {
            f_[j] = f_[kept_columns[j]];
            active_rows_[j] = active_rows_[kept_columns[j]];
            column_[active_rows_[j]] = static_cast<std::uint32_t>(j);
        }
        f_.resize(kept_columns.size());
        active_rows_.resize(kept_columns.size());
        std::size_t n = 0;
        for (std::size_t a = 0; a < vars_.size(); ++a) {
            if (row_stays[row(vars_[a])] != 0) {
                z_[n] = z_[a];
                vars_[n++] = vars_[a];
            }
        }
        vars_.resize(n);
        z_.resize(n);
        active_ = rows_.take(active_rows_);
        cache_.keep(kept_columns);
        return true;
    }

    // All rows active again, with f as if they had never been left out.
    void bring_back() {
        for (std::size_t j = 0; j < active_rows_.size(); ++j) {
            f_all_[active_rows_[j]] = f_[j];
        }
        for (const Dropped& part : dropped_) {
            const auto columns = rows_.take(part.rows);
            std::vector<double> sum(part.rows.size());
            for (std::size_t j = 0; j < sum.size(); ++j) {
                sum[j] = f_all_[part.rows[j]];
            }
            add_changes(part.b, *columns, sum);
            for (std::size_t j = 0; j < sum.size(); ++j) {
                f_all_[part.rows[j]] = sum[j];
            }
        }
        dropped_.clear();
        cache_.clear();
        all_active();
        f_.assign(f_all_.begin(), f_all_.end());
        std::copy(b_.begin(), b_.end(), last_b_.begin());
        last_f_ = f_;
    }

    static constexpr std::size_t shrink_every = 10;
    static constexpr std::size_t extrapolate_every = 8;
    static constexpr std::size_t precision_every = 4;
    static constexpr double first_box = 1000;
    static constexpr std::size_t patience = 20;  // rounds without gain
    static constexpr double inner_share = 0.1;
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    const KernelFunction k_;
    const Rows<T>& rows_;
    const SmoProblem problem_;
    const SmoOptions options_;
    const std::size_t n_vars_;
    const std::size_t block_;
    const std::size_t stride_;
    RowCache<T> cache_;
    WorkingSet set_;
    AlignedBuffer<T> matrix_;
    AlignedBuffer<T> vectors_;
    SmoResult result_;
    double gain_ = 0;
    double box_ = 0;
    std::vector<double> low_;
    std::vector<double> high_;
    std::vector<double> last_b_;  // at the last extrapolation
    std::vector<double> last_f_;
    std::vector<std::uint32_t> place_;  // of a row among the changed ones

    std::span<double> b_;
    std::span<double> f_all_;
    std::vector<double> f_;  // of the active rows
    std::unique_ptr<Rows<T>> active_;
    std::vector<std::uint32_t> vars_;         // active variables
    std::vector<std::uint32_t> active_rows_;  // ascending
    std::vector<std::uint32_t> column_;       // row -> its place among the active ones
    std::vector<Dropped> dropped_;
    std::vector<double> z_;

    std::vector<double> block_b_;
    std::vector<double> block_low_;
    std::vector<double> block_high_;
    std::vector<double> block_z_;
    std::vector<double> before_;
    std::vector<std::uint32_t> block_rows_;
    std::vector<std::uint32_t> new_;      // members to compute ...
    std::vector<std::uint32_t> lacking_;  // ... against these
    std::vector<std::uint32_t> lacking_rows_;
    AlignedBuffer<T> block_values_;
    std::size_t last_size_ = 0;
    std::vector<std::uint32_t> changed_rows_;
    std::vector<double> changes_;
};

}  // namespace assay::svm
