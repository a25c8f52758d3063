// A quadratic program with one equality and a box, over a kernel matrix, in blocks.
//
//     min 1/2 b'Kb - c'b   s.t.  sum b = const,  low <= b <= high
//
// (smo_problem.hpp). f = K b is kept in float64, one number per row; z = c - f.
//
//     repeat   choose a block of violating variables (working_set.hpp)
//              solve the block's own problem in the cache (inner.hpp, newton.hpp)
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
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/svm/active_set.hpp"
#include "assay/svm/block_matrix.hpp"
#include "assay/svm/hard_box.hpp"
#include "assay/svm/inner.hpp"
#include "assay/svm/kernel_sum.hpp"
#include "assay/svm/newton.hpp"
#include "assay/svm/row_cache.hpp"
#include "assay/svm/rows.hpp"
#include "assay/svm/smo_problem.hpp"
#include "assay/svm/working_set.hpp"

namespace assay::svm {

// Where the block of a program with so many variables begins a row.
[[nodiscard]] constexpr std::size_t block_stride(std::size_t size) noexcept {
    return (size + inner_pad - 1) / inner_pad * inner_pad;
}

template <class T>
class Smo {
  public:
    // `matrix`: what an earlier program over the same rows, with as many variables, left.
    Smo(const KernelFunction& k, const Rows<T>& rows, const SmoProblem& problem,
        const SmoOptions& options, std::span<double> b, BlockMatrix<T>* matrix = nullptr)
        : k_(k),
          rows_(rows),
          problem_(problem),
          options_(options),
          n_vars_(problem.size()),
          block_(std::min(options.block, n_vars_)),
          stride_(block_stride(block_)),
          // Of many blocks none is worth solving to the end.
          newton_after_(n_vars_ <= 2 * block_ ? 1 : 8),
          b_(b),
          box_(problem, b),
          active_(problem, rows.size()),
          cache_(rows.size(), rows.padded(), rows.at_hand() ? 0 : options.cache_bytes),
          set_(n_vars_, block_),
          own_matrix_(matrix == nullptr ? block_ : 0, stride_),
          matrix_(matrix == nullptr ? own_matrix_ : *matrix),
          vectors_(4 * stride_),
          place_(rows.size(), none) {}

    // Changes b; f[row] = sum over the variables of b K at the end. A start that is worse than
    // zero is thrown away where zero is allowed (`zero_fits`).
    SmoResult run(std::span<double> f, bool zero_fits = false) {
        f_.assign(rows_.size(), 0.0);
        add_changes(std::vector<double>(n_vars_), rows_, f_);
        double objective = 0;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            objective += b_[v] * (0.5 * f_[problem_.row(v)] - problem_.target[v]);
        }
        if (zero_fits && !(objective <= 0)) {
            std::fill(b_.begin(), b_.end(), 0.0);
            std::fill(f_.begin(), f_.end(), 0.0);
        }
        remember();
        result_.stop = loop();
        if (is_shrunk()) {
            bring_back();
            result_.violation = look().size();
        }
        std::copy(f_.begin(), f_.end(), f.begin());
        return result_;
    }

  private:
    Stop loop() {
        // What the rounding of kernel values hides of the distance between two hulls.
        constexpr double nothing = std::is_same_v<T, float> ? 1e-4 : 3e-8;
        std::size_t since_shrink = 0;
        std::size_t idle = 0;
        double gained = 0;
        for (;; ++result_.rounds) {
            const Violation now = look();
            result_.violation = now.size();
            if (now.size() <= options_.tol) {
                if (is_shrunk()) {
                    bring_back();
                    since_shrink = 0;
                    continue;
                }
                if (!box_.at_box(b_)) {
                    return Stop::converged;
                }
                if (box_.is_unbounded(b_, f_, nothing)) {
                    return Stop::unbounded;
                }
                box_.widen(b_, f_);
                remember();
                continue;
            }
            if (result_.steps >= options_.max_steps) {
                return Stop::max_iter;
            }
            if (options_.shrinking && ++since_shrink > shrink_every && shrink(now)) {
                since_shrink = 0;
            }
            const double gain = solve_block(now);
            if (result_.rounds % precision_every == 0 && beyond_precision()) {
                return Stop::stalled;
            }
            if (result_.rounds % extrapolate_every == extrapolate_every - 1 && !is_shrunk()) {
                extrapolate();
            }
            gained += gain;
            idle = gain > 1e-15 * gained ? 0 : idle + 1;
            if (idle >= patience) {
                if (!is_shrunk()) {
                    return Stop::stalled;
                }
                bring_back();
                idle = 0;
            }
        }
    }

    [[nodiscard]] bool may_rise(std::size_t v) const noexcept { return b_[v] < box_.high(v); }
    [[nodiscard]] bool may_fall(std::size_t v) const noexcept { return b_[v] > box_.low(v); }
    [[nodiscard]] bool is_shrunk() const noexcept { return !active_.dropped().empty(); }
    [[nodiscard]] double z_of(std::size_t v) const noexcept {
        return problem_.target[v] - f_[active_.column_of(v)];
    }

    // The rounding of the kernel values moves f by about eps |b|, in the kernel's scale: beyond
    // tol the violation says nothing.
    [[nodiscard]] bool beyond_precision() const {
        double sum = 0;
        double largest = 0;
        for (std::size_t v = 0; v < n_vars_; ++v) {
            largest = std::max(largest, problem_.own(v));
            sum += b_[v] * b_[v] * problem_.own(v);
        }
        return std::sqrt(sum * largest) * std::numeric_limits<T>::epsilon() > options_.tol;
    }

    // Where the next extrapolation begins.
    void remember() {
        last_b_.assign(b_.begin(), b_.end());
        last_f_ = f_;
    }

    // A line search along the way of the last rounds.
    void extrapolate() {
        double slope = 0;
        double curvature = 0;
        double room = std::numeric_limits<double>::infinity();
        for (std::size_t v = 0; v < n_vars_; ++v) {
            const double way = b_[v] - last_b_[v];
            if (way != 0) {
                const std::size_t i = problem_.row(v);
                slope += way * (problem_.target[v] - f_[i]);
                curvature += way * (f_[i] - last_f_[i]);
                room = std::min(room, ((way > 0 ? box_.high(v) : box_.low(v)) - b_[v]) / way);
            }
        }
        if (slope > 0 && curvature > 0 && room > 0) {
            const double step = std::min(room, slope / curvature);
            for (std::size_t v = 0; v < n_vars_; ++v) {
                const double to = b_[v] + step * (b_[v] - last_b_[v]);
                b_[v] = std::clamp(to, box_.low(v), box_.high(v));
            }
            for (std::size_t i = 0; i < f_.size(); ++i) {
                f_[i] += step * (f_[i] - last_f_[i]);
            }
        }
        remember();
    }

    // z of the active variables, and the violation.
    Violation look() {
        Violation now;
        const auto vars = active_.vars();
        z_.resize(vars.size());
        for (std::size_t a = 0; a < vars.size(); ++a) {
            const double z = z_of(vars[a]);
            z_[a] = z;
            now.top = may_rise(vars[a]) ? std::max(now.top, z) : now.top;
            now.bottom = may_fall(vars[a]) ? std::min(now.bottom, z) : now.bottom;
        }
        return now;
    }

    // Returns by how much the objective fell.
    double solve_block(Violation now) {
        set_.choose(
            active_.vars(), z_, now, [&](std::size_t v) { return may_rise(v); },
            [&](std::size_t v) { return may_fall(v); });
        const auto members = set_.members();
        const std::size_t size = members.size();
        assert(size >= 1 && size <= block_);
        block_rows_.resize(size);
        for (auto* each : {&block_b_, &block_low_, &block_high_, &block_z_, &before_}) {
            each->resize(size);
        }
        T* z = vectors_.data();
        const double middle = 0.5 * (now.top + now.bottom);
        for (std::size_t w = 0; w < size; ++w) {
            const std::uint32_t v = members[w];
            block_rows_[w] = static_cast<std::uint32_t>(problem_.row(v));
            block_b_[w] = b_[v];
            block_low_[w] = box_.low(v);
            block_high_[w] = box_.high(v);
            block_z_[w] = z_of(v);
            z[w] = static_cast<T>(block_z_[w] - middle);
        }
        matrix_.fill(k_, rows_, block_rows_, set_.stayed(), cache_, active_.columns(),
                     options_.n_threads);
        step_block({size, stride_, matrix_.data(), z, z + stride_, z + 2 * stride_, z + 3 * stride_,
                    block_b_.data(), block_low_.data(), block_high_.data()},
                   now);
        for (std::size_t w = 0; w < size; ++w) {
            before_[w] = std::exchange(b_[members[w]], block_b_[w]);
        }
        add_block(members);
        double gain = 0;  // change . (z before + z after) / 2
        for (std::size_t w = 0; w < size; ++w) {
            const std::uint32_t v = members[w];
            gain += 0.5 * (b_[v] - before_[w]) * (block_z_[w] + z_of(v) - 2 * middle);
        }
        return gain;
    }

    // Steps on pairs; where these crawl, Newton steps for as much work, and pairs again.
    void step_block(const InnerBlock<T>& block, Violation now) {
        const double tol = block.size == n_vars_
                               ? 0.9 * options_.tol
                               : std::max(0.5 * options_.tol, inner_share * now.size());
        const std::size_t most = 100 * block_ + 2000;
        for (std::size_t made = 0; made < most;) {
            const std::size_t cap =
                std::min({newton_after_ * block_, most - made, options_.max_steps - result_.steps});
            const InnerResult inner = dispatch(
                [&](auto level) { return Inner<decltype(level), T>::run(block, tol, cap); });
            result_.steps += inner.steps;
            made += inner.steps;
            newton_work_ += newton_share * static_cast<double>(inner.steps * block.size);
            if (inner.steps < cap || result_.steps >= options_.max_steps) {
                return;
            }
            const NewtonResult newton = Newton<T>(block).run(newton_work_, newton_steps_);
            newton_work_ -= newton.work;
            if (newton.steps == newton_steps_ && !newton.done) {
                newton_steps_ *= 2;
            }
        }
    }

    // f += K (change of b) over the block.
    void add_block(RowList members) {
        changed_rows_.clear();
        changes_.clear();
        for (std::size_t w = 0; w < members.size(); ++w) {
            const double change = b_[members[w]] - before_[w];
            const std::uint32_t i = block_rows_[w];
            if (change == 0) {
                continue;
            }
            if (place_[i] == none) {
                place_[i] = static_cast<std::uint32_t>(changes_.size());
                changed_rows_.push_back(i);
                changes_.push_back(change);
            } else {
                changes_[place_[i]] += change;
            }
        }
        for (const std::uint32_t i : changed_rows_) {
            place_[i] = none;
        }
        assert(std::all_of(place_.begin(), place_.end(), [](auto at) { return at == none; }));
        const Rows<T>& columns = columns_ == nullptr ? rows_ : *columns_;
        result_.kernel_rows += add_kernel_rows<T>(k_, columns, rows_, changed_rows_, changes_, f_,
                                                  cache_, options_.n_threads);
    }

    // sum += K(columns, rows) (b - before), without the cache.
    void add_changes(std::span<const double> before, const Rows<T>& columns,
                     std::span<double> sum) {
        std::vector<double> by_row(rows_.size());
        for (std::size_t v = 0; v < n_vars_; ++v) {
            by_row[problem_.row(v)] += b_[v] - before[v];
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

    // Leaves out rows whose variables no violating pair can use. False if that is not worth it.
    bool shrink(Violation now) {
        const auto vars = active_.vars();
        std::vector<char> stays(rows_.size(), 0);
        for (std::size_t a = 0; a < vars.size(); ++a) {
            const std::uint32_t v = vars[a];
            const bool useful_up = may_rise(v) && z_[a] >= now.bottom;
            const bool useful_down = may_fall(v) && z_[a] <= now.top;
            if (useful_up || useful_down) {
                stays[problem_.row(v)] = 1;
            }
        }
        for (const std::uint32_t v : set_.members()) {
            stays[problem_.row(v)] = 1;
        }
        const auto kept = active_.drop(stays, b_, f_);
        if (kept.empty()) {
            return false;
        }
        columns_ = rows_.take(active_.rows());
        assert(f_.size() == active_.rows().size());
        cache_.keep(kept, options_.n_threads);
        look();
        return true;
    }

    // All rows active again, with f as if they had never been left out.
    void bring_back() {
        std::vector<double> f(rows_.size());
        for (std::size_t j = 0; j < f_.size(); ++j) {
            f[active_.rows()[j]] = f_[j];
        }
        for (const ActiveSet::Dropped& part : active_.dropped()) {
            std::vector<double> sum = part.f;
            add_changes(part.b, *rows_.take(part.rows), sum);
            for (std::size_t j = 0; j < sum.size(); ++j) {
                f[part.rows[j]] = sum[j];
            }
        }
        f_ = std::move(f);
        active_.all();
        assert(f_.size() == active_.rows().size());
        columns_.reset();
        cache_.clear();
        remember();
    }

    static constexpr std::size_t shrink_every = 10;
    static constexpr std::size_t extrapolate_every = 8;
    static constexpr std::size_t precision_every = 4;
    static constexpr std::size_t patience = 20;  // rounds without gain
    static constexpr double inner_share = 0.1;   // of the violation, to reach within a block
    static constexpr double newton_share = 2;    // products, for each number that these looked at
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    const KernelFunction k_;
    const Rows<T>& rows_;
    const SmoProblem problem_;
    const SmoOptions options_;
    const std::size_t n_vars_;
    const std::size_t block_;
    const std::size_t stride_;
    const std::size_t newton_after_;  // steps on pairs for each variable of a block
    std::span<double> b_;
    HardBox box_;
    ActiveSet active_;
    std::unique_ptr<Rows<T>> columns_;  // the active rows, while some are left out
    RowCache<T> cache_;
    WorkingSet set_;
    BlockMatrix<T> own_matrix_;
    BlockMatrix<T>& matrix_;
    AlignedBuffer<T> vectors_;
    std::vector<std::uint32_t> place_;  // of a row among the changed ones
    SmoResult result_;
    double newton_work_ = 0;        // products that Newton steps may still spend, or owe
    std::size_t newton_steps_ = 8;  // in a row; more when these met bounds to the end

    std::vector<double> f_;  // of the active rows
    std::vector<double> z_;  // of the active variables
    std::vector<double> last_b_;
    std::vector<double> last_f_;

    std::vector<std::uint32_t> block_rows_;
    std::vector<double> block_b_;
    std::vector<double> block_low_;
    std::vector<double> block_high_;
    std::vector<double> block_z_;
    std::vector<double> before_;
    std::vector<std::uint32_t> changed_rows_;
    std::vector<double> changes_;
};

}  // namespace assay::svm
