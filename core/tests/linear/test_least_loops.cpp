#include <doctest/doctest.h>

#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/linear/least_loops.hpp"
#include "small_tables.hpp"

using assay::linear::LeastLoops;

namespace {

template <class T>
std::vector<double> all_loops(std::size_t n, std::size_t p) {
    const auto x = small_tables::numbers<T>(n * p, n + p, 3.0);
    const auto shift = small_tables::numbers<double>(p, 1, 3.0);
    const auto u = small_tables::numbers<double>(n, 2);
    const auto w = small_tables::numbers<double>(p, 3);
    std::vector<double> out(2 * n * p + p + n, 0.0);
    assay::dispatch([&](auto level) {
        using Loops = LeastLoops<decltype(level), T>;
        Loops::centred(x.data(), p, n, p, shift.data(), nullptr, out.data(), p);
        Loops::centred(x.data(), p, n, p, shift.data(), u.data(), out.data() + n * p, p);
        Loops::correlated(x.data(), p, n, p, shift.data(), u.data(), out.data() + 2 * n * p);
        Loops::scores(x.data(), p, n, p, w.data(), 0.5, out.data() + 2 * n * p + p, 1);
    });
    return out;
}

template <class T>
std::vector<double> by_definition(std::size_t n, std::size_t p) {
    const auto x = small_tables::numbers<T>(n * p, n + p, 3.0);
    const auto shift = small_tables::numbers<double>(p, 1, 3.0);
    const auto u = small_tables::numbers<double>(n, 2);
    const auto w = small_tables::numbers<double>(p, 3);
    std::vector<double> out(2 * n * p + p + n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        double score = 0.5;
        for (std::size_t j = 0; j < p; ++j) {
            const double value = static_cast<double>(x[i * p + j]);
            out[i * p + j] = value - shift[j];
            out[n * p + i * p + j] = u[i] * (value - shift[j]);
            out[2 * n * p + j] += u[i] * (value - shift[j]);
            score += value * w[j];
        }
        out[2 * n * p + p + i] = score;
    }
    return out;
}

template <class T>
void check_sizes() {
    for (const std::size_t n : {1U, 3U, 4U, 9U}) {
        for (const std::size_t p : {1U, 2U, 15U, 16U, 17U, 67U}) {
            CAPTURE(n);
            CAPTURE(p);
            const auto expected = by_definition<T>(n, p);
            std::vector<double> first;
            for (const auto level :
                 {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
                assay::limit_cpu(level);
                const auto found = all_loops<T>(n, p);
                for (std::size_t t = 0; t < found.size(); ++t) {
                    CHECK(found[t] == doctest::Approx(expected[t]).epsilon(1e-12));
                }
                first = first.empty() ? found : first;
                CHECK(found == first);
            }
            assay::limit_cpu({});
        }
    }
}

}  // namespace

TEST_CASE("loops of least squares are their definitions, with the same bits at every level") {
    check_sizes<double>();
    check_sizes<float>();
}
