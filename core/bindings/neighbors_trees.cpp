// Python border of assay::neighbors, trees: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/neighbors/code_space.hpp"
#include "assay/neighbors/point_space.hpp"
#include "assay/neighbors/tree_search.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

using neighbors::CodeColumn;
using neighbors::CodeSpace;

// A tree of any space.
class AnyTree {
  public:
    AnyTree() = default;
    AnyTree(const AnyTree&) = delete;
    AnyTree& operator=(const AnyTree&) = delete;
    virtual ~AnyTree() = default;
    virtual std::size_t nearest(MatrixView<const double> queries, MatrixView<double> distance,
                                MatrixView<std::int64_t> index, int n_threads) const = 0;
    [[nodiscard]] virtual neighbors::Ragged within(MatrixView<const double> queries, double radius,
                                                   int n_threads) const = 0;
};

template <class Space>
class TreeOf final : public AnyTree {
  public:
    template <class T>
    TreeOf(Space space, MatrixView<const T> rows, std::size_t leaf_size, int n_threads)
        : tree_(std::move(space), rows, leaf_size, n_threads) {}

    std::size_t nearest(MatrixView<const double> queries, MatrixView<double> distance,
                        MatrixView<std::int64_t> index, int n_threads) const override {
        return neighbors::tree_nearest(tree_, queries, distance, index, n_threads);
    }
    [[nodiscard]] neighbors::Ragged within(MatrixView<const double> queries, double radius,
                                           int n_threads) const override {
        return neighbors::tree_within(tree_, queries, radius, n_threads);
    }

  private:
    neighbors::BoxTree<Space> tree_;
};

// Offsets, row numbers and distances.
using Offered = nb::typed<nb::tuple, nb::any, nb::any, nb::any>;

void require_rows(std::size_t rows, std::size_t cols, std::size_t leaf_size, int n_threads) {
    require(rows >= 1 && cols >= 1, "rows must not be empty");
    require(rows < std::size_t{1} << 32, "a tree holds fewer than 2^32 rows");
    require(leaf_size >= 1, "leaf_size must be at least 1");
    require(n_threads >= 1, "n_threads must be at least 1");
}

// What both trees do for Python.
class Tree {
  public:
    std::size_t nearest(const InMatrix<double>& queries, const OutMatrix<double>& distance,
                        const OutMatrix<std::int64_t>& index, int n_threads) const {
        require_queries(queries, n_threads);
        const std::size_t k = distance.shape(1);
        require(k >= 1 && k <= rows_, "k must be between 1 and the rows of the tree");
        require(distance.shape(0) == queries.shape(0), "distance needs a row per query");
        require(index.shape(0) == queries.shape(0) && index.shape(1) == k,
                "index needs the shape of distance");
        nb::gil_scoped_release unlocked;
        return tree_->nearest(view(queries), view(distance), view(index), n_threads);
    }

    [[nodiscard]] Offered within(const InMatrix<double>& queries, double radius,
                                 int n_threads) const {
        require_queries(queries, n_threads);
        require(radius >= 0, "radius must be at least 0");
        neighbors::Ragged found;
        {
            nb::gil_scoped_release unlocked;
            found = tree_->within(view(queries), radius, n_threads);
        }
        return Offered(nb::make_tuple(owned(std::move(found.offsets)),
                                      owned(std::move(found.index)),
                                      owned(std::move(found.distance))));
    }

  protected:
    virtual void require_values(MatrixView<const double>) const {}
    void require_queries(const InMatrix<double>& queries, int n_threads) const {
        require(queries.shape(1) == cols_, "queries and rows differ in n_features");
        require(queries.shape(0) < std::size_t{1} << 32, "fewer than 2^32 queries at once");
        require(n_threads >= 1, "n_threads must be at least 1");
        require_values(view(queries));
    }

    std::unique_ptr<AnyTree> tree_;
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;

    Tree() = default;
    Tree(Tree&&) = default;
    Tree& operator=(Tree&&) = default;
    ~Tree() = default;
};

class PointTree : public Tree {
  public:
    template <class T>
    static PointTree make(const InMatrix<T>& rows, double p, std::size_t leaf_size, int n_threads) {
        require_rows(rows.shape(0), rows.shape(1), leaf_size, n_threads);
        require(p >= 1, "p must be at least 1");
        PointTree made;
        made.rows_ = rows.shape(0);
        made.cols_ = rows.shape(1);
        nb::gil_scoped_release unlocked;
        with_metric(p, [&](auto metric) {
            using Space = neighbors::PointSpace<decltype(metric)>;
            made.tree_ = std::make_unique<TreeOf<Space>>(Space{metric, rows.shape(1)}, view(rows),
                                                         leaf_size, n_threads);
        });
        return made;
    }
};

class CodeTree : public Tree {
  public:
    static CodeTree make(const InMatrix<double>& rows, const InVector<std::int64_t>& kinds,
                         const InVector<double>& weights, const InVector<double>& tables,
                         const InVector<std::int64_t>& starts, const InVector<std::int64_t>& sizes,
                         std::size_t leaf_size, int n_threads) {
        require_rows(rows.shape(0), rows.shape(1), leaf_size, n_threads);
        const std::size_t d = rows.shape(1);
        require(kinds.shape(0) == d && weights.shape(0) == d && starts.shape(0) == d &&
                    sizes.shape(0) == d,
                "kinds, weights, starts and sizes need a number per column");
        CodeTree made;
        made.rows_ = rows.shape(0);
        made.cols_ = d;
        made.tables_.assign(tables.data(), tables.data() + tables.shape(0));
        for (std::size_t j = 0; j < d; ++j) {
            made.add_column(kinds.data()[j], weights.data()[j], starts.data()[j], sizes.data()[j]);
        }
        made.require_values(view(rows));
        nb::gil_scoped_release unlocked;
        CodeSpace space(made.columns_, view(rows));
        made.tree_ =
            std::make_unique<TreeOf<CodeSpace>>(std::move(space), view(rows), leaf_size, n_threads);
        return made;
    }

  private:
    void add_column(std::int64_t kind, double weight, std::int64_t start, std::int64_t size) {
        require(kind >= 0 && kind <= 2, "a kind of column must be 0, 1 or 2");
        require(std::isfinite(weight) && weight >= 0, "weights must be finite and not negative");
        const double* table = nullptr;
        if (kind == CodeColumn::table) {
            const auto room = static_cast<std::int64_t>(tables_.size());
            require(size >= 1 && size <= 1 << 20 && start >= 0 && size * size <= room - start,
                    "a table lies outside tables");
            table = tables_.data() + start;
        }
        columns_.push_back({static_cast<CodeColumn::Kind>(kind), weight, table,
                            static_cast<std::size_t>(size), false});
    }

    void require_values(MatrixView<const double> rows) const override {
        for (std::size_t j = 0; j < cols_; ++j) {
            const auto& column = columns_[j];
            const double end =
                column.kind == CodeColumn::table ? static_cast<double>(column.size) : 0x1p52;
            for (std::size_t i = 0; i < rows.rows; ++i) {
                const double x = rows(i, j);
                const bool fine = column.kind == CodeColumn::number
                                      ? !std::isinf(x)
                                      : std::isnan(x) || (x >= 0 && x < end);
                require(fine, "a level lies outside its table, or a number is infinite");
            }
        }
    }

    std::vector<double> tables_;
    std::vector<CodeSpace::Column> columns_;
};

template <class Class>
void bind_queries(nb::class_<Class>& bound) {
    bound.def(
        "nearest",
        [](const Class& tree, InMatrix<double> queries, OutMatrix<double> distance,
           OutMatrix<std::int64_t> index,
           int n_threads) { return tree.nearest(queries, distance, index, n_threads); },
        "queries"_a.noconvert(), "distance"_a.noconvert(), "index"_a.noconvert(), "n_threads"_a = 1,
        "Write the nearest rows of each query, as many as there are columns; return how many rows "
        "were looked at.");
    bound.def(
        "within",
        [](const Class& tree, InMatrix<double> queries, double radius, int n_threads) {
            return tree.within(queries, radius, n_threads);
        },
        "queries"_a.noconvert(), "radius"_a, "n_threads"_a = 1,
        "Return offsets, row numbers and distances of the rows within the radius of each query.");
}

}  // namespace

void bind_neighbors_trees(nb::module_& m) {
    nb::class_<PointTree> points(m, "PointTree", "Rows in a tree, with a Minkowski distance.");
    points.def_static("make", &PointTree::make<double>, "rows"_a.noconvert(), "p"_a, "leaf_size"_a,
                      "n_threads"_a = 1);
    points.def_static("make", &PointTree::make<float>, "rows"_a.noconvert(), "p"_a, "leaf_size"_a,
                      "n_threads"_a = 1);
    bind_queries(points);
    nb::class_<CodeTree> codes(m, "CodeTree", "Rows in a tree, with a mixed distance.");
    codes.def_static("make", &CodeTree::make, "rows"_a.noconvert(), "kinds"_a.noconvert(),
                     "weights"_a.noconvert(), "tables"_a.noconvert(), "starts"_a.noconvert(),
                     "sizes"_a.noconvert(), "leaf_size"_a, "n_threads"_a = 1);
    bind_queries(codes);
}
}  // namespace assay::bindings
