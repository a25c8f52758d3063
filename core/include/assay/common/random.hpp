// Counter-based random numbers: Philox 4x32-10, one stream per (seed, key).
//
//     block(seed, key, t) = philox(counter = (t, key), key = seed)       128 random bits
//
// A stream is a pure function of (seed, key) and of how many numbers were drawn;
// streams with different (seed, key) never share a counter, so they need no
// hashing, no jumping and no order. A unit of work takes its own stream from its
// own key and gives the same numbers on any thread.
//
// Cost    about 2 ns per 32 bits. 16 * 2^64 bytes per stream.
// Source  Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3
//         (SC 2011), section 3.3; Lemire: Fast random integer generation in an
//         interval (2019), algorithm 5; Marsaglia's polar method for normals.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace assay {

using PhiloxBlock = std::array<std::uint32_t, 4>;

[[nodiscard]] constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint32_t key_low,
                                           std::uint32_t key_high) noexcept {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key_low,
                   static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key_high,
                   static_cast<std::uint32_t>(a)};
        key_low += 0x9E3779B9;
        key_high += 0xBB67AE85;
    }
    return counter;
}

// Also a UniformRandomBitGenerator. Copying a stream copies its position.
class RandomStream {
  public:
    using result_type = std::uint32_t;

    constexpr RandomStream(std::uint64_t seed, std::uint64_t key) noexcept
        : seed_(seed), key_(key) {}

    [[nodiscard]] static constexpr result_type min() noexcept { return 0; }
    [[nodiscard]] static constexpr result_type max() noexcept {
        return std::numeric_limits<result_type>::max();
    }

    constexpr std::uint32_t operator()() noexcept {
        if (used_ == 4) {
            block_ =
                philox({low(next_), high(next_), low(key_), high(key_)}, low(seed_), high(seed_));
            ++next_;
            used_ = 0;
        }
        return block_[used_++];
    }

    constexpr std::uint64_t bits64() noexcept {
        const std::uint64_t first = (*this)();
        return first | std::uint64_t{(*this)()} << 32;
    }

    // Uniform on 0 .. bound - 1, without bias. Needs bound >= 1.
    constexpr std::uint32_t below(std::uint32_t bound) noexcept {
        std::uint64_t product = std::uint64_t{(*this)()} * bound;
        if (low(product) < bound) {
            const std::uint32_t rest = (0U - bound) % bound;
            while (low(product) < rest) {
                product = std::uint64_t{(*this)()} * bound;
            }
        }
        return high(product);
    }

    // The same for bounds above 2^32; draws 32 bits where they are enough.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        if (bound <= std::numeric_limits<std::uint32_t>::max()) {
            return below(static_cast<std::uint32_t>(bound));
        }
        const std::uint64_t rest = (0U - bound) % bound;  // 2^64 mod bound
        std::uint64_t bits = bits64();
        while (bits < rest) {
            bits = bits64();
        }
        return bits % bound;
    }

    // Uniform on [0, 1): 53 random bits.
    constexpr double uniform() noexcept { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

    // Standard normal.
    double normal() noexcept {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        double x = 0;
        double y = 0;
        double square = 0;
        do {
            x = 2 * uniform() - 1;
            y = 2 * uniform() - 1;
            square = x * x + y * y;
        } while (square >= 1 || square == 0);
        const double scale = std::sqrt(-2 * std::log(square) / square);
        spare_ = y * scale;
        has_spare_ = true;
        return x * scale;
    }

    // Fisher and Yates: every order equally likely.
    template <class T>
    constexpr void shuffle(std::span<T> values) noexcept {
        for (std::size_t i = values.size(); i > 1; --i) {
            using std::swap;
            swap(values[i - 1], values[static_cast<std::size_t>(below(std::uint64_t{i}))]);
        }
    }

  private:
    static constexpr std::uint32_t low(std::uint64_t x) noexcept {
        return static_cast<std::uint32_t>(x);
    }
    static constexpr std::uint32_t high(std::uint64_t x) noexcept {
        return static_cast<std::uint32_t>(x >> 32);
    }

    std::uint64_t seed_;
    std::uint64_t key_;
    std::uint64_t next_ = 0;
    PhiloxBlock block_{};
    std::size_t used_ = 4;
    double spare_ = 0;
    bool has_spare_ = false;
};

}  // namespace assay
