"""Fits of members, which share work where their class can (`assay.base.SharedFit`).

Members on parts of the rows (pairs of classes) share nothing: their tables are small, and to cut
them out of something larger took longer than to start afresh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import SharedFit
from assay.multiclass._members import fitted, taken

Rows = NDArray[np.int64] | None
Weight = NDArray[np.float64] | None
#: (rows or None for all, labels) -> a fitted member
Fit = Callable[[Rows, NDArray[np.int64]], Any]


def fit_on(estimator: Any, X: Any, weight: Weight, parts: list[Rows]) -> Fit:
    """Return a function that fits a copy of an estimator on some rows of a table.

    Parameters
    ----------
    estimator : classifier
        The template.
    X : table
        All rows.
    weight : ndarray of float64 or None
        Their weights.
    parts : list of ndarray of int64 or None
        The rows that each fit will be asked for; None = all of them.
    """
    sharing, prepared = _sharing(estimator, X, parts), None
    if sharing is not None:
        prepared = sharing.prepare(estimator, X, weight)

    def fit(rows: Rows, labels: NDArray[np.int64]) -> Any:
        if rows is not None:
            share = None if weight is None else weight[rows]
            return fitted(estimator, taken(X, rows), labels, share)
        if sharing is not None and prepared is not None:
            return sharing.fit(clone(estimator), prepared, X, labels, weight)
        return fitted(estimator, X, labels, weight)

    return fit


def _sharing(estimator: Any, X: Any, parts: list[Rows]) -> SharedFit[Any] | None:
    several = len(parts) > 1 and all(rows is None for rows in parts)
    # Tables of other kinds are turned into numbers, and infinity is refused, by each fit itself.
    numbers = isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64)
    if not several or not numbers or np.isinf(X).any():
        return None
    found = getattr(type(estimator), "assay_path", None)
    return found if isinstance(found, SharedFit) else None
