"""A metric on honest predictions of many blocks, as a whole and without some of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.evaluate import Metric, Without, scores_without
from assay.select.plan import Question, RowPartitions, make_blocks, stream

Array = NDArray[np.float64]
#: rows of the problem, and predictions for them by one fit
Piece = tuple[NDArray[np.int64], Predicted]

_MOST_GROUPS, _FEWEST_GROUPS, _SCORER_GROUPS = 200, 20, 20
_MOST_CELLS = 8_000_000  # groups x rows held in memory
_MOST_PARTITIONS, _SCORER_PARTITIONS = 10, 2
_ROUNDING = 1e-12  # smaller differences are rounding
_FRESH = 1000  # partitions numbered from here on are nobody's


def is_pooled(metric: Metric) -> bool:
    """Say whether predictions of different fits are scored together.

    R², F1 or the root of a mean on a block of ten rows are not what they are on many: their mean
    over small blocks is biased. An order, on the other hand, exists only within one fit: scores of
    two fits need not have one scale. A scorer of the user's is called as scikit-learn would call
    it, block by block.

    Examples
    --------
    >>> from assay.evaluate import get_metric
    >>> [is_pooled(get_metric(name, "binary")) for name in ("f1", "roc_auc")]
    [True, False]
    """
    return metric.formula is not None and not metric.name.startswith(("roc_auc", "average_prec"))


def measure(
    question: Question, pieces: Sequence[Piece], group: NDArray[np.int64] | None = None
) -> Array:
    """Return the score of all pieces together, greater is better.

    Parameters
    ----------
    question : Question
        The metric and the truth.
    pieces : sequence of (rows, predictions)
        Of several repeats, a row may occur once in each.
    group : ndarray of int64 of shape (n,), optional
        Group of each row of the problem: the score is computed without each of them.

    Returns
    -------
    ndarray of shape (n_groups,)
        Of shape (1,) without `group`; NaN where the metric is undefined.
    """
    if is_pooled(question.metric):
        return _scores(question, _joined(pieces), group)
    return mean_of_pieces(np.array([_scores(question, piece, group) for piece in pieces]))


def mean_of_pieces(scores: Array) -> Array:
    """Return the mean over the pieces (rows) where the metric is defined."""
    defined = np.isfinite(scores)
    count = defined.sum(axis=0)
    total = np.where(defined, scores, 0.0).sum(axis=0)
    mean: Array = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return mean


def groups_of_rows(question: Question, blocks: RowPartitions) -> NDArray[np.int64]:
    """Return the group of each row; groups are left out one by one.

    Rows that belong together are left out together. Every row is a group of its own as long as that
    is cheap; beyond, groups are random and of equal size.
    """
    n = len(question.y)
    units = np.arange(n) if blocks.clusters is None else blocks.clusters
    count = int(units.max()) + 1
    most = _MOST_GROUPS if question.metric.formula is not None else _SCORER_GROUPS
    groups = min(count, int(np.clip(_MOST_CELLS // n, _FEWEST_GROUPS, most)))
    return np.asarray(stream(blocks.seed, "jackknife").permutation(count)[units] % groups)


def balanced_groups(question: Question, blocks: RowPartitions, n_blocks: int) -> NDArray[np.int64]:
    """Return the block of each row, for fresh partitions of the same kind.

    Parameters
    ----------
    question : Question
        The metric and the truth.
    blocks : RowPartitions
        Rows that belong together, and the seed.
    n_blocks : int
        Blocks of a partition.

    Returns
    -------
    ndarray of int64 of shape (partitions, n)
        Blocks are balanced by target.
    """
    n = len(question.y)
    most = _MOST_PARTITIONS if question.metric.formula is not None else _SCORER_PARTITIONS
    count = int(np.clip(_MOST_CELLS // (n * n_blocks), 2, most))
    fresh = [
        make_blocks(
            question.y,
            n_blocks,
            task=question.task,
            groups=blocks.clusters,
            seed=blocks.seed,
            repeat=_FRESH + each,
        )
        for each in range(count)
    ]
    return np.stack(fresh)


def jackknife_variance(values: Array) -> tuple[float, float]:
    r"""Return the variance of an estimate from its values without each group, and its freedom.

    Notes
    -----
    A variance of m values with kurtosis :math:`\kappa` has itself a relative variance of
    :math:`(\kappa - 1) / m`, that of :math:`2m / (\kappa - 1)` degrees of freedom: where few values
    make most of it (five positives of a hundred rows, far-out targets) much less than m - 1.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 4.0, 5.0])  # of their mean: s^2 / 4
    >>> variance, freedom = jackknife_variance((12 - values) / 3)
    >>> bool(np.isclose(variance, values.var(ddof=1) / 4)), freedom
    (True, 3.0)
    >>> round(jackknife_variance(np.array([0.0] * 99 + [1.0]))[1], 2)
    2.06
    """
    values = values[np.isfinite(values)]
    count = len(values)
    if count < 2:
        return float("nan"), 1.0
    squares = (values - values.mean()) ** 2
    variance, freedom = float(squares.sum() * (count - 1) / count), count - 1.0
    if variance > (_ROUNDING * np.abs(values).max()) ** 2:
        excess = float((squares**2).mean() / squares.mean() ** 2) - 1
        freedom = min(freedom, max(1.0, 2 * count / excess)) if excess > 0 else freedom
    return variance, freedom


def _scores(question: Question, piece: Piece, group: NDArray[np.int64] | None) -> Array:
    rows, predicted = piece
    formula = question.metric.formula
    count = 1 if group is None else int(group.max()) + 1
    if formula is None:
        if group is None:
            return np.array([question.score(rows, predicted)[0]])
        parts = [np.flatnonzero(group[rows] != each) for each in range(count)]
        return np.array([question.score(rows, predicted, taken=part)[0] for part in parts])
    truth, seen = question.truth[rows], question.seen(predicted)
    weight = None if question.weight is None else question.weight[rows]
    try:
        if group is None:
            return np.asarray(formula(truth, seen, None if weight is None else weight[None]))
        return scores_without(formula, truth, seen, Without(group[rows], count, weight))
    except (ValueError, AttributeError):  # a chosen model without probabilities
        return np.full(count, np.nan)


def _joined(pieces: Sequence[Piece]) -> Piece:
    def joined(name: str) -> NDArray[np.float64] | None:
        parts = [getattr(predicted, name) for _, predicted in pieces]
        return None if any(part is None for part in parts) else np.concatenate(parts)

    label = joined("label")
    return np.concatenate([rows for rows, _ in pieces]), Predicted(
        None if label is None else label.astype(np.int64),
        joined("probability"),
        joined("decision"),
        joined("value"),
    )
