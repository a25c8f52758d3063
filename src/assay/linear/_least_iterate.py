"""Iterative least squares that only multiplies with the table, for large sparse tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg, lsqr

from assay.linear._least_moments import Matrix, means
from assay.linear._least_problem import Problem

#: scikit-learn's default leaves errors of 1e-4 in the weights; a few more iterations are cheap.
_TOL = 1e-10

Found = tuple[Matrix, Matrix, str, NDArray[np.int64]]


def conjugate_gradients(problem: Problem, alpha: Matrix, tol: float, max_iter: int | None) -> Found:
    """Return coefficients, intercepts, the solver's name and iterations per target."""
    A, B, mean_x, mean_y = _operator(problem)
    p = A.shape[1]
    coef, counts = np.empty((B.shape[1], p)), np.zeros(B.shape[1], dtype=np.int64)
    for t, a in enumerate(alpha):

        def count(_: Matrix, t: int = t) -> None:
            counts[t] += 1

        def normal(v: Matrix, a: float = float(a)) -> Matrix:
            return A.rmatvec(A.matvec(v)) + a * np.ravel(v)  # type: ignore[no-any-return]

        system = LinearOperator((p, p), matvec=normal, dtype=np.float64)
        coef[t] = cg(
            system, A.rmatvec(B[:, t]), rtol=min(tol, _TOL), maxiter=max_iter, callback=count
        )[0]
    return coef, problem.offset(coef, mean_x, mean_y), "sparse_cg", counts


def least_squares_qr(problem: Problem, alpha: Matrix, tol: float, max_iter: int | None) -> Found:
    """Return coefficients, intercepts, the solver's name and iterations per target."""
    A, B, mean_x, mean_y = _operator(problem)
    coef, counts = np.empty((B.shape[1], A.shape[1])), np.zeros(B.shape[1], dtype=np.int64)
    tol = min(tol, _TOL)
    for t, a in enumerate(alpha):
        found = lsqr(A, B[:, t], damp=float(np.sqrt(a)), atol=tol, btol=tol, iter_lim=max_iter)
        coef[t], counts[t] = found[0], found[2]
    return coef, problem.offset(coef, mean_x, mean_y), "lsqr", counts


def _operator(problem: Problem) -> tuple[LinearOperator, Matrix, Matrix, Matrix]:
    """Return the centred, weighted table as a linear operator, the targets, and the means."""
    X, n, p = problem.X, problem.X.shape[0], problem.X.shape[1]
    mean_x, mean_y = np.zeros(p), np.zeros(problem.Y.shape[1])
    if problem.fit_intercept:
        _, mean_x, mean_y = means(X, problem.Y, problem.weight)
    root = np.ones(n) if problem.weight is None else np.sqrt(problem.weight)

    def forward(v: Matrix) -> Matrix:
        v = np.ravel(v)
        product: Matrix = np.asarray(X @ v, dtype=np.float64)
        return root * (product - mean_x @ v)

    def back(u: Matrix) -> Matrix:
        u = root * np.ravel(u)
        product: Matrix = np.asarray(X.T @ u, dtype=np.float64)
        product -= mean_x * u.sum()
        return product

    operator = LinearOperator((n, p), matvec=forward, rmatvec=back, dtype=np.float64)
    return operator, root[:, None] * (problem.Y - mean_y), mean_x, mean_y
