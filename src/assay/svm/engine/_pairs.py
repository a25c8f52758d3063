"""All one-vs-one machines of a multi-class problem in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from assay._core import svm as core
from assay.base import DataError, ParameterError, check_interval
from assay.svm.engine._kernel import Kernel, Rows, rows_of, table_of
from assay.svm.engine._solve import BLOCK, Vector, known_values, solution_of, step_limit


@dataclass(frozen=True)
class Pairs:
    """Result of `solve_pairs`; one entry per pair (0, 1), (0, 2), ..., (1, 2), ...

    Attributes
    ----------
    coef : ndarray of shape (n_samples, n_classes - 1)
        The signed coefficient of row i (class a) against class b, in column ``b if b < a else
        b - 1``.
    bias, objective, dual_objective, duality_gap, kkt_residual : ndarray of shape (n_pairs,)
        As in `Solution`.
    n_iter, n_kernel_rows : ndarray of shape (n_pairs,)
        Number of steps, and of kernel rows computed.
    stop_reason : list of str
        As in `Solution`.
    """

    coef: Vector
    bias: Vector
    objective: Vector
    dual_objective: Vector
    duality_gap: Vector
    kkt_residual: Vector
    n_iter: NDArray[np.int64]
    n_kernel_rows: NDArray[np.int64]
    stop_reason: list[str]


def solve_pairs(
    X: Rows,
    kernel: Kernel,
    codes: ArrayLike,
    n_classes: int,
    upper: ArrayLike | float,
    *,
    tol: float = 1e-3,
    cache_mb: float = 200.0,
    shrinking: bool = True,
    start: Vector | None = None,
    max_iter: int = -1,
    block: int = BLOCK,
    n_threads: int = 1,
    values: NDArray[np.float32] | None = None,
    exact: NDArray[np.float64] | None = None,
) -> Pairs:
    """Solve the binary machine of every pair of classes.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The rows, or their Gram matrix when the kernel is precomputed.
    kernel : Kernel
        The kernel function.
    codes : array of shape (n_samples,)
        The class of each row, 0 to n_classes - 1; every class occurs.
    n_classes : int
        Number of classes, at least 2.
    upper : float or array of shape (n_samples,)
        The largest alpha of each row (C times its weight), the same in all pairs.
    tol, cache_mb, shrinking, max_iter, block, n_threads, values, exact
        As in `solve`; the cache is shared by the pairs that run at the same time.
    start : ndarray of shape (n_samples, n_classes - 1), default=None
        The `coef` of another run, clipped to the box; a pair whose sum is then not zero starts at
        0.

    Returns
    -------
    Pairs
        The coefficients and one certificate per pair. The result does not depend on n_threads.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.svm.engine import Kernel, solve_pairs
    >>> X = np.array([[0.0], [2.0], [6.0]])
    >>> pairs = solve_pairs(X, Kernel("linear"), [0, 1, 2], 3, np.inf)
    >>> pairs.coef.round(4).tolist()
    [[0.5, 0.0556], [-0.5, 0.125], [-0.0556, -0.125]]
    """
    n = rows_of(X).shape[0]
    bound = np.broadcast_to(np.asarray(upper, dtype=np.float64), n)[None]
    return solve_pairs_path(
        X,
        kernel,
        codes,
        n_classes,
        bound,
        tol=tol,
        cache_mb=cache_mb,
        shrinking=shrinking,
        start=start,
        max_iter=max_iter,
        block=block,
        n_threads=n_threads,
        values=values,
        exact=exact,
    )[0]


def solve_pairs_path(
    X: Rows,
    kernel: Kernel,
    codes: ArrayLike,
    n_classes: int,
    uppers: ArrayLike,
    *,
    tol: float = 1e-3,
    cache_mb: float = 200.0,
    shrinking: bool = True,
    start: Vector | None = None,
    max_iter: int = -1,
    block: int = BLOCK,
    n_threads: int = 1,
    values: NDArray[np.float32] | None = None,
    exact: NDArray[np.float64] | None = None,
) -> list[Pairs]:
    """Solve the binary machine of every pair of classes for many values of C.

    Parameters
    ----------
    X, kernel, codes, n_classes, tol, cache_mb, shrinking, start, max_iter, block, n_threads
        As in `solve_pairs`; every value of C starts from `start`.
    uppers : array of shape (n_prices, n_samples)
        One `upper` per value of C.
    values, exact : ndarray
        As in `solve_pairs`. If both are given, the kernel values of a pair are gathered once for
        all values of C.

    Returns
    -------
    list of Pairs
        One result per value of C, with the same bits as from `solve_pairs`.
    """
    rows = rows_of(X)
    is_gram = kernel.kind == "precomputed"
    if is_gram and (sparse.issparse(rows) or rows.shape[0] != rows.shape[1]):
        raise DataError(f"a Gram matrix must be dense and square, got the shape {rows.shape}")
    n = rows.shape[0]
    code = np.ascontiguousarray(codes, dtype=np.int32)
    if code.shape != (n,) or n_classes < 2:
        raise DataError(f"codes must have {n} entries of at least 2 classes, got {code.shape}")
    if len(np.unique(code)) != n_classes or code.min() != 0 or code.max() != n_classes - 1:
        raise DataError(f"codes must be 0 to {n_classes - 1}, each at least once")
    bounds = np.ascontiguousarray(uppers, dtype=np.float64)
    if not np.all(bounds >= 0):
        raise ParameterError("upper must not be negative")
    check_interval("tol", tol, 0.0, open_low=True)
    check_interval("cache_mb", cache_mb, 0)
    coefs = np.zeros((len(bounds), n, n_classes - 1))
    if start is not None:
        for coef, bound in zip(coefs, bounds, strict=True):
            coef[:] = _balanced(start, code, bound)
    results = core.solve_pairs(
        table_of(rows, is_gram=is_gram),
        kernel.native(),
        code,
        n_classes,
        bounds,
        coefs.reshape(-1, n_classes - 1),
        tol,
        int(cache_mb * 2**20),
        shrinking,
        step_limit(max_iter, n),
        max(2, block),
        n_threads,
        known_values(values, n, np.float32, is_gram=is_gram),
        known_values(exact, n, np.float64, is_gram=is_gram),
    )
    n_pairs = n_classes * (n_classes - 1) // 2
    return [_pairs(coef, results[k * n_pairs : (k + 1) * n_pairs]) for k, coef in enumerate(coefs)]


def _pairs(coef: Vector, results: Sequence[tuple[Any, ...]]) -> Pairs:
    """Return the core's results for one value of C by name."""
    each = [solution_of(numbers, coef[0], coef[0]) for numbers in results]
    return Pairs(
        coef=coef,
        bias=np.array([one.bias for one in each]),
        objective=np.array([one.objective for one in each]),
        dual_objective=np.array([one.dual_objective for one in each]),
        duality_gap=np.array([one.duality_gap for one in each]),
        kkt_residual=np.array([one.kkt_residual for one in each]),
        n_iter=np.array([one.n_iter for one in each]),
        n_kernel_rows=np.array([one.n_kernel_rows for one in each]),
        stop_reason=[one.stop_reason for one in each],
    )


def _balanced(start: Vector, codes: NDArray[np.int32], upper: Vector) -> Vector:
    """Return a feasible start: each pair clipped to its box and summing to zero, else at zero."""
    n_classes = start.shape[1] + 1
    coef = np.clip(start, -upper[:, None], upper[:, None])
    for a in range(n_classes):
        for b in range(a + 1, n_classes):
            first, second = coef[codes == a, b - 1], coef[codes == b, a]
            size, rest = first.sum(), first.sum() + second.sum()
            if first.min() < 0 or second.max() > 0 or abs(rest) > 1e-12 * size:
                coef[codes == a, b - 1] = 0.0
                coef[codes == b, a] = 0.0
    return coef
