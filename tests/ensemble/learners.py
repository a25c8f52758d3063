"""Learners made for the tests: one that learns its rows by heart, one that notes its weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted


class ByHeart(ClassifierMixin, BaseEstimator):
    """Knows the label of every row it has seen, and nothing about any other."""

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        self.known_ = {tuple(row): label for row, label in zip(X.tolist(), y, strict=True)}
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return np.array([self.known_.get(tuple(row), self.classes_[0]) for row in X.tolist()])


class NotesWeights(RegressorMixin, BaseEstimator):
    """The weighted mean; notes how many rows it saw and their weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.n_features_in_ = np.shape(X)[1]
        self.weight_ = sample_weight
        self.mean_ = float(np.average(y, weights=sample_weight))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return np.full(len(X), self.mean_)


class TakesNoWeights(NotesWeights):
    """The mean; has no `sample_weight`."""

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        return super().fit(X, y)


class NotesFits(TakesNoWeights):
    """The mean; counts how often anyone of this class was fitted."""

    count = 0

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        NotesFits.count += 1
        return super().fit(X, y)
