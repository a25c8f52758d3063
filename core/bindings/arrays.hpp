// The only array types that cross the border between Python and the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/matrix_view.hpp"

namespace assay::bindings {

namespace nb = nanobind;

template <class T>
using InMatrix = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using InVector = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutVector = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
MatrixView<const T> view(const InMatrix<T>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

template <class T>
MatrixView<T> view(const OutMatrix<T>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

template <class T>
std::span<const T> span(const InVector<T>& array) {
    return {array.data(), array.shape(0)};
}

template <class T>
std::span<T> span(const OutVector<T>& array) {
    return {array.data(), array.shape(0)};
}

// Arrays by name, as a kernel returns them whose sizes are known only at its end.
using Arrays = nb::typed<nb::dict, nb::str, nb::any>;

// An array that owns the numbers; a matrix with `width` columns if that is not 0.
template <class T>
nb::object owned(std::vector<T>&& values, std::size_t width = 0) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const std::size_t rows = width == 0 ? kept->size() : kept->size() / width;
    const std::size_t shape[2] = {rows, width};
    return nb::ndarray<nb::numpy, T>(kept->data(), width == 0 ? 1 : 2, shape, owner).cast();
}

inline void require(bool holds, const char* message) {
    if (!holds) {
        throw nb::value_error(message);
    }
}

}  // namespace assay::bindings
