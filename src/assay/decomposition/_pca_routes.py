"""Principal axes of a table by four routes: covariance, factor, Lanczos, random projection."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, svds

from assay._core import decomposition as kernels
from assay._core import linear as linear_kernels
from assay.decomposition._exact_blas import one_blas_thread
from assay.decomposition._factor import factor_of
from assay.decomposition._project import project

Matrix = NDArray[np.float64]


class Axes(NamedTuple):
    """Directions, the sum of squares along each, and over all directions."""

    mean: Matrix
    directions: Matrix
    squares: Matrix
    total: float


def column_means(X: Any, n_threads: int) -> Matrix:
    """Return the mean of each column."""
    if issparse(X):
        return np.asarray(X.sum(axis=0, dtype=np.float64) / X.shape[0]).ravel()
    mean, count = np.empty((1, X.shape[1])), np.empty(1)
    codes = np.zeros(len(X), dtype=np.int64)
    kernels.class_means(X, codes, np.empty(0), count, mean, n_threads)
    return mean.reshape(-1)


def by_covariance(X: Any, n_threads: int) -> Axes:
    """Return eigenvectors of the products of columns, in one pass and O(d^3)."""
    mean, products = _products(X, n_threads)
    with one_blas_thread():
        squares, vectors = linalg.eigh(products, check_finite=False)
    squares = np.maximum(squares[::-1], 0.0)
    return Axes(mean, np.ascontiguousarray(vectors.T[::-1]), squares, float(np.trace(products)))


def by_factor(X: Any, n_threads: int) -> Axes:
    """Return singular vectors of the centred rows, without squaring and so at full precision."""
    mean = column_means(X, n_threads)
    return of_factor(mean, factor_of(X, mean))


def of_factor(mean: Matrix, factor: Matrix) -> Axes:
    """Return the axes of a table whose scatter is F'F."""
    with one_blas_thread():
        _, singular, directions = linalg.svd(factor, full_matrices=False, check_finite=False)
    squares = singular**2
    return Axes(mean, directions, squares, float(squares.sum()))


def by_lanczos(X: Any, k: int, tol: float, random: np.random.RandomState, n_threads: int) -> Axes:
    """Return the first k singular vectors by ARPACK, from products with vectors only."""
    mean = column_means(X, n_threads)
    start = random.uniform(-1, 1, size=min(X.shape))
    with one_blas_thread():
        _, singular, directions = svds(_centred(X, mean, n_threads), k=k, tol=tol, v0=start)
    order = np.argsort(-singular, kind="stable")
    total = squared_distance(X, mean)
    return Axes(mean, directions[order], singular[order] ** 2, total)


def by_random_projection(
    X: NDArray[Any],
    k: int,
    n_iter: int | str,
    n_oversamples: int,
    normalizer: str,
    random: np.random.RandomState,
    n_threads: int,
) -> Axes:
    """Return the first k singular vectors of a random sketch (Halko and others 2011, 4.4)."""
    mean = column_means(X, n_threads)
    table = _Centred(X, mean, n_threads)
    tall = X.shape[0] >= X.shape[1]
    there, back = (table.times, table.across) if tall else (table.across, table.times)
    if n_iter == "auto":
        n_iter = 7 if k < 0.1 * min(X.shape) else 4
    if normalizer == "auto":
        normalizer = "none" if int(n_iter) <= 2 else "LU"
    with one_blas_thread():
        sketch = random.normal(size=(X.shape[1] if tall else X.shape[0], k + n_oversamples))
        for _ in range(int(n_iter)):
            sketch = _normalised(there(sketch), normalizer)
            sketch = _normalised(back(sketch), normalizer)
        basis = linalg.qr(there(sketch), mode="economic", check_finite=False)[0]
        left, singular, right = linalg.svd(back(basis).T, full_matrices=False, check_finite=False)
        directions = right if tall else (basis @ left).T
    total = squared_distance(X, mean)
    return Axes(mean, np.ascontiguousarray(directions[:k]), singular[:k] ** 2, total)


def squared_distance(X: Any, mean: Matrix) -> float:
    """Return the sum of the squared distances of all rows from the mean."""
    if issparse(X):
        # Only stored entries are visited: (x - m)^2 - m^2 for them, and m^2 for every entry.
        values, means = X.data.astype(np.float64), mean[X.indices]
        return float(np.sum(values * (values - 2 * means)) + X.shape[0] * np.sum(mean**2))
    blocks = _blocks(len(X))
    return float(sum(np.sum((X[rows] - mean) ** 2) for rows in blocks))


class _Centred:
    """Products of the centred rows with several vectors; the rows themselves are not copied."""

    def __init__(self, X: NDArray[Any], mean: Matrix, n_threads: int) -> None:
        self.X, self.mean, self.n_threads = X, mean, n_threads

    def times(self, vectors: Matrix) -> Matrix:
        """Return (X - mean) V."""
        return project(self.X, self.mean, np.ascontiguousarray(vectors.T), self.n_threads)

    def across(self, vectors: Matrix) -> Matrix:
        """Return (X - mean)' V."""
        found = np.zeros((self.X.shape[1], vectors.shape[1]))
        for rows in _blocks(len(self.X)):
            found += (self.X[rows] - self.mean).T @ vectors[rows]
        return found


def _blocks(n_rows: int, size: int = 2048) -> list[slice]:
    return [slice(first, first + size) for first in range(0, n_rows, size)]


def _normalised(matrix: Matrix, how: str) -> Matrix:
    if how == "LU":
        return linalg.lu(matrix, permute_l=True, check_finite=False)[0]  # type: ignore[no-any-return]
    if how == "QR":
        return linalg.qr(matrix, mode="economic", check_finite=False)[0]  # type: ignore[no-any-return]
    return matrix


def _products(X: Any, n_threads: int) -> tuple[Matrix, Matrix]:
    """Return the means and the products of the centred columns."""
    d = X.shape[1]
    if issparse(X):
        mean = column_means(X, n_threads)
        rows = X.astype(np.float64)
        raw = np.asarray((rows.T @ rows).toarray())
        products = raw - X.shape[0] * np.outer(mean, mean)
        constant = np.diagonal(products) <= 64 * np.finfo(np.float64).eps * np.diagonal(raw)
        products[constant], products[:, constant] = 0.0, 0.0
        return mean, products
    mean, products = np.empty(d), np.empty((d, d))
    nothing = np.empty((len(X), 0))
    linear_kernels.moments(X, nothing, np.empty(0), True, mean, products, n_threads)
    return mean, products


def _centred(X: Any, mean: Matrix, n_threads: int) -> LinearOperator:
    """Return the centred rows as an operator."""
    if issparse(X):
        rows = X.astype(np.float64)
        across = rows.T.tocsr()
        return LinearOperator(
            X.shape,
            matvec=lambda v: rows @ np.ravel(v) - mean @ np.ravel(v),
            rmatvec=lambda u: across @ np.ravel(u) - mean * np.sum(u),
            dtype=np.float64,
        )

    def rmatvec(u: Matrix) -> Matrix:
        out = np.empty(len(mean))
        linear_kernels.correlate(X, mean, np.ascontiguousarray(np.ravel(u)), out, n_threads)
        return out

    return LinearOperator(
        X.shape,
        matvec=lambda v: project(X, mean, np.reshape(v, (1, -1)), n_threads)[:, 0],
        rmatvec=rmatvec,
        dtype=np.float64,
    )
