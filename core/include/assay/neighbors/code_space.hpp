// Rows as codes with a mixed distance: what the tree has to know of them.
//
//     d(a, b) = sum_j t_j(a, b) / sum_j w_j     over the columns j that both rows have
//
// t_j is |a - b| of a numeric column, already in weighted units; w_j or 0 for levels that
// differ or agree; or taken from a table of L x L terms. No column in common: 1.
//
// Cut     the column whose values differ most between two rows, on average, in the middle.
//         Missing values go last, so that they leave one side.
// Box     the least and the largest value of a numeric column; the set of levels of a nominal
//         one (modulo 64). A column with missing values below gets a box that holds anything:
//         it can then neither add to the sum nor to the weights.
// Needs   codes that are integers >= 0 and below the size of their table; NaN = missing.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/neighbors/tree_kernels.hpp"

namespace assay::neighbors {

class CodeSpace {
  public:
    using Query = CodeQuery;
    static constexpr bool has_candidates = false;

    struct Column {
        CodeColumn::Kind kind;
        double weight;
        const double* table;  // size x size terms, or null
        std::size_t size;
        bool may_miss = false;
    };

    struct Asked {
        std::vector<CodeColumn> columns;
        Query query;
    };

    CodeSpace(std::vector<Column> columns, MatrixView<const double> rows)
        : columns_(std::move(columns)) {
        for (std::size_t i = 0; i < rows.rows; ++i) {
            for (std::size_t j = 0; j < rows.cols; ++j) {
                columns_[j].may_miss = columns_[j].may_miss || std::isnan(rows(i, j));
            }
        }
        for (const bool may_miss : {false, true}) {
            for (std::size_t j = 0; j < columns_.size(); ++j) {
                if (columns_[j].may_miss == may_miss && columns_[j].weight > 0) {
                    order_.push_back(j);
                }
            }
        }
    }

    [[nodiscard]] std::size_t cut_column(MatrixView<const double> rows,
                                         std::span<const std::uint32_t> items) const {
        const std::size_t step = sample_step_of(items.size());
        std::size_t best = 0;
        double widest = -1;
        for (const std::size_t j : order_) {
            // Pairs of neighbouring places are as good as pairs at random.
            double sum = 0;
            for (std::size_t i = 0; i + 1 < items.size(); i += step) {
                const double a = rows(items[i], j);
                const double b = rows(items[items.size() - 1 - i], j);
                sum += columns_[j].kind != CodeColumn::number
                           ? (a == b ? 0.0 : columns_[j].weight)
                           : (std::isnan(a - b) ? 0.0 : std::abs(a - b));
            }
            if (sum > widest) {
                widest = sum;
                best = j;
            }
        }
        return best;
    }

    [[nodiscard]] static double cut_key(double value) noexcept {
        return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    }

    void open_box(double* box, std::size_t stride) const noexcept {
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            const bool number = columns_[j].kind == CodeColumn::number;
            box[2 * j * stride] =
                number ? std::numeric_limits<double>::infinity() : std::bit_cast<double>(none);
            box[(2 * j + 1) * stride] =
                number ? -std::numeric_limits<double>::infinity() : std::bit_cast<double>(none);
        }
    }
    void add_to_box(double* box, std::size_t stride, std::size_t j, double value) const noexcept {
        double& low = box[2 * j * stride];
        double& high = box[(2 * j + 1) * stride];
        if (columns_[j].kind != CodeColumn::number) {
            add_levels(low, std::isnan(value)
                                ? all
                                : std::uint64_t{1} << static_cast<std::uint64_t>(value) % 64);
        } else if (std::isnan(value)) {
            low = -std::numeric_limits<double>::infinity();
            high = std::numeric_limits<double>::infinity();
        } else {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    void join_boxes(double* box, std::size_t stride, const double* other,
                    std::size_t other_stride) const noexcept {
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            double& low = box[2 * j * stride];
            double& high = box[(2 * j + 1) * stride];
            const double other_low = other[2 * j * other_stride];
            if (columns_[j].kind != CodeColumn::number) {
                add_levels(low, std::bit_cast<std::uint64_t>(other_low));
            } else {
                low = std::min(low, other_low);
                high = std::max(high, other[(2 * j + 1) * other_stride]);
            }
        }
    }

    [[nodiscard]] Asked start() const { return {std::vector<CodeColumn>(columns_.size()), {}}; }

    void ask(Asked& asked, const double* row) const {
        std::size_t n = 0;
        Query& query = asked.query;
        query.n_plain = 0;
        query.plain_weight = 0;
        query.weight = 0;
        for (const std::size_t j : order_) {
            const double value = row[j];
            if (std::isnan(value)) {
                continue;
            }
            const Column& column = columns_[j];
            asked.columns[n++] = asked_column(column, j, value);
            query.weight += column.weight;
            if (!column.may_miss) {
                query.n_plain = n;
                query.plain_weight = query.weight;
            }
        }
        query.columns = asked.columns.data();
        query.n_columns = n;
    }

    [[nodiscard]] static double distance(double reduced) noexcept { return reduced; }
    [[nodiscard]] static double widen(double reduced) noexcept { return reduced; }
    [[nodiscard]] static double reduce(double radius) noexcept { return radius; }

  private:
    static constexpr std::uint64_t none = 0;
    static constexpr std::uint64_t all = ~std::uint64_t{0};

    [[nodiscard]] static std::size_t sample_step_of(std::size_t rows) noexcept {
        return rows <= 512 ? 1 : rows / 512;
    }

    static void add_levels(double& set, std::uint64_t levels) noexcept {
        set = std::bit_cast<double>(std::bit_cast<std::uint64_t>(set) | levels);
    }

    [[nodiscard]] static CodeColumn asked_column(const Column& column, std::size_t j,
                                                 double value) noexcept {
        CodeColumn asked{nullptr,     value,          column.weight,
                         0.0,         column.weight,  static_cast<std::uint32_t>(j),
                         column.kind, column.may_miss};
        if (column.kind == CodeColumn::table) {
            const auto level = static_cast<std::size_t>(value);
            asked.terms = column.table + level * column.size;
            asked.inside = *std::min_element(asked.terms, asked.terms + column.size);
            asked.outside = column.weight;
            for (std::size_t other = 0; other < column.size; ++other) {
                if (other % 64 != level % 64) {
                    asked.outside = std::min(asked.outside, asked.terms[other]);
                }
            }
        }
        return asked;
    }

    std::vector<Column> columns_;
    std::vector<std::size_t> order_;  // plain columns, then those that may miss; no weight, no say
};

}  // namespace assay::neighbors
