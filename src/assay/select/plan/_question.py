"""What is asked of a table: rows, task, metric, costs, groups and time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from assay.base import (
    DataError,
    ParameterError,
    Predicted,
    Task,
    check_weight,
    class_codes,
    real_values,
)
from assay.evaluate import CostMatrix, Metric, cost_metric, decide, get_metric
from assay.select.plan._data import Data


@dataclass(frozen=True, eq=False)
class Question:
    """Rows, what is predicted from them, and how a prediction is scored.

    Made by `Question.of`, which checks everything.

    Parameters
    ----------
    data : Data
        Rows, targets, weights and queries: all that a fit sees.
    task : Task
        What is predicted.
    metric : Metric
        How predictions are scored. With costs, the mean cost.
    positive : int, default=1
        Code of the positive class of a binary task.
    cost : CostMatrix, optional
        Labels are then the decisions of least expected cost, whatever the model would predict.
    groups : ndarray of shape (n_samples,), optional
        Rows of one group are never on both sides of a split.
    time : ndarray of shape (n_samples,), optional
        Order in time: models are trained on the past only.
    classes : tuple, optional
        Names of the classes.
    """

    data: Data
    task: Task
    metric: Metric
    positive: int = 1
    cost: CostMatrix | None = None
    groups: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    classes: tuple[Any, ...] | None = None

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        task: str,
        metric: str | Callable[..., float] | Metric | None = None,
        weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        positive: int | None = None,
        cost: Any = None,
        data_digest: str | None = None,
    ) -> Question:
        """Check rows, targets and metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; missing values as NaN.
        y : array-like of shape (n_samples,)
            Class codes 0..K-1, or numbers for regression and ranking (greater is better).
        task : {"binary", "multiclass", "regression", "rank"}
            What `y` is.
        metric : str, callable, Metric or None
            See `assay.evaluate.get_metric`.
        weight : array-like of shape (n_samples,), optional
            Row weights: used in fits that take them and in scores that take them.
        groups : array-like of shape (n_samples,), optional
            Rows of one group are never on both sides of a split. Of a ranking, the queries.
        time : array-like of shape (n_samples,), optional
            Order in time: then models are trained on the past only.
        classes : sequence, optional
            Names of the classes; their number is the number of classes.
        positive : int, optional
            Code of the positive class of a binary task, 1 by default.
        cost : CostMatrix, array-like, mapping or str, optional
            What each mistake costs, in any form that `assay.evaluate.CostMatrix.of` reads. Every
            decision is then the one of least expected cost by the model's probabilities, and the
            mean cost is minimised, instead of `metric`.
        data_digest : str, optional
            Digest of the source; part of every key, with the digest of the values themselves.

        Returns
        -------
        Question

        Raises
        ------
        DataError
            If the rows or targets cannot be used.
        ParameterError
            If an argument is out of its range.

        Examples
        --------
        >>> question = Question.of([[0.0], [1.0], [2.0]], [0, 1, 1], task="binary")
        >>> question.metric.name, question.n_classes
        ('roc_auc', 2)
        """
        kind = Task.of(task)
        matrix, target, n_classes = _rows(X, y, kind, classes)
        n = len(target)
        together = _column("groups", groups, n)
        data = Data(
            matrix,
            target,
            check_weight(weight, matrix),
            n_classes,
            data_digest,
            _queries(together) if kind.has_queries else None,
        )
        costs = _costs(cost, metric, kind, n_classes, classes)
        return cls(
            data,
            kind,
            get_metric(metric, kind) if costs is None else cost_metric(costs),
            _positive(positive, n_classes),
            costs,
            together,
            _column("time", time, n),
            None if classes is None else tuple(classes),
        )

    @classmethod
    def about(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        scoring: Any = None,
        loss: str = "r2",
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Question:
        """Return the question that an estimator of scikit-learn's kind answers.

        Parameters
        ----------
        estimator : estimator
            A classifier takes `y` as labels, any other as numbers.
        X, y, sample_weight, groups
            As scikit-learn has them.
        scoring : str or callable, default=None
            None: accuracy of classes, `loss` of numbers.
        loss : str, default="r2"
            See `scoring`.
        """
        classes: NDArray[Any] | None = None
        target: NDArray[Any]
        task, usual = Task.REGRESSION, loss
        if is_classifier(estimator):
            classes, target = class_codes(y)
            task, usual = Task.of_classes(int(target.max()) + 1), "accuracy"
        else:
            target = real_values(y)
        found = cls.of(
            X, target, task=task, metric=scoring or usual, weight=sample_weight, groups=groups
        )
        return found if classes is None else replace(found, classes=tuple(classes))

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802 - the name of a matrix
        """The coded matrix."""
        return self.data.X

    @property
    def y(self) -> NDArray[Any]:
        """Class codes or numbers."""
        return self.data.y

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """Row weights."""
        return self.data.weight

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None for numbers."""
        return self.data.n_classes

    @property
    def queries(self) -> NDArray[np.int64] | None:
        """Query of each row, of a ranking."""
        return self.data.queries

    def part(self, rows: NDArray[np.int64]) -> Question:
        """Return the same question about some of the rows."""

        def of(column: NDArray[Any] | None) -> Any:
            return None if column is None else column[rows]

        data = Data(
            self.X[rows],
            self.y[rows],
            of(self.weight),
            self.n_classes,
            self.data.source,
            of(self.queries),
        )
        return replace(self, data=data, groups=of(self.groups), time=of(self.time))

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The truth as metrics see it: the positive class is 1; of a ranking, with the query."""
        if self.metric.by_query:
            return np.column_stack([self.y, np.asarray(self.queries, dtype=np.float64)])
        return 1 - self.y if self._flips else self.y

    @property
    def _flips(self) -> bool:
        # Costs are stated by class: there is no positive one.
        return self.n_classes == 2 and self.positive == 0 and self.cost is None

    def decided(self, predicted: Predicted) -> Predicted:
        """Return the predictions with the labels that follow from the costs, if there are any."""
        if self.cost is None:
            return predicted
        probability = predicted.probability
        label = None if probability is None else decide(probability, self.cost)
        return replace(predicted, label=label)

    def seen(self, predicted: Predicted) -> Predicted:
        """Return predictions as metrics see them: the positive class is 1."""
        if not self._flips:
            return self.decided(predicted)
        label, probability, decision = predicted.label, predicted.probability, predicted.decision
        return Predicted(
            None if label is None else 1 - label,
            None if probability is None else probability[:, ::-1],
            None if decision is None else -decision,
        )

    def score(
        self, rows: NDArray[np.int64], predicted: Predicted, *, taken: NDArray[Any] | None = None
    ) -> tuple[float, str | None]:
        """Return the score, greater is better, and the reason where it is undefined.

        `rows` are the rows the predictions are for; `taken`, if given, picks some of them by
        position, with repeats.
        """
        seen = self.seen(predicted)
        if taken is not None:
            rows, seen = rows[taken], take(seen, taken)
        try:
            value = self.metric.score(
                self.truth[rows],
                seen,
                weight=None if self.weight is None else self.weight[rows],
                X=None if self.metric.formula is not None else self.X[rows],
                n_classes=self.n_classes,
            )
        except Exception as error:  # a user's scorer may raise anything
            return float("nan"), f"{type(error).__name__}: {error}"
        return (value, None) if np.isfinite(value) else (float("nan"), "it is undefined there")


def take(predicted: Predicted, rows: NDArray[Any]) -> Predicted:
    """Return the predictions for some of the rows."""

    def part(array: NDArray[Any] | None) -> Any:
        return None if array is None else array[rows]

    return Predicted(
        part(predicted.label),
        part(predicted.probability),
        part(predicted.decision),
        part(predicted.value),
    )


def _rows(
    X: ArrayLike, y: ArrayLike, task: Task, classes: Sequence[Any] | None
) -> tuple[NDArray[Any], NDArray[Any], int | None]:
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise DataError(
            f"X must be a matrix of numbers; got {matrix.ndim} axes of type {matrix.dtype}"
        )
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    target = np.asarray(y)
    if target.shape != (len(matrix),):
        raise DataError(
            f"y must have one value per row of X, shape ({len(matrix)},); got {target.shape}"
        )
    n_classes = None
    if task.has_classes:
        target, n_classes = _codes(target, task, classes)
    else:
        target = target.astype(np.float64)
        if not np.isfinite(target).all():
            raise DataError("y has missing or infinite values; drop these rows first")
    return np.ascontiguousarray(matrix), target, n_classes


def _codes(
    y: NDArray[Any], task: Task, classes: Sequence[Any] | None
) -> tuple[NDArray[np.int64], int]:
    if y.dtype.kind not in "iub" or (len(y) and y.min() < 0):
        raise DataError(f"y must hold class codes 0, 1, ... for a {task} task; got type {y.dtype}")
    codes = y.astype(np.int64)
    seen = int(codes.max(initial=-1)) + 1
    n_classes = seen if classes is None else len(classes)
    if seen > n_classes:
        raise DataError(f"y has code {seen - 1}, but only {n_classes} classes are named")
    if len(np.unique(codes)) < 2:
        raise DataError("y has one class only: there is nothing to learn; check the target column")
    if task is Task.BINARY and n_classes != 2:
        raise DataError(f"y has {n_classes} classes, and the task is binary")
    return codes, n_classes


def _positive(positive: int | None, n_classes: int | None) -> int:
    if positive is None:
        return 1
    if n_classes != 2 or positive not in (0, 1):
        raise ParameterError(f"positive must be 0 or 1 and needs a binary task; got {positive!r}")
    return positive


def _costs(
    cost: Any, metric: Any, task: Task, n_classes: int | None, classes: Sequence[Any] | None
) -> CostMatrix | None:
    if cost is None:
        return None
    if n_classes is None:
        raise ParameterError(f"cost is for classes, and the task is {task}; leave it out")
    if metric is not None:
        raise ParameterError(
            f"cost and metric exclude each other: with costs, the mean cost is minimised; "
            f"got metric={metric!r}"
        )
    return CostMatrix.of(cost, range(n_classes) if classes is None else classes)


def _queries(groups: NDArray[Any] | None) -> NDArray[np.int64]:
    if groups is None:
        raise ParameterError("groups must name the query of each row when task='rank'; got None")
    return np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _column(name: str, values: ArrayLike | None, n: int) -> NDArray[Any] | None:
    if values is None:
        return None
    column = np.asarray(values)
    if column.shape != (n,):
        raise DataError(f"{name} must have one value per row, shape ({n},); got {column.shape}")
    return column
