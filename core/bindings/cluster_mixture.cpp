// Python border of assay::cluster, mixtures: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace assay::bindings {
using namespace nb::literals;

void bind_cluster_mixture(nb::module_&) {}
}  // namespace assay::bindings
