// The block of variables to solve next: the most violating ones, and part of the last block.
//
//     up  = variables that may rise,  violation z_v - min z(low);  low likewise
//
// Half of the places go to variables of the last block (the ones that came last), the others in
// turn to the largest z of `up` and the smallest z of `low`, if they violate at all. The most
// violating pair is always in: this is what makes the decomposition converge.
//
// Needs   z of all candidate variables. Ties go to the smaller variable.
// Cost    O(n) and a partial sort of what is taken.
// Source  C.-J. Lin (2001), "On the convergence of the decomposition method for support vector
//         machines"; the half that stays: Z. Wen et al. (2018), "ThunderSVM".
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace assay::svm {

struct Violation {
    double top = -std::numeric_limits<double>::infinity();    // max z over up
    double bottom = std::numeric_limits<double>::infinity();  // min z over low
    [[nodiscard]] double size() const noexcept { return top > bottom ? top - bottom : 0.0; }
};

class WorkingSet {
  public:
    WorkingSet(std::size_t n_vars, std::size_t size) : size_(size), member_(n_vars, 0) {}

    [[nodiscard]] std::span<const std::uint32_t> members() const noexcept { return members_; }

    // How many of the last block's members, its last ones, now come first.
    [[nodiscard]] std::size_t stayed() const noexcept { return stayed_; }

    // `vars` are the candidates, z their values (same order); may_rise(v), may_fall(v).
    template <class MayRise, class MayFall>
    void choose(std::span<const std::uint32_t> vars, std::span<const double> z, Violation now,
                MayRise&& may_rise, MayFall&& may_fall) {
        assert(vars.size() == z.size());
        const std::size_t stay = members_.size() < size_ ? 0 : size_ / 2;
        for (std::size_t w = 0; w < members_.size() - stay; ++w) {
            member_[members_[w]] = 0;
        }
        members_.erase(members_.begin(), members_.end() - static_cast<std::ptrdiff_t>(stay));
        stayed_ = stay;
        up_.clear();
        low_.clear();
        for (std::size_t a = 0; a < vars.size(); ++a) {
            const std::uint32_t v = vars[a];
            if (member_[v] != 0) {
                continue;
            }
            if (z[a] > now.bottom && may_rise(v)) {
                up_.push_back({-z[a], v});
            }
            if (z[a] < now.top && may_fall(v)) {
                low_.push_back({z[a], v});
            }
        }
        const std::size_t places = size_ - members_.size();
        first_of(up_, places);
        first_of(low_, places);
        std::size_t a = 0;
        std::size_t b = 0;
        while (members_.size() < size_ && (a < up_.size() || b < low_.size())) {
            if (a < up_.size()) {
                add(up_[a++].var);
            }
            if (b < low_.size() && members_.size() < size_) {
                add(low_[b++].var);
            }
        }
        assert(members_.size() <= size_ && every_member_is_marked());
    }

  private:
    struct Candidate {
        double key;
        std::uint32_t var;
        bool operator<(const Candidate& other) const noexcept {
            return key < other.key || (key == other.key && var < other.var);
        }
    };

    // For an assert: `member_` marks the members, and nothing else.
    [[nodiscard]] bool every_member_is_marked() const noexcept {
        std::size_t marked = 0;
        for (const char is_member : member_) {
            marked += is_member != 0 ? 1U : 0U;
        }
        return marked == members_.size() &&
               std::all_of(members_.begin(), members_.end(),
                           [&](std::uint32_t v) { return member_[v] != 0; });
    }

    static void first_of(std::vector<Candidate>& from, std::size_t count) {
        if (from.size() > count) {
            const auto end = from.begin() + static_cast<std::ptrdiff_t>(count);
            std::nth_element(from.begin(), end, from.end());
            from.resize(count);
        }
        std::sort(from.begin(), from.end());
    }

    void add(std::uint32_t v) {
        if (member_[v] == 0) {
            member_[v] = 1;
            members_.push_back(v);
        }
    }

    std::size_t size_;
    std::size_t stayed_ = 0;
    std::vector<char> member_;
    std::vector<std::uint32_t> members_;
    std::vector<Candidate> up_;
    std::vector<Candidate> low_;
};

}  // namespace assay::svm
