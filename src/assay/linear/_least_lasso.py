"""The lasso and the elastic net for one target, along a path of penalties."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from assay._core import linear as kernels
from assay.linear._least_moments import Matrix, means
from assay.linear._least_problem import Problem
from assay.linear._least_solve import solve, solve_positive

_EMPTY = np.empty(0)


@dataclass(frozen=True)
class Centre:
    """The means subtracted from columns and target, and the sum of the weights."""

    total: float
    mean_x: Matrix
    mean_y: float
    target: Matrix  # centred

    @classmethod
    def of(
        cls, X: Any, y: Matrix, weight: Matrix | None, *, centre: bool, n_threads: int
    ) -> Centre:
        """Compute the means, or take zeros where there is no intercept."""
        total = float(len(y) if weight is None else weight.sum())
        if not centre:
            return cls(total, np.zeros(X.shape[1]), 0.0, y)
        first = y[0]  # a constant target is centred to exact zeros
        mean_y = first + float(np.average(y - first, weights=weight))
        return cls(total, _column_means(X, weight, n_threads), mean_y, y - mean_y)


@dataclass(frozen=True)
class LassoPath:
    """Solutions for penalties in the order given."""

    coef: Matrix  # (n_alphas, n_features)
    intercept: Matrix
    gap: Matrix
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]
    exact: NDArray[np.bool_]  # independent of the start

    def only(self, k: int) -> LassoPath:
        """Return solution k as a path of length one."""
        one = slice(k, k + 1)
        return LassoPath(
            self.coef[one],
            self.intercept[one],
            self.gap[one],
            self.n_iter[one],
            self.converged[one],
            self.exact[one],
        )


@dataclass(frozen=True)
class LassoSettings:
    """Settings shared by all penalties of a path."""

    l1_ratio: float = 1.0
    fit_intercept: bool = True
    positive: bool = False
    tol: float = 1e-4
    max_iter: int = 1000
    n_threads: int = 1


def lasso_solutions(
    X: Any,
    y: Matrix,
    weight: Matrix | None,
    alphas: Matrix,
    settings: LassoSettings,
    start: Matrix | None = None,
) -> LassoPath:
    """Return the minimum for each penalty, each started from the previous one.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        The target.
    weight : ndarray of shape (n_samples,) or None
        Sample weights.
    alphas : ndarray
        Penalties, not negative; fastest when descending.
    settings : LassoSettings
        The other settings.
    start : ndarray of shape (n_features,), optional
        Weights to start from.
    """
    if settings.l1_ratio == 0 or not alphas.all():
        return _with_squares(X, y, weight, alphas, settings, start)
    centre = Centre.of(X, y, weight, centre=settings.fit_intercept, n_threads=settings.n_threads)
    n_alphas = len(alphas)
    coef = np.zeros((n_alphas, X.shape[1]))
    if start is not None:
        coef[0] = np.maximum(start, 0.0) if settings.positive else start
    gap, counts = np.empty(n_alphas), np.empty((n_alphas, 4), dtype=np.int32)
    rest = (
        centre.mean_x,
        _EMPTY if weight is None else weight,
        np.ascontiguousarray(centre.target),
        alphas * (settings.l1_ratio * centre.total),
        alphas * ((1 - settings.l1_ratio) * centre.total),
        settings.positive,
        settings.tol,
        settings.max_iter,
        coef,
        gap,
        counts,
        settings.n_threads,
    )
    if issparse(X):
        kernels.sparse_lasso_path(X.data, X.indices, X.indptr, *rest)
    else:
        kernels.lasso_path(X, *rest)
    return LassoPath(
        coef,
        centre.mean_y - coef @ centre.mean_x,
        gap / centre.total,
        counts[:, 0].astype(np.int64),
        counts[:, 2].astype(bool),
        counts[:, 3].astype(bool),
    )


def warn_unless_converged(
    who: str, parts: Sequence[LassoPath], max_iter: int, tol: float, *, stacklevel: int
) -> None:
    """Warn, with cause and remedy, when a solution has not converged."""
    gaps = [float(gap) for part in parts for gap in part.gap[~part.converged]]
    if gaps:
        warnings.warn(
            f"{who} stopped after max_iter={max_iter} sweeps with a duality gap of {max(gaps):.3g},"
            f" more than tol={tol:g} times the mean square of the target: scale the columns, raise "
            "max_iter or alpha",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


def _with_squares(
    X: Any,
    y: Matrix,
    weight: Matrix | None,
    alphas: Matrix,
    settings: LassoSettings,
    start: Matrix | None,
) -> LassoPath:
    """Solve a path in which some penalties are pure L2: these have a direct solution."""
    problem = Problem(X, y[:, None], weight, settings.fit_intercept, settings.n_threads)
    total = float(len(y) if weight is None else weight.sum())
    parts = []
    for alpha in alphas:
        if settings.l1_ratio > 0 and alpha > 0:
            parts.append(lasso_solutions(X, y, weight, np.array([alpha]), settings, start))
            continue
        penalty = np.array([alpha * total])
        found = (solve_positive if settings.positive else solve)(problem, penalty)
        done = np.ones(1, dtype=bool)
        parts.append(
            LassoPath(
                found.coef, found.intercept, np.zeros(1), np.ones(1, dtype=np.int64), done, done
            )
        )
    names = ("coef", "intercept", "gap", "n_iter", "converged", "exact")
    return LassoPath(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _column_means(X: Any, weight: Matrix | None, n_threads: int) -> Matrix:
    if issparse(X):
        nothing = np.empty((X.shape[0], 0))
        return means(X, nothing, weight)[1]
    first = X[0].astype(np.float64)  # exact for constant columns, no digits lost to a large mean
    w = np.ones(len(X)) if weight is None else weight
    sums = np.empty(X.shape[1])
    kernels.correlate(X, first, w, sums, n_threads)
    sums /= w.sum()
    sums += first
    return sums
