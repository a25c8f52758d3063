"""An estimator and a question: what all curves have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import Predicted
from assay.evaluate import Metric
from assay.select.plan import Question
from assay.select.run import DefaultPath, Family, path_of
from assay.select.searches import family_of


@dataclass(frozen=True, eq=False)
class CurveQuestion:
    """An estimator, and the rows and metric by which it is scored.

    Parameters
    ----------
    estimator : estimator
        Classifier or regressor, or a pipeline that ends in one.
    question : Question
        Rows and metric.
    """

    estimator: Any
    question: Question

    @classmethod
    def of(cls, estimator: Any, X: ArrayLike, y: ArrayLike, **options: Any) -> CurveQuestion:
        """Check the rows and find the metric, as `Question.about` does."""
        return cls(estimator, Question.about(estimator, X, y, **options))

    @property
    def metric(self) -> Metric:
        """What is scored."""
        return self.question.metric

    def part(self, rows: NDArray[np.int64]) -> CurveQuestion:
        """Return the same question about some of the rows."""
        return replace(self, question=self.question.part(rows))

    def family(self, candidates: Sequence[Mapping[str, Any]]) -> Family:
        """Return the candidates as one family, so that they can share their work.

        The steps of a pipeline before the last are fitted once per training set if the candidates
        do not change them.
        """
        return family_of(type(self.estimator).__name__, self.estimator, candidates)

    def shares_fits(self, parameter: str) -> bool:
        """Return whether candidates that differ in this parameter share fits."""
        family = self.family([{parameter: None}])
        return type(path_of(family.estimator)) is not DefaultPath

    def score(self, rows: Sequence[NDArray[np.int64]], predicted: Sequence[Predicted]) -> float:
        """Return the score on several blocks taken together, in natural sign; NaN if undefined."""
        value, _ = self.question.score(np.concatenate(rows), joined(predicted))
        return self.metric.natural(value)


def joined(parts: Sequence[Predicted]) -> Predicted:
    """Return the predictions of several blocks as one."""

    def of(field: str) -> Any:
        arrays = [getattr(part, field) for part in parts]
        return None if any(array is None for array in arrays) else np.concatenate(arrays)

    return Predicted(of("label"), of("probability"), of("decision"), of("value"))
