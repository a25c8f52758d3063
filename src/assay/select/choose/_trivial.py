"""The trivial model: what guessing without looking at the columns would score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.select.choose._score import Judge


def baseline_name(judge: Judge) -> str:
    """Say what the trivial model does."""
    if judge.metric.by_query:
        return "items in random order"
    if judge.cost is not None:
        return "always the class that costs the least"
    if judge.n_classes is not None:
        return "always the most frequent class"
    return "always the median" if _wants_median(judge) else "always the mean"


def trivial_prediction(judge: Judge, train: NDArray[np.int64], n: int) -> Predicted:
    """Predict the most frequent class and the class shares, or the mean.

    The same as scikit-learn's DummyClassifier("prior") and DummyRegressor. For absolute errors the
    median, which is the constant that is best for them: the mean would be a straw man.
    """
    y = judge.y[train]
    weight = None if judge.weight is None else judge.weight[train]
    if weight is not None and not weight.any():
        weight = None
    if judge.n_classes is not None:
        share = np.bincount(y, weights=weight, minlength=judge.n_classes).astype(np.float64)
        share /= share.sum()
        label = np.full(n, share.argmax(), dtype=np.int64)
        return Predicted(label=label, probability=np.tile(share, (n, 1)))
    if _wants_median(judge):
        return Predicted(value=np.full(n, np.median(y)))
    return Predicted(value=np.full(n, np.average(y, weights=weight)))


def _wants_median(judge: Judge) -> bool:
    return judge.metric.name in ("mean_absolute_error", "median_absolute_error")
