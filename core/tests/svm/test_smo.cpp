#include <doctest/doctest.h>

#include <limits>

#include "assay/svm/certificate.hpp"
#include "assay/svm/smo.hpp"
#include "problem.hpp"

using namespace assay::svm;

namespace {

template <class T>
SmoResult run(samples::TwoClasses& data, const KernelFunction& k, const SmoOptions& options) {
    const DenseRows<T> rows(data.view());
    Smo<T> smo(k, rows, data.problem(), options, data.b);
    return smo.run(data.f);
}

}  // namespace

TEST_CASE_TEMPLATE("smo ends with a proof, the same for any threads, cache and level", T, float,
                   double) {
    for (const double C : {0.1, 1.0, 50.0}) {
        samples::TwoClasses first(700, 5, C, 11);
        SmoOptions options;
        options.block = 64;
        const SmoResult result = run<T>(first, samples::kernels[3], options);
        CHECK(result.stop == Stop::converged);
        const Certificate proof = certify(first.problem(), first.b, first.f);
        CHECK(proof.violation <= options.tol);
        CHECK(proof.gap <= 1e-3 * -proof.objective);

        samples::at_every_level([&] {
            samples::TwoClasses again(700, 5, C, 11);
            options.n_threads = 2;
            options.cache_bytes = 20000;
            run<T>(again, samples::kernels[3], options);
            CHECK(again.b == first.b);
            CHECK(again.f == first.f);
        });

        samples::TwoClasses whole(700, 5, C, 11);  // shrinking and blocks change the way only
        SmoOptions other;
        other.shrinking = false;
        other.block = 200;
        run<T>(whole, samples::kernels[3], other);
        const Certificate same = certify(whole.problem(), whole.b, whole.f);
        CHECK(same.objective == doctest::Approx(proof.objective).epsilon(1e-5));
        CHECK(same.bias == doctest::Approx(proof.bias).epsilon(2e-2));
    }
}

TEST_CASE("the step limit holds, and a start near the end is kept") {
    samples::TwoClasses data(300, 3, 1.0, 4);
    SmoOptions options;
    options.max_steps = 7;
    const SmoResult cut = run<double>(data, samples::kernels[3], options);
    CHECK(cut.stop == Stop::max_iter);
    CHECK(cut.steps == 7);
    options.max_steps = 1'000'000;
    const SmoResult rest = run<double>(data, samples::kernels[3], options);
    CHECK(rest.stop == Stop::converged);
    const SmoResult nothing = run<double>(data, samples::kernels[3], options);
    CHECK(nothing.stop == Stop::converged);
    CHECK(nothing.steps == 0);
}

TEST_CASE("a hard margin on classes that overlap is unbounded") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    samples::TwoClasses overlap(200, 3, inf, 6);
    SmoOptions options;
    CHECK(run<double>(overlap, samples::kernels[0], options).stop == Stop::unbounded);
}

TEST_CASE("a hard margin on separable classes has its margin at one") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    samples::TwoClasses data(200, 3, inf, 6);
    for (std::size_t i = 0; i < data.n; ++i) {
        data.X[i * 3] += 8 * data.target[i];
    }
    CHECK(run<double>(data, samples::kernels[0], {}).stop == Stop::converged);
    const Certificate proof = certify(data.problem(), data.b, data.f);
    double least = inf;
    for (std::size_t i = 0; i < data.n; ++i) {
        least = std::min(least, data.target[i] * (data.f[i] + proof.bias));
    }
    CHECK(least == doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE("what was left out is tested again before the end") {
    for (std::uint64_t seed = 40; seed < 50; ++seed) {
        samples::TwoClasses data(400, 3, 20.0, seed);
        SmoOptions options;
        options.block = 16;
        CHECK(run<double>(data, samples::kernels[3], options).stop == Stop::converged);
        CHECK(certify(data.problem(), data.b, data.f).violation <= options.tol);
    }
}
