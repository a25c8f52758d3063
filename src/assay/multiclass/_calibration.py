"""Calibration: from scores to probabilities, fitted on out-of-fold scores.

    sigmoid     p = 1 / (1 + exp(-(a s + b))), a and b by maximum likelihood on Platt's targets,
                (N+ + 1)/(N+ + 2) for the rows of the class and 1/(N- + 2) for the others
    isotonic    p = the non-decreasing function of s with the least squared error

Source  Platt (1999); Zadrozny and Elkan (2002). Several classes: one against the rest each, then
        divided by the sum, as in scikit-learn's CalibratedClassifierCV with ensemble=False.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from assay.base import DataError

Floats = NDArray[np.float64]

METHODS = ("sigmoid", "isotonic")
# A probability of 0 or 1 would have an infinite score; vote counts of a forest are no more precise.
_LEAST = 1e-4


def scores_of(model: Any, X: Any, n_classes: int) -> Floats:
    """Return one score per row and class; for two classes one column, that of the second.

    Parameters
    ----------
    model : classifier
        Fitted on class codes.
    X : table
        The rows.
    n_classes : int
        Number of classes in the training data.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_classes), or (n_rows, 1) for two classes
        The decision function; without one, the log-odds of the probabilities.
    """
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        scores = scores[:, None] if scores.ndim == 1 else scores
        if scores.shape[1] == (1 if n_classes == 2 else n_classes):
            return scores
    if not hasattr(model, "predict_proba"):
        raise DataError(
            f"{type(model).__name__} gives neither probabilities nor one score per class; use "
            "a classifier that has predict_proba or decision_function"
        )
    shares = np.clip(np.asarray(model.predict_proba(X), dtype=np.float64), _LEAST, 1.0 - _LEAST)
    if shares.shape[1] != n_classes:
        raise DataError(
            f"predict_proba of {type(model).__name__} gives {shares.shape[1]} columns for "
            f"{n_classes} classes"
        )
    return np.asarray(logit(shares[:, 1:] if n_classes == 2 else shares))


def fit_sigmoids(scores: Floats, codes: NDArray[np.int64], weight: Floats | None) -> Floats:
    """Return slope and offset of one sigmoid per column, of shape (n_columns, 2)."""
    return np.array([_sigmoid(*each, weight) for each in _problems(scores, codes)])


def apply_sigmoids(scores: Floats, sigmoids: Floats) -> Floats:
    """Return probabilities, one column per class."""
    return _normalised(expit(scores * sigmoids[:, 0] + sigmoids[:, 1]))


def fit_isotonics(
    scores: Floats, codes: NDArray[np.int64], weight: Floats | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the knots (score, probability) of one step function per column, and their starts."""
    parts = []
    for column, labels in _problems(scores, codes):
        model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        model.fit(column, labels.astype(np.float64), sample_weight=weight)
        parts.append(np.column_stack([model.X_thresholds_, model.y_thresholds_]))
    ends = np.cumsum([0, *map(len, parts)])
    return np.concatenate(parts).astype(np.float64), ends.astype(np.int64)


def apply_isotonics(scores: Floats, knots: Floats, ends: NDArray[np.int64]) -> Floats:
    """Return probabilities, one column per class, interpolated linearly between knots."""
    shares = np.empty_like(scores)
    for k in range(scores.shape[1]):
        x, y = knots[ends[k] : ends[k + 1]].T
        shares[:, k] = np.interp(scores[:, k], x, y)
    return _normalised(shares)


def _problems(scores: Floats, codes: NDArray[np.int64]) -> list[tuple[Floats, NDArray[np.bool_]]]:
    first = 1 if scores.shape[1] == 1 else 0
    return [(scores[:, k], codes == k + first) for k in range(scores.shape[1])]


def _sigmoid(
    score: Floats, positive: NDArray[np.bool_], weight: Floats | None
) -> tuple[float, float]:
    share = np.ones(len(score)) if weight is None else weight
    of_class, of_rest = float(share[positive].sum()), float(share[~positive].sum())
    target = np.where(positive, (of_class + 1) / (of_class + 2), 1 / (of_rest + 2))
    centre = float(np.average(score, weights=share))
    spread = float(np.sqrt(np.average((score - centre) ** 2, weights=share)))
    if spread == 0.0:
        return 0.0, float(logit(np.average(target, weights=share)))
    # A soft target t equals two rows: a positive of weight t and a negative of weight 1 - t.
    rows = np.tile((score - centre) / spread, 2)[:, None]
    labels = np.repeat([1, 0], len(score))
    both = np.concatenate([share * target, share * (1 - target)])
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    model.fit(rows, labels, sample_weight=both)
    slope = float(model.coef_[0, 0]) / spread
    return slope, float(model.intercept_[0]) - slope * centre


def _normalised(shares: Floats) -> Floats:
    if shares.shape[1] == 1:
        return np.column_stack([1.0 - shares, shares])
    total = shares.sum(axis=1, keepdims=True)
    equal = np.full_like(shares, 1.0 / shares.shape[1])
    return np.asarray(np.divide(shares, total, out=equal, where=total > 0))
