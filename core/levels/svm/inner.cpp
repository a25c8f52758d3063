// assay/svm/inner.hpp, once per CPU level.
#include "assay/svm/inner.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "assay/common/dispatch.hpp"
#include "assay/common/simd.hpp"

namespace assay::svm {
namespace {

template <class Level, class T>
struct Search {
    using V = Simd<T, Level>;
    using Real = typename V::Register;
    using Index = typename V::Words;
    static constexpr T infinity = std::numeric_limits<T>::infinity();

    Real best = Real{} - infinity;
    Index where{};
    Index at = lanes();

    [[gnu::always_inline]] static Index lanes() noexcept {
        Index index{};
        for (std::size_t l = 0; l < V::size; ++l) {
            index[l] = static_cast<typename V::Word>(l);
        }
        return index;
    }

    [[gnu::always_inline]] void offer(Real value) noexcept {
        const auto higher = value > best;
        best = higher ? value : best;
        where = higher ? at : where;
        at = at + static_cast<typename V::Word>(V::size);
    }

    // The largest value; the smallest index among equals.
    [[gnu::always_inline]] std::size_t index(T& value) const noexcept {
        T top = best[0];
        auto place = where[0];
        for (std::size_t l = 1; l < V::size; ++l) {
            if (best[l] > top || (best[l] == top && where[l] < place)) {
                top = best[l];
                place = where[l];
            }
        }
        value = top;
        return static_cast<std::size_t>(place);
    }
};

template <class T>
[[gnu::always_inline]] inline void set_bounds(const InnerBlock<T>& block, std::size_t v) noexcept {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    block.up[v] = block.b[v] < block.high_bound[v] ? T{0} : -infinity;
    block.low[v] = block.b[v] > block.low_bound[v] ? T{0} : infinity;
}

}  // namespace

template <class Level, class T>
InnerResult Inner<Level, T>::run(InnerBlock<T> block, double tol, std::size_t max_steps) noexcept {
    using V = Simd<T, Level>;
    using Real = typename V::Register;
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const std::size_t stride = block.stride;
    for (std::size_t v = 0; v < block.size; ++v) {
        block.diagonal[v] = block.kernel[v * stride + v];
        set_bounds(block, v);
    }
    for (std::size_t v = block.size; v < stride; ++v) {
        block.z[v] = block.diagonal[v] = T{0};
        block.up[v] = -infinity;
        block.low[v] = infinity;
    }

    InnerResult result;
    T step = 0;
    const T* gain_row = block.kernel;
    const T* lose_row = block.kernel;
    for (;;) {
        Search<Level, T> highest;
        Real lowest = Real{} + infinity;
        for (std::size_t v = 0; v < stride; v += V::size) {
            const Real change = V::load(gain_row + v).value - V::load(lose_row + v).value;
            const Real z = V::load(block.z + v).value - change * step;
            V{z}.store(block.z + v);
            highest.offer(z + V::load(block.up + v).value);
            const Real low = z + V::load(block.low + v).value;
            lowest = low < lowest ? low : lowest;
        }
        T top = 0;
        const std::size_t i = highest.index(top);
        T bottom = lowest[0];
        for (std::size_t l = 1; l < V::size; ++l) {
            bottom = lowest[l] < bottom ? lowest[l] : bottom;
        }
        if (!(top > -infinity) || !(bottom < infinity)) {
            result.violation = 0;
            return result;
        }
        result.violation = static_cast<double>(top) - static_cast<double>(bottom);
        if (!(result.violation > tol) || result.steps >= max_steps) {
            return result;
        }

        const T* row = block.kernel + i * stride;
        const T own = block.diagonal[i];
        Search<Level, T> gain;
        for (std::size_t v = 0; v < stride; v += V::size) {
            const Real low = V::load(block.z + v).value + V::load(block.low + v).value;
            const Real lead = top - low;
            Real curvature = V::load(block.diagonal + v).value + own;
            curvature = curvature - V::load(row + v).value * T{2};
            curvature = curvature > static_cast<T>(tau) ? curvature : Real{} + static_cast<T>(tau);
            const Real value = lead * lead / curvature;
            gain.offer(lead > T{0} ? value : Real{} - infinity);
        }
        T largest = 0;
        const std::size_t j = gain.index(largest);
        if (!(largest > T{0})) {
            return result;
        }
        const double lead = static_cast<double>(top) - static_cast<double>(block.z[j]);
        double curvature = static_cast<double>(own) + static_cast<double>(block.diagonal[j]) -
                           2 * static_cast<double>(row[j]);
        curvature = curvature > tau ? curvature : tau;
        double move = lead / curvature;
        const double room_up = block.high_bound[i] - block.b[i];
        const double room_down = block.b[j] - block.low_bound[j];
        const bool fills = !(move < room_up);
        if (fills) {
            move = room_up;
        }
        const bool empties = !(move < room_down);
        if (empties) {
            move = room_down;
        }
        block.b[i] = fills && move == room_up ? block.high_bound[i] : block.b[i] + move;
        block.b[j] = empties ? block.low_bound[j] : block.b[j] - move;
        set_bounds(block, i);
        set_bounds(block, j);
        step = static_cast<T>(move);
        gain_row = row;
        lose_row = block.kernel + j * stride;
        ++result.steps;
    }
}

template struct Inner<ASSAY_LEVEL, float>;
template struct Inner<ASSAY_LEVEL, double>;

}  // namespace assay::svm
