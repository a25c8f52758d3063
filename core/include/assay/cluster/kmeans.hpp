// k-means: Lloyd's iteration, with every assignment that bounds decide left out.
//
//     minimise  J = sum_i w_i ||x_i - mu_{c(i)}||^2
//     repeat    c(i) = argmin_c S(x_i, mu_c)              centroid_scan.hpp
//               mu_c = sum_{c(i) = c} w_i x_i / sum w_i   centroid_sums.hpp
//     until     no label changes, or the centres moved by sum ||shift||^2 <= tolerance
//
// Both steps are exact in the sense of their headers, so Pruning::none and Pruning::bounds give
// the same labels and the same centres, bit for bit, for any number of threads.
//
// A cluster without weight gets the row that is farthest from its centre (the second such
// cluster the second farthest, ...; ties to the first row), which leaves its own cluster's mean.
// If all rows are at their centres it is put on the heaviest cluster.
//
// Needs   finite rows, at least one centre; weights none or one per row, not negative.
// Cost    O(n k d) for the first round, then O(n) plus the scans that bounds cannot decide;
//         20 bytes per row (4 without bounds) and no copy of the rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "assay/cluster/bounds.hpp"
#include "assay/cluster/centroid_panels.hpp"
#include "assay/cluster/centroid_scan.hpp"
#include "assay/cluster/centroid_sums.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::cluster {

enum class Pruning { none, bounds };

struct KMeansOptions {
    std::size_t max_iter = 300;
    double tolerance = 0;  // of the summed squared shifts, absolute
    Pruning pruning = Pruning::bounds;
    int n_threads = 1;
};

struct KMeansResult {
    double inertia = 0;
    std::size_t n_iter = 0;
    bool is_stable = false;     // no label changed in the last round
    double shift = 0;           // summed squared shifts of the last round
    std::uint64_t scanned = 0;  // rows compared with more than one centre
};

[[nodiscard]] inline ScanTable scan_table(const CentroidPanels& panels,
                                          MatrixView<const double> centres) noexcept {
    return {panels.values(), panels.index(), panels.panel_of(),
            centres.data,    panels.size(),  panels.cols()};
}

// Labels and squared distances of rows to the nearest centre.
template <class T>
void assign_rows(MatrixView<const T> rows, MatrixView<const double> centres,
                 std::span<std::int32_t> label, std::span<double> squared, int n_threads) {
    const CentroidPanels panels(centres);
    const ScanTable table = scan_table(panels, centres);
    parallel_chunks(rows.rows, row_chunk, n_threads, [&](Range range) {
        dispatch([&](auto level) {
            CentroidScan<decltype(level), T>::nearest(
                rows.data + range.begin * rows.cols, range.end - range.begin, table,
                label.data() + range.begin, squared.data() + range.begin, nullptr);
        });
    });
}

// The Euclidean distance of every row to every centre.
template <class T>
void centre_distances(MatrixView<const T> rows, MatrixView<const double> centres,
                      MatrixView<T> distances, int n_threads) {
    const CentroidPanels panels(centres);
    const ScanTable table = scan_table(panels, centres);
    const std::size_t width = panels.size() * lanes;
    constexpr std::size_t chunk = 64;
    parallel_chunks(rows.rows, chunk, n_threads, [&](Range range) {
        std::vector<double> squared(chunk * width);
        dispatch([&](auto level) {
            CentroidScan<decltype(level), T>::all(rows.data + range.begin * rows.cols,
                                                  range.end - range.begin, table, squared.data());
        });
        for (std::size_t i = range.begin; i < range.end; ++i) {
            for (std::size_t place = 0; place < width; ++place) {
                const auto c = static_cast<std::size_t>(panels.index()[place]);
                if (c < centres.rows) {
                    distances(i, c) =
                        static_cast<T>(std::sqrt(squared[(i - range.begin) * width + place]));
                }
            }
        }
    });
}

// sum_i w_i S(x_i, its centre), in fixed chunks.
template <class T>
[[nodiscard]] double inertia(MatrixView<const T> rows, std::span<const double> weight,
                             MatrixView<const double> centres, std::span<const std::int32_t> label,
                             int n_threads) {
    std::vector<double> parts(chunk_count(rows.rows, row_chunk));
    const ScanTable table{nullptr, nullptr, nullptr, centres.data, 0, centres.cols};
    parallel_chunks(rows.rows, row_chunk, n_threads, [&](Range range) {
        double squared[row_chunk];
        dispatch([&](auto level) {
            CentroidScan<decltype(level), T>::own(rows.data + range.begin * rows.cols,
                                                  range.end - range.begin, table,
                                                  label.data() + range.begin, squared);
        });
        double sum = 0;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            sum += (weight.empty() ? 1 : weight[i]) * squared[i - range.begin];
        }
        parts[range.index] = sum;
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

template <class T>
class KMeans {
  public:
    KMeans(MatrixView<const T> rows, std::span<const double> weight, MatrixView<double> centres,
           std::span<std::int32_t> label, const KMeansOptions& options)
        : rows_(rows),
          weight_(weight),
          centres_(centres),
          label_(label),
          options_(options),
          scale_(sum_scale(rows, weight, options.n_threads)),
          panels_(centres),
          old_(centres.rows * centres.cols),
          shift_(centres.rows),
          other_shift_(centres.rows),
          gap_(centres.rows),
          sums_(centres.rows, centres.cols),
          float_sums_(centres.rows, centres.cols),
          slots_(static_cast<std::size_t>(options.n_threads), sums_) {
        assert(rows.rows >= 1 && centres.rows >= 1 && centres.cols == rows.cols);
        assert(label.size() == rows.rows);
        assert(weight.empty() || weight.size() == rows.rows);
        if (options.pruning == Pruning::bounds) {
            upper_.resize(rows.rows);
            lower_.resize(rows.rows);
        }
    }

    KMeansResult run() {
        KMeansResult result;
        std::fill(label_.begin(), label_.end(), -1);
        for (std::size_t round = 0; round < options_.max_iter && !result.is_stable; ++round) {
            result.is_stable = assign() == 0;
            result.n_iter = round + 1;
            move();
            if (!result.is_stable && squared_shift_ <= options_.tolerance) {
                break;
            }
        }
        result.shift = squared_shift_;
        if (!result.is_stable) {
            assign();  // so that the labels are those of the centres
        }
        result.scanned = scanned_;
        result.inertia =
            inertia(rows_, weight_, constant(centres_), constant(label_), options_.n_threads);
        return result;
    }

  private:
    static MatrixView<const double> constant(MatrixView<double> view) noexcept { return view; }
    static std::span<const std::int32_t> constant(std::span<std::int32_t> s) noexcept { return s; }

    // Labels every row and brings the sums up to date; returns how many labels changed.
    std::size_t assign() {
        panels_.fill(constant(centres_));
        const ScanTable table = scan_table(panels_, constant(centres_));
        const bool first = !begun_;
        const bool bounded = options_.pruning == Pruning::bounds;
        if (bounded && !first) {
            measure_gaps(table);
        }
        const ScanBounds bounds{shift_.data(), other_shift_.data(), gap_.data(),
                                panel_gaps_.data()};
        std::atomic<std::size_t> next = 0;
        std::atomic<std::size_t> changed = 0;
        std::atomic<std::uint64_t> scanned = 0;
        const std::size_t n_chunks = chunk_count(rows_.rows, row_chunk);
        // Exact sums: who adds which chunk makes no difference.
        run_tasks(slots_.size(), options_.n_threads, [&](std::size_t slot) {
            std::size_t moved = 0;
            std::uint64_t looked = 0;
            for (std::size_t c = next++; c < n_chunks; c = next++) {
                const std::size_t begin = c * row_chunk;
                const std::size_t end = std::min(rows_.rows, begin + row_chunk);
                std::int32_t before[row_chunk];
                std::copy(label_.begin() + static_cast<std::ptrdiff_t>(begin),
                          label_.begin() + static_cast<std::ptrdiff_t>(end), before);
                looked += label_chunk(begin, end, table, bounds, bounded, first);
                moved += gather(begin, end, before, slots_[slot]);
            }
            changed += moved;
            scanned += looked;
        });
        for (CentroidSums<Wide>& slot : slots_) {
            sums_.absorb(slot);
        }
        assert(!scale_.exact || counts_every_row());
        if (!scale_.exact) {
            sum_anew();
        }
        begun_ = true;
        scanned_ += scanned;
        return changed;
    }

    // For an assert: sums that are kept up to date from changed labels must not lose a row.
    [[nodiscard]] bool counts_every_row() const noexcept {
        std::int64_t count = 0;
        for (std::size_t c = 0; c < centres_.rows; ++c) {
            count += sums_.count(c);
        }
        return count == static_cast<std::int64_t>(rows_.rows);
    }

    std::size_t label_chunk(std::size_t begin, std::size_t end, const ScanTable& table,
                            const ScanBounds& bounds, bool bounded, bool first) noexcept {
        const T* rows = rows_.data + begin * rows_.cols;
        std::int32_t* label = label_.data() + begin;
        return dispatch([&](auto level) -> std::size_t {
            using Scan = CentroidScan<decltype(level), T>;
            if (bounded && !first) {
                return Scan::renew(rows, end - begin, table, bounds, label, upper_.data() + begin,
                                   lower_.data() + begin);
            }
            double best[row_chunk];
            double second[row_chunk];
            Scan::nearest(rows, end - begin, table, label, best, bounded ? second : nullptr);
            if (bounded) {
                const auto limits = DistanceBounds::of(table.d);
                for (std::size_t i = begin; i < end; ++i) {
                    upper_[i] = limits.above(best[i - begin]);
                    lower_[i] = limits.below(second[i - begin]);
                }
            }
            return end - begin;
        });
    }

    std::size_t gather(std::size_t begin, std::size_t end, const std::int32_t* before,
                       CentroidSums<Wide>& sums) noexcept {
        std::size_t changed = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::int32_t old = before[i - begin];
            if (label_[i] == old) {
                continue;
            }
            ++changed;
            if (!scale_.exact) {
                continue;
            }
            const double w = weight_.empty() ? 1 : weight_[i];
            const T* row = rows_.data + i * rows_.cols;
            assert(label_[i] >= 0 && static_cast<std::size_t>(label_[i]) < centres_.rows);
            sums.add(static_cast<std::size_t>(label_[i]), row, w, scale_);
            if (old >= 0) {
                sums.take(static_cast<std::size_t>(old), row, w, scale_);
            }
        }
        return changed;
    }

    // Float64 sums of at most 64 fixed chunks, added in their order.
    void sum_anew() {
        const std::size_t chunk = std::max<std::size_t>(row_chunk, (rows_.rows + 63) / 64);
        std::vector<CentroidSums<double>> parts(chunk_count(rows_.rows, chunk), float_sums_);
        parallel_chunks(rows_.rows, chunk, options_.n_threads, [&](Range range) {
            CentroidSums<double>& part = parts[range.index];
            part.clear();
            for (std::size_t i = range.begin; i < range.end; ++i) {
                part.add(static_cast<std::size_t>(label_[i]), rows_.data + i * rows_.cols,
                         weight_.empty() ? 1 : weight_[i], scale_);
            }
        });
        float_sums_.clear();
        for (CentroidSums<double>& part : parts) {
            float_sums_.absorb(part);
        }
    }

    // Puts every centre on the mean of its rows and measures how far it went.
    void move() {
        const std::size_t k = centres_.rows;
        const std::size_t d = centres_.cols;
        std::copy(centres_.data, centres_.data + k * d, old_.begin());
        if (scale_.exact) {
            average(sums_);
        } else {
            average(float_sums_);
        }
        const auto limits = DistanceBounds::of(d);
        squared_shift_ = 0;
        for (std::size_t c = 0; c < k; ++c) {
            const double squared =
                squared_distance<double>({old_.data() + c * d, d}, {centres_.data + c * d, d});
            squared_shift_ += squared;
            shift_[c] = squared > 0 ? limits.above(squared) : 0;
            // A shift that underflowed is still a shift.
            if (squared == 0 && !std::equal(old_.begin() + static_cast<std::ptrdiff_t>(c * d),
                                            old_.begin() + static_cast<std::ptrdiff_t>(c * d + d),
                                            centres_.data + c * d)) {
                shift_[c] = limits.above(0);
            }
        }
        std::size_t most = 0;
        double runner_up = 0;
        for (std::size_t c = 1; c < k; ++c) {
            if (shift_[c] > shift_[most]) {
                runner_up = shift_[most];
                most = c;
            } else {
                runner_up = std::max(runner_up, shift_[c]);
            }
        }
        std::fill(other_shift_.begin(), other_shift_.end(), shift_[most]);
        other_shift_[most] = runner_up;
    }

    template <class Number>
    void average(const CentroidSums<Number>& sums) {
        std::vector<std::size_t> empty;
        for (std::size_t c = 0; c < centres_.rows; ++c) {
            if (sums.mass(c, scale_) > 0) {
                sums.mean(c, scale_, !weight_.empty(), centres_.row(c).data());
            } else {
                empty.push_back(c);
            }
        }
        if (!empty.empty()) {
            relocate(empty, sums);
        }
    }

    // Gives each empty cluster one of the rows farthest from their centres. In a copy of the
    // sums: the others stay those of the labels.
    template <class Number>
    void relocate(const std::vector<std::size_t>& empty, CentroidSums<Number> sums) {
        const std::size_t d = centres_.cols;
        std::vector<double> far(rows_.rows);
        const ScanTable table{nullptr, nullptr, nullptr, old_.data(), 0, d};
        parallel_chunks(rows_.rows, row_chunk, options_.n_threads, [&](Range range) {
            dispatch([&](auto level) {
                CentroidScan<decltype(level), T>::own(
                    rows_.data + range.begin * d, range.end - range.begin, table,
                    label_.data() + range.begin, far.data() + range.begin);
            });
        });
        std::vector<std::size_t> order(rows_.rows);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto take = static_cast<std::ptrdiff_t>(std::min(empty.size(), order.size()));
        std::partial_sort(order.begin(), order.begin() + take, order.end(),
                          [&](std::size_t a, std::size_t b) {
                              return far[a] > far[b] || (far[a] == far[b] && a < b);
                          });
        std::vector<bool> touched(centres_.rows);
        for (std::size_t e = 0; e < empty.size() && e < order.size(); ++e) {
            const std::size_t i = order[e];
            const double w = weight_.empty() ? 1 : weight_[i];
            if (!(far[i] > 0) || !(w > 0)) {
                continue;
            }
            const auto home = static_cast<std::size_t>(label_[i]);
            const T* row = rows_.data + i * d;
            sums.take(home, row, w, scale_);
            sums.add(empty[e], row, w, scale_);
            touched[home] = touched[empty[e]] = true;
        }
        std::size_t heaviest = 0;
        for (std::size_t c = 0; c < centres_.rows; ++c) {
            if (touched[c] && sums.mass(c, scale_) > 0) {
                sums.mean(c, scale_, !weight_.empty(), centres_.row(c).data());
            }
            heaviest = sums.mass(c, scale_) > sums.mass(heaviest, scale_) ? c : heaviest;
        }
        for (std::size_t c = 0; c < centres_.rows; ++c) {
            if (!(sums.mass(c, scale_) > 0)) {
                std::copy_n(centres_.row(heaviest).data(), d, centres_.row(c).data());
            }
        }
    }

    void measure_gaps(const ScanTable& table) {
        const std::size_t k = centres_.rows;
        panel_gaps_.resize(k * panels_.size());
        parallel_chunks(k, 64, options_.n_threads, [&](Range range) {
            dispatch([&](auto level) {
                CentroidGaps<decltype(level)>::run(centres_.data, range.begin, range.end, table,
                                                   panel_gaps_.data());
            });
        });
        for (std::size_t c = 0; c < k; ++c) {
            const double* gaps = panel_gaps_.data() + c * panels_.size();
            gap_[c] = std::max(0.0, *std::min_element(gaps, gaps + panels_.size()));
        }
    }

    MatrixView<const T> rows_;
    std::span<const double> weight_;
    MatrixView<double> centres_;
    std::span<std::int32_t> label_;
    KMeansOptions options_;
    SumScale scale_;
    CentroidPanels panels_;
    std::vector<double> old_;
    std::vector<double> shift_;
    std::vector<double> other_shift_;
    std::vector<double> gap_;
    std::vector<double> panel_gaps_;
    std::vector<double> upper_;
    std::vector<double> lower_;
    CentroidSums<Wide> sums_;
    CentroidSums<double> float_sums_;  // instead of sums_, unless scale_.exact
    std::vector<CentroidSums<Wide>> slots_;
    double squared_shift_ = 0;
    std::uint64_t scanned_ = 0;
    bool begun_ = false;
};

// Moves `centres` to where Lloyd's iteration from them ends, and labels the rows.
template <class T>
KMeansResult kmeans(MatrixView<const T> rows, std::span<const double> weight,
                    MatrixView<double> centres, std::span<std::int32_t> label,
                    const KMeansOptions& options) {
    return KMeans<T>(rows, weight, centres, label, options).run();
}

}  // namespace assay::cluster
