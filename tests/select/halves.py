"""Families that each see a part of the signal only, so that a mixture is better than any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from assay.select import Family


class Columns(TransformerMixin, BaseEstimator):
    """Shows some columns and hides the others."""

    def __init__(self, kept: tuple[int, ...] = (0,)) -> None:
        self.kept = kept

    def fit(self, X: Any, y: Any = None) -> Self:
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X)[:, list(self.kept)]


def classes(n: int, seed: int, n_classes: int = 2) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Rows whose class depends on both halves of the columns."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    signal = X @ np.array([[1.5, 0.0, -1.0], [0.0, 1.0, -1.0], [-1.5, 1.0, 0.0], [1.0, 0.0, 1.0]])
    signal = signal[:, :n_classes] if n_classes > 2 else signal[:, :2] * np.array([0.0, 1.0])
    if n_classes == 2:
        signal[:, 1] = 2.0 * (X[:, 0] + X[:, 2])
    return X, (signal + random.gumbel(size=signal.shape)).argmax(axis=1)


def numbers(n: int, seed: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Rows whose value depends on both halves of the columns."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 2] + random.normal(size=n) + 10.0


def halves(candidates: Sequence[float] = (0.1, 10.0)) -> list[Family]:
    """Two classifiers with one half each, and a third that sees little."""
    line = LogisticRegression(solver="newton-cholesky")
    grid = [{"C": c} for c in candidates]
    return [
        Family("left", line, grid, Columns((0, 1))),
        Family("right", line, grid, Columns((2, 3))),
        Family("bayes", GaussianNB(), ({},), Columns((1, 3))),
    ]


def half_lines() -> list[Family]:
    """The same for numbers."""
    grid = [{"alpha": a} for a in (1.0, 10.0)]
    return [
        Family("left", Ridge(), grid, Columns((0, 1))),
        Family("right", Ridge(), grid, Columns((2, 3))),
    ]
