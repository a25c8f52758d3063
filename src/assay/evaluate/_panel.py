"""Metrics reported in addition to the selection metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import make_scorer, recall_score

from assay.evaluate._formulas import Counted, ratio
from assay.evaluate._metric import Metric, get_metric

_NAMES = {
    "binary": (
        "accuracy", "balanced_accuracy", "recall", "specificity", "precision", "f1", "roc_auc",
        "log_loss", "brier_score",
    ),
    "multiclass": (
        "accuracy", "balanced_accuracy", "precision_macro", "recall_macro", "f1_macro", "f1_micro",
        "roc_auc_ovr", "log_loss", "brier_score",
    ),
    "regression": ("r2", "mean_absolute_error", "root_mean_squared_error"),
    "rank": ("ndcg@10", "map", "auc", "kendall_tau"),
}  # fmt: skip


def panel(task: str) -> list[Metric]:
    """Return the usual metrics of a task.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression", "rank"}
        The task.

    Returns
    -------
    list of Metric
        Sensitivity is ``recall``; ``f1_micro`` of one label per row equals accuracy.

    Examples
    --------
    >>> [metric.name for metric in panel("regression")]
    ['r2', 'mean_absolute_error', 'root_mean_squared_error']
    """
    return [specificity() if name == "specificity" else get_metric(name, task)
            for name in _NAMES[task]]  # fmt: skip


def specificity() -> Metric:
    """Return the recall of class 0, the share of negative rows predicted as negative.

    Examples
    --------
    >>> from assay.base import Predicted
    >>> truth, guess = np.array([0, 0, 0, 1]), np.array([0, 1, 0, 1])
    >>> round(specificity().score(truth, Predicted(label=guess)), 3)
    0.667
    """
    scorer = make_scorer(recall_score, pos_label=0)
    return Metric("specificity", scorer, low=0.0, high=1.0, formula=Counted(_recall_of_zero))


def _recall_of_zero(
    hits: NDArray[np.float64],
    true: NDArray[np.float64],
    guessed: NDArray[np.float64],  # noqa: ARG001
) -> NDArray[np.float64]:
    return np.where(true.sum(axis=1) > 0, ratio(hits, true)[:, 0], np.nan)
