#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/logistic_design.hpp"
#include "logistic_example.hpp"

using namespace assay;
using namespace assay::linear::logit;

namespace {

// A table with zeros as compressed rows.
struct Compressed {
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> offsets{0};
    std::size_t rows;
    std::size_t cols;

    explicit Compressed(MatrixView<const double> X) : rows(X.rows), cols(X.cols) {
        for (std::size_t i = 0; i < X.rows; ++i) {
            for (std::size_t j = 0; j < X.cols; ++j) {
                if (X(i, j) != 0) {
                    values.push_back(X(i, j));
                    columns.push_back(static_cast<std::int32_t>(j));
                }
            }
            offsets.push_back(static_cast<std::int32_t>(values.size()));
        }
    }
    [[nodiscard]] CsrView<const double, std::int32_t> view() const {
        return {values, columns, offsets, rows, cols};
    }
};

}  // namespace

TEST_CASE("a dense design is centred and of unit size, with a column of ones") {
    const example::LogisticTable table(500, 5, 2);
    const auto frame = frame_of(table.view(), true, 1);
    const DenseDesign design(table.view(), frame, true, 1);
    CHECK(design.stride == 8);
    std::vector<double> data;
    TileRoom room(design);
    for (std::size_t begin = 0; begin < 500; begin += tile_rows(8)) {
        const auto tile =
            design.tile(begin, std::min<std::size_t>(begin + tile_rows(8), 500), room.data());
        data.insert(data.end(), tile.x.data, tile.x.data + tile.x.rows * 8);
    }
    for (std::size_t j = 0; j < 5; ++j) {
        double sum = 0;
        double squares = 0;
        for (std::size_t i = 0; i < 500; ++i) {
            const double x = data[i * 8 + j];
            sum += x;
            squares += x * x;
            CHECK(x * frame.scale[j] + frame.centre[j] ==
                  doctest::Approx(table.view()(i, j)).epsilon(1e-14));
        }
        CHECK(std::abs(sum / 500) < 1e-12);
        CHECK(squares / 500 > 0.4);
        CHECK(squares / 500 < 2.1);
    }
    CHECK(data[5] == 1);
    CHECK(data[6] == 0);
}

TEST_CASE("a constant column keeps the scale 1") {
    const std::vector<double> values(20, 7.0);
    const auto frame = frame_of(MatrixView<const double>{values.data(), 20, 1}, true, 1);
    CHECK(frame.scale[0] == 1);
    CHECK(frame.centre[0] == 7);
}

TEST_CASE("dense and sparse designs give the same products") {
    reference::provide();
    example::LogisticTable table(40, 70, 3);  // wide: the dense one goes through BLAS
    for (std::size_t i = 0; i < table.values.size(); i += 3) {
        table.values[i] = 0;
    }
    const Compressed compressed(table.view());
    const auto frame = frame_of(compressed.view());
    const CsrDesign<std::int32_t> sparse(compressed.view(), frame, true);
    const DenseDesign dense(table.view(), {std::vector<double>(70), frame.scale}, true, 1);
    REQUIRE(sparse.stride == dense.stride);
    const std::size_t stride = dense.stride;
    std::vector<double> theta(3 * stride);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        theta[i] = i % stride < 71 ? static_cast<double>(i % 7) - 3 : 0;
    }
    std::vector<double> weights(40, 0.5);
    const auto products = [&](const auto& design) {
        std::vector<double> out(3 * 40 + 3 * stride + stride * stride + stride);
        std::vector<double> scratch(tile_rows(stride) * stride);
        double* g = out.data() + 3 * 40;
        double* h = g + 3 * stride;
        TileRoom room(design);
        const auto tile = design.tile(0, 40, room.data());
        tile.scores(theta.data(), 3, out.data());
        tile.add_gradient(out.data(), 3, g);
        tile.add_gram(weights.data(), h, scratch.data());
        tile.add_squares(7, 2.0, h + stride * stride);
        return out;
    };
    const auto left = products(dense);
    const auto right = products(sparse);
    for (std::size_t i = 0; i < left.size(); ++i) {
        CHECK(left[i] == doctest::Approx(right[i]).epsilon(1e-10));
    }
}

TEST_CASE("gathered columns are the columns asked for") {
    const example::LogisticTable table(30, 6, 2);
    const Compressed compressed(table.view());
    const ColumnFrame frame{std::vector<double>(6), std::vector<double>(6, 1.0)};
    const std::vector<std::size_t> chosen{1, 4};
    const auto dense = DenseDesign(table.view(), frame, true, 1).gather(chosen, true);
    const auto sparse =
        CsrDesign<std::int32_t>(compressed.view(), frame, true).gather(chosen, true);
    CHECK(dense.cols == 3);
    CHECK(sparse.cols == 3);
    const std::vector<double> theta{1, 10, 100, 0, 0, 0, 0, 0};
    std::vector<double> left(30);
    std::vector<double> right(30);
    TileRoom room(dense);
    dense.tile(0, 30, room.data()).scores(theta.data(), 1, left.data());
    sparse.tile(0, 30, nullptr).scores(theta.data(), 1, right.data());
    for (std::size_t i = 0; i < 30; ++i) {
        const double want = table.view()(i, 1) + 10 * table.view()(i, 4) + 100;
        CHECK(left[i] == doctest::Approx(want));
        CHECK(right[i] == doctest::Approx(want));
    }
}
