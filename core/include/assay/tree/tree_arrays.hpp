// One tree while it grows: the arrays of nodes.hpp, slots and words numbered within the tree.
//
// A slot below the number of classes of a leaf names a class: the leaf is pure.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::tree {

struct Tree {
    std::vector<std::int32_t> left;
    std::vector<std::int32_t> feature;
    std::vector<double> threshold;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int32_t> slot;
    std::vector<std::uint32_t> words;
    std::vector<double> value;
    std::vector<double> importance;
    // With stats only.
    std::vector<double> impurity;
    std::vector<std::int64_t> n_samples;
    std::vector<double> weight;

    void clear() noexcept {
        left.clear();
        feature.clear();
        threshold.clear();
        missing_left.clear();
        slot.clear();
        words.clear();
        value.clear();
        importance.clear();
        impurity.clear();
        n_samples.clear();
        weight.clear();
    }

    // Room for a tree that will not be copied. Memory that is not reached costs nothing, and none
    // is spent on what a vector leaves behind when it grows.
    void reserve(std::size_t n_nodes, std::size_t n_outputs) {
        left.reserve(n_nodes);
        feature.reserve(n_nodes);
        threshold.reserve(n_nodes);
        missing_left.reserve(n_nodes);
        slot.reserve(n_nodes);
        value.reserve(n_nodes * n_outputs);
        impurity.reserve(n_nodes);
        n_samples.reserve(n_nodes);
        weight.reserve(n_nodes);
    }

    // Gives back the room that was not needed, array by array.
    void shrink() {
        left.shrink_to_fit();
        feature.shrink_to_fit();
        threshold.shrink_to_fit();
        missing_left.shrink_to_fit();
        slot.shrink_to_fit();
        words.shrink_to_fit();
        value.shrink_to_fit();
        impurity.shrink_to_fit();
        n_samples.shrink_to_fit();
        weight.shrink_to_fit();
    }

    // A leaf, until it is split; returns its number.
    std::int32_t add_leaf() {
        left.push_back(0);
        feature.push_back(-1);
        threshold.push_back(0);
        missing_left.push_back(0);
        slot.push_back(-1);
        return static_cast<std::int32_t>(left.size() - 1);
    }

    // Whether every array has one entry per node, as far as it has any.
    [[nodiscard]] bool is_whole(bool with_stats) const noexcept {
        const std::size_t n = left.size();
        return n >= 1 && feature.size() == n && threshold.size() == n && missing_left.size() == n &&
               slot.size() == n && (!with_stats || (impurity.size() == n && n_samples.size() == n));
    }

    // Room for one more row of values, at the end.
    double* add_value(std::size_t n_outputs) {
        const std::size_t at = value.size();
        value.resize(at + n_outputs);
        return value.data() + at;
    }
};

}  // namespace assay::tree
