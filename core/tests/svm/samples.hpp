// Random tables and kernel values by definition, for the tests of this folder.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"
#include "assay/svm/kernel_function.hpp"

namespace samples {

using assay::svm::KernelFunction;
using assay::svm::KernelKind;

inline const std::vector<KernelFunction> kernels = {{KernelKind::linear, 1.0, 0.0, 1},
                                                    {KernelKind::poly, 0.3, 1.0, 3},
                                                    {KernelKind::poly, 0.3, 0.5, 4},
                                                    {KernelKind::rbf, 0.4, 0.0, 1},
                                                    {KernelKind::sigmoid, 0.2, -0.1, 1}};

template <class T = double>
std::vector<T> normal(std::size_t n, std::uint64_t seed) {
    assay::RandomStream stream(seed, 0);
    std::vector<T> values(n);
    for (T& value : values) {
        value = static_cast<T>(stream.normal());
    }
    return values;
}

// k(x, z) in float64 by the formula.
template <class T>
double value(const KernelFunction& k, const T* x, const T* z, std::size_t d) {
    double dot = 0;
    double distance = 0;
    for (std::size_t c = 0; c < d; ++c) {
        const double a = static_cast<double>(x[c]);
        const double b = static_cast<double>(z[c]);
        dot += a * b;
        distance += (a - b) * (a - b);
    }
    switch (k.kind) {
        case KernelKind::rbf:
            return std::exp(-k.gamma * distance);
        case KernelKind::poly:
            return std::pow(k.gamma * dot + k.coef0, static_cast<double>(k.degree));
        case KernelKind::sigmoid:
            return std::tanh(k.gamma * dot + k.coef0);
        default:
            return dot;
    }
}

// Calls body at every CPU level that this machine has.
template <class Body>
void at_every_level(Body&& body) {
    for (const auto level :
         {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
        assay::limit_cpu(level);
        body();
    }
    assay::limit_cpu({});
}

}  // namespace samples
