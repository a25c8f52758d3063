"""A least-squares problem with cached products and decompositions, shared by all penalties."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse
from threadpoolctl import ThreadpoolController

from assay._core import linear as kernels
from assay.linear._least_moments import Matrix, Moments, means, moments


class Centred(NamedTuple):
    """Rows and targets, centred and multiplied by the root of the weights, and the means."""

    rows: Matrix
    targets: Matrix
    mean_x: Matrix
    mean_y: Matrix


class Factors(NamedTuple):
    """Singular value decomposition of the centred rows, and the targets in its basis."""

    singular: Matrix
    right: Matrix
    onto: Matrix
    rank: int


class Problem:
    r"""Minimise :math:`\sum_i v_i (y_i - b - x_i'w)^2 + \alpha \|w\|^2`, for any penalty.

    The properties depend only on the table; each is computed on first use and cached.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows.
    Y : ndarray of shape (n_samples, n_targets)
        The targets.
    weight : ndarray of shape (n_samples,) or None
        The sample weights v.
    fit_intercept : bool
        Whether to fit the intercept b; otherwise b = 0.
    n_threads : int, default=1
        Threads; the result does not depend on it.
    """

    def __init__(
        self,
        X: Any,
        Y: Matrix,
        weight: Matrix | None,
        fit_intercept: bool,
        n_threads: int = 1,
    ) -> None:
        self.X, self.Y, self.weight = X, Y, weight
        self.fit_intercept, self.n_threads = fit_intercept, n_threads

    @property
    def sparse(self) -> bool:
        """Whether the table is a sparse matrix."""
        return bool(issparse(self.X))

    @property
    def wide(self) -> bool:
        """Whether there are more columns than rows."""
        return bool(self.X.shape[1] > self.X.shape[0])

    @property
    def numbers(self) -> float:
        """Number of cells in the table, zeros included."""
        return float(self.X.shape[0]) * float(self.X.shape[1])

    @cached_property
    def moments(self) -> Moments:
        """Means and products of the columns."""
        return moments(
            self.X, self.Y, self.weight, centre=self.fit_intercept, n_threads=self.n_threads
        )

    @property
    def has_finite_products(self) -> bool:
        """Whether the sums of squares are finite, which implies that the table is."""
        return bool(np.isfinite(np.diagonal(self.moments.gram)).all())

    @cached_property
    def centred(self) -> Centred:
        """Rows and targets as dense matrices, centred and weighted."""
        X = self.X.toarray() if self.sparse else self.X
        rows, targets = np.array(X, dtype=np.float64), self.Y.copy()
        mean_x, mean_y = np.zeros(rows.shape[1]), np.zeros(targets.shape[1])
        if self.fit_intercept:
            first = rows[0].copy()  # exact for constant columns, no digits lost to a large mean
            rows -= first
            _, mean_x, mean_y = means(rows, targets, self.weight)
            rows -= mean_x
            mean_x += first
            targets -= mean_y
        if self.weight is not None:
            root = np.sqrt(self.weight)[:, None]
            rows *= root
            targets *= root
        return Centred(rows, targets, mean_x, mean_y)

    @cached_property
    def across(self) -> Matrix:
        """The centred rows, transposed."""
        return np.ascontiguousarray(self.centred.rows.T)

    @cached_property
    def row_products(self) -> Matrix:
        """Products of the centred rows with each other."""
        n = self.across.shape[1]
        products = np.empty((n, n))
        nothing = np.empty((len(self.across), 0))
        kernels.moments(
            self.across, nothing, np.empty(0), False, np.empty(n), products, self.n_threads
        )
        return products

    @cached_property
    def factors(self) -> Factors:
        """Singular value decomposition of the centred rows."""
        with one_blas_thread():
            U, s, right = linalg.svd(self.centred.rows, full_matrices=False, check_finite=False)
            onto = U.T @ self.centred.targets
        cut = max(self.X.shape) * np.finfo(np.float64).eps * s.max(initial=0.0)
        return Factors(s, right, onto, int(np.count_nonzero(s > cut)))

    def offset(self, coef: Matrix, mean_x: Matrix, mean_y: Matrix) -> NDArray[np.float64]:
        """Return the intercept for these coefficients."""
        return mean_y - coef @ mean_x


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()  # finding the libraries takes milliseconds


def one_blas_thread() -> Any:
    """Return a context in which LAPACK's result does not depend on the number of cores."""
    return _pools().limit(limits=1, user_api="blas")
