// The only array types that cross the border between Python and the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <span>

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

inline void require(bool holds, const char* message) {
    if (!holds) {
        throw nb::value_error(message);
    }
}

}  // namespace assay::bindings
