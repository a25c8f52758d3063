// Python border of the CPU dispatch (assay/common/dispatch.hpp).
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/thread_pool.hpp"

namespace assay::bindings {
using namespace nb::literals;

void bind_cpu(nb::module_& m) {
#ifdef __linux__
    assay::detail::process_cores();  // before anybody is pinned
#endif
    m.def(
        "level", [] { return std::string(level_name(cpu_level())); },
        "Return the vector level in use: 'baseline', 'avx2' or 'avx512'.");
    m.def(
        "limit",
        [](const std::optional<std::string>& level) {
            const auto cap = level ? level_of(*level) : std::nullopt;
            require(!level || cap, "level must be 'baseline', 'avx2', 'avx512' or None");
            limit_cpu(cap);
        },
        "level"_a.none(),
        "Use at most this vector level, for tests. None: what the machine and the\n"
        "environment variable ASSAY_CPU allow.");
    m.def("threads", &usable_cores, "Return the number of cores that this process may use.");
}
}  // namespace assay::bindings
