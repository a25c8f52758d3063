// Python border of level codes (assay/common/level_codes.hpp).
#include <vector>

#include "arrays.hpp"
#include "assay/common/level_codes.hpp"

namespace assay::bindings {
using namespace nb::literals;

void bind_levels(nb::module_& m) {
    m.def(
        "put_codes",
        [](OutMatrix<double> rows, InVector<std::int64_t> columns, InVector<std::int64_t> begin,
           InVector<double> code, InVector<double> unseen) {
            const std::size_t count = columns.shape(0);
            require(begin.shape(0) == count + 1 && unseen.shape(0) == count,
                    "begin and unseen need an entry per column, begin one more");
            require(begin.data()[0] == 0 &&
                        begin.data()[count] == static_cast<std::int64_t>(code.shape(0)),
                    "begin does not divide code");
            std::vector<LevelTable> tables;
            for (std::size_t c = 0; c < count; ++c) {
                const std::int64_t first = begin.data()[c];
                const std::int64_t last = begin.data()[c + 1];
                require(first <= last, "begin is not ascending");
                const std::int64_t column = columns.data()[c];
                require(column >= 0 && static_cast<std::size_t>(column) < rows.shape(1),
                        "columns are not inside rows");
                tables.push_back({static_cast<std::size_t>(column),
                                  {code.data() + first, static_cast<std::size_t>(last - first)},
                                  unseen.data()[c]});
            }
            nb::gil_scoped_release unlocked;
            level_codes(view(rows), tables);
        },
        "rows"_a.noconvert(), "columns"_a.noconvert(), "begin"_a.noconvert(), "code"_a.noconvert(),
        "unseen"_a.noconvert(),
        "Replace whole numbers that name levels by codes: table c is code[begin[c]:begin[c + 1]].");
    m.def(
        "are_codes",
        [](InMatrix<double> rows, InVector<std::int64_t> columns, InVector<double> n_levels) {
            require(n_levels.shape(0) == columns.shape(0), "n_levels needs an entry per column");
            for (const std::int64_t column : span(columns)) {
                require(column >= 0 && static_cast<std::size_t>(column) < rows.shape(1),
                        "columns are not inside rows");
            }
            nb::gil_scoped_release unlocked;
            return are_codes(view(rows), span(columns), span(n_levels));
        },
        "rows"_a.noconvert(), "columns"_a.noconvert(), "n_levels"_a.noconvert(),
        "Return whether the columns hold whole numbers below their number of levels, or NaN.");
}

}  // namespace assay::bindings
