"""The baseline: what guessing without looking at the columns would score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.select.plan import Question


def baseline_name(question: Question) -> str:
    """Return what the trivial model does, in words."""
    if question.metric.by_query:
        return "items in random order"
    if question.cost is not None:
        return "always the class that costs the least"
    if question.n_classes is not None:
        return "always the most frequent class"
    return "always the median" if _wants_median(question) else "always the mean"


def trivial_prediction(question: Question, train: NDArray[np.int64], n: int) -> Predicted:
    """Predict the most frequent class and the class shares, or the mean.

    The same as scikit-learn's DummyClassifier("prior") and DummyRegressor. For absolute errors the
    median, which is the constant that is best for them: the mean would be a straw man.
    """
    y = question.y[train]
    weight = None if question.weight is None else question.weight[train]
    if weight is not None and not weight.any():
        weight = None
    if question.n_classes is not None:
        share = np.bincount(y, weights=weight, minlength=question.n_classes).astype(np.float64)
        share /= share.sum()
        label = np.full(n, share.argmax(), dtype=np.int64)
        return Predicted(label=label, probability=np.tile(share, (n, 1)))
    if _wants_median(question):
        return Predicted(value=np.full(n, np.median(y)))
    return Predicted(value=np.full(n, np.average(y, weights=weight)))


def _wants_median(question: Question) -> bool:
    return question.metric.name in ("mean_absolute_error", "median_absolute_error")
