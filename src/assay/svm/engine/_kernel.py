"""Kernel functions and the tables they apply to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay._core import svm as core
from assay.base import DataError, ParameterError, check_interval, check_option

#: A dense array or a CSR matrix.
Rows = Any


@dataclass(frozen=True)
class Kernel:
    r"""A kernel function.

    Parameters
    ----------
    kind : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
        The function; "precomputed" means that the rows *are* a kernel matrix.
    gamma : float, default=1.0
        The factor of the product or of the squared distance (not used by "linear").
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    degree : int, default=3
        The degree of "poly": an integer >= 0.

    Notes
    -----
    .. math:: x \cdot z, \quad (\gamma\, x \cdot z + c_0)^p, \quad
              e^{-\gamma \|x - z\|^2}, \quad \tanh(\gamma\, x \cdot z + c_0)

    Dense rows: the squared distance is the sum of squared differences (no digits cancel). Sparse
    rows: float64 products, and :math:`\|x\|^2 + \|z\|^2 - 2 x \cdot z`.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.svm.engine import Kernel
    >>> Kernel("poly", gamma=1.0, coef0=1.0, degree=2).matrix(np.array([[1.0, 2.0], [3.0, 0.0]]))
    array([[ 36.,  16.],
           [ 16., 100.]])
    """

    kind: str = "rbf"
    gamma: float = 1.0
    coef0: float = 0.0
    degree: float = 3

    codes: ClassVar[dict[str, int]] = {
        "linear": 0,
        "poly": 1,
        "rbf": 2,
        "sigmoid": 3,
        "precomputed": 4,
    }

    def __post_init__(self) -> None:
        check_option("kind", self.kind, tuple(self.codes))
        for name in ("gamma", "coef0"):
            if not np.isfinite(getattr(self, name)):
                raise ParameterError(f"{name} must be finite, got {getattr(self, name)!r}")
        check_interval("degree", self.degree, 0, 2**16)
        if int(self.degree) != self.degree:
            raise ParameterError(f"degree must be an integer >= 0; got {self.degree!r}")

    def matrix(
        self, X: Rows, Z: Rows | None = None, n_threads: int = 1, dtype: Any = np.float64
    ) -> NDArray[Any]:
        """Return the kernel matrix between the rows of X and of Z (X itself if None).

        With dtype float32 these are the values that `solve` computes.
        """
        if self.kind == "precomputed":
            raise ParameterError("kind must be a function to compute a matrix; got 'precomputed'")
        left, right = rows_of(X), rows_of(X if Z is None else Z)
        if sparse.issparse(left) != sparse.issparse(right) or left.dtype != right.dtype:
            left, right = (as_float64(each) for each in (left, right))
        if left.shape[1] != right.shape[1]:
            raise DataError(f"X has {left.shape[1]} columns, Z has {right.shape[1]}")
        out = np.empty((left.shape[0], right.shape[0]), dtype=dtype)
        first = table_of(left)
        second = first if Z is None else table_of(right)
        core.matrix(first, second, self.native(), out, n_threads)
        return out

    def of_distances(self, distances: NDArray[Any], n_threads: int = 1) -> NDArray[Any]:
        """Return an rbf kernel matrix from `squared_distances`; the same bits as `matrix`."""
        if self.kind != "rbf":
            raise ParameterError(f"kind must be 'rbf' to use squared distances; got {self.kind!r}")
        values = np.empty_like(distances)
        core.shape(self.native(), distances, values, n_threads)
        return values

    def native(self) -> core.KernelFunction:
        """Return the kernel in the core's form; the linear kernel has no gamma."""
        gamma = 1.0 if self.kind in ("linear", "precomputed") else float(self.gamma)
        return core.kernel(self.codes[self.kind], gamma, float(self.coef0), int(self.degree))


def squared_distances(
    X: NDArray[Any],
    Z: NDArray[Any] | None = None,
    n_threads: int = 1,
    dtype: type[np.floating[Any]] = np.float64,
) -> NDArray[Any]:
    """Return the squared distances of dense rows, from which rbf kernels of any gamma follow.

    Parameters
    ----------
    X, Z : ndarray of shape (n, d) and (m, d)
        The rows; X with itself if Z is None.
    n_threads : int, default=1
        Threads; the result does not depend on it.
    dtype : float32 or float64
        The type used in the computation.

    Returns
    -------
    ndarray of shape (n, m)
    """
    first = core.dense(X)
    second = first if Z is None else core.dense(Z)
    out = np.empty((len(X), len(X if Z is None else Z)), dtype=dtype)
    core.matrix(first, second, core.kernel(5, 1.0, 0.0, 1), out, n_threads)
    return out


def rows_of(X: Rows) -> Rows:
    """Return C-ordered float32 or float64 rows, or sorted CSR in float64."""
    if sparse.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X.astype(np.float64, copy=False)
    X = np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"rows must have 2 dimensions; got {X.ndim}")
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    return np.ascontiguousarray(X, dtype=dtype)


def as_float64(X: Rows) -> Rows:
    """Return dense float64 rows, for calls with one dense and one sparse table."""
    dense = X.toarray() if sparse.issparse(X) else X
    return np.ascontiguousarray(dense, dtype=np.float64)


def table_of(X: Rows, *, is_gram: bool = False) -> core.Table:
    """Return the core's view of rows from `rows_of`."""
    if is_gram:
        return core.gram(X)
    if sparse.issparse(X):
        return core.sparse(
            np.ascontiguousarray(X.data),
            X.indices.astype(np.int64),
            X.indptr.astype(np.int64),
            X.shape[1],
        )
    return core.dense(X)
