"""Decisions of least expected cost, given probabilities and the cost of each mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import DataError, Predicted
from assay.evaluate._cost_matrix import CostMatrix, check_costs
from assay.evaluate._formulas import RowMean
from assay.evaluate._metric import Metric

Floats = NDArray[np.float64]


def expected_cost(probability: ArrayLike, cost: ArrayLike | CostMatrix) -> Floats:
    r"""Return the expected cost of each decision, for each row.

    Parameters
    ----------
    probability : array-like of shape (n_rows, n_classes)
        Probability of each class, not negative.
    cost : CostMatrix or array-like of shape (n_classes, n_classes)
        Row: the true class; column: the predicted one. Of shape (n_rows, n_classes, n_classes) if
        the costs differ from row to row.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_classes)

    Notes
    -----
    .. math:: R(k \mid x) = \sum_j p_j(x) \, L(j, k)

    As reliable as the probabilities are: calibrate them first.

    Examples
    --------
    >>> expected_cost([[0.8, 0.2]], [[0, 10], [1, 0]]).tolist()
    [[0.2, 8.0]]
    """
    shares = np.asarray(probability, dtype=np.float64)
    if shares.ndim != 2 or not shares.shape[1]:
        raise DataError(f"probability must have shape (n_rows, n_classes); got {shares.shape}")
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise DataError("probability must hold finite numbers that are not negative")
    values = check_costs(cost, shares.shape[1], len(shares))
    expected = np.zeros_like(shares)
    # Class by class: the terms of a row are then added in one order, independent of other rows.
    for j in range(shares.shape[1]):
        expected += shares[:, j, None] * (values[j] if values.ndim == 2 else values[:, j])
    return expected


def decide(probability: ArrayLike, cost: ArrayLike | CostMatrix) -> NDArray[np.int64]:
    r"""Return the class of least expected cost, for each row.

    Parameters
    ----------
    probability : array-like of shape (n_rows, n_classes)
        Probability of each class.
    cost : CostMatrix or array-like of shape (n_classes, n_classes)
        Row: the true class; column: the predicted one. Of shape (n_rows, n_classes, n_classes) if
        the costs differ from row to row.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        Column numbers.

    Notes
    -----
    .. math:: \hat y(x) = \arg\min_k \sum_j p_j(x) \, L(j, k)

    For two classes that is a threshold: class 1 is predicted if

    .. math:: p_1 > \frac{L(0, 1) - L(0, 0)}{L(0, 1) - L(0, 0) + L(1, 0) - L(1, 1)}.

    At equal costs the more probable class is taken, then the first. With 0 on the diagonal and 1
    elsewhere it is the most probable class.

    Examples
    --------
    A good mail that is deleted costs 10, spam that comes through costs 1: the threshold is
    10/11.

    >>> decide([[0.1, 0.9], [0.05, 0.95]], [[0, 10], [1, 0]]).tolist()
    [0, 1]
    """
    shares = np.asarray(probability, dtype=np.float64)
    expected = expected_cost(shares, cost)
    least = expected == expected.min(axis=1, keepdims=True)
    return np.asarray(np.where(least, shares, -1.0).argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class CostScorer:
    """A scikit-learn scorer: minus the mean cost of the decisions of an estimator.

    Parameters
    ----------
    cost : CostMatrix
        The costs; its classes are those of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> round(CostScorer(CostMatrix.of({(2, 1): 10}, [0, 1, 2]))(GaussianNB().fit(X, y), X, y), 3)
    -0.187
    """

    cost: CostMatrix

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean cost of deciding by the estimator's probabilities."""
        known = {label: at for at, label in enumerate(self.cost.classes)}
        columns = [known[label] for label in np.asarray(estimator.classes_).tolist()]
        found = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        shares = np.zeros((len(found), len(known)))
        shares[:, columns] = found
        truth = [known[label] for label in np.asarray(y).tolist()]
        paid = self.cost.values[truth, decide(shares, self.cost)]
        return -float(np.average(paid, weights=sample_weight))


def cost_metric(cost: CostMatrix) -> Metric:
    """Return the mean cost of predicted labels as a metric of a search; lower is better.

    Parameters
    ----------
    cost : CostMatrix
        The costs, for class codes in the order of its classes.

    Returns
    -------
    Metric
        It scores the labels as they are: choose them by cost first, see `decide`.

    Examples
    --------
    >>> metric = cost_metric(CostMatrix.of([[0, 10], [1, 0]], ["nospam", "spam"]))
    >>> truth, guess = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> metric.natural(metric.score(truth, Predicted(label=guess)))
    2.75
    """
    values = cost.values

    def paid(y: NDArray[Any], predicted: Predicted) -> Floats:
        if predicted.label is None:
            raise ValueError("the cost needs probabilities, and the model gives none")
        return np.asarray(values[y, predicted.label])

    return Metric(
        "cost",
        CostScorer(cost),
        greater_is_better=False,
        low=float(values.min()),
        high=float(values.max()),
        formula=RowMean(paid, np.negative),
    )
