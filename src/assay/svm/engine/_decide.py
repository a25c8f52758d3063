"""Decision values of kernel machines."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from assay._core import svm as core
from assay.base import DataError
from assay.svm.engine._kernel import Kernel, Rows, as_float64, rows_of, table_of

Values = NDArray[np.float64]


def decide(
    kernel: Kernel,
    X: Rows,
    vectors: Rows,
    coef: ArrayLike,
    bias: ArrayLike | float = 0.0,
    n_threads: int = 1,
) -> Values:
    r"""Return the decision values: bias plus weighted sum of kernel values of each row.

    Parameters
    ----------
    kernel : Kernel
        The kernel function; "precomputed": X has the kernel values of the vectors as columns.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows to predict.
    vectors : ndarray or CSR matrix of shape (n_vectors, n_features)
        The support vectors (not used by "precomputed").
    coef : array of shape (n_vectors, n_outputs)
        Their coefficients.
    bias : float or array of shape (n_outputs,), default=0.0
        The constants.
    n_threads : int, default=1
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n_outputs)
        In float64. The value of a row does not depend on the other rows, to the bit.

    Notes
    -----
    .. math:: f_o(x) = b_o + \sum_i c_{io}\, k(v_i, x)

    Kernel values are float64, unless X and vectors are both float32: then they are float32 (each
    within about 5e-7 of the largest), summed in float64, so that the error is at most
    :math:`5 \cdot 10^{-7} \max_i |k(v_i, x)| \sum_i |c_{io}|`.
    """
    weights = np.asarray(coef, dtype=np.float64)
    if weights.ndim != 2:
        raise DataError(f"coef must have 2 dimensions; got {weights.ndim}")
    constants = np.broadcast_to(np.asarray(bias, dtype=np.float64), weights.shape[1])
    rows = rows_of(X)
    if kernel.kind == "precomputed":
        return np.asarray(rows @ weights + constants, dtype=np.float64)
    refs = rows_of(vectors)
    if sparse.issparse(rows) != sparse.issparse(refs) or rows.dtype != refs.dtype:
        rows, refs = as_float64(rows), as_float64(refs)
    if rows.shape[1] != refs.shape[1]:
        raise DataError(f"X has {rows.shape[1]} columns, the vectors have {refs.shape[1]}")
    if weights.shape[0] != refs.shape[0]:
        raise DataError(f"coef has {weights.shape[0]} rows for {refs.shape[0]} vectors")
    out = np.empty((weights.shape[1], rows.shape[0]))
    call = core.decide_float32 if rows.dtype == np.float32 else core.decide
    call(
        table_of(rows),
        table_of(refs),
        kernel.native(),
        np.ascontiguousarray(weights.T),
        np.ascontiguousarray(constants),
        out,
        n_threads,
    )
    return np.ascontiguousarray(out.T)


def decide_pairs(
    kernel: Kernel,
    X: Rows,
    vectors: Rows,
    dual_coef: Values,
    n_support: ArrayLike,
    bias: ArrayLike,
    n_threads: int = 1,
) -> Values:
    """Return the decision values of one-vs-one machines.

    Parameters
    ----------
    kernel, X, vectors, n_threads
        As in `decide`; the vectors are grouped by class.
    dual_coef : ndarray of shape (n_classes - 1, n_vectors)
        libsvm's layout: row ``b if b < a else b - 1`` holds the coefficients of class a against b.
    n_support : array of shape (n_classes,)
        Number of vectors of each class.
    bias : array of shape (n_pairs,)
        One constant per pair (0, 1), (0, 2), ..., (1, 2), ...

    Returns
    -------
    ndarray of shape (n_samples, n_pairs)
        Positive where class a (the first of the pair) wins.
    """
    counts = np.asarray(n_support)
    ends = np.cumsum(counts)
    rows, refs = rows_of(X), rows_of(vectors)
    parts: list[Values] = []
    for end, count in zip(ends, counts, strict=True):
        own = slice(end - count, end)
        if kernel.kind == "precomputed":
            parts.append(decide(kernel, rows[:, own], rows, dual_coef[:, own].T))
        else:
            parts.append(decide(kernel, rows, refs[own], dual_coef[:, own].T, 0.0, n_threads))
    values = [parts[a][:, b - 1] + parts[b][:, a] for a, b in combinations(range(len(counts)), 2)]
    return np.column_stack(values) + np.asarray(bias, dtype=np.float64)
