// The extension assay._core._ext: one submodule per family.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace assay::bindings {
void bind_blas(nb::module_& m);
void bind_cpu(nb::module_& m);
void bind_neighbors(nb::module_& m);
}  // namespace assay::bindings

NB_MODULE(_ext, m) {
    const auto add = [&](const char* name, const char* about, void (*bind)(nb::module_&)) {
        auto submodule = m.def_submodule(name, about);
        bind(submodule);
    };
    using namespace assay::bindings;
    m.doc() = "The compiled core of Assay.";
    add("blas", "Matrix products and factors, through SciPy's BLAS; for tests.", bind_blas);
    add("cpu", "The processor: vector level and usable cores.", bind_cpu);
    add("neighbors", "Nearest neighbours.", bind_neighbors);
}
