#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/block.hpp"
#include "assay/tree/fine_rows.hpp"
#include "assay/tree/split.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::CpuLevel;
using assay::RandomStream;

namespace {

// A block of some rows, exactly as long as they are: what is behind them must not be read.
struct Example {
    std::size_t n_rows;
    std::vector<std::uint8_t> codes;  // three columns, the second one constant
    std::vector<double> numbers;
    std::vector<std::uint64_t> rows;

    explicit Example(RandomStream& stream) : n_rows(1 + stream.below(300U)) {
        for (std::size_t i = 0; i < 3 * n_rows; ++i) {
            codes.push_back(static_cast<std::uint8_t>(i / n_rows == 1 ? 7U : stream.below(255U)));
        }
        const std::uint32_t one_in = 1U << stream.below(6U);  // nodes of all sizes
        rows.resize((n_rows + 63) / 64);
        const std::size_t some = stream.below(static_cast<std::uint32_t>(n_rows));
        for (std::size_t i = 0; i < n_rows; ++i) {
            numbers.push_back(stream.normal());
            const bool in = i == some || stream.below(one_in) == 0;
            rows[i / 64] |= std::uint64_t{in} << (i % 64);
        }
    }
    [[nodiscard]] bool has(std::size_t i) const { return (rows[i / 64] >> (i % 64) & 1U) != 0; }
    [[nodiscard]] BlockCodes block() const { return {codes.data(), n_rows, n_rows}; }
    [[nodiscard]] std::vector<std::uint64_t> below(std::size_t f, int last) const {
        std::vector<std::uint64_t> left(rows.size());
        for (std::size_t i = 0; i < n_rows; ++i) {
            left[i / 64] |= std::uint64_t{has(i) && codes[f * n_rows + i] <= last} << (i % 64);
        }
        return left;
    }
    [[nodiscard]] std::pair<int, int> range(std::size_t f) const {
        std::pair<int, int> out{255, 0};
        for (std::size_t i = 0; i < n_rows; ++i) {
            if (has(i)) {
                out.first = std::min<int>(out.first, codes[f * n_rows + i]);
                out.second = std::max<int>(out.second, codes[f * n_rows + i]);
            }
        }
        return out;
    }
};

template <class Check>
void at_every_level(Check check) {
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        assay::limit_cpu(level);
        check();
    }
    assay::limit_cpu({});
}

}  // namespace

TEST_CASE("ranges and sides of a block are those of a loop") {
    at_every_level([] {
        RandomStream stream(1, 0);
        for (int round = 0; round < 300; ++round) {
            const Example example(stream);
            for (const std::size_t f : {0U, 2U}) {
                std::uint8_t low = 0;
                std::uint8_t high = 0;
                const auto last = static_cast<std::uint8_t>(stream.below(256U));
                std::vector<std::uint64_t> left(example.rows.size(), 5);
                const bool any = assay::dispatch([&](auto level) {
                    using Kernel = Block<decltype(level)>;
                    Kernel::range(example.block(), f, example.rows.data(), low, high);
                    return Kernel::side(example.block(), f, last, example.rows.data(), left.data());
                });
                CHECK(std::pair<int, int>(low, high) == example.range(f));
                CHECK(left == example.below(f, last));
                CHECK(any == (last >= low));
            }
        }
    });
}

TEST_CASE("fine cuts of a block part its numbers") {
    at_every_level([] {
        RandomStream stream(9, 0);
        for (int round = 0; round < 400; ++round) {
            const Example example(stream);
            const std::size_t n = example.n_rows;
            const std::size_t words = example.rows.size();
            const std::size_t stride = words * 64;
            std::vector<float> table(n * 4);
            std::vector<std::uint32_t> place(n);
            for (std::size_t i = 0; i < n; ++i) {
                place[i] = static_cast<std::uint32_t>(n - 1 - i);
                table[i * 4] = static_cast<float>(stream.normal());
                table[i * 4 + 1] = 3.0F;
                table[i * 4 + 2] = static_cast<float>(stream.below(5U));
            }
            std::vector<float> numbers(4 * stride, -1e30F);  // what is beyond must not matter
            const std::uint32_t columns[3] = {7, 5, 6};
            const std::uint32_t slots[3] = {2, 1, 0};
            const double shares[3] = {stream.uniform(), stream.uniform(), stream.uniform()};
            std::uint64_t constant = 0;
            FineCuts cuts;
            std::vector<std::uint64_t> left(3 * words);
            assay::dispatch([&](auto level) {
                using Kernel = Block<decltype(level)>;
                Kernel::fine_columns(table.data(), 4, round % 2 == 0 ? place.data() : nullptr, n,
                                     numbers.data(), stride);
                Kernel::fine_cuts(numbers.data(), stride, columns, slots, 3, example.rows.data(),
                                  words, shares, &constant, cuts, left.data());
            });
            const auto number = [&](std::size_t slot, std::size_t i) {
                return table[(round % 2 == 0 ? place[i] : i) * 4 + slot];
            };
            std::size_t k = 0;
            std::uint64_t expected = 0;
            for (std::size_t g = 0; g < 3; ++g) {
                float low = 1e30F;
                float high = -1e30F;
                for (std::size_t i = 0; i < n; ++i) {
                    if (example.has(i)) {
                        low = std::min(low, number(slots[g], i));
                        high = std::max(high, number(slots[g], i));
                    }
                }
                if (low == high) {
                    expected |= std::uint64_t{1} << columns[g];
                    continue;
                }
                REQUIRE(k < cuts.n);
                CHECK(cuts.column[k] == columns[g]);
                CHECK(cuts.drawn[k] == fine_cut(low, high, shares[k]));
                bool same = true;
                for (std::size_t i = 0; i < words * 64; ++i) {
                    const bool is_left =
                        i < n && example.has(i) && number(slots[g], i) <= cuts.drawn[k];
                    same = same && (left[k * words + i / 64] >> (i % 64) & 1U) == is_left;
                }
                CHECK(same);
                ++k;
            }
            CHECK(cuts.n == k);
            CHECK(constant == expected);
        }
    });
}

TEST_CASE("cuts of a block are the random cuts of its columns") {
    RandomStream stream(2, 0);
    ToyTable<std::uint8_t> table(1, 3);
    for (std::size_t f = 0; f < 3; ++f) {
        table.add_column(stream, 255, false, false);
    }
    for (std::size_t b = 0; b < 255; ++b) {  // uneven bins
        table.lower[b] = std::pow(static_cast<double>(b), 3);
    }
    const CutGuide guide(table.view());
    at_every_level([&] {
        RandomStream rounds(3, 0);
        for (int round = 0; round < 500; ++round) {
            const Example example(rounds);
            const std::uint32_t columns[3] = {1, 2, 0};
            const double shares[3] = {rounds.uniform(), rounds.uniform(), rounds.uniform()};
            const std::size_t words = example.rows.size();
            std::uint64_t constant = 0;
            BlockCuts cuts;
            std::vector<std::uint64_t> left(3 * words);
            assay::dispatch([&](auto level) {
                Block<decltype(level)>::cuts(guide.tables(), example.block(), columns, 3,
                                             example.rows.data(), shares, &constant, cuts,
                                             left.data());
            });
            std::uint64_t expected = 2;
            std::size_t k = 0;
            for (const std::uint32_t f : {2U, 0U}) {
                const auto [low, high] = example.range(f);
                if (low == high) {
                    expected |= std::uint64_t{1} << f;
                    continue;
                }
                const RandomCut cut = random_cut(guide, f, low, high, shares[k]);
                REQUIRE(k < cuts.n);
                CHECK(cuts.column[k] == f);
                CHECK(cuts.last_left[k] == cut.last_left);
                CHECK(cuts.drawn[k] == cut.drawn);
                const auto first = left.begin() + static_cast<std::ptrdiff_t>(k * words);
                CHECK(
                    std::vector<std::uint64_t>(first, first + static_cast<std::ptrdiff_t>(words)) ==
                    example.below(f, cut.last_left));
                ++k;
            }
            CHECK(cuts.n == k);
            CHECK(constant == expected);
        }
    });
}

TEST_CASE("sums of a block are right, and the same bits at every level") {
    std::vector<double> sums[3];
    int which = 0;
    at_every_level([&] {
        RandomStream stream(4, 0);
        for (int round = 0; round < 300; ++round) {
            const Example example(stream);
            const std::size_t words = example.rows.size();
            std::vector<std::uint64_t> classes(2 * words);
            for (std::size_t w = 0; w < words; ++w) {
                classes[w] = stream.bits64();
                classes[words + w] = ~classes[w];
            }
            double cell[2];
            std::uint64_t count = 0;
            std::uint32_t counts[2];
            double squares = 0;
            bool equal = false;
            assay::dispatch([&](auto level) {
                using Kernel = Block<decltype(level)>;
                const std::uint64_t* rows = example.rows.data();
                const double* numbers = example.numbers.data();
                Kernel::sums(rows, 1, numbers, example.n_rows, cell);
                Kernel::counts(rows, 1, words, classes.data(), &count);
                Kernel::class_counts(rows, 1, words, classes.data(), 2, counts);
                squares = Kernel::squares(rows, numbers, example.n_rows, 0.25);
                equal = Kernel::are_equal(rows, numbers, example.n_rows);
            });
            double sum = 0;
            double square = 0;
            std::uint64_t n = 0;
            std::uint64_t n_ones = 0;
            for (std::size_t i = 0; i < example.n_rows; ++i) {
                if (example.has(i)) {
                    sum += example.numbers[i];
                    square += std::pow(example.numbers[i] - 0.25, 2);
                    ++n;
                    n_ones += classes[i / 64] >> (i % 64) & 1U;
                }
            }
            CHECK(cell[0] == static_cast<double>(n));
            CHECK(cell[1] == doctest::Approx(sum).epsilon(1e-9));
            CHECK(squares == doctest::Approx(square));
            CHECK(count == (n << 32 | n_ones));
            CHECK(counts[0] == n_ones);
            CHECK(counts[1] == n - n_ones);
            CHECK(equal == (n == 1));
            sums[which].push_back(cell[1]);
            sums[which].push_back(squares);
        }
        ++which;
    });
    CHECK(sums[0] == sums[1]);
    CHECK(sums[0] == sums[2]);
}

TEST_CASE("records are copied, and turned into columns") {
    at_every_level([] {
        RandomStream stream(5, 0);
        const std::size_t step = 48;
        std::vector<std::uint8_t> records(100 * step);
        for (std::uint8_t& code : records) {
            code = static_cast<std::uint8_t>(stream.below(256U));
        }
        for (const std::size_t n : {1U, 16U, 37U, 64U}) {
            std::vector<std::uint32_t> place(n);
            for (std::uint32_t& at : place) {
                at = stream.below(100U);
            }
            std::vector<std::uint8_t> copy(n * step);
            std::vector<std::uint8_t> columns(step * 64);
            std::vector<std::uint8_t> again(step * 64);
            assay::dispatch([&](auto level) {
                using Kernel = Block<decltype(level)>;
                Kernel::copy_records(records.data(), step, place.data(), n, copy.data());
                Kernel::transpose(records.data(), step, place.data(), n, columns.data(), 64);
                Kernel::transpose(copy.data(), step, nullptr, n, again.data(), 64);
            });
            bool same = true;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t f = 0; f < step; ++f) {
                    const int code = records[place[i] * step + f];
                    same = same && copy[i * step + f] == code && columns[f * 64 + i] == code &&
                           again[f * 64 + i] == code;
                }
            }
            CHECK(same);
        }
    });
}
