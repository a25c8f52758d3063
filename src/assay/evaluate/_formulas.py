"""Metrics as formulas: a few microseconds per score, vectorised over bootstrap weights.

Every formula is a function (y, predicted, weights) -> scores of shape (B,), greater is better,
where weights is (B, n) or None for one unweighted score. A row of weight zero counts as absent, so
that integer weights give exactly the score of the rows repeated that often.

A formula made of sums over rows also has a method ``without``: the scores without the rows of one
group, for every group, in the time of a few scores instead of one per group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.evaluate._without import Without

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
        """Return the scores of given row values; (B,) for (n,), (B, m) for (n, m)."""
        if weights is None:
            return self.finish(np.atleast_1d(rows.mean(axis=0)))
        total = weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (weights @ rows) / (total if rows.ndim == 1 else total[:, None])
        return self.finish(mean)

    def without(self, y: NDArray[Any], predicted: Predicted, rest: Without) -> Array:
        """Return the score without each group of rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.finish(rest.sums(self.rows(y, predicted)) / rest.total())


def scores_without(formula: Formula, y: NDArray[Any], predicted: Predicted, rest: Without) -> Array:
    """Return the score without the rows of one group, for every group.

    Parameters
    ----------
    formula : Formula
        The metric, as any formula.
    y, predicted
        The rows.
    rest : Without
        The groups and weights of the rows.

    Returns
    -------
    ndarray of shape (n_groups,)
        NaN where the metric is undefined.
    """
    short = getattr(formula, "without", None)
    if short is None:
        return formula(y, predicted, rest.dense())
    return np.asarray(short(y, predicted, rest))


def _labels(predicted: Predicted) -> NDArray[np.int64]:
    if predicted.label is None:
        raise ValueError("the metric needs class labels, and the model gives none")
    return predicted.label


def probability_of(predicted: Predicted) -> Array:
    if predicted.probability is None:
        raise ValueError("the metric needs probabilities, and the model gives none")
    return predicted.probability


def _values(predicted: Predicted) -> Array:
    if predicted.value is None:
        raise ValueError("the metric needs numeric predictions, and the model gives none")
    return predicted.value


def ranking(predicted: Predicted) -> Array:
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
    own = probability_of(predicted)[np.arange(len(y)), y]
    epsilon = np.finfo(own.dtype).eps
    loss: Array = -np.log(np.clip(own, epsilon, 1 - epsilon))
    return loss


def _brier(y: NDArray[Any], predicted: Predicted) -> Array:
    probability = probability_of(predicted)
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


class _R2:
    """1 - residual sum of squares / total sum of squares; one row or none is undefined."""

    def __call__(self, y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        w = np.ones((1, len(y))) if weights is None else weights
        return self._of(y, predicted, w.__matmul__, w.sum(axis=1), (w > 0).sum(axis=1))

    def without(self, y: NDArray[Any], predicted: Predicted, rest: Without) -> Array:
        present = Without(rest.group, rest.n_groups).sums((rest.weights > 0).astype(np.float64))
        return self._of(y, predicted, rest.sums, rest.total(), present)

    def _of(
        self,
        y: NDArray[Any],
        predicted: Predicted,
        sums: Callable[[Array], Array],
        total: Array,
        rows: NDArray[Any],
    ) -> Array:
        residual = sums(_square(y, predicted))
        centred = y - y.mean()
        squares = sums(centred * centred)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = squares - sums(centred) ** 2 / total
            score = 1 - residual / spread
        # A constant target is explained fully by an exact prediction and not at all by another one.
        floor = 1e-14 * np.maximum(squares, np.finfo(np.float64).tiny)
        score = np.where(spread <= floor, np.where(residual == 0, 1.0, 0.0), score)
        return np.where(rows < 2, np.nan, score)


r2 = _R2()


@dataclass(frozen=True)
class Counted:
    """A metric of the counts of hits, of true and of predicted rows of every class.

    Parameters
    ----------
    finish : callable
        (hits, true, predicted), each of shape (B, n_classes) -> scores of shape (B,).

    Examples
    --------
    >>> found = Counted(lambda hits, true, guessed: hits[:, 1])
    >>> found(np.array([0, 1, 1]), Predicted(label=np.array([1, 1, 0])), None)
    array([1.])
    """

    finish: Callable[[Array, Array, Array], Array]

    def __call__(self, y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        """Return one score per row of `weights`."""
        label = _labels(predicted)
        hit, n_classes = label == y, _n_classes(y, label)
        if weights is None:
            parts = (y[hit], y, label)
            counts = [np.bincount(part, minlength=n_classes)[None].astype(float) for part in parts]
        else:
            one = np.eye(n_classes)
            counts = [weights[:, hit] @ one[y[hit]], weights @ one[y], weights @ one[label]]
        return self.finish(counts[0], counts[1], counts[2])

    def without(self, y: NDArray[Any], predicted: Predicted, rest: Without) -> Array:
        """Return the score without each group of rows."""
        label = _labels(predicted)
        n_classes = _n_classes(y, label)
        hits = rest.counts(y, n_classes, label == y)
        return self.finish(hits, rest.counts(y, n_classes), rest.counts(label, n_classes))


def _n_classes(y: NDArray[Any], label: NDArray[np.int64]) -> int:
    return int(max(y.max(initial=1), label.max(initial=1))) + 1


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, 0/0 = 0: scikit-learn's ``zero_division``."""
    return np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=np.asarray(denominator) > 0
    )


def _mean_recall(hits: Array, true: Array, guessed: Array) -> Array:  # noqa: ARG001
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(ratio(hits, true).sum(axis=1) / (true > 0).sum(axis=1))


def _correlation(hits: Array, true: Array, guessed: Array) -> Array:
    total = true.sum(axis=1)
    cross = hits.sum(axis=1) * total - (true * guessed).sum(axis=1)
    of_true = total**2 - (true**2).sum(axis=1)
    of_guessed = total**2 - (guessed**2).sum(axis=1)
    scale = np.sqrt(of_true * of_guessed)
    score = np.divide(cross, scale, out=np.zeros_like(cross), where=scale > 0)
    return np.where(total > 0, score, np.nan)


#: Mean recall over the classes that occur.
balanced_accuracy = Counted(_mean_recall)
#: Correlation of true and predicted class.
matthews = Counted(_correlation)


def per_class(kind: str, average: str) -> Counted:
    """Return precision, recall, f1 or jaccard with scikit-learn's averages."""

    def parts(hits: Array, true: Array, guessed: Array) -> tuple[Array, Array]:
        if kind == "precision":
            return hits, guessed
        if kind == "recall":
            return hits, true
        if kind == "f1":
            return 2 * hits, true + guessed
        return hits, true + guessed - hits  # jaccard

    def score(hits: Array, true: Array, guessed: Array) -> Array:
        total = true.sum(axis=1)
        if average == "micro":
            value = ratio(
                *parts(hits.sum(axis=1), true.sum(axis=1), guessed.sum(axis=1)),
            )
        elif average == "binary":
            value = ratio(*parts(hits, true, guessed))[:, 1]
        else:
            each = ratio(*parts(hits, true, guessed))
            present = (true + guessed > 0).astype(np.float64)
            share = present if average == "macro" else true
            value = ratio((each * share).sum(axis=1), share.sum(axis=1))
        return np.where(total > 0, value, np.nan)

    return Counted(score)
