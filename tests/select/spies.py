"""Estimators that tell what was done with them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from assay.select import Outcome

_seen: list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None = None


@contextmanager
def seen_rows() -> Iterator[list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """Collect (training rows, test rows) of every fit, by the row number in column 0."""
    global _seen
    _seen = []
    try:
        yield _seen
    finally:
        _seen = None


class Spy(GaussianNB):
    """Naive Bayes that tells which rows it saw."""

    def __init__(self, shift: float = 0.0) -> None:
        super().__init__()
        self.shift = shift

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        super().fit(X[:, 1:] + self.shift, y, sample_weight)
        self.rows = X[:, 0].astype(int)
        return self

    def predict(self, X: Any) -> Any:
        if _seen is not None:
            _seen.append((self.rows, X[:, 0].astype(int)))
        return super().predict(X[:, 1:] + self.shift)

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X[:, 1:] + self.shift)

    def predict_log_proba(self, X: Any) -> Any:
        shorter = X if X.shape[1] == self.n_features_in_ else X[:, 1:]
        return super().predict_log_proba(shorter)


class Counted(GaussianNB):
    """Naive Bayes that leaves one line in a file per fit."""

    def __init__(self, path: str = "", var_smoothing: float = 1e-9, pause: float = 0.0) -> None:
        super().__init__(var_smoothing=var_smoothing)
        self.path = path
        self.pause = pause

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        with Path(self.path).open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(self.pause)
        super().fit(X, y, sample_weight)
        return self


class Fragile(ClassifierMixin, BaseEstimator):
    """Predicts class 0, and fails as it is told to."""

    def __init__(self, fault: str | None = None) -> None:
        self.fault = fault

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        if self.fault == "raise":
            raise RuntimeError("told to fail")
        if self.fault == "sometimes" and int(abs(X[:, 0].sum() * 1000)) % 2:
            raise RuntimeError("did not like the rows")
        if self.fault == "exit":
            os._exit(9)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)

    def predict_proba(self, X: Any) -> Any:
        value = np.nan if self.fault == "nan" else 0.5
        return np.full((len(X), len(self.classes_)), value)


def outer_scores(outcome: Outcome) -> list[float]:
    """Scores of the outer blocks, all of them defined."""
    scores = [row.outer for row in outcome.nested]
    assert None not in scores
    return [float(score) for score in scores if score is not None]
