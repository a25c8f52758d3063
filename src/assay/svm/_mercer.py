"""Mercer's condition: whether a function or a matrix is a valid kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, eigh

from assay.base import DataError, ParameterError
from assay.svm._gram import gram_of_function

#: Asymmetry and negative eigenvalues up to this, relative to the matrix norm, count as rounding.
_ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}


@dataclass(frozen=True)
class MercerReport:
    """Result of `check_mercer`.

    Parameters
    ----------
    n_rows : int
        Size of the Gram matrix.
    is_symmetric : bool
        Whether :math:`K_{ij} = K_{ji}`, up to rounding.
    is_positive : bool
        Whether no eigenvalue is negative, up to rounding.
    smallest_eigenvalue, largest_eigenvalue : float
        Of the symmetric part of the matrix.
    pair : tuple of int or None
        A pair (i, j) that violates the condition: that of the largest asymmetry; or with a negative
        :math:`K_{ii}` (i = j); or with :math:`K_{ij}^2 > K_{ii} K_{jj}`. None if no single pair
        does.
    reason : str
        Empty if the matrix passes; otherwise the problem in one sentence.
    """

    n_rows: int
    is_symmetric: bool
    is_positive: bool
    smallest_eigenvalue: float
    largest_eigenvalue: float
    pair: tuple[int, int] | None
    reason: str

    @property
    def ok(self) -> bool:
        """Whether the matrix is a Gram matrix: symmetric and positive semidefinite."""
        return self.is_symmetric and self.is_positive


def check_mercer(kernel: Any, X: Any = None) -> MercerReport:
    r"""Check whether a function or a matrix is a valid kernel on these rows.

    Parameters
    ----------
    kernel : array-like of shape (n, n) or callable
        A Gram matrix; or a function of two tables, or of two items, as for `SVC`.
    X : array-like of shape (n, n_features) or sequence of n items, optional
        The rows to try a function on.

    Returns
    -------
    MercerReport
        Smallest and largest eigenvalue, and the offending pair of rows if there is one.

    Notes
    -----
    K is a kernel if and only if every Gram matrix is symmetric with eigenvalues

    .. math:: \lambda_1 \ge \ldots \ge \lambda_n \ge 0 .

    A passed check on some rows is evidence, a failed one is proof. Rounding errors up to 1e-9
    (float32: 1e-5) of the matrix norm are tolerated. O(n^3).

    Examples
    --------
    >>> from assay.svm import check_mercer
    >>> check_mercer([[1.0, 0.5], [0.5, 1.0]]).ok
    True
    >>> report = check_mercer([[1.0, 2.0], [2.0, 1.0]])
    >>> report.ok, report.pair, report.smallest_eigenvalue
    (False, (0, 1), -1.0)
    >>> check_mercer(lambda a, b: -abs(len(a) - len(b)), ["x", "xyz"]).reason
    'it is not positive semidefinite: its smallest eigenvalue is -2 (the largest is 2); ...'
    """
    if callable(kernel):
        if X is None:
            raise ParameterError("X must be given with a function: rows to try the kernel on")
        gram = gram_of_function(kernel, X, X)
    else:
        gram = check_square(kernel)
    pair, difference = _asymmetry(gram)
    values = np.linalg.eigvalsh((gram + gram.T) / 2)
    low, high = float(values[0]), float(values[-1])
    reason, positive = "", bool(low >= -_tolerance(gram))
    if difference > 0:
        reason = _asymmetry_text(gram, pair)
    elif not positive:
        blamed = _blamed(gram)
        reason = _negative_text(low, high, gram, blamed)
        return MercerReport(len(gram), True, False, low, high, blamed, reason)
    return MercerReport(
        len(gram), difference == 0, positive, low, high, pair if difference > 0 else None, reason
    )


def check_square(gram: ArrayLike) -> NDArray[Any]:
    """Return a Gram matrix as an array, or raise if it cannot be one."""
    try:
        array = np.asarray(gram)
        array = array if array.dtype == np.float32 else array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise DataError("the Gram matrix must hold numbers only") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise DataError(f"the Gram matrix must be square; got shape {array.shape}")
    if not np.isfinite(array).all():
        i, j = np.argwhere(~np.isfinite(array))[0]
        raise DataError(f"the Gram matrix has {array[i, j]} in row {i}, column {j}")
    return array


def require_gram(gram: NDArray[Any]) -> None:
    """Raise unless a training Gram matrix is symmetric and positive semidefinite.

    One Cholesky factorisation if it is valid; eigenvalues only for the error message.
    """
    pair, difference = _asymmetry(gram)
    if difference > 0:
        raise DataError(f"the Gram matrix is not a kernel: {_asymmetry_text(gram, pair)}")
    shifted = gram + np.eye(len(gram), dtype=gram.dtype) * _tolerance(gram)
    try:
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        n = len(gram)
        low = float(eigh(gram, eigvals_only=True, subset_by_index=[0, 0])[0])
        high = float(eigh(gram, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0])
        if low < -_tolerance(gram):
            text = _negative_text(low, high, gram, _blamed(gram))
            raise DataError(
                f"the Gram matrix is not a kernel: {text}. check_kernel=False fits anyway, "
                "without guarantee of an optimum"
            ) from None


def _tolerance(gram: NDArray[Any]) -> float:
    return _ROUNDING[gram.dtype] * float(np.linalg.norm(gram)) + np.finfo(np.float64).tiny


def _asymmetry(gram: NDArray[Any]) -> tuple[tuple[int, int], float]:
    difference = np.abs(gram - gram.T)
    i, j = np.unravel_index(int(np.argmax(difference)), gram.shape)
    worst = float(difference[i, j])
    pair = (int(min(i, j)), int(max(i, j)))
    return pair, worst if worst > _ROUNDING[gram.dtype] * float(np.abs(gram).max()) else 0.0


def _blamed(gram: NDArray[Any]) -> tuple[int, int] | None:
    """Find a single pair of rows that violates the condition."""
    diagonal = np.diag(gram).astype(np.float64)
    i = int(np.argmin(diagonal))
    tolerance = _tolerance(gram)
    if diagonal[i] < -tolerance:
        return i, i
    excess = np.abs(gram) - np.sqrt(np.maximum(np.outer(diagonal, diagonal), 0.0))
    row, column = np.unravel_index(int(np.argmax(excess)), gram.shape)
    if excess[row, column] <= tolerance:
        return None
    return int(min(row, column)), int(max(row, column))


def _asymmetry_text(gram: NDArray[Any], pair: tuple[int, int]) -> str:
    i, j = pair
    return f"it is not symmetric: K[{i}, {j}] = {gram[i, j]:.6g} but K[{j}, {i}] = {gram[j, i]:.6g}"


def _negative_text(
    low: float, high: float, gram: NDArray[Any], pair: tuple[int, int] | None
) -> str:
    text = (
        f"it is not positive semidefinite: its smallest eigenvalue is {low:.6g} "
        f"(the largest is {high:.6g})"
    )
    if pair is None:
        return text
    i, j = pair
    if i == j:
        return f"{text}; K[{i}, {i}] = {gram[i, i]:.6g} is negative"
    return (
        f"{text}; rows {i} and {j} have K[{i}, {j}]^2 = {gram[i, j] ** 2:.6g} "
        f"> K[{i}, {i}] K[{j}, {j}] = {gram[i, i] * gram[j, j]:.6g}"
    )
