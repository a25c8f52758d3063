"""Effective number of rows behind a share: all of them, or as many as the rarer classes have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.select.plan import Question

_OF_POSITIVES = {"recall": 1, "precision": 1, "f1": 2, "average_precision": 2}
_MEANS_OVER_CLASSES = ("balanced_accuracy", "recall_macro", "precision_macro", "f1_macro")


def effective_sample_size(question: Question) -> int:
    r"""Return the effective number of rows behind a metric in [0, 1].

    Parameters
    ----------
    question : Question
        The metric and the truth.

    Returns
    -------
    int
        Between 1 and the number of rows.

    Notes
    -----
    A hundred rows with five positives carry as much information about recall as five rows, even if
    all of them are found. An area under the curve a has a variance of at least about a(1-a)/2m, m
    the size of the rarer class: Hanley and McNeil's formula gives 1.5m rows for classes of one size
    and 2m to 3m where the other class is much larger. A mean over K classes with :math:`n_k` rows
    has :math:`K^2 / \sum_k 1/n_k`. The number of rows predicted as positive is assumed
    to be about the number of positives.
    """
    n, name = len(question.y), question.metric.name
    if question.n_classes is None or question.metric.by_query:
        return n
    count = np.bincount(question.truth, minlength=question.n_classes)
    rows = float(n)
    if name in _OF_POSITIVES and question.n_classes == 2:
        rows = float(_OF_POSITIVES[name] * count[1])
    elif name == "specificity":
        rows = float(count[0])
    elif name.startswith("roc_auc"):
        rarer = np.minimum(count, n - count)
        rarer = rarer[:1] if question.n_classes == 2 else rarer[rarer > 0]
        rows = 2.0 * _behind_a_mean(rarer)
    elif name in _MEANS_OVER_CLASSES:
        rows = _behind_a_mean(count[count > 0])
    return int(np.clip(round(rows), 1, n))


def _behind_a_mean(count: NDArray[np.int64]) -> float:
    return float(len(count) ** 2 / (1.0 / np.maximum(count, 1)).sum())
