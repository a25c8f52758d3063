"""Grow a tree whose splits reduce the standard deviation of the target most."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_BLOCK = 2**18  # values in a block of cumulative sums
_TIE = 1e-7  # square root of the rounding error of a sum that should be 0


@dataclass(frozen=True)
class DeviationTree:
    """Nodes in breadth-first order, with the rows of each; left[i] = 0 at a leaf."""

    left: list[int]
    feature: list[int]
    threshold: list[float]
    rows: list[NDArray[np.int64]]


@dataclass(frozen=True)
class GrowthLimits:
    """Stopping rules of growing."""

    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_deviation: float


def grow(Z: Floats, target: Floats, weight: Floats, limits: GrowthLimits) -> DeviationTree:
    """Split as long as the standard deviation decreases.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_columns)
        Numbers without missing values.
    target, weight : ndarray of shape (n_samples,)
        Targets and positive weights.
    limits : GrowthLimits
        When to stop.

    Returns
    -------
    DeviationTree
    """
    columns = np.ascontiguousarray(Z.T)
    orders = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
    least = limits.min_deviation * _deviation(target, weight)
    tree = DeviationTree([], [], [], [])
    queue = deque([(np.arange(len(Z)), orders, 0)])
    goes_left = np.zeros(len(Z), dtype=bool)
    n_nodes = 1
    while queue:
        rows, orders, depth = queue.popleft()
        tree.rows.append(rows)
        found = None
        if (
            depth != limits.max_depth
            and len(rows) > 1
            and weight[rows].sum()
            >= max(limits.min_samples_split, 2 * limits.min_samples_leaf) * (1 - 1e-9)
            and _deviation(target[rows], weight[rows]) > least
        ):
            found = _best_cut(columns, orders, target, weight, limits.min_samples_leaf)
        tree.left.append(0 if found is None else n_nodes)
        tree.feature.append(-1 if found is None else found[0])
        tree.threshold.append(0.0 if found is None else found[1])
        if found is None:
            continue
        n_nodes += 2
        goes_left[rows] = columns[found[0], rows] <= found[1]
        for side in (goes_left[orders], ~goes_left[orders]):
            child = orders[side].reshape(len(orders), -1)
            queue.append((np.sort(child[0]).astype(np.int64), child, depth + 1))
    return tree


def _deviation(target: Floats, weight: Floats) -> float:
    mean = weight @ target / weight.sum()
    return float(np.sqrt(weight @ (target - mean) ** 2 / weight.sum()))


def _best_cut(
    columns: Floats, orders: NDArray[np.int32], target: Floats, weight: Floats, min_leaf: float
) -> tuple[int, float] | None:
    """Return column and threshold with the smallest W_L sd_L + W_R sd_R; None without a gain."""
    rows = orders[0]
    w = weight[rows]
    mean = w @ target[rows] / w.sum()
    now = float(np.sqrt(w.sum() * (w @ (target[rows] - mean) ** 2)))
    lines = np.arange(len(orders))
    cost, cut = np.full(len(orders), np.inf), np.zeros(len(orders))
    step = max(1, _BLOCK // orders.shape[1])
    for begin in range(0, len(orders), step):
        some = lines[begin : begin + step]
        cost[some], cut[some] = _best_cuts(
            columns, orders[some], some, target, mean, weight, min_leaf, _TIE * now
        )
    if not cost.min() < now * (1 - _TIE):
        return None
    j = int(np.argmax(cost <= cost.min() + _TIE * now))
    return j, float(cut[j])


def _best_cuts(
    columns: Floats,
    orders: NDArray[np.int32],
    own: NDArray[np.int64],
    target: Floats,
    mean: float,
    weight: Floats,
    min_leaf: float,
    tie: float,
) -> tuple[Floats, Floats]:
    x = columns[own[:, None], orders]
    w, y = weight[orders], target[orders] - mean  # centred, to avoid cancellation
    mass, first, second = (np.cumsum(part, axis=1) for part in (w, w * y, w * y * y))
    possible = x[:, 1:] > x[:, :-1]
    enough = min_leaf * (1 - 1e-9)
    possible &= (mass[:, :-1] >= enough) & (mass[:, -1:] - mass[:, :-1] >= enough)
    left = _spread(mass[:, :-1], first[:, :-1], second[:, :-1])
    right = _spread(
        mass[:, -1:] - mass[:, :-1], first[:, -1:] - first[:, :-1], second[:, -1:] - second[:, :-1]
    )
    cost = np.where(possible, left + right, np.inf)
    lines, lowest = np.arange(len(orders)), cost.min(axis=1, keepdims=True)
    best = np.argmax(cost <= lowest + tie, axis=1)
    low, high = x[lines, best], x[lines, best + 1]
    middle = low / 2 + high / 2
    return cost[lines, best], np.where((middle >= low) & (middle < high), middle, low)


def _spread(mass: Floats, first: Floats, second: Floats) -> Floats:
    """Weight times standard deviation: sqrt(W (S2 - S1^2 / W))."""
    return np.sqrt(np.maximum(mass * second - first**2, 0.0))
