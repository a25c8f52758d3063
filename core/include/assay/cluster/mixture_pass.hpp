// One pass of EM over a table, and what a mixture says about each row.
//
//     f_ik = log w_k + log N(x_i; m_k, S_k)        of the columns that row i has
//     norm_i = log sum_k e^f_ik,   r_ik = e^(f_ik - norm_i)
//
//     mixture_pass    L = sum_i norm_i and the sums of r, r z, r z z' (z = x - m_k), in one pass
//     mixture_assign  argmax_k f_ik, norm_i and r_ik, as asked
//     mixture_soft    the same sums for given r, about given centres
//
// A panel of 64 rows is put into columns, its densities, shares and moments are made while it is in
// the cache, and it is forgotten: nothing of size n x k is kept, and the table is not copied.
//
// Needs   see MixtureTable and Mixture; rows of a group have exactly the columns of its pattern.
// Cost    per row and component d^2 products and one exp; memory k d^2 for each of at most 64
// tasks.
//         Tasks and the order of sums depend on the sizes alone: the same bits for any n_threads.
// Source  Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/cluster/mixture_panel.hpp"
#include "assay/cluster/mixture_pattern.hpp"
#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::cluster {

// Rows in groups that have the same columns. Without `order` all rows are complete and in place;
// otherwise order[ends[g - 1] .. ends[g]) are the rows of group g.
template <class T>
struct MixtureTable {
    MatrixView<const T> X;
    std::span<const std::int64_t> order;
    std::span<const std::int64_t> ends;
    MatrixView<const std::uint8_t> observed;
};

namespace detail {

[[nodiscard]] inline std::size_t mixture_chunk(std::size_t n, std::size_t k,
                                               std::size_t d) noexcept {
    const std::size_t bytes = k * (d * d + d + 1) * sizeof(double);
    const std::size_t most = std::clamp<std::size_t>((std::size_t{1} << 26) / bytes, 4, 64);
    const std::size_t tasks = std::clamp<std::size_t>(n / 1024, 1, most);
    const std::size_t rows = (n + tasks - 1) / tasks;
    return (rows + panel_rows - 1) / panel_rows * panel_rows;
}

struct PanelScratch {
    AlignedBuffer<double> x;
    AlignedBuffer<double> z;
    AlignedBuffer<double> weighted;
    AlignedBuffer<double> f;
    AlignedBuffer<double> use{panel_rows};
    AlignedBuffer<double> norm{panel_rows};

    PanelScratch(std::size_t k, std::size_t d)
        : x(d * panel_rows), z(d * panel_rows), weighted(d * panel_rows), f(k * panel_rows) {}
};

// Panel of rows [begin, begin + count), one column after the other; beyond the last row, that row
// again, which does not count.
template <class T>
void take_panel(const MixtureTable<T>& table, std::span<const std::size_t> columns,
                std::size_t begin, std::size_t count, PanelScratch& panel) noexcept {
    for (std::size_t i = 0; i < panel_rows; ++i) {
        const std::size_t at = begin + std::min(i, count - 1);
        const std::size_t row =
            table.order.empty() ? at : static_cast<std::size_t>(table.order[at]);
        const T* from = table.X.data + row * table.X.cols;
        double* to = panel.x.data() + i;
        if (columns.size() == table.X.cols) {
            for (std::size_t j = 0; j < columns.size(); ++j) {
                to[j * panel_rows] = static_cast<double>(from[j]);
            }
        } else {
            for (std::size_t j = 0; j < columns.size(); ++j) {
                to[j * panel_rows] = static_cast<double>(from[columns[j]]);
            }
        }
        panel.use[i] = i < count ? 1.0 : 0.0;
    }
}

inline void densities(const Mixture& mixture, const MixturePattern& pattern,
                      PanelScratch& panel) noexcept {
    dispatch([&](auto level) {
        using Panel = MixturePanel<decltype(level)>;
        for (std::size_t c = 0; c < mixture.k; ++c) {
            double* out = panel.f.data() + c * panel_rows;
            const double constant = pattern.constants()[c];
            if (mixture.dense) {
                Panel::dense(panel.x.data(), pattern.width(), pattern.mean(c), pattern.factor(c),
                             constant, panel.z.data(), out);
            } else {
                Panel::diagonal(panel.x.data(), pattern.width(), pattern.mean(c), pattern.factor(c),
                                constant, out);
            }
        }
    });
}

inline void share(std::size_t k, PanelScratch& panel) noexcept {
    dispatch([&](auto level) {
        MixturePanel<decltype(level)>::share(panel.f.data(), k, panel.use.data(),
                                             panel.norm.data());
    });
}

template <class Mean>
void add_moments(bool dense, std::size_t k, std::size_t width, const Mean& mean,
                 PanelScratch& panel, PatternLanes& lanes) noexcept {
    dispatch([&](auto level) {
        using Panel = MixturePanel<decltype(level)>;
        for (std::size_t c = 0; c < k; ++c) {
            const double* r = panel.f.data() + c * panel_rows;
            double* count = lanes.count.data() + c * panel_lanes;
            double* first = lanes.first.data() + c * width * panel_lanes;
            double* second = lanes.second.data() + c * lanes.second_size;
            if (dense) {
                Panel::add_dense(panel.x.data(), width, mean(c), r, panel.z.data(),
                                 panel.weighted.data(), count, first, second);
            } else {
                Panel::add_diagonal(panel.x.data(), width, mean(c), r, count, first, second);
            }
        }
    });
}

// Calls visit(group, begin, end) for the part of each group that lies in the rows.
template <class T, class Visit>
void for_each_group(const MixtureTable<T>& table, Range rows, Visit&& visit) {
    if (table.order.empty()) {
        visit(std::span<const std::uint8_t>{}, rows.begin, rows.end);
        return;
    }
    const auto first = std::upper_bound(table.ends.begin(), table.ends.end(),
                                        static_cast<std::int64_t>(rows.begin));
    std::size_t begin = rows.begin;
    for (auto g = static_cast<std::size_t>(first - table.ends.begin()); begin < rows.end; ++g) {
        const std::size_t end = std::min(rows.end, static_cast<std::size_t>(table.ends[g]));
        visit(std::span<const std::uint8_t>(table.observed.row(g)), begin, end);
        begin = end;
    }
}

// Adds the sums of all tasks in their order.
template <class Work>
MixtureSums sum_over_chunks(bool dense, std::size_t n, std::size_t k, std::size_t d, int n_threads,
                            const Work& work) {
    const std::size_t chunk = mixture_chunk(n, k, d);
    std::vector<MixtureSums> parts(chunk_count(n, chunk), MixtureSums(dense, k, d));
    parallel_chunks(n, chunk, n_threads, [&](Range rows) { work(rows, parts[rows.index]); });
    for (std::size_t t = 1; t < parts.size(); ++t) {
        parts[0].add(parts[t]);
    }
    return std::move(parts[0]);
}

}  // namespace detail

template <class T>
MixtureSums mixture_pass(const MixtureTable<T>& table, const Mixture& mixture, int n_threads) {
    const auto work = [&](Range rows, MixtureSums& total) {
        detail::PanelScratch panel(mixture.k, mixture.d);
        double sum[panel_lanes] = {};
        const auto group = [&](std::span<const std::uint8_t> observed, std::size_t begin,
                               std::size_t end) {
            const MixturePattern pattern(mixture, observed);
            PatternLanes lanes(mixture.dense, mixture.k, pattern.width());
            for (std::size_t at = begin; at < end; at += panel_rows) {
                detail::take_panel(table, pattern.columns(), at, std::min(panel_rows, end - at),
                                   panel);
                detail::densities(mixture, pattern, panel);
                detail::share(mixture.k, panel);
                for (std::size_t i = 0; i < panel_rows; ++i) {
                    sum[i % panel_lanes] += panel.norm[i] * panel.use[i];
                }
                detail::add_moments(
                    mixture.dense, mixture.k, pattern.width(),
                    [&](std::size_t c) { return pattern.mean(c); }, panel, lanes);
            }
            pattern.spread(lanes, total);
        };
        detail::for_each_group(table, rows, group);
        total.log_likelihood = lane_sum(sum);
    };
    return detail::sum_over_chunks(mixture.dense, table.X.rows, mixture.k, mixture.d, n_threads,
                                   work);
}

// Where a span is empty its values are not asked for; `shares` has n x k numbers.
struct MixtureAnswers {
    std::span<std::int32_t> labels;
    std::span<double> norms;
    std::span<double> shares;
};

template <class T>
void mixture_assign(const MixtureTable<T>& table, const Mixture& mixture,
                    const MixtureAnswers& answers, int n_threads) {
    const std::size_t k = mixture.k;
    const auto write = [&](std::size_t begin, std::size_t count, detail::PanelScratch& panel) {
        const auto row_of = [&](std::size_t i) {
            return table.order.empty() ? begin + i
                                       : static_cast<std::size_t>(table.order[begin + i]);
        };
        const double* f = panel.f.data();
        for (std::size_t i = 0; i < count && !answers.labels.empty(); ++i) {
            std::size_t best = 0;
            for (std::size_t c = 1; c < k; ++c) {
                best = f[c * panel_rows + i] > f[best * panel_rows + i] ? c : best;
            }
            answers.labels[row_of(i)] = static_cast<std::int32_t>(best);
        }
        if (answers.norms.empty() && answers.shares.empty()) {
            return;
        }
        detail::share(k, panel);
        for (std::size_t i = 0; i < count && !answers.norms.empty(); ++i) {
            answers.norms[row_of(i)] = panel.norm[i];
        }
        for (std::size_t i = 0; i < count && !answers.shares.empty(); ++i) {
            for (std::size_t c = 0; c < k; ++c) {
                answers.shares[row_of(i) * k + c] = f[c * panel_rows + i];
            }
        }
    };
    const std::size_t chunk = detail::mixture_chunk(table.X.rows, k, mixture.d);
    parallel_chunks(table.X.rows, chunk, n_threads, [&](Range rows) {
        detail::PanelScratch panel(k, mixture.d);
        const auto group = [&](std::span<const std::uint8_t> observed, std::size_t begin,
                               std::size_t end) {
            const MixturePattern pattern(mixture, observed);
            for (std::size_t at = begin; at < end; at += panel_rows) {
                const std::size_t count = std::min(panel_rows, end - at);
                detail::take_panel(table, pattern.columns(), at, count, panel);
                detail::densities(mixture, pattern, panel);
                write(at, count, panel);
            }
        };
        detail::for_each_group(table, rows, group);
    });
}

// `shares` has a row per row of X and a column per component; all rows are complete.
template <class T>
MixtureSums mixture_soft(MatrixView<const T> X, MatrixView<const double> shares, bool dense,
                         MatrixView<const double> centres, int n_threads) {
    const std::size_t k = shares.cols;
    const MixtureTable<T> table{X, {}, {}, {}};
    std::vector<std::size_t> columns(X.cols);
    for (std::size_t j = 0; j < X.cols; ++j) {
        columns[j] = j;
    }
    const std::vector<double> ones(k * X.cols * (dense ? X.cols : 1), 1.0);
    const std::vector<double> zeros(k * X.cols);
    const Mixture shape{dense,        k,           X.cols,      zeros.data(),
                        zeros.data(), ones.data(), ones.data(), ones.size() / k};
    const MixturePattern pattern(shape, {});
    return detail::sum_over_chunks(
        dense, X.rows, k, X.cols, n_threads, [&](Range rows, MixtureSums& total) {
            detail::PanelScratch panel(k, X.cols);
            PatternLanes lanes(dense, k, X.cols);
            for (std::size_t at = rows.begin; at < rows.end; at += panel_rows) {
                const std::size_t count = std::min(panel_rows, rows.end - at);
                detail::take_panel(table, columns, at, count, panel);
                for (std::size_t c = 0; c < k; ++c) {
                    for (std::size_t i = 0; i < panel_rows; ++i) {
                        panel.f[c * panel_rows + i] = i < count ? shares(at + i, c) : 0.0;
                    }
                }
                detail::add_moments(
                    dense, k, X.cols, [&](std::size_t c) { return centres.row(c).data(); }, panel,
                    lanes);
            }
            pattern.spread(lanes, total);
        });
}

}  // namespace assay::cluster
