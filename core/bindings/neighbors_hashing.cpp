// Python border of assay::neighbors, hashing: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include <cmath>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/neighbors/hash_search.hpp"
#include "assay/neighbors/hash_tables.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

using neighbors::HashFrame;
using neighbors::HashPlan;
using neighbors::HashShape;
using neighbors::HashSlot;
using neighbors::HashTablesView;

// The projections as Python keeps them: (centre, scale, directions, shifts).
HashFrame frame_of(const InVector<double>& centre, double scale, const InMatrix<float>& directions,
                   const InVector<float>& shifts, std::size_t d) {
    require(centre.shape(0) == d, "centre needs one number per column");
    require(std::isfinite(scale) && scale > 0, "scale must be finite and positive");
    require(directions.shape(0) == d, "directions needs one row per column of the table");
    require(directions.shape(1) % 16 == 0, "directions needs a multiple of 16 columns");
    require(shifts.shape(0) == directions.shape(1), "shifts needs one number per direction");
    return {span(centre), scale, view(directions), span(shifts)};
}

HashShape shape_of(std::size_t n_tables, std::size_t n_projections, float inverse_width, bool sign,
                   const HashFrame& frame) {
    require(n_tables >= 1 && n_tables <= 255, "n_tables must be between 1 and 255");
    require(n_projections >= 1 && n_projections <= neighbors::most_projections,
            "n_projections must be between 1 and 32");
    require(n_tables * n_projections <= frame.directions.cols, "there are too few directions");
    require(std::isfinite(inverse_width) && inverse_width > 0,
            "inverse_width must be finite and positive");
    return {n_tables, n_projections, frame.directions.cols, inverse_width, sign};
}

HashTablesView tables_of(const InMatrix<std::uint64_t>& slots, const InMatrix<std::uint32_t>& order,
                         std::size_t n_tables) {
    require(slots.shape(1) == 2, "slots needs two columns");
    require(order.shape(0) == n_tables, "order needs one row per table");
    require(n_tables > 0 && slots.shape(0) % n_tables == 0, "slots needs the same size per table");
    const std::size_t capacity = slots.shape(0) / n_tables;
    require(capacity > 0 && (capacity & (capacity - 1)) == 0, "capacity must be a power of two");
    // Two words each, as written by hash_build.
    const auto* first = reinterpret_cast<const HashSlot*>(slots.data());
    return {{first, slots.shape(0)}, {order.data(), order.size()}, order.shape(1), capacity};
}

template <class T>
void bind_hashing(nb::module_& m) {
    m.def(
        "hash_build",
        [](InMatrix<T> rows, InVector<double> centre, double scale, InMatrix<float> directions,
           InVector<float> shifts, std::size_t n_tables, std::size_t n_projections,
           float inverse_width, bool sign, int n_threads) -> Arrays {
            require(rows.shape(0) >= 1 && rows.shape(0) < (std::size_t{1} << 32) - 1,
                    "rows must number between 1 and 2^32 - 2");
            require(n_threads >= 1, "n_threads must be at least 1");
            const HashFrame frame = frame_of(centre, scale, directions, shifts, rows.shape(1));
            const HashShape shape = shape_of(n_tables, n_projections, inverse_width, sign, frame);
            neighbors::HashTables tables;
            std::vector<std::uint64_t> words;
            {
                nb::gil_scoped_release unlocked;
                tables = neighbors::build_tables(view(rows), frame, shape, n_threads);
                words.reserve(2 * tables.slots.size());
                for (const HashSlot& slot : tables.slots) {
                    words.push_back(slot.key);
                    words.push_back(slot.range);
                }
            }
            nb::dict out;
            out["slots"] = owned(std::move(words), 2);
            out["order"] = owned(std::move(tables.order), rows.shape(0));
            return out;
        },
        "rows"_a.noconvert(), "centre"_a.noconvert(), "scale"_a, "directions"_a.noconvert(),
        "shifts"_a.noconvert(), "n_tables"_a, "n_projections"_a, "inverse_width"_a, "sign"_a,
        "n_threads"_a = 1, "Return the hash tables of the rows: slots and order.");
    m.def(
        "hash_search",
        [](InMatrix<T> queries, InMatrix<T> rows, InVector<double> centre, double scale,
           InMatrix<float> directions, InVector<float> shifts, std::size_t n_tables,
           std::size_t n_projections, float inverse_width, bool sign, InMatrix<std::uint64_t> slots,
           InMatrix<std::uint32_t> order, std::size_t k, std::size_t n_probes, std::size_t min_hits,
           std::size_t enough, InVector<std::int64_t> leave_out, OutMatrix<double> distance,
           OutMatrix<std::int64_t> index, OutVector<std::int64_t> examined, int n_threads) {
            require(queries.shape(1) == rows.shape(1), "queries and rows differ in n_features");
            require(k >= 1 && k + (leave_out.shape(0) > 0 ? 1 : 0) <= rows.shape(0),
                    "k must be between 1 and the rows that may be neighbours");
            require(leave_out.shape(0) == 0 || leave_out.shape(0) == queries.shape(0),
                    "leave_out needs one row number per query, or none");
            for (const std::int64_t row : span(leave_out)) {
                require(row >= 0 && static_cast<std::size_t>(row) < rows.shape(0),
                        "leave_out is out of range");
            }
            require(min_hits >= 1 && n_probes >= 1, "n_probes and min_hits must be at least 1");
            require(distance.shape(0) == queries.shape(0) && distance.shape(1) == k,
                    "distance needs the shape (rows of queries, k)");
            require(index.shape(0) == queries.shape(0) && index.shape(1) == k,
                    "index needs the shape (rows of queries, k)");
            require(examined.shape(0) == queries.shape(0), "examined needs one entry per query");
            require(n_threads >= 1, "n_threads must be at least 1");
            const HashFrame frame = frame_of(centre, scale, directions, shifts, rows.shape(1));
            const HashShape shape = shape_of(n_tables, n_projections, inverse_width, sign, frame);
            const HashTablesView tables = tables_of(slots, order, n_tables);
            require(tables.n_rows == rows.shape(0), "the tables are of other rows");
            nb::gil_scoped_release unlocked;
            neighbors::hash_search(view(queries), view(rows), frame, shape, tables,
                                   HashPlan{k, n_probes, min_hits, enough, span(leave_out)},
                                   view(distance), view(index), span(examined), n_threads);
        },
        "queries"_a.noconvert(), "rows"_a.noconvert(), "centre"_a.noconvert(), "scale"_a,
        "directions"_a.noconvert(), "shifts"_a.noconvert(), "n_tables"_a, "n_projections"_a,
        "inverse_width"_a, "sign"_a, "slots"_a.noconvert(), "order"_a.noconvert(), "k"_a,
        "n_probes"_a, "min_hits"_a, "enough"_a, "leave_out"_a.noconvert(), "distance"_a.noconvert(),
        "index"_a.noconvert(), "examined"_a.noconvert(), "n_threads"_a = 1,
        "Write the k nearest candidates of each query and how many rows were examined.");
    m.def(
        "hash_profile",
        [](InMatrix<T> queries, InMatrix<T> sample, InMatrix<T> wanted, InVector<double> centre,
           double scale, InMatrix<float> directions, InVector<float> shifts,
           InVector<std::int64_t> table_counts, std::size_t n_projections, float inverse_width,
           bool sign, std::size_t n_probes, std::size_t min_hits, InVector<std::int64_t> budgets,
           OutMatrix<std::int64_t> outcomes, int n_threads) {
            const std::size_t d = queries.shape(1);
            require(sample.shape(1) == d && wanted.shape(1) == d,
                    "queries, sample and wanted differ in n_features");
            require(queries.shape(0) >= 1 && wanted.shape(0) % queries.shape(0) == 0,
                    "wanted needs the same number of rows for each query");
            require(sample.shape(0) >= 1, "sample has no rows");
            require(table_counts.shape(0) >= 1, "table_counts is empty");
            require(budgets.shape(0) >= 1, "budgets is empty");
            require(outcomes.shape(0) == table_counts.shape(0) &&
                        outcomes.shape(1) == 4 * budgets.shape(0),
                    "outcomes needs the shape (table counts, 4 budgets)");
            require(min_hits >= 1 && n_probes >= 1 && n_threads >= 1,
                    "min_hits, n_probes and n_threads must be at least 1");
            std::int64_t before = 1;
            for (const std::int64_t budget : span(budgets)) {
                require(budget >= before, "budgets must be ascending and at least 1");
                before = budget;
            }
            std::int64_t most = 0;
            for (const std::int64_t count : span(table_counts)) {
                require(count >= 1, "table_counts must be at least 1");
                most = std::max(most, count);
            }
            const auto n_tables = static_cast<std::size_t>(most);
            const HashFrame frame = frame_of(centre, scale, directions, shifts, d);
            const HashShape shape = shape_of(n_tables, n_projections, inverse_width, sign, frame);
            nb::gil_scoped_release unlocked;
            // Four counts each, side by side, as Python reads them.
            auto* first = reinterpret_cast<neighbors::HashOutcome*>(outcomes.data());
            neighbors::hash_profiles(view(queries), view(sample), view(wanted), frame, shape,
                                     span(table_counts), n_probes, min_hits, span(budgets),
                                     {first, outcomes.shape(0), budgets.shape(0)}, n_threads);
        },
        "queries"_a.noconvert(), "sample"_a.noconvert(), "wanted"_a.noconvert(),
        "centre"_a.noconvert(), "scale"_a, "directions"_a.noconvert(), "shifts"_a.noconvert(),
        "table_counts"_a.noconvert(), "n_projections"_a, "inverse_width"_a, "sign"_a, "n_probes"_a,
        "min_hits"_a, "budgets"_a.noconvert(), "outcomes"_a.noconvert(), "n_threads"_a = 1,
        "Write found, examined, gathered and probes for each budget of candidates.");
}

}  // namespace

void bind_neighbors_hashing(nb::module_& m) {
    bind_hashing<double>(m);
    bind_hashing<float>(m);
}
}  // namespace assay::bindings
