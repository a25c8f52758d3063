"""One quadratic program over a kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from assay._core import svm as core
from assay.base import DataError, ParameterError, check_interval
from assay.svm.engine._kernel import Kernel, Rows, rows_of, table_of

Vector = NDArray[np.float64]

#: Reasons to stop, in the core's order.
STOPS = ("converged", "max_iter", "inseparable", "stalled")
#: Number of variables in a block.
BLOCK = 512


@dataclass(frozen=True)
class Solution:
    """Result of `solve`.

    Attributes
    ----------
    alpha : ndarray of shape (n_variables,)
        The solution, 0 <= alpha <= upper.
    bias : float
        The constant of the decision ``sum_i signs_i alpha_i k(x_i, x) + bias``: mean over the free
        variables; the middle of the allowed interval if none is free.
    objective : float
        F = 1/2 a'Qa + p'a, the value minimised (libsvm's ``obj``; minus the usual SVM dual).
    dual_objective : float
        F minus the gap: a lower bound of the optimum (minus the usual SVM primal).
    duality_gap : float
        F is at most this much above the optimum (kernels without negative eigenvalues).
    kkt_residual : float
        m - M: the largest violation by a pair of variables; at most tol if converged (if not
        `certified`, computed from float32 kernel values and therefore uncertain by twice the
        `kernel_error`).
    n_iter : int
        Number of steps on a pair of variables.
    stop_reason : {"converged", "max_iter", "inseparable", "stalled"}
        Why the solver stopped. "stalled": the precision of float64 was reached before tol.
    n_kernel_rows : int
        Number of kernel rows computed.
    n_rounds : int
        Number of blocks solved.
    used_float64 : bool
        Whether the run ended on float64 kernel values.
    certified : bool
        Whether the certificate uses float64 kernel values for every row; if not, float32 ones,
        checked on 256 rows.
    kernel_error : float
        Largest observed difference between decision values from float32 and float64 kernel values.
    """

    alpha: Vector
    bias: float
    objective: float
    dual_objective: float
    duality_gap: float
    kkt_residual: float
    n_iter: int
    stop_reason: str
    n_kernel_rows: int
    n_rounds: int
    used_float64: bool
    certified: bool
    kernel_error: float
    decision: Vector  # K (signs * alpha) of every row, without the bias


def solve(
    X: Rows,
    kernel: Kernel,
    signs: ArrayLike,
    linear: ArrayLike,
    upper: ArrayLike | float,
    *,
    row_of: ArrayLike | None = None,
    delta: float = 0.0,
    tol: float = 1e-3,
    cache_mb: float = 200.0,
    shrinking: bool = True,
    start: ArrayLike | None = None,
    max_iter: int = -1,
    block: int = BLOCK,
    n_threads: int = 1,
    values: NDArray[np.float32] | None = None,
    exact: NDArray[np.float64] | None = None,
) -> Solution:
    r"""Minimise a quadratic function subject to box constraints and one equality.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The rows, or their Gram matrix when the kernel is precomputed.
    kernel : Kernel
        The kernel function.
    signs, linear, upper : array of shape (n_variables,)
        s, p and u below; an infinite u is a hard margin.
    row_of : array of shape (n_variables,), default=None
        The row of each variable; None: variable i is row i.
    delta : float, default=0.0
        The right-hand side of the equality.
    tol : float, default=1e-3
        The KKT residual to reach.
    cache_mb : float, default=200.0
        Memory for kernel rows.
    shrinking : bool, default=True
        Whether to leave out variables that stay at a bound for a while.
    start : array of shape (n_variables,), default=None
        Starting point; moved to the nearest feasible point along the constraint.
    max_iter : int, default=-1
        Maximum number of steps on pairs; -1: ten million, or 100 per variable.
    block : int, default=512
        Variables solved at a time.
    n_threads : int, default=1
        Threads; the result does not depend on it.
    values : ndarray of float32 of shape (n_rows, n_rows), default=None
        ``kernel.matrix(X, dtype=np.float32)`` (or a slice of a larger one), if it is already
        computed. The result has the same bits with and without it.
    exact : ndarray of float64 of shape (n_rows, n_rows), default=None
        The same in float64, for the certificate.

    Returns
    -------
    Solution
        The solution and its certificate.

    Notes
    -----
    .. math:: \min_a \tfrac{1}{2} a^\top Q a + p^\top a \quad\text{s.t.}\quad
              s^\top a = \delta,\; 0 \le a \le u, \qquad Q_{ij} = s_i s_j k(x_i, x_j)

    Examples
    --------
    >>> import numpy as np
    >>> from assay.svm.engine import Kernel, solve
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    >>> solution = solve(X, Kernel("linear"), y, [-1.0, -1.0], np.inf)
    >>> solution.alpha.tolist(), solution.bias, solution.objective
    ([0.5, 0.5], -1.0, -0.5)
    """
    rows = rows_of(X)
    is_gram = kernel.kind == "precomputed"
    if is_gram and (sparse.issparse(rows) or rows.shape[0] != rows.shape[1]):
        raise DataError(f"a Gram matrix must be dense and square, got the shape {rows.shape}")
    sign = np.asarray(signs, dtype=np.float64)
    n = len(sign)
    if not np.all(np.abs(sign) == 1):
        raise ParameterError("signs must be -1 or +1")
    cost = _vector("linear", linear, n)
    bound = _vector("upper", upper, n)
    if not np.all(bound >= 0) or not np.all(np.isfinite(cost)):
        raise ParameterError("upper must not be negative and linear must be finite")
    places = np.arange(n) if row_of is None else np.asarray(row_of)
    if len(places) != n or n == 0 or places.min() < 0 or places.max() >= rows.shape[0]:
        raise DataError(f"row_of must give one of {rows.shape[0]} rows for each of {n} variables")
    check_interval("tol", tol, 0.0, open_low=True)
    check_interval("cache_mb", cache_mb, 0)
    low, high = np.where(sign > 0, 0.0, -bound), np.where(sign > 0, bound, 0.0)
    weight = feasible(_vector("start", 0.0 if start is None else start, n) * sign, low, high, delta)
    decision = np.empty(rows.shape[0])
    numbers = core.solve(
        table_of(rows, is_gram=is_gram),
        kernel.native(),
        -sign * cost,
        low,
        high,
        np.ascontiguousarray(places, dtype=np.int32),
        weight,
        decision,
        tol,
        int(cache_mb * 2**20),
        shrinking,
        step_limit(max_iter, n),
        max(2, block),
        n_threads,
        known_values(values, rows.shape[0], np.float32, is_gram=is_gram),
        known_values(exact, rows.shape[0], np.float64, is_gram=is_gram),
    )
    return solution_of(numbers, np.abs(weight), decision)


def known_values(
    values: NDArray[Any] | None, n: int, kind: type[np.floating[Any]], *, is_gram: bool
) -> NDArray[Any]:
    """Return a kernel matrix for the core; empty if there is none."""
    if values is None:
        return np.empty((0, 0), dtype=kind)
    if is_gram or values.shape != (n, n) or values.dtype != kind:
        name = "values" if kind is np.float32 else "exact"
        raise DataError(
            f"{name} must be a {kind.__name__} matrix of shape {(n, n)}, given with rows, not a "
            f"Gram matrix; got {values.dtype} of shape {values.shape}"
        )
    return np.ascontiguousarray(values)


def step_limit(max_iter: int, n: int) -> int:
    """Return the maximum number of steps on pairs, which guarantees termination."""
    return max_iter if max_iter >= 0 else max(10_000_000, 100 * n)


def solution_of(numbers: tuple[Any, ...], alpha: Vector, decision: Vector) -> Solution:
    """Return the core's results by name."""
    stop, objective, violation, bias, gap, steps, rounds, n_rows, wide, certified, error = numbers
    return Solution(
        alpha=alpha,
        bias=bias,
        objective=objective,
        dual_objective=objective - gap,
        duality_gap=gap,
        kkt_residual=violation,
        n_iter=steps,
        stop_reason=STOPS[stop],
        n_kernel_rows=n_rows,
        n_rounds=rounds,
        used_float64=wide,
        certified=certified,
        kernel_error=error,
        decision=decision,
    )


def feasible(weight: Vector, low: Vector, high: Vector, delta: float) -> Vector:
    """Project weights onto the box and the sum delta, shifting all by the same amount.

    The sum of clip(weight + t, low, high) increases with t: t is found by bisection, and the
    remaining rounding error goes to variables not at a bound, in order.
    """
    weight = np.clip(weight, low, high)
    if abs(weight.sum() - delta) <= 1e-12 * (np.abs(weight).sum() + abs(delta)):
        return weight
    if not low.sum() <= delta <= high.sum():
        raise ParameterError(
            f"delta must be between {low.sum():g} and {high.sum():g} (the sums of the bounds), "
            f"got {delta:g}"
        )
    reach = np.abs(weight).max() + abs(delta) + 1.0
    left, right = -reach, reach
    for _ in range(200):
        middle = 0.5 * (left + right)
        if not left < middle < right:
            break
        if np.clip(weight + middle, low, high).sum() < delta:
            left = middle
        else:
            right = middle
    weight = np.clip(weight + right, low, high)
    for v in np.argsort(-np.minimum(weight - low, high - weight), kind="stable"):
        rest = delta - weight.sum()
        if rest == 0:
            break
        weight[v] = np.clip(weight[v] + rest, low[v], high[v])
    return weight


def _vector(name: str, values: ArrayLike, n: int) -> Vector:
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((), (n,)):
        raise DataError(f"{name} must have {n} entries, got the shape {array.shape}")
    return np.ascontiguousarray(np.broadcast_to(array, n))
