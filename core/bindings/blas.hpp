// BLAS for a binding: `BlasCall call;` before the GIL is released, kept to the end.
//
// The first one imports scipy.linalg (0.15 s), so `import assay._core` need not.
#pragma once

#include "assay/common/blas.hpp"

namespace assay::bindings {

void load_blas();  // needs the GIL; does nothing the second time

class BlasCall {
  public:
    BlasCall() : scope_((load_blas(), BlasScope())) {}

  private:
    BlasScope scope_;
};

}  // namespace assay::bindings
