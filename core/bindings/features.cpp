// Python border of assay::features: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace assay::bindings {
using namespace nb::literals;

void bind_features(nb::module_&) {}
}  // namespace assay::bindings
