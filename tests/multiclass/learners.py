"""Binary learners and tables for the reductions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs


def blobs(n_classes: int = 4, n: int = 120, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows of overlapping classes and their names."""
    X, y = make_blobs(n, 3, centers=n_classes, cluster_std=4.0, random_state=seed)
    return X, np.array(["ant", "bee", "cat", "dog", "elk", "fox"])[y]


class Silent(ClassifierMixin, BaseEstimator):
    """Gives labels only: 1 if the first column is above the mean of its class-1 rows."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        self.classes_ = np.unique(y)
        self.cut_ = X[y == 1, 0].mean()
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[np.int64]:
        return np.asarray(X[:, 0] > self.cut_, dtype=np.int64)


class Column(ClassifierMixin, BaseEstimator):
    """Its confidence is a column of X: which one is told by the first row of class 1."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        self.classes_ = np.unique(y)
        self.column_ = int(X[np.flatnonzero(y == 1)[0]].argmax())
        return self

    def decision_function(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(X[:, self.column_], dtype=np.float64)

    def predict(self, X: NDArray[Any]) -> NDArray[np.int64]:
        return np.asarray(self.decision_function(X) > 0, dtype=np.int64)
