"""The SMO engine behind every kernel machine: kernels, programs, predictions.

Internal: used by SVC and SVR, not part of the public interface.

- :class:`Kernel`: a kernel function and its constants; ``matrix(X, Z)``.
- :func:`solve`: one quadratic program (a binary SVC, a one-class or a regression machine).
- :func:`solve_pairs`: all one-vs-one machines of a multi-class problem in **one call**: the pairs
  run in parallel, each on one thread, over one packed copy of the rows. Its ``coef`` has the
  shape (n_samples, n_classes - 1): the coefficient of row i (class a) in its pair with class b
  is in column ``b if b < a else b - 1``. Rows with a nonzero coefficient are support vectors;
  ``coef[support].T`` is libsvm's ``dual_coef_``; pairs come in the order (0, 1), (0, 2), ...,
  (1, 2), ... with class a as +1.
- :func:`solve_pairs_path`: the same for many values of C: the kernel values of a pair are
  gathered once.
- :func:`decide`: bias + coefficients times kernel values, for any number of outputs.
- :func:`decide_pairs`: the same for one-vs-one machines in libsvm's layout (support vectors
  grouped by class), without the zeros of a dense coefficient matrix.

Guarantees, all of them tested:

- A kernel value depends only on its two rows (and on float32 or float64): not on the other rows
  of the call, their order, the number of threads or the CPU instruction set; ``k(x, z)`` and
  ``k(z, x)`` have the same bits. So a slice of ``Kernel.matrix(X)`` *is* the matrix of the slice.
- `solve` uses float32 kernel values and switches to float64 where these are not precise enough.
  To share a matrix between many fits (every C, every fold) pass it **in addition to** the rows:
  ``solve(X[train], kernel, ..., values=shared[np.ix_(train, train)])`` with ``shared =
  kernel.matrix(X, dtype=np.float32)`` has the same bits as without `values`, in all cases. A
  precomputed float64 Gram matrix is a different input: it is rounded to float32 first.
- The solution does not depend on ``n_threads``, ``cache_mb`` or the CPU instruction set.
- A run always terminates, with ``stop_reason`` "converged", "max_iter", "inseparable" or
  "stalled" and with a certificate (``kkt_residual``, ``duality_gap``).
"""

from __future__ import annotations

from assay.svm.engine._decide import decide, decide_pairs
from assay.svm.engine._kernel import Kernel, squared_distances
from assay.svm.engine._pairs import Pairs, solve_pairs, solve_pairs_path
from assay.svm.engine._solve import Solution, solve

__all__ = [
    "Kernel",
    "Pairs",
    "Solution",
    "decide",
    "decide_pairs",
    "solve",
    "solve_pairs",
    "solve_pairs_path",
    "squared_distances",
]
