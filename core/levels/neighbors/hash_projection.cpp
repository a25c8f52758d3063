// assay/neighbors/hash_projection.hpp, once per CPU level.
#include "assay/neighbors/hash_projection.hpp"

#include "assay/common/simd.hpp"

namespace assay::neighbors {
namespace {

// `Rows` rows against `Vectors` vectors of directions, held in registers.
template <class Level, std::size_t Rows, std::size_t Vectors>
[[gnu::always_inline]] inline void tile(const float* z, std::size_t d, const float* directions,
                                        std::size_t width, float* out) noexcept {
    using Vector = Simd<float, Level>;
    Vector sum[Rows][Vectors];
    for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t v = 0; v < Vectors; ++v) {
            sum[r][v] = Vector::all(0);
        }
    }
    for (std::size_t j = 0; j < d; ++j) {
        Vector along[Vectors];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < Vectors; ++v) {
            along[v] = Vector::load(directions + j * width + v * Vector::size);
        }
#pragma GCC unroll 4
        for (std::size_t r = 0; r < Rows; ++r) {
            const Vector x = Vector::all(z[r * d + j]);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < Vectors; ++v) {
                sum[r][v] = sum[r][v] + x * along[v];
            }
        }
    }
    for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t v = 0; v < Vectors; ++v) {
            sum[r][v].store(out + r * width + v * Vector::size);
        }
    }
}

template <class Level, std::size_t Rows>
[[gnu::always_inline]] inline void strip(const float* z, std::size_t d, const float* directions,
                                         std::size_t width, float* out) noexcept {
    constexpr std::size_t lanes = Simd<float, Level>::size;
    constexpr std::size_t wide = Level::vector_bytes == 64 ? 4 : 2;
    std::size_t p = 0;
    for (; p + wide * lanes <= width; p += wide * lanes) {
        tile<Level, Rows, wide>(z, d, directions + p, width, out + p);
    }
    for (; p < width; p += lanes) {
        tile<Level, Rows, 1>(z, d, directions + p, width, out + p);
    }
}

}  // namespace

template <class Level, class T>
void HashProjection<Level, T>::run(const T* rows, std::size_t n, std::size_t d,
                                   const double* centre, double scale, const float* directions,
                                   std::size_t width, float* room, float* out) noexcept {
    constexpr double most = 1e15;
    for (std::size_t first = 0; first < n; first += block_rows) {
        const std::size_t count = n - first < block_rows ? n - first : block_rows;
        for (std::size_t r = 0; r < count; ++r) {
            const T* row = rows + (first + r) * d;
            for (std::size_t j = 0; j < d; ++j) {
                double value = (static_cast<double>(row[j]) - centre[j]) * scale;
                value = value > most ? most : value;
                value = value < -most ? -most : value;
                room[r * d + j] = static_cast<float>(value);
            }
        }
        if (count == block_rows) {
            strip<Level, block_rows>(room, d, directions, width, out + first * width);
        } else {
            for (std::size_t r = 0; r < count; ++r) {
                strip<Level, 1>(room + r * d, d, directions, width, out + (first + r) * width);
            }
        }
    }
}

template struct HashProjection<ASSAY_LEVEL, float>;
template struct HashProjection<ASSAY_LEVEL, double>;

}  // namespace assay::neighbors
