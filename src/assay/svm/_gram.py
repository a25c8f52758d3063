"""Gram matrices of kernel functions of two tables, two lists of items, or two items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay.base import DataError, as_frame


def is_items(X: Any) -> bool:
    """Whether X holds items that are not rows of numbers: texts, graphs, sets, ...

    Parameters
    ----------
    X : object
        The input X, for a kernel that is a function.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_items(["ab", "c"]), is_items([[1, 2], [3, 4]]), is_items([[1, 2], [3]])
    (True, False, True)
    """
    if issparse(X) or as_frame(X) is not None:
        return False
    if isinstance(X, np.ndarray):
        return X.ndim == 1 or X.dtype.kind in "US"
    if not isinstance(X, Sequence):
        return not hasattr(X, "__array__")
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths
        return True
    return array.ndim != 2 or array.dtype.kind not in "biuf"


def gram_of_function(kernel: Any, left: Any, right: Any) -> NDArray[np.float64]:
    """Return the kernel values of all pairs, checked.

    Parameters
    ----------
    kernel : callable
        On tables: ``kernel(A, B)`` returns the matrix of shape (len(A), len(B)), as in
        scikit-learn. On items: the same on two lists, or ``kernel(a, b)`` returns one number.
    left, right : ndarray, CSR matrix or sequence of items
        The rows and the columns of the result.

    Returns
    -------
    ndarray of float64 of shape (len(left), len(right)), C order

    Raises
    ------
    DataError
        If the function returns another shape, or a value that is not finite.

    Examples
    --------
    >>> gram_of_function(lambda a, b: len(set(a) & set(b)), ["ab", "bc"], ["abc"]).tolist()
    [[2.0], [2.0]]
    """
    shape = (_length(left), _length(right))
    name = getattr(kernel, "__name__", type(kernel).__name__)
    if is_items(left):
        found = _of_items(kernel, list(left), list(right), shape)
    else:
        found = kernel(left, right)
    try:
        gram = found.toarray() if issparse(found) else np.asarray(found)
        gram = np.ascontiguousarray(gram, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the kernel {name} must return numbers; got {_short(found)}") from None
    if gram.shape != shape:
        raise DataError(
            f"the kernel {name} must return an array of shape {shape}, one value for each pair; "
            f"got shape {gram.shape}"
        )
    if not np.isfinite(gram).all():
        i, j = np.argwhere(~np.isfinite(gram))[0]
        raise DataError(f"the kernel {name} returned {gram[i, j]} for rows {i} and {j}")
    return gram


def _of_items(kernel: Any, left: list[Any], right: list[Any], shape: tuple[int, int]) -> Any:
    """Call the function on both lists; if it returns one number or fails, call it on each pair."""
    try:
        whole = kernel(left, right)
        if np.shape(whole) == shape:
            return whole
        trouble = None
    except Exception as error:
        whole, trouble = None, error
    try:
        first = np.asarray(kernel(left[0], right[0]))
        single = first.ndim == 0 and first.dtype.kind in "biuf"
    except Exception:
        if trouble is not None:
            raise trouble from None
        single = False
    if single:
        return [[kernel(a, b) for b in right] for a in left]
    if trouble is not None:
        raise trouble
    return whole


def _length(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
