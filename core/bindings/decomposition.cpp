// Python border of assay::decomposition: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace assay::bindings {
using namespace nb::literals;

void bind_decomposition(nb::module_&) {}
}  // namespace assay::bindings
