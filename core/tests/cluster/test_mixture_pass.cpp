#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "assay/cluster/mixture_pass.hpp"
#include "assay/common/random.hpp"

using namespace assay::cluster;

namespace {

struct Problem {
    std::size_t n;
    std::size_t d;
    std::size_t k = 2;
    std::vector<double> rows;
    std::vector<double> log_weights = {std::log(0.3), std::log(0.7)};
    std::vector<double> means;
    std::vector<double> covariance;
    std::vector<double> factor;
    Mixture mixture;

    Problem(std::size_t n_rows, std::size_t n_columns) : n(n_rows), d(n_columns) {
        assay::RandomStream random(11, 0);
        std::normal_distribution<double> normal;
        for (std::size_t i = 0; i < n * d; ++i) {
            rows.push_back(normal(random));
        }
        for (std::size_t i = 0; i < k * d; ++i) {
            means.push_back(0.5 * normal(random));
        }
        covariance.assign(k * d * d, 0.2);
        for (std::size_t c = 0; c < k; ++c) {
            for (std::size_t j = 0; j < d; ++j) {
                covariance[(c * d + j) * d + j] = 1.0 + static_cast<double>(c + j);
            }
        }
        factor.resize(k * d * d);
        std::vector<double> scratch;
        for (std::size_t c = 0; c < k; ++c) {
            CHECK(precision_factor(covariance.data() + c * d * d, d, factor.data() + c * d * d,
                                   scratch));
        }
        mixture = {true,          k,    d, log_weights.data(), means.data(), covariance.data(),
                   factor.data(), d * d};
    }

    double joint(std::size_t i, std::size_t c) const {
        double square = 0;
        double logs = 0;
        for (std::size_t j = 0; j < d; ++j) {
            double y = 0;
            for (std::size_t a = 0; a <= j; ++a) {
                y += (rows[i * d + a] - means[c * d + a]) * factor[(c * d + a) * d + j];
            }
            square += y * y;
            logs += std::log(factor[(c * d + j) * d + j]);
        }
        return log_weights[c] + logs - 0.91893853320467274178 * static_cast<double>(d) - square / 2;
    }
};

}  // namespace

TEST_CASE("a pass gives likelihood and moments by brute force, for any number of threads") {
    const Problem problem(5000, 3);
    const MixtureTable<double> table{{problem.rows.data(), problem.n, problem.d}, {}, {}, {}};
    const auto sums = mixture_pass(table, problem.mixture, 1);
    double likelihood = 0;
    double count = 0;
    double first = 0;
    double second = 0;
    for (std::size_t i = 0; i < problem.n; ++i) {
        const double f = problem.joint(i, 0);
        const double g = problem.joint(i, 1);
        const double norm = std::log(std::exp(f) + std::exp(g));
        likelihood += norm;
        const double share = std::exp(g - norm);
        const double gap = problem.rows[i * 3 + 2] - problem.means[5];
        count += share;
        first += share * gap;
        second += share * gap * (problem.rows[i * 3] - problem.means[3]);
    }
    CHECK(sums.log_likelihood == doctest::Approx(likelihood));
    CHECK(sums.count[1] == doctest::Approx(count));
    CHECK(sums.first[5] == doctest::Approx(first));
    CHECK(sums.second[9 + 6] == doctest::Approx(second));
    CHECK(sums.count[0] + sums.count[1] == doctest::Approx(static_cast<double>(problem.n)));

    const auto again = mixture_pass(table, problem.mixture, 2);
    CHECK(again.log_likelihood == sums.log_likelihood);
    CHECK(again.first == sums.first);
    CHECK(again.second == sums.second);
}

TEST_CASE("groups of complete rows give the sums of the table as it stands, row numbers kept") {
    const Problem problem(300, 2);
    const std::vector<std::uint8_t> all = {1, 1, 1, 1};
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < 300; ++i) {
        order.push_back((i * 7) % 300);
    }
    const std::vector<std::int64_t> ends = {130, 300};
    const MixtureTable<double> plain{{problem.rows.data(), 300, 2}, {}, {}, {}};
    const MixtureTable<double> grouped{
        {problem.rows.data(), 300, 2}, order, ends, {all.data(), 2, 2}};
    const auto one = mixture_pass(plain, problem.mixture, 1);
    const auto two = mixture_pass(grouped, problem.mixture, 1);
    CHECK(two.log_likelihood == doctest::Approx(one.log_likelihood).epsilon(1e-12));
    CHECK(two.second[3] == doctest::Approx(one.second[3]).epsilon(1e-12));

    std::vector<std::int32_t> labels(300);
    std::vector<double> norms(300);
    std::vector<double> shares(600);
    mixture_assign(grouped, problem.mixture, {labels, norms, shares}, 2);
    for (std::size_t i = 0; i < 300; ++i) {
        const double f = problem.joint(i, 0);
        const double g = problem.joint(i, 1);
        CHECK(labels[i] == (g > f ? 1 : 0));
        CHECK(norms[i] == doctest::Approx(std::log(std::exp(f) + std::exp(g))));
        CHECK(shares[2 * i] == doctest::Approx(std::exp(f - norms[i])));
    }
}

TEST_CASE("missing columns of a group are never read") {
    Problem problem(130, 3);
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < 130; ++i) {
        order.push_back(i);
        problem.rows[static_cast<std::size_t>(i) * 3 + 1] = std::nan("");
    }
    const std::vector<std::int64_t> ends = {130};
    const std::vector<std::uint8_t> observed = {1, 0, 1};
    const MixtureTable<double> table{
        {problem.rows.data(), 130, 3}, order, ends, {observed.data(), 1, 3}};
    const auto sums = mixture_pass(table, problem.mixture, 1);
    CHECK(std::isfinite(sums.log_likelihood));
    for (const double value : sums.second) {
        CHECK(std::isfinite(value));
    }
}

TEST_CASE("moments of given shares are about the given centres") {
    const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
    const std::vector<double> shares = {1, 0, 0.5, 0.5, 0, 1};
    const std::vector<double> centres = {1, 2, 5, 6};
    const auto sums = mixture_soft(assay::MatrixView<const float>{rows.data(), 3, 2},
                                   assay::MatrixView<const double>{shares.data(), 3, 2}, true,
                                   assay::MatrixView<const double>{centres.data(), 2, 2}, 1);
    CHECK(sums.count == std::vector<double>{1.5, 1.5});
    CHECK(sums.first == std::vector<double>{1, 1, -1, -1});
    CHECK(sums.second == std::vector<double>{2, 0, 2, 2, 2, 0, 2, 2});
}
