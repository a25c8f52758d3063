"""The smallest estimators on the base classes, for its tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from assay.base import (
    Classifier,
    Regressor,
    Transformer,
)
from assay.base.stored import Array, Models, declared


class Means(Classifier):
    """Nearest class mean."""

    stored = declared(means_=Array("classes, features"))

    def __init__(self, *, scale: float | Callable[..., Any] = 1.0, n_jobs: int = 1) -> None:
        self.scale = scale
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        rows, codes, _ = self._fit_data(X, y)
        sums = np.zeros((len(self.classes_), rows.shape[1]))
        np.add.at(sums, codes, rows)
        self.means_ = sums / np.bincount(codes)[:, None]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        rows = self._predict_data(X)
        nearest = ((rows[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)
        return self.classes_[nearest]  # type: ignore[no-any-return]


class Mean(Regressor):
    """The weighted mean of all targets."""

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        _, values, weight = self._fit_data(X, y, sample_weight)
        self.mean_ = float(np.average(values, weights=weight))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.full(len(self._predict_data(X)), self.mean_)


class Coded(Transformer):
    """Returns what the base class makes of nominal and missing values."""

    takes_nominal = True
    takes_missing = True

    def __init__(self, *, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any = None) -> Self:
        self._fit_data(X)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        return self._predict_data(X)


class Halves(Regressor):
    """The mean of two models, one of each half of the rows; with a third over them, if wished."""

    stored = declared(estimators_=Models("2"))

    def __init__(self, estimator: Any = None, *, over: Any = None) -> None:
        self.estimator = estimator
        self.over = over

    def fit(self, X: Any, y: Any) -> Self:
        rows, values, _ = self._fit_data(X, y)
        half = len(rows) // 2
        template = Mean() if self.estimator is None else self.estimator
        self.estimators_ = [
            clone(template).fit(rows[part], values[part])
            for part in (slice(None, half), slice(half, None))
        ]
        if self.over is not None:
            self.over_ = clone(self.over).fit(rows, values)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        rows = self._predict_data(X)
        return np.mean([model.predict(rows) for model in self.estimators_], axis=0)  # type: ignore[no-any-return]
