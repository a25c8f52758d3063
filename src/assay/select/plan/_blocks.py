"""Assign rows to blocks: stratified, with whole groups, or consecutive in time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from assay.base import DataError, Task, check_interval
from assay.select.plan._canonical import stream

# At most this many strata are balanced one by one; the rarest are balanced together.
_MAX_STRATA = 64
_QUANTILE_BINS = 10


def make_blocks(
    y: ArrayLike,
    n_blocks: int = 5,
    *,
    task: str,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    seed: int = 0,
    repeat: int = 0,
) -> NDArray[np.int64]:
    """Assign every row to a block, so that blocks are as alike as possible.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class codes, or numbers for regression; blocks are balanced by class or by quantile.
    n_blocks : int, default=5
        Number of blocks.
    task : {"binary", "multiclass", "regression", "rank"}
        What `y` is.
    groups : array-like of shape (n_samples,), optional
        Rows with equal values go to the same block.
    time : array-like of shape (n_samples,), optional
        Blocks become consecutive in time, block 0 the earliest; equal times are not split. Then
        `groups`, `seed` and `repeat` have no effect here.
    seed, repeat : int
        Seed and number of the partition.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Block of each row, 0 to n_blocks - 1; no block is empty.

    Raises
    ------
    DataError
        If there are fewer rows, groups or times than blocks.

    Notes
    -----
    Without groups, the count of each class and the number of rows differ between blocks by at most
    one. Groups of several rows are placed one by one, largest first, where they disturb the balance
    least; the single rows then fill the gaps. O(n log n + number of groups).

    Examples
    --------
    >>> make_blocks([0, 0, 1, 1, 0, 1], 3, task="binary").tolist()
    [1, 0, 0, 2, 2, 1]
    """
    check_interval("n_blocks", n_blocks, 2, np.inf, integer=True)
    target = np.asarray(y)
    n = len(target)
    if n < n_blocks:
        raise DataError(
            f"{n} rows cannot be split into {n_blocks} blocks; use at most {n} blocks or more rows"
        )
    if time is not None:
        return _forward(np.asarray(time, dtype=np.float64), n_blocks)
    clusters = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_clusters = int(clusters.max()) + 1
    if n_clusters < n_blocks:
        raise DataError(
            f"{n_clusters} groups cannot be split into {n_blocks} blocks without tearing a group "
            f"apart; use at most {n_clusters} blocks or a finer group column"
        )
    strata = _strata(target, task)
    return _dealt(strata, clusters.reshape(-1), n_blocks, stream(seed, "blocks", repeat))


def linked(*labels: NDArray[Any] | None) -> NDArray[np.int64] | None:
    """Merge groupings: rows that share a value in any of them are in one group.

    Examples
    --------
    >>> linked(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7])).tolist()
    [0, 0, 0, 1]
    >>> linked(None, None) is None
    True
    """
    given = [
        np.unique(each, return_inverse=True)[1].reshape(-1) for each in labels if each is not None
    ]
    if not given:
        return None
    joined = given[0]
    for other in given[1:]:
        n_left, n_right = int(joined.max()) + 1, int(other.max()) + 1
        edges = (np.ones(len(joined), dtype=np.int8), (joined, other + n_left))
        graph = coo_array(edges, shape=(n_left + n_right,) * 2)
        _, component = connected_components(graph, directed=False)
        joined = np.unique(component[joined], return_inverse=True)[1].reshape(-1)
    return joined.astype(np.int64)


def _strata(y: NDArray[Any], task: str) -> NDArray[np.int64]:
    if not Task.of(task).has_classes:
        bins = min(_QUANTILE_BINS, max(1, len(y) // 10))
        edges = np.quantile(y, np.arange(1, bins) / bins)
        return np.searchsorted(edges, y, side="right").astype(np.int64)
    codes = np.unique(y, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(codes)
    if len(counts) > _MAX_STRATA:
        rank = np.empty(len(counts), dtype=np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
        codes = np.minimum(rank, _MAX_STRATA - 1)[codes]
    return codes.astype(np.int64)


def _dealt(
    strata: NDArray[np.int64],
    clusters: NDArray[np.int64],
    n_blocks: int,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    n, n_strata = len(strata), int(strata.max()) + 1
    sizes = np.bincount(clusters)
    block_of = np.empty(len(sizes), dtype=np.int64)  # of each cluster
    counts = np.zeros((n_blocks, n_strata))
    several = np.flatnonzero(sizes > 1)
    if len(several):
        block_of[several], counts = _placed(strata, clusters, sizes, several, n_blocks, random)
    labels = block_of[clusters]
    single = np.flatnonzero(sizes[clusters] == 1)
    shuffled = single[random.permutation(len(single))]
    filled = counts.sum(axis=1)
    for stratum in range(n_strata):
        rows = shuffled[strata[shuffled] == stratum]
        share = _levelled(counts[:, stratum], filled, len(rows))
        labels[rows] = np.repeat(np.arange(n_blocks), share)
        filled += share
    assert len(labels) == n
    return labels


def _placed(
    strata: NDArray[np.int64],
    clusters: NDArray[np.int64],
    sizes: NDArray[np.int64],
    several: NDArray[np.int64],
    n_blocks: int,
    random: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Place the clusters of several rows, largest first, each where the imbalance grows least.

    Imbalance = sum over strata of squared block shares, plus the same for all rows. What a cluster
    with counts v adds to it in block k is 2 v . (counts_k / total^2) + a constant.
    """
    n_strata = int(strata.max()) + 1
    total = np.bincount(strata, minlength=n_strata).astype(np.float64)
    scale = np.append(1 / np.maximum(total, 1) ** 2, 1 / len(strata) ** 2)
    member = np.flatnonzero(sizes[clusters] > 1)
    position = np.full(len(sizes), -1)
    position[several] = np.arange(len(several))
    content = np.zeros((len(several), n_strata + 1))  # the last column counts all rows
    np.add.at(content, (position[clusters[member]], strata[member]), 1)
    content[:, -1] = sizes[several]
    order = random.permutation(len(several))
    order = order[np.argsort(-sizes[several[order]], kind="stable")]
    counts = np.zeros((n_blocks, n_strata + 1))
    weighted = np.zeros_like(counts)
    block = np.empty(len(several), dtype=np.int64)
    for cluster in order:
        here = int(np.argmin(weighted @ content[cluster]))
        block[cluster] = here
        counts[here] += content[cluster]
        weighted[here] += content[cluster] * scale
    return block, counts[:, :-1]


def _levelled(
    have: NDArray[np.float64], filled: NDArray[np.float64], extra: int
) -> NDArray[np.int64]:
    """Split `extra` rows so that `have + share` is as level as possible; ties to emptier blocks."""
    present = have.astype(np.int64)
    low, high = int(present.min()), int(present.max()) + extra + 1
    while high - low > 1:  # the highest level that `extra` rows can pay for
        middle = (low + high) // 2
        if np.maximum(middle - present, 0).sum() <= extra:
            low = middle
        else:
            high = middle
    share = np.maximum(low - present, 0)
    left = extra - int(share.sum())
    eligible = np.flatnonzero(present + share == low)
    emptiest = eligible[np.argsort((filled + share)[eligible], kind="stable")]
    share[emptiest[:left]] += 1
    return share


def _forward(time: NDArray[np.float64], n_blocks: int) -> NDArray[np.int64]:
    if not np.isfinite(time).all():
        missing = int((~np.isfinite(time)).sum())
        raise DataError(f"the time of {missing} rows is missing; drop these rows or fill the times")
    times, counts = np.unique(time, return_counts=True)
    if len(times) < n_blocks:
        raise DataError(
            f"{len(times)} different times cannot be split into {n_blocks} blocks; "
            f"use at most {len(times)} blocks or a finer time column"
        )
    reached = np.cumsum(counts)
    first = 0  # index of the first time of the current block
    starts = []
    for block in range(1, n_blocks):
        # Leave at least one time for this block and for each that follows.
        options = reached[first : len(times) - (n_blocks - block)]
        first += 1 + int(np.argmin(np.abs(options - len(time) * block / n_blocks)))
        starts.append(times[first])
    return np.searchsorted(np.array(starts), time, side="right").astype(np.int64)
