// Python border of assay::neighbors, trees: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace assay::bindings {
using namespace nb::literals;

void bind_neighbors_trees(nb::module_&) {}
}  // namespace assay::bindings
