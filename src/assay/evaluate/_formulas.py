"""Metrics as formulas: a few microseconds a score, and all bootstrap weights at once.

Every formula is a function (y, predicted, weights) -> scores of shape (B,), greater is better,
where weights is (B, n) or None for one unweighted score. A row of weight zero counts as absent, so
that integer weights give exactly the score of the rows repeated that often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted

Array = NDArray[np.float64]
#: (y, predicted, weights of shape (B, n) or None) -> scores of shape (B,), greater is better.
Formula = Callable[[NDArray[Any], Predicted, Array | None], Array]


@dataclass(frozen=True)
class RowMean:
    """A metric that is the weighted mean of a number per row, then a transformation.

    Parameters
    ----------
    rows : callable
        (y, predicted) -> array of shape (n,), or (n, m) when called on stacked predictions.
    finish : callable, optional
        Applied to the mean.

    Examples
    --------
    >>> cubic = RowMean(lambda y, predicted: np.abs(predicted.value - y) ** 3, lambda mean: -mean)
    >>> cubic(np.array([1.0, 2.0]), Predicted(value=np.array([1.0, 4.0])), None)
    array([-4.])
    """

    rows: Callable[[NDArray[Any], Predicted], Array]
    finish: Callable[[Array], Array] = np.asarray

    def __call__(self, y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        """Return one score per row of `weights`."""
        return self.of(self.rows(y, predicted), weights)

    def of(self, rows: Array, weights: Array | None) -> Array:
        """Return the scores of known row values; (B,) for (n,), (B, m) for (n, m)."""
        if weights is None:
            return self.finish(np.atleast_1d(rows.mean(axis=0)))
        total = weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (weights @ rows) / (total if rows.ndim == 1 else total[:, None])
        return self.finish(mean)


def _labels(predicted: Predicted) -> NDArray[np.int64]:
    if predicted.label is None:
        raise ValueError("the metric needs class labels, and the model gives none")
    return predicted.label


def _probability(predicted: Predicted) -> Array:
    if predicted.probability is None:
        raise ValueError("the metric needs probabilities, and the model gives none")
    return predicted.probability


def _values(predicted: Predicted) -> Array:
    if predicted.value is None:
        raise ValueError("the metric needs numeric predictions, and the model gives none")
    return predicted.value


def _ranking(predicted: Predicted) -> Array:
    # scikit-learn's order of preference: the decision does not saturate as probabilities do.
    if predicted.decision is not None:
        return predicted.decision
    if predicted.probability is not None:
        return predicted.probability[:, 1]
    raise ValueError("the metric needs a decision or probabilities, and the model gives neither")


def _negative(mean: Array) -> Array:
    return -mean


def _hit(y: NDArray[Any], predicted: Predicted) -> Array:
    hit: Array = (_labels(predicted) == y).astype(np.float64)
    return hit


def _log_loss(y: NDArray[Any], predicted: Predicted) -> Array:
    own = _probability(predicted)[np.arange(len(y)), y]
    epsilon = np.finfo(own.dtype).eps
    loss: Array = -np.log(np.clip(own, epsilon, 1 - epsilon))
    return loss


def _brier(y: NDArray[Any], predicted: Predicted) -> Array:
    probability = _probability(predicted)
    error = probability.copy()
    error[np.arange(len(y)), y] -= 1.0
    half = 0.5 if probability.shape[1] < 3 else 1.0
    loss: Array = half * np.einsum("ij,ij->i", error, error)
    return loss


def _square(y: NDArray[Any], predicted: Predicted) -> Array:
    error: Array = _values(predicted) - y
    return error * error


def _absolute(y: NDArray[Any], predicted: Predicted) -> Array:
    error: Array = np.abs(_values(predicted) - y)
    return error


def _percentage(y: NDArray[Any], predicted: Predicted) -> Array:
    error: Array = _absolute(y, predicted) / np.maximum(np.abs(y), np.finfo(np.float64).eps)
    return error


accuracy = RowMean(_hit)
log_loss = RowMean(_log_loss, _negative)
brier = RowMean(_brier, _negative)
squared_error = RowMean(_square, _negative)
root_squared_error = RowMean(_square, lambda mean: -np.sqrt(mean))
absolute_error = RowMean(_absolute, _negative)
percentage_error = RowMean(_percentage, _negative)


def r2(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
    """1 - residual sum of squares / total sum of squares; one row or none is undefined."""
    w = np.ones((1, len(y))) if weights is None else weights
    residual = w @ _square(y, predicted)
    centred = y - y.mean()
    total = w.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = w @ (centred * centred) - (w @ centred) ** 2 / total
        score = 1 - residual / spread
    # A constant target is explained fully by an exact prediction and not at all by another one.
    floor = 1e-14 * np.maximum(w @ (centred * centred), np.finfo(np.float64).tiny)
    score = np.where(spread <= floor, np.where(residual == 0, 1.0, 0.0), score)
    return np.where((w > 0).sum(axis=1) < 2, np.nan, score)


def _counts(
    y: NDArray[Any], predicted: Predicted, weights: Array | None
) -> tuple[Array, Array, Array]:
    """Weights of hits, true and predicted rows per class, each of shape (B, n_classes)."""
    label = _labels(predicted)
    n_classes = int(max(y.max(initial=1), label.max(initial=1))) + 1
    hit = label == y
    if weights is None:
        parts = (y[hit], y, label)
        counts = [np.bincount(part, minlength=n_classes)[None].astype(float) for part in parts]
    else:
        classes = np.eye(n_classes)
        counts = [weights[:, hit] @ classes[y[hit]], weights @ classes[y], weights @ classes[label]]
    return counts[0], counts[1], counts[2]


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, 0/0 = 0: scikit-learn's ``zero_division``."""
    return np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=np.asarray(denominator) > 0
    )


def balanced_accuracy(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
    """Mean recall over the classes that occur."""
    hits, true, _ = _counts(y, predicted, weights)
    present = true > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(_ratio(hits, true).sum(axis=1) / present.sum(axis=1))


def matthews(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
    """Correlation of true and predicted class."""
    hits, true, guessed = _counts(y, predicted, weights)
    total = true.sum(axis=1)
    cross = hits.sum(axis=1) * total - (true * guessed).sum(axis=1)
    of_true = total**2 - (true**2).sum(axis=1)
    of_guessed = total**2 - (guessed**2).sum(axis=1)
    scale = np.sqrt(of_true * of_guessed)
    score = np.divide(cross, scale, out=np.zeros_like(cross), where=scale > 0)
    return np.where(total > 0, score, np.nan)


def per_class(kind: str, average: str) -> Formula:
    """Return precision, recall, f1 or jaccard with scikit-learn's averages."""

    def parts(hits: Array, true: Array, guessed: Array) -> tuple[Array, Array]:
        if kind == "precision":
            return hits, guessed
        if kind == "recall":
            return hits, true
        if kind == "f1":
            return 2 * hits, true + guessed
        return hits, true + guessed - hits  # jaccard

    def score(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        hits, true, guessed = _counts(y, predicted, weights)
        total = true.sum(axis=1)
        if average == "micro":
            value = _ratio(
                *parts(hits.sum(axis=1), true.sum(axis=1), guessed.sum(axis=1)),
            )
        elif average == "binary":
            value = _ratio(*parts(hits, true, guessed))[:, 1]
        else:
            each = _ratio(*parts(hits, true, guessed))
            present = (true + guessed > 0).astype(np.float64)
            share = present if average == "macro" else true
            value = _ratio((each * share).sum(axis=1), share.sum(axis=1))
        return np.where(total > 0, value, np.nan)

    return score


def roc_auc(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
    """Area under the ROC curve of class 1 against class 0; undefined with one class."""
    return _area(y == 1, _ranking(predicted), weights)


def roc_auc_ovr(average: str) -> Formula:
    """Return the mean one-against-rest area over the classes that occur."""

    def score(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        probability = _probability(predicted)
        classes = range(probability.shape[1])
        areas = [_area(y == k, probability[:, k], weights) for k in classes]
        shares = [_mass(y == k, weights) for k in classes]
        return _mean_area(areas, shares, average)

    return score


def roc_auc_ovo(average: str) -> Formula:
    """Return the mean one-against-one area over the pairs of classes that occur."""

    def score(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        probability = _probability(predicted)
        areas, shares = [], []
        for a, b in combinations(range(probability.shape[1]), 2):
            pair = (y == a) | (y == b)
            mine = None if weights is None else weights[:, pair]
            first = _area(y[pair] == a, probability[pair, a], mine)
            second = _area(y[pair] == b, probability[pair, b], mine)
            areas.append((first + second) / 2)
            shares.append(_mass(pair, weights))
        return _mean_area(areas, shares, average)

    return score


def _mass(rows: NDArray[np.bool_], weights: Array | None) -> Array:
    return np.array([float(rows.sum())]) if weights is None else weights[:, rows].sum(axis=1)


def _mean_area(areas: list[Array], shares: list[Array], average: str) -> Array:
    """Mean over classes or pairs, plain or by their share of the rows; undefined ones left out."""
    area, share = np.stack(areas, axis=1), np.stack(shares, axis=1)
    defined = ~np.isnan(area)
    weight = np.where(defined, share if average == "weighted" else 1.0, 0.0)
    total = weight.sum(axis=1)
    value = _ratio((np.where(defined, area, 0.0) * weight).sum(axis=1), total)
    return np.where(total > 0, value, np.nan)


# Up to this many pairs of a positive and a negative row, one matrix of comparisons and a matrix
# product beat sorting and cumulative sums.
_PAIRS = 200_000
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


def _area(positive: NDArray[np.bool_], score: Array, weights: Array | None) -> Array:
    if not len(score):
        return np.full(1 if weights is None else len(weights), np.nan)
    if weights is None:
        return np.array([_one_area(positive, score)])
    n_positive = int(positive.sum())
    if n_positive * (len(score) - n_positive) <= _PAIRS:
        high, low = score[positive, None], score[None, ~positive]
        wins = (high > low) + 0.5 * (high == low)
        of_positive, of_negative = weights[:, positive], weights[:, ~positive]
        won = np.einsum("bj,bj->b", of_positive @ wins, of_negative)
        mass = of_positive.sum(axis=1) * of_negative.sum(axis=1)
    else:
        # Weight of the negatives below each positive, ties half, from one cumulative sum.
        order = np.argsort(score)
        ups, downs = order[positive[order]], order[~positive[order]]
        below = np.zeros((len(weights), len(downs) + 1))
        np.cumsum(weights[:, downs], axis=1, out=below[:, 1:])
        first, last = (np.searchsorted(score[downs], score[ups], side) for side in _SIDES)
        of_positive = weights[:, ups]
        won = np.einsum("bi,bi->b", of_positive, below[:, first])
        if not np.array_equal(first, last):
            won = 0.5 * (won + np.einsum("bi,bi->b", of_positive, below[:, last]))
        mass = of_positive.sum(axis=1) * below[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(won / mass)


def _one_area(positive: NDArray[np.bool_], score: Array) -> float:
    order, starts = _tied(score)
    positives = np.add.reduceat(positive[order].astype(np.float64), starts)
    sizes = np.diff(np.append(starts, len(score)))
    negatives = sizes - positives
    below = np.cumsum(negatives)
    mass = positives.sum() * below[-1]
    return float(positives @ (below - 0.5 * negatives) / mass) if mass > 0 else float("nan")


def _tied(score: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Ascending order of the rows, and where in it each group of equal scores starts."""
    order = np.argsort(score, kind="stable")
    ranked = score[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    return order, starts


def average_precision(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
    """Mean precision over the positives, from the highest score down; 0 without positives."""
    score = _ranking(predicted)
    w = np.ones((1, len(y))) if weights is None else weights
    order, starts = _tied(-score)
    positives = np.add.reduceat(w[:, order] * (y[order] == 1), starts, axis=1)
    everyone = np.add.reduceat(w[:, order], starts, axis=1)
    precision = _ratio(np.cumsum(positives, axis=1), np.cumsum(everyone, axis=1))
    total = positives.sum(axis=1)
    value = _ratio((positives * precision).sum(axis=1), total)
    return np.where(everyone.sum(axis=1) > 0, value, np.nan)
