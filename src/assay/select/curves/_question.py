"""An estimator, rows and a metric, ready for units: what the curves have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from assay.base import Predicted, class_codes, real_values
from assay.evaluate import Metric, get_metric
from assay.select.choose import Judge
from assay.select.plan import Problem
from assay.select.run import Family, path_of
from assay.select.searches import (
    family_of,
    problem_of,
    task_of,
)


@dataclass(frozen=True, eq=False)
class Question:
    """An estimator, the rows it is judged on, and the metric.

    Parameters
    ----------
    estimator : estimator
        Classifier or regressor, or a pipeline that ends in one.
    problem : Problem
        The rows.
    task : str
        "binary", "multiclass" or "regression".
    judge : Judge
        The metric.
    classes : ndarray or None
        Labels of the class codes.
    """

    estimator: Any
    problem: Problem
    task: str
    judge: Judge
    classes: NDArray[Any] | None

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        scoring: Any = None,
        sample_weight: ArrayLike | None = None,
        loss: str = "r2",
    ) -> Question:
        """Check the rows and find the metric; `loss` is that of numbers by default."""
        classifier = is_classifier(estimator)
        classes, target = class_codes(y) if classifier else (None, real_values(y))
        task = task_of(classifier, target)
        problem = problem_of(X, target, sample_weight, task)
        metric = get_metric(scoring or ("accuracy" if classifier else loss), task)
        judge = Judge(metric, problem.X, problem.y, problem.weight, problem.n_classes)
        return cls(estimator, problem, task, judge, classes)

    @property
    def metric(self) -> Metric:
        """What is scored."""
        return self.judge.metric

    def part(self, rows: NDArray[np.int64]) -> Question:
        """Return the same question about some of the rows."""
        whole = self.problem
        weight = None if whole.weight is None else whole.weight[rows]
        problem = Problem(whole.X[rows], whole.y[rows], weight, whole.n_classes)
        judge = Judge(self.metric, problem.X, problem.y, weight, problem.n_classes)
        return replace(self, problem=problem, judge=judge)

    def family(self, candidates: Sequence[Mapping[str, Any]]) -> Family:
        """Return the candidates as one family, so that they can share their work.

        The steps of a pipeline before the last are fitted once per training set if the candidates
        have no part in them.
        """
        return family_of(type(self.estimator).__name__, self.estimator, candidates)

    def shares_fits(self, parameter: str) -> bool:
        """Say whether candidates that differ in this parameter are more than single fits."""
        family = self.family([{parameter: None}])
        return (
            hasattr(type(family.estimator), "assay_path") and path_of(family.estimator) is not None
        )

    def score(self, rows: Sequence[NDArray[np.int64]], predicted: Sequence[Predicted]) -> float:
        """Return the score on several blocks taken together, in natural sign; NaN if undefined."""
        value, _ = self.judge.score(np.concatenate(rows), joined(predicted))
        return self.metric.natural(value)


def joined(parts: Sequence[Predicted]) -> Predicted:
    """Return the predictions of several blocks as one."""

    def of(field: str) -> Any:
        arrays = [getattr(part, field) for part in parts]
        return None if any(array is None for array in arrays) else np.concatenate(arrays)

    return Predicted(of("label"), of("probability"), of("decision"), of("value"))


def grouped(groups: ArrayLike | None) -> NDArray[Any] | None:
    """Return a column of groups as an array."""
    return None if groups is None else np.asarray(groups)
