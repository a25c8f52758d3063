"""Grow a tree of boxes that follow the density of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BoxTree:
    """Nodes in breadth-first order; children of inner node i are left[i] and left[i] + 1."""

    left: NDArray[np.int32]  # 0 = leaf
    feature: NDArray[np.int32]
    threshold: Floats
    depth: NDArray[np.int32]
    weight: Floats
    low: Floats  # (n_nodes, n_columns): the boxes
    high: Floats
    mean: Floats  # (n_nodes, n_columns) of the rows inside
    deviation: Floats

    def visits(self, X: Floats) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return, for each depth, the rows that have not reached a leaf yet and their nodes."""
        node: NDArray[np.int64] = np.zeros(len(X), dtype=np.int64)
        row: NDArray[np.int64] = np.arange(len(X))
        found = []
        while row.size:
            found.append((row, node))
            inner = self.left[node] > 0
            row, node = row[inner], node[inner]
            above = X[row, self.feature[node]] > self.threshold[node]
            node = self.left[node].astype(np.int64) + above
        return found


@dataclass(frozen=True)
class BoxLimits:
    """Limits on the growth of a box tree."""

    criterion: str
    max_depth: int | None
    min_samples_leaf: float
    with_moments: bool  # compute means and deviations of nodes, else 0


def grow(X: Floats, weight: Floats, low: Floats, high: Floats, limits: BoxLimits) -> BoxTree:
    """Split boxes as long as both halves have enough rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        The rows, all inside the box.
    weight : ndarray of shape (n_samples,)
        Positive weights.
    low, high : ndarray of shape (n_columns,)
        The box of the root.
    limits : BoxLimits
        When to stop.

    Returns
    -------
    BoxTree
    """
    columns = np.ascontiguousarray(X.T)
    level = _Level(
        np.argsort(columns, axis=1, kind="stable").astype(np.int32),
        np.array([0, len(X)]),
        low[None],
        high[None],
    )
    levels: list[_Level] = []
    splits: list[tuple[NDArray[np.bool_], NDArray[np.int64], Floats]] = []
    while True:
        levels.append(level)
        if len(levels) - 1 == limits.max_depth:
            found = np.zeros(level.n_nodes, dtype=bool)
            splits.append((found, np.zeros(0, dtype=np.int64), np.zeros(0)))
            break
        found, feature, cut = _best_cuts(columns, weight, level, limits)
        splits.append((found, feature[found], cut[found]))
        if not found.any():
            break
        level = _next_level(columns, level, found, feature, cut)
    inner = np.concatenate([found for found, _, _ in splits])
    split_column = np.full(len(inner), -1, dtype=np.int32)
    threshold = np.zeros(len(inner))
    split_column[inner] = np.concatenate([feature for _, feature, _ in splits])
    threshold[inner] = np.concatenate([cut for _, _, cut in splits])
    moments = [_moments(X, weight, level, limits.with_moments) for level in levels]
    return BoxTree(
        np.where(inner, 2 * np.cumsum(inner) - 1, 0).astype(np.int32),
        split_column,
        threshold,
        np.repeat(np.arange(len(levels)), [level.n_nodes for level in levels]).astype(np.int32),
        np.concatenate([mass for mass, _, _ in moments]),
        np.concatenate([level.low for level in levels]),
        np.concatenate([level.high for level in levels]),
        np.concatenate([mean for _, mean, _ in moments]),
        np.concatenate([deviation for _, _, deviation in moments]),
    )


@dataclass(frozen=True)
class _Level:
    """All nodes of one depth, with their rows contiguous and sorted by each column."""

    orders: NDArray[np.int32]  # (n_columns, n_rows)
    starts: NDArray[np.int64]  # (n_nodes + 1,)
    low: Floats  # (n_nodes, n_columns)
    high: Floats

    @property
    def n_nodes(self) -> int:
        return len(self.starts) - 1

    @property
    def node(self) -> NDArray[np.int64]:
        """Node of each position."""
        return np.repeat(np.arange(self.n_nodes), np.diff(self.starts))


def _best_cuts(
    columns: Floats, weight: Floats, level: _Level, limits: BoxLimits
) -> tuple[NDArray[np.bool_], NDArray[np.int64], Floats]:
    """Return which nodes have a useful split, and its column and threshold."""
    node, first = level.node, level.starts[:-1]
    n_columns, n_nodes = len(columns), level.n_nodes
    total = np.add.reduceat(weight[level.orders[0]], first)
    scale = 1e-12 * (total**2 if limits.criterion == "squared_error" else total)
    top, feature = np.full(n_nodes, -np.inf), np.zeros(n_nodes, dtype=np.int64)
    cut = np.zeros(n_nodes)
    for j in range(n_columns):
        x = columns[j, level.orders[j]]
        mass = np.cumsum(weight[level.orders[j]])
        mass -= (mass[first] - weight[level.orders[j, first]])[node]
        gain, cuts = _gains(x, mass, total[node], level.low[node, j], level.high[node, j], limits)
        best = np.maximum.reduceat(gain, first)
        # Ties up to rounding go to the first column.
        slack = scale + 1e-12 * np.where(np.isfinite(best), best, 0.0)
        better = best > np.where(np.isfinite(top), top + slack, scale)
        places = np.flatnonzero(gain >= (best - slack)[node])
        owner, where = np.unique(node[places], return_index=True)
        owner, places = owner[better[owner]], places[where[better[owner]]]
        top[owner], feature[owner], cut[owner] = best[owner], j, cuts[places]
    return np.isfinite(top), feature, cut


def _gains(
    x: Floats, below: Floats, total: Floats, low: Floats, high: Floats, limits: BoxLimits
) -> tuple[Floats, Floats]:
    """Gain and threshold of a split after each position; -inf where none is allowed.

    There is none after the last row of a node, since no row would be on the right.
    """
    after = np.append(x[1:], x[-1:])
    cut = x / 2 + after / 2
    above = total - below
    share = (cut - low) / (high - low)  # share of the volume
    enough = limits.min_samples_leaf * (1 - 1e-9)
    possible = (after > cut) & (cut >= x) & (below >= enough) & (above >= enough)
    possible &= (share > 0) & (share < 1)
    gain = np.full(len(x), -np.inf)
    below, above, share, total = below[possible], above[possible], share[possible], total[possible]
    if limits.criterion == "squared_error":
        gain[possible] = below**2 / share + above**2 / (1 - share) - total**2
    else:
        left, right = xlogy(below, below / share), xlogy(above, above / (1 - share))
        gain[possible] = left + right - xlogy(total, total)
    return gain, cut


def _next_level(
    columns: Floats,
    level: _Level,
    found: NDArray[np.bool_],
    feature: NDArray[np.int64],
    cut: Floats,
) -> _Level:
    """Return the children: the rows of each node are partitioned, each part in its old order."""
    keep = found[level.node]
    orders = level.orders[:, keep]
    sizes = np.diff(level.starts)[found]
    starts = np.cumsum([0, *sizes])
    node = np.repeat(np.arange(len(sizes)), sizes)
    feature, cut = feature[found], cut[found]
    goes_left = np.zeros(columns.shape[1], dtype=bool)
    goes_left[orders[0]] = columns[feature[node], orders[0]] <= cut[node]
    n_left = np.add.reduceat(goes_left[orders[0]].astype(np.int64), starts[:-1])
    children = np.empty_like(orders)
    place = np.arange(orders.shape[1])
    for line, child in zip(orders, children, strict=True):
        left = goes_left[line]
        rank = np.cumsum(left)
        rank -= (rank[starts[:-1]] - left[starts[:-1]])[node]  # lefts of this node up to here
        inside = place - starts[:-1][node]
        child[starts[:-1][node] + np.where(left, rank - 1, n_left[node] + inside - rank)] = line
    lines = np.arange(len(sizes))
    low = np.repeat(level.low[found], 2, axis=0)
    high = np.repeat(level.high[found], 2, axis=0)
    high[2 * lines, feature] = cut
    low[2 * lines + 1, feature] = cut
    parts = np.column_stack([n_left, sizes - n_left]).ravel()
    return _Level(children, np.cumsum([0, *parts]), low, high)


def _moments(
    X: Floats, weight: Floats, level: _Level, with_moments: bool
) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and standard deviation of the rows of each node."""
    rows, first, node = level.orders[0], level.starts[:-1], level.node
    w = weight[rows]
    mass = np.add.reduceat(w, first)
    if not with_moments:
        return mass, np.zeros(level.low.shape), np.zeros(level.low.shape)
    mean = np.add.reduceat(w[:, None] * X[rows], first) / mass[:, None]
    square = np.add.reduceat(w[:, None] * (X[rows] - mean[node]) ** 2, first)
    return mass, mean, np.sqrt(square / mass[:, None])
