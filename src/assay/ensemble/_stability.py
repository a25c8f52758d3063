"""How much a learner's predictions change when the training rows are resampled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier, is_regressor

from assay.base import (
    DataError,
    ParameterError,
    as_frame,
    check_interval,
    check_n_jobs,
    check_weight,
    class_codes,
    draw_seed,
    in_threads,
    real_values,
    seeded,
)
from assay.ensemble._blending import held_out_rows
from assay.ensemble._members import fit_member
from assay.ensemble._outputs import n_rows, take
from assay.evaluate import Interval, batch_t


@dataclass(frozen=True, eq=False)
class Stability:
    """How much a learner's predictions change under the bootstrap; made by `stability`.

    Parameters
    ----------
    moved : Interval
        Classification: the share of rows whose label differs from that of the model of all
        training rows, mean over the bootstrap samples. Regression: the variance of the
        predictions over the samples, mean over the rows. The interval is that of the mean over
        infinitely many samples.
    values : ndarray of shape (n_bootstrap,)
        The same for each bootstrap sample.
    per_row : ndarray of shape (n_test_rows,)
        The same for each row.
    relative : float
        Classification: `moved` divided by its value for random predictions. Regression: the
        variance divided by that of the target. 0 = stable.
    test_rows : ndarray of int64 or None
        The rows set aside to predict; None when `X_test` was given.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from assay.ensemble import stability
    >>> X, y = np.zeros((80, 1)), np.arange(80.0)
    >>> found = stability(DummyRegressor(), X, y, random_state=0)
    >>> found.relative < 0.05  # a mean hardly moves
    True
    """

    moved: Interval
    values: NDArray[np.float64]
    per_row: NDArray[np.float64]
    relative: float
    test_rows: NDArray[np.int64] | None


def stability(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    X_test: Any = None,
    sample_weight: ArrayLike | None = None,
    n_bootstrap: int = 50,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Stability:
    r"""Measure how much a learner's predictions change from one bootstrap sample to another.

    Parameters
    ----------
    estimator : estimator
        The learner; clones of it are fitted.
    X : table of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Their targets.
    X_test : table, default=None
        Rows to predict. None = a quarter of the training rows is set aside, so that no model
        predicts its own training rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, if the learner accepts them.
    n_bootstrap : int, default=50
        Number of bootstrap samples.
    level : float in (0, 1), default=0.95
        Confidence of the interval.
    n_jobs : int, default=None
        Threads for the fits; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows set aside, of the samples, and of a learner without a seed of its own.

    Returns
    -------
    Stability

    Notes
    -----
    With f fitted on the n training rows and :math:`f^b` on n rows drawn from them with
    replacement,

    .. math:: \text{classes: } \frac1B \sum_b \frac1t \sum_i [f^b(x_i) \ne f(x_i)], \qquad
              \text{values: } \frac1t \sum_i \frac1{B-1} \sum_b
              \bigl(f^b(x_i) - \bar f(x_i)\bigr)^2

    Bagging averages exactly these models: a learner whose predictions change little (nearest
    neighbours with a large k, a linear model) gains little from it, one whose predictions change
    much (a deep tree) gains more. The learner has the same seed in all fits, so only the rows
    differ. The interval is Student's t over the samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.ensemble import stability
    >>> from assay.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> deep = stability(DecisionTreeClassifier(), X, y, random_state=0)
    >>> calm = stability(GaussianNB(), X, y, random_state=0)
    >>> calm.moved.value < deep.moved.value
    True
    """
    check_interval("n_bootstrap", n_bootstrap, 2, integer=True)
    check_interval("level", level, 0, 1, open_low=True, open_high=True)
    n_threads = check_n_jobs(n_jobs)
    classify = is_classifier(estimator)
    if not classify and not is_regressor(estimator):
        raise ParameterError(f"estimator must be a classifier or a regressor; got {estimator!r}")
    seed = draw_seed(random_state)
    X, X_test = _table(X), None if X_test is None else _table(X_test)
    classes, target = class_codes(y) if classify else (None, real_values(y))
    if n_rows(X) != len(target):
        raise DataError(f"X has {n_rows(X)} rows but y has {len(target)}; each needs one target")
    weight = None if sample_weight is None else check_weight(sample_weight, target)
    test_rows = None
    if X_test is None:
        codes = target.astype(np.int64) if classify else np.zeros(len(target), np.int64)
        held = held_out_rows(0.25, codes, None, seed)
        test_rows, kept = np.flatnonzero(held), np.flatnonzero(~held)
        X, X_test, target = take(X, kept), take(X, test_rows), target[kept]
        weight = None if weight is None else weight[kept]
    labels = target if classes is None else classes[target]
    member = seeded(estimator, (seed, 0))
    fit = partial(_predicted, member, X, labels, weight, X_test)
    draws = np.random.default_rng((seed, 1))
    samples = [draws.integers(len(labels), size=len(labels)) for _ in range(n_bootstrap)]
    work = [partial(fit, rows) for rows in (np.arange(len(labels)), *samples)]
    predicted = in_threads(work, n_threads)
    if classify:
        return _moved_labels(predicted[0], np.stack(predicted[1:]), level, test_rows)
    return _moved_values(np.stack(predicted[1:]).astype(np.float64), labels, level, test_rows)


def _table(X: Any) -> Any:
    table = X if as_frame(X) is not None or hasattr(X, "tocsr") else np.asarray(X)
    if len(table.shape) != 2 or 0 in table.shape:
        raise DataError(f"X must be a table with rows and columns; got shape {table.shape}")
    return table


def _predicted(
    member: Any,
    X: Any,
    labels: NDArray[Any],
    weight: NDArray[np.float64] | None,
    X_test: Any,
    rows: NDArray[np.int64],
) -> NDArray[Any]:
    known = labels[rows]
    if is_classifier(member) and (known == known[0]).all():
        return np.full(n_rows(X_test), known[0])  # few classifiers can be fitted on one class
    own = None if weight is None else weight[rows]
    model = fit_member(clone(member), take(X, rows), known, own)
    predicted = np.asarray(model.predict(X_test))
    if predicted.ndim != 1:
        raise DataError(f"stability takes one prediction per row; got shape {predicted.shape}")
    return predicted


def _moved_labels(
    usual: NDArray[Any], predicted: NDArray[Any], level: float, rows: NDArray[np.int64] | None
) -> Stability:
    moved = predicted != usual
    values = moved.mean(axis=1)
    shares = np.unique(predicted, return_counts=True)[1] / predicted.size
    chance = 1.0 - float(np.square(shares).sum())
    mean = float(values.mean())
    interval = batch_t(mean, values, level=level, low=0.0, high=1.0)
    relative = mean / chance if chance > 0 else 0.0
    return Stability(interval, values, moved.mean(axis=0), relative, rows)


def _moved_values(
    predicted: NDArray[np.float64], y: NDArray[Any], level: float, rows: NDArray[np.int64] | None
) -> Stability:
    count = len(predicted)
    squares = np.square(predicted - predicted.mean(axis=0)) * (count / (count - 1))
    values = squares.mean(axis=1)
    mean, spread = float(values.mean()), float(np.var(y))
    interval = batch_t(mean, values, level=level, low=0.0)
    relative = mean / spread if spread > 0 else 0.0
    return Stability(interval, values, squares.mean(axis=0), relative, rows)
