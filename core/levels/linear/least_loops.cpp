// assay/linear/least_loops.hpp, once per CPU level.
#include "assay/linear/least_loops.hpp"

#include "assay/common/dispatch.hpp"

namespace assay::linear {
namespace {

// Partial sums of a dot product: as many as two AVX-512 registers hold, at every level.
constexpr std::size_t n_partials = 16;

template <class T>
[[gnu::always_inline]] inline double dot(const T* x, const double* w, std::size_t n) noexcept {
    double partial[n_partials] = {};
    std::size_t j = 0;
    for (; j + n_partials <= n; j += n_partials) {
        for (std::size_t lane = 0; lane < n_partials; ++lane) {
            partial[lane] += static_cast<double>(x[j + lane]) * w[j + lane];
        }
    }
    for (std::size_t lane = 0; j + lane < n; ++lane) {
        partial[lane] += static_cast<double>(x[j + lane]) * w[j + lane];
    }
    for (std::size_t half = n_partials / 2; half > 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane) {
            partial[lane] += partial[lane + half];
        }
    }
    return partial[0];
}

}  // namespace

template <class Level, class T>
void LeastLoops<Level, T>::centred(const T* x, std::size_t stride, std::size_t n_rows,
                                   std::size_t n_cols, const double* shift, const double* scale,
                                   double* out, std::size_t out_stride) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const T* row = x + i * stride;
        double* to = out + i * out_stride;
        if (scale == nullptr) {
            for (std::size_t j = 0; j < n_cols; ++j) {
                to[j] = static_cast<double>(row[j]) - shift[j];
            }
        } else {
            const double s = scale[i];
            for (std::size_t j = 0; j < n_cols; ++j) {
                to[j] = s * (static_cast<double>(row[j]) - shift[j]);
            }
        }
    }
}

template <class Level, class T>
void LeastLoops<Level, T>::correlated(const T* x, std::size_t stride, std::size_t n_rows,
                                      std::size_t n_cols, const double* shift, const double* u,
                                      double* __restrict out) noexcept {
    std::size_t i = 0;
    // Four rows at a time: `out` is read and written once for them.
    for (; i + 4 <= n_rows; i += 4) {
        const T* a = x + i * stride;
        const T* b = a + stride;
        const T* c = b + stride;
        const T* d = c + stride;
        const double ua = u[i];
        const double ub = u[i + 1];
        const double uc = u[i + 2];
        const double ud = u[i + 3];
        for (std::size_t j = 0; j < n_cols; ++j) {
            const double m = shift[j];
            const double ab =
                ua * (static_cast<double>(a[j]) - m) + ub * (static_cast<double>(b[j]) - m);
            const double cd =
                uc * (static_cast<double>(c[j]) - m) + ud * (static_cast<double>(d[j]) - m);
            out[j] += ab + cd;
        }
    }
    for (; i < n_rows; ++i) {
        const T* row = x + i * stride;
        for (std::size_t j = 0; j < n_cols; ++j) {
            out[j] += u[i] * (static_cast<double>(row[j]) - shift[j]);
        }
    }
}

template <class Level, class T>
void LeastLoops<Level, T>::scores(const T* x, std::size_t stride, std::size_t n_rows,
                                  std::size_t n_cols, const double* w, double offset, double* out,
                                  std::size_t out_stride) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) {
        out[i * out_stride] = dot(x + i * stride, w, n_cols) + offset;
    }
}

template struct LeastLoops<ASSAY_LEVEL, float>;
template struct LeastLoops<ASSAY_LEVEL, double>;

}  // namespace assay::linear
