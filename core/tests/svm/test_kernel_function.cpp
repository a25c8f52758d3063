#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

#include "assay/svm/kernel_function.hpp"

using namespace assay::svm;

TEST_CASE("shape is the kernel function of a product or distance") {
    for (double x = -3; x < 3; x += 0.17) {
        CHECK(shape<double>({KernelKind::linear, 2.0, 0, 0}, x) == 2 * x);
        for (unsigned degree = 0; degree < 8; ++degree) {
            CHECK(shape<double>({KernelKind::poly, 0.5, 1.0, degree}, x) ==
                  doctest::Approx(std::pow(0.5 * x + 1, degree)).epsilon(1e-14));
        }
        CHECK(shape<double>({KernelKind::sigmoid, 0.7, -0.2, 0}, x) ==
              doctest::Approx(std::tanh(0.7 * x - 0.2)).epsilon(1e-14));
        CHECK(shape<double>({KernelKind::rbf, 0.7, 0, 0}, x * x) ==
              doctest::Approx(std::exp(-0.7 * x * x)).epsilon(1e-14));
    }
}

TEST_CASE("the sigmoid is odd and stays within one") {
    const KernelFunction k{KernelKind::sigmoid, 1.0, 0.0, 0};
    for (const double x : {0.0, 1e-9, 0.3, 20.0, 1e6}) {
        CHECK(shape<double>(k, -x) == -shape<double>(k, x));
        CHECK(std::abs(shape<float>(k, static_cast<float>(x))) <= 1.0F);
    }
}
