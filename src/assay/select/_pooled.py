"""A metric on honest predictions of many blocks, as a whole and without some of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.evaluate import Metric
from assay.select._blocks import make_blocks
from assay.select._canonical import stream
from assay.select._score import Judge

Array = NDArray[np.float64]
#: rows of the problem, and predictions for them by one fit
Piece = tuple[NDArray[np.int64], Predicted]

_MOST_GROUPS, _FEWEST_GROUPS, _SCORER_GROUPS = 200, 20, 20
_MOST_CELLS = 8_000_000  # groups x rows held in memory
_MOST_PARTITIONS, _SCORER_PARTITIONS = 10, 2
_ROUNDING = 1e-12  # of values that differ by less, nothing is said
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


def measure(judge: Judge, pieces: Sequence[Piece], kept: NDArray[np.bool_] | None = None) -> Array:
    """Return the score of all pieces together, greater is better.

    Parameters
    ----------
    judge : Judge
        The metric and the truth.
    pieces : sequence of (rows, predictions)
        No row twice.
    kept : ndarray of bool of shape (m, n), optional
        Which rows of the problem take part, m times.

    Returns
    -------
    ndarray of shape (m,)
        Of shape (1,) without `kept`; NaN where the metric is undefined.
    """
    if is_pooled(judge.metric):
        return _scores(judge, _joined(pieces), kept)
    scores = np.array([_scores(judge, piece, kept) for piece in pieces])
    defined = np.isfinite(scores)
    count = defined.sum(axis=0)
    total = np.where(defined, scores, 0.0).sum(axis=0)
    mean: Array = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return mean


def groups_of_rows(
    judge: Judge, clusters: NDArray[np.int64] | None, seed: int
) -> NDArray[np.bool_]:
    """Return which rows are kept when one group of rows is left out, group by group.

    Rows that belong together are left out together. Every row is a group of its own as long as that
    is cheap; beyond, groups are random and of equal size.
    """
    n = len(judge.y)
    units = np.arange(n) if clusters is None else clusters
    count = int(units.max()) + 1
    most = _MOST_GROUPS if judge.metric.formula is not None else _SCORER_GROUPS
    groups = min(count, int(np.clip(_MOST_CELLS // n, _FEWEST_GROUPS, most)))
    number = stream(seed, "jackknife").permutation(count) % groups
    return np.asarray(number[units][None] != np.arange(groups)[:, None])


def balanced_groups(
    judge: Judge, clusters: NDArray[np.int64] | None, n_blocks: int, task: str, seed: int
) -> NDArray[np.bool_]:
    """Return which rows are kept when a block is left out, for fresh partitions of the same kind.

    Parameters
    ----------
    judge : Judge
        The metric and the truth.
    clusters : ndarray of int64, optional
        Rows that belong together.
    n_blocks : int
        Blocks of a partition.
    task : str
        As `make_blocks` takes it.
    seed : int
        Of the partitions.

    Returns
    -------
    ndarray of bool of shape (partitions, n_blocks, n)
        Blocks are balanced by target.
    """
    n = len(judge.y)
    most = _MOST_PARTITIONS if judge.metric.formula is not None else _SCORER_PARTITIONS
    count = int(np.clip(_MOST_CELLS // (n * n_blocks), 2, most))
    blocks = [
        make_blocks(judge.y, n_blocks, task=task, groups=clusters, seed=seed, repeat=_FRESH + each)
        for each in range(count)
    ]
    return np.asarray(np.stack(blocks)[:, None] != np.arange(n_blocks)[:, None])


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


def _scores(judge: Judge, piece: Piece, kept: NDArray[np.bool_] | None) -> Array:
    rows, predicted = piece
    formula = judge.metric.formula
    if formula is None:
        if kept is None:
            return np.array([judge.score(rows, predicted)[0]])
        parts = [np.flatnonzero(each[rows]) for each in kept]
        return np.array([judge.score(rows, predicted, taken=part)[0] for part in parts])
    weights = None if kept is None else kept[:, rows].astype(np.float64)
    if judge.weight is not None:
        own = judge.weight[rows]
        weights = own[None] if weights is None else weights * own
    try:
        return np.asarray(formula(judge.truth[rows], judge.seen(predicted), weights))
    except (ValueError, AttributeError):  # a chosen model without probabilities
        return np.full(1 if kept is None else len(kept), np.nan)


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
