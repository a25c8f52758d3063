// Python border of assay/common/blas.hpp: SciPy's exported pointers, and a thin face
// of each function for the tests.
#include "blas.hpp"

#include <dlfcn.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "arrays.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

// The pointer in a capsule of Cython's, which is named by its C signature. An
// unexpected number of arguments or wider integers must not be called.
template <class Function>
void import_function(const nb::object& module, const char* name, std::size_t n_arguments,
                     Function& function) {
    const nb::object capsule = module.attr("__pyx_capi__")[name];
    const char* signature = PyCapsule_GetName(capsule.ptr());
    if (signature == nullptr) {
        throw nb::python_error();
    }
    const std::string_view text = signature;
    const auto commas = static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
    if (!text.starts_with("void (char *, ") || commas + 1 != n_arguments ||
        text.find(", int *") == std::string_view::npos) {
        throw std::runtime_error(
            "SciPy's BLAS function " + std::string(name) +
            " has a signature that this version of Assay does not know: " + std::string(text));
    }
    function = reinterpret_cast<Function>(PyCapsule_GetPointer(capsule.ptr(), signature));
}

template <class T>
void import_functions(const nb::object& blas, const nb::object& lapack, const std::string& letter,
                      BlasFunctions<T>& functions) {
    import_function(blas, (letter + "gemm").c_str(), 13, functions.gemm);
    import_function(blas, (letter + "gemv").c_str(), 11, functions.gemv);
    import_function(blas, (letter + "syrk").c_str(), 10, functions.syrk);
    import_function(blas, (letter + "trsm").c_str(), 11, functions.trsm);
    import_function(blas, (letter + "trsv").c_str(), 8, functions.trsv);
    import_function(lapack, (letter + "potrf").c_str(), 5, functions.potrf);
}

// How to set the number of threads is a matter of the library behind SciPy's module.
// It is loaded privately, so it is asked for through the module that depends on it.
void find_thread_control(const nb::object& module, Blas& table) {
    const auto path = nb::cast<nb::str>(module.attr("__file__"));
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) {
        return;
    }
    constexpr std::pair<const char*, const char*> names[] = {
        {"scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"},
        {"scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"},
        {"openblas_get_num_threads", "openblas_set_num_threads"},
        {"MKL_Get_Max_Threads", "MKL_Set_Num_Threads"},
    };
    for (const auto& [get_name, set_name] : names) {
        void* get = dlsym(library, get_name);
        void* set = dlsym(library, set_name);
        if (get != nullptr && set != nullptr) {
            table.get_threads = reinterpret_cast<int (*)()>(get);
            table.set_threads = reinterpret_cast<void (*)(int)>(set);
            break;
        }
    }
    dlclose(library);
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def(
        "gemm",
        [](InMatrix<T> a, InMatrix<T> b, OutMatrix<T> out, bool transpose_a, bool transpose_b,
           T alpha, T beta, int n_threads) {
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            gemm(transpose_a ? Op::transpose : Op::none, transpose_b ? Op::transpose : Op::none,
                 alpha, view(a), view(b), beta, view(out), n_threads);
        },
        "a"_a.noconvert(), "b"_a.noconvert(), "out"_a.noconvert(), "transpose_a"_a = false,
        "transpose_b"_a = false, "alpha"_a = 1, "beta"_a = 0, "n_threads"_a = 1,
        "out = alpha op(a) op(b) + beta out");
    m.def(
        "gemv",
        [](InMatrix<T> a, InVector<T> x, OutVector<T> out, bool transpose_a, T alpha, T beta) {
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            gemv(transpose_a ? Op::transpose : Op::none, alpha, view(a), span(x), beta, span(out));
        },
        "a"_a.noconvert(), "x"_a.noconvert(), "out"_a.noconvert(), "transpose_a"_a = false,
        "alpha"_a = 1, "beta"_a = 0, "out = alpha op(a) x + beta out");
    m.def(
        "syrk",
        [](InMatrix<T> a, OutMatrix<T> out, bool transpose_a, T alpha, T beta) {
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            syrk(transpose_a ? Op::transpose : Op::none, alpha, view(a), beta, view(out));
        },
        "a"_a.noconvert(), "out"_a.noconvert(), "transpose_a"_a = false, "alpha"_a = 1,
        "beta"_a = 0, "out = alpha op(a) op(a)' + beta out, lower triangle only");
    m.def(
        "trsm",
        [](InMatrix<T> lower, OutMatrix<T> b, bool transpose_lower) {
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            trsm(transpose_lower ? Op::transpose : Op::none, view(lower), view(b));
        },
        "lower"_a.noconvert(), "b"_a.noconvert(), "transpose_lower"_a = false,
        "b = op(lower)^-1 b");
    m.def(
        "potrf",
        [](OutMatrix<T> a) {
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            return potrf(view(a));
        },
        "a"_a.noconvert(),
        "Replace the lower triangle of a by its Cholesky factor; False if there is none.");
}

}  // namespace

void load_blas() {
    static bool loaded = false;  // guarded by the GIL
    if (loaded) {
        return;
    }
    const nb::object blas = nb::module_::import_("scipy.linalg.cython_blas");
    const nb::object lapack = nb::module_::import_("scipy.linalg.cython_lapack");
    Blas table;
    import_functions(blas, lapack, "s", table.float32);
    import_functions(blas, lapack, "d", table.float64);
    find_thread_control(blas, table);
    Blas::provide(table);
    loaded = true;
}

void bind_blas(nb::module_& m) {
    bind_functions<double>(m);
    bind_functions<float>(m);
    m.def(
        "threads",
        [](bool inside) {
            load_blas();
            const auto get = Blas::table().get_threads;
            if (!inside) {
                return get == nullptr ? 0 : get();
            }
            const BlasScope scope;
            return get == nullptr ? 0 : get();
        },
        "inside"_a = false,
        "Return the threads that SciPy's BLAS would use (inside one of our calls: 1), or 0\n"
        "where it offers no control.");
}
}  // namespace assay::bindings
