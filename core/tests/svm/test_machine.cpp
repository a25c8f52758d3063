#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/svm/certificate.hpp"
#include "assay/svm/decide.hpp"
#include "assay/svm/machine.hpp"
#include "problem.hpp"

using namespace assay::svm;
using assay::MatrixView;

TEST_CASE("known float32 values change no bit, whatever the kernel") {
    for (const KernelFunction& k : samples::kernels) {
        samples::TwoClasses plain(300, 4, 1.0, 21);
        samples::TwoClasses given(300, 4, 1.0, 21);
        const Table table = plain.view();
        std::vector<float> values(300 * 300);
        const auto rows = make_rows<float>(table);
        kernel_matrix<float>(k, *rows, *rows, {values.data(), 300, 300}, 1);
        const auto a = Machine(table, k, {}).solve({}, plain.problem(), plain.b, plain.f);
        const auto b = Machine(table, k, {}, {values.data(), 300, 300})
                           .solve({}, given.problem(), given.b, given.f);
        CHECK(a.run.stop == Stop::converged);
        CHECK(a.run.steps == b.run.steps);
        CHECK(plain.b == given.b);
        CHECK(plain.f == given.f);
    }
}

TEST_CASE("polynomials of large numbers are scaled by a power of two, exactly") {
    samples::TwoClasses data(120, 3, 1.0, 5);
    for (double& x : data.X) {
        x *= 1000;
    }
    const KernelFunction k{KernelKind::poly, 1.0, 1.0, 4};
    const ScaledKernel scale = scaled(k, Table(data.view()));
    CHECK(std::ldexp(1.0, std::ilogb(scale.factor)) == scale.factor);
    const auto small = diagonal(Table(data.view()), scale.kernel);
    const auto large = diagonal(Table(data.view()), k);
    for (std::size_t i = 0; i < data.n; ++i) {
        CHECK(small[i] * scale.factor == large[i]);
        CHECK(small[i] <= 16);
    }
    const auto result =
        Machine(Table(data.view()), k, {}).solve({}, data.problem(), data.b, data.f);
    CHECK((result.run.stop == Stop::converged || result.run.stop == Stop::stalled));
    CHECK(certify(data.problem(), data.b, data.f).objective < 0);
}

TEST_CASE("an ill-conditioned kernel is solved, and where numbers say nothing nothing is claimed") {
    const KernelFunction k{KernelKind::poly, 1.0, 1.0, 4};
    for (const double size : {10.0, 1000.0}) {
        samples::TwoClasses data(800, 3, 1.0, 5);
        for (double& x : data.X) {
            x *= size;
        }
        SmoOptions options;
        options.max_steps = 1'000'000;
        const auto result =
            Machine(Table(data.view()), k, options).solve({}, data.problem(), data.b, data.f);
        CHECK(result.run.stop != Stop::max_iter);
        const double objective = certify(data.problem(), data.b, data.f).objective;
        CHECK(objective < (size == 10.0 ? -300 : 0));
        CHECK(objective > -800);  // n C: no solution is below it
    }
}

TEST_CASE("columns far from zero are solved in float64") {
    samples::TwoClasses near(200, 3, 1.0, 9);
    samples::TwoClasses far(200, 3, 1.0, 9);
    for (double& x : far.X) {
        x += 1e6;
    }
    const KernelFunction k = samples::kernels[3];
    CHECK(float32_suffices(Table(near.view()), k));
    CHECK_FALSE(float32_suffices(Table(far.view()), k));
    SmoOptions options;
    options.tol = 1e-6;
    Machine(Table(near.view()), k, options).solve({}, near.problem(), near.b, near.f);
    const auto result =
        Machine(Table(far.view()), k, options).solve({}, far.problem(), far.b, far.f);
    CHECK(result.used_float64);
    CHECK(result.certified);
    CHECK(certify(far.problem(), far.b, far.f).objective ==
          doctest::Approx(certify(near.problem(), near.b, near.f).objective).epsilon(1e-8));
}

TEST_CASE("a tolerance beyond float32 is reached with float64 kernel values") {
    samples::TwoClasses data(400, 3, 100.0, 13);
    SmoOptions options;
    options.tol = 1e-9;
    const auto result = Machine(Table(data.view()), samples::kernels[3], options)
                            .solve({}, data.problem(), data.b, data.f);
    CHECK(result.used_float64);
    CHECK(result.run.stop == Stop::converged);
    CHECK(certify(data.problem(), data.b, data.f).violation <= 1e-9);
}
