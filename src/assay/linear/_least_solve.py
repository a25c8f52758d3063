r"""Least squares with an L2 penalty, by the fastest route that is accurate enough.

Every route minimises :math:`\sum_i v_i (y_i - b - x_i'w)^2 + \alpha \|w\|^2`:

``cholesky``
    Normal equations, columns scaled to unit length, with an estimate of their condition number.
    Half of the digits may be lost; they are recovered, where possible, from the residuals of the
    rows (Bjorck's corrected seminormal equations). With more columns than rows the equations are
    those of the rows (the dual).
``svd``
    Singular value decomposition of the centred table: safe for any table, and gives the solution of
    smallest norm where there are many. Used when the condition number rules out 'cholesky'.
``sparse_cg``, ``lsqr``
    Iterations, for sparse tables too wide for a matrix of column products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from assay._core import linear as kernels
from assay.linear._least_iterate import conjugate_gradients, least_squares_qr
from assay.linear._least_model import scores
from assay.linear._least_moments import Matrix, Moments
from assay.linear._least_problem import Problem, one_blas_thread

#: Below this reciprocal condition number the normal equations are not used.
SAFE = 1e-10
#: Below this one their solution is corrected with the residuals of the rows.
GOOD = 1e-5
#: Sparse tables with more columns and more rows than this are solved iteratively.
MOST_PRODUCTS = 3000
#: Sparse tables with at most this many cells may be made dense for the SVD.
MOST_DENSE = 5e7


@dataclass(frozen=True)
class Solved:
    """Coefficients (n_targets, n_features), intercepts, and the solver used."""

    coef: Matrix
    intercept: Matrix
    solver: str
    n_iter: NDArray[np.int64] | None = None


def solve(
    problem: Problem,
    alpha: Matrix,
    *,
    solver: str = "auto",
    tol: float = 1e-4,
    max_iter: int | None = None,
) -> Solved:
    """Return the minimum for one penalty per target.

    Parameters
    ----------
    problem : Problem
        The problem; caches what other penalties can reuse.
    alpha : ndarray of shape (n_targets,)
        The penalties, not negative.
    solver : {'auto', 'cholesky', 'svd', 'sparse_cg', 'lsqr'}
        The route; 'cholesky' still falls back to 'svd' where it would be inaccurate.
    tol, max_iter
        Of the iterative solvers.
    """
    if solver == "auto":
        iterate = problem.sparse and min(problem.X.shape) > MOST_PRODUCTS
        solver = "sparse_cg" if iterate else "cholesky"
    if solver == "sparse_cg":
        return Solved(*conjugate_gradients(problem, alpha, tol, max_iter))
    if solver == "cholesky":
        found = (_dual if problem.wide else _normal)(problem, alpha)
        if found is not None:
            return found
        tol = 1e-13
    if solver == "lsqr" or (problem.sparse and problem.numbers > MOST_DENSE):
        return Solved(*least_squares_qr(problem, alpha, tol, max_iter))
    return _decomposed(problem, alpha)


def solve_positive(problem: Problem, alpha: Matrix) -> Solved:
    """Return the minimum among coefficients that are not negative (Lawson and Hanson)."""
    A, B, mean_x, mean_y = problem.centred
    p = A.shape[1]
    coef = np.empty((B.shape[1], p))
    for t, a in enumerate(alpha):
        rows = A if a == 0 else np.vstack([A, np.sqrt(a) * np.eye(p)])
        goal = B[:, t] if a == 0 else np.concatenate([B[:, t], np.zeros(p)])
        with one_blas_thread():
            coef[t] = nnls(rows, goal)[0]
    return Solved(coef, problem.offset(coef, mean_x, mean_y), "nnls")


def _normal(problem: Problem, alpha: Matrix) -> Solved | None:
    found = problem.moments
    coef = np.empty((found.cross.shape[1], len(found.gram)))
    for a in np.unique(alpha):
        of = np.flatnonzero(alpha == a)
        cross = np.ascontiguousarray(found.cross[:, of])
        part = np.empty_like(cross)
        trust = kernels.penalised_solve(found.gram, cross, float(a), part) / found.loss
        if not trust > SAFE:
            return None
        coef[of] = part.T
        if trust < GOOD:
            coef[of] = _corrected(problem, found, float(a), of, coef[of])
    return Solved(coef, problem.offset(coef, found.mean_x, found.mean_y), "cholesky")


def _corrected(
    problem: Problem, found: Moments, alpha: float, of: NDArray[np.int64], coef: Matrix
) -> Matrix:
    """Return coefficients corrected with the residuals of the rows themselves."""
    before = np.inf
    for _ in range(3):
        slope = np.empty((len(found.gram), len(of)))
        offset = problem.offset(coef, found.mean_x, found.mean_y[of])
        residual = problem.Y[:, of] - scores(problem.X, coef, offset, problem.n_threads)
        for t in range(len(of)):
            u = residual[:, t] if problem.weight is None else problem.weight * residual[:, t]
            slope[:, t] = _centred_times(problem, found.mean_x, u) - alpha * coef[t]
        step = np.empty_like(slope)
        kernels.penalised_solve(found.gram, slope, alpha, step)
        size = float(np.abs(step).max(initial=0.0))
        if not size < 0.5 * before:
            break
        coef, before = coef + step.T, size
    return coef


def _centred_times(problem: Problem, mean: Matrix, u: Matrix) -> Matrix:
    """Return (X - mean)' u."""
    u = np.ascontiguousarray(u)
    if problem.sparse:
        product: Matrix = np.asarray(problem.X.T @ u, dtype=np.float64)
        product -= mean * u.sum()
        return product
    out = np.empty(problem.X.shape[1])
    kernels.correlate(problem.X, mean, u, out, problem.n_threads)
    return out


def _dual(problem: Problem, alpha: Matrix) -> Solved | None:
    """Solve (K + alpha I) c = y for the products K of the rows; w = X' c."""
    if not alpha.all() or (problem.sparse and problem.numbers > MOST_DENSE):
        return None  # without a penalty the equations of centred rows are singular
    A, B, mean_x, mean_y = problem.centred
    coef = np.empty((B.shape[1], A.shape[1]))
    for a in np.unique(alpha):
        of = np.flatnonzero(alpha == a)
        goal = np.ascontiguousarray(B[:, of])
        dual = np.empty_like(goal)
        if not kernels.penalised_solve(problem.row_products, goal, float(a), dual) > SAFE:
            return None
        coef[of] = scores(problem.across, np.ascontiguousarray(dual.T), 0.0, problem.n_threads).T
    return Solved(coef, problem.offset(coef, mean_x, mean_y), "cholesky")


def _decomposed(problem: Problem, alpha: Matrix) -> Solved:
    s, right, onto, rank = problem.factors
    A, _, mean_x, mean_y = problem.centred
    gain = np.zeros((len(s), len(alpha)))
    gain[:rank] = s[:rank, None] / (s[:rank, None] ** 2 + alpha)
    with one_blas_thread():
        coef = np.ascontiguousarray((right.T @ (gain * onto)).T)
    # Zero columns get exactly zero weight, without rounding errors of the SVD.
    coef[:, ~A.any(axis=0)] = 0.0
    return Solved(coef, problem.offset(coef, mean_x, mean_y), "svd")
