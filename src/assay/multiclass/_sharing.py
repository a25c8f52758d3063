"""What members on the same rows can share: bins of a tree, kernel values of a machine.

The law is that of paths: a shared fit gives the same model, bit for bit, as a fit of its own.
Members on parts of the rows (pairs of classes) share nothing: their tables are small, and to cut
them out of something larger took longer than to start afresh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.multiclass._members import fitted, taken
from assay.multiclass._shared_gram import GramSharing
from assay.multiclass._shared_tree import TreeSharing
from assay.svm import SVC
from assay.tree import DecisionTreeClassifier

Rows = NDArray[np.int64] | None
Weight = NDArray[np.float64] | None
#: (rows or None for all, labels) -> a fitted member
Fit = Callable[[Rows, NDArray[np.int64]], Any]


class Sharing(Protocol):
    """How fits of one kind of learner on the same rows share work.

    A class of learners may have one of its own, as the class attribute ``assay_sharing``.
    """

    def share(self, estimator: Any, X: NDArray[Any], weight: Weight) -> Any:
        """Prepare what all fits can use; None if there is nothing.

        Nothing in it may depend on the labels.
        """

    def fit(
        self, model: Any, shared: Any, X: NDArray[Any], labels: NDArray[np.int64], weight: Weight
    ) -> Any:
        """Fit a model and return it."""


_SHARINGS: dict[type, Sharing] = {DecisionTreeClassifier: TreeSharing(), SVC: GramSharing()}


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
    sharing, shared = _sharing(estimator, X, parts), None
    if sharing is not None:
        shared = sharing.share(estimator, X, weight)

    def fit(rows: Rows, labels: NDArray[np.int64]) -> Any:
        if rows is not None:
            share = None if weight is None else weight[rows]
            return fitted(estimator, taken(X, rows), labels, share)
        if sharing is not None and shared is not None:
            return sharing.fit(clone(estimator), shared, X, labels, weight)
        return fitted(estimator, X, labels, weight)

    return fit


def _sharing(estimator: Any, X: Any, parts: list[Rows]) -> Sharing | None:
    several = len(parts) > 1 and all(rows is None for rows in parts)
    # Tables of other kinds are turned into numbers, and infinity is refused, by each fit itself.
    numbers = isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64)
    if not several or not numbers or np.isinf(X).any():
        return None
    found: Sharing | None = getattr(
        type(estimator), "assay_sharing", _SHARINGS.get(type(estimator))
    )
    return found
