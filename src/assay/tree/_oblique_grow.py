"""Grow trees whose splits are hyperplanes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.tree._oblique_split import Split, informative_directions

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ObliqueOptions:
    """Options of growing; `criterion` determines the meaning of `sums`."""

    criterion: str
    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    min_impurity_decrease: float
    n_restarts: int
    seed: int


@dataclass(frozen=True)
class ObliqueTree:
    """Nodes in breadth-first order; children of inner node i are left[i] and left[i] + 1."""

    left: NDArray[np.int32]  # 0 = leaf
    slot: NDArray[np.int32]  # index of the split, or of the leaf value
    weight: Floats
    threshold: Floats
    fill: Floats
    value: Floats


def grow(X: Floats, sums: Floats, weight: Floats, options: ObliqueOptions) -> ObliqueTree:
    """Grow a tree.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN = missing: replaced by the mean of the node.
    sums : ndarray of shape (n_samples, n_sums)
        Contribution of each row to a leaf: its weight in the column of its class, or its weight
        times its targets.
    weight : ndarray of shape (n_samples,)
        Positive.
    options : ObliqueOptions
        Options of growing.

    Returns
    -------
    ObliqueTree
    """
    split = Split(options.criterion, options.min_samples_leaf)
    left: list[int] = []
    slot: list[int] = []
    splits: list[tuple[Floats, float, Floats]] = []
    values: list[Floats] = []
    queue = deque([(np.arange(len(X)), 0, 1)])
    n_nodes = 1
    while queue:
        rows, depth, key = queue.popleft()
        found = None
        if depth != options.max_depth and len(rows) >= max(
            options.min_samples_split, 2 * options.min_samples_leaf
        ):
            least = options.min_impurity_decrease * weight.sum()
            node = (X[rows], sums[rows], weight[rows])
            found = _best_split(*node, split, options, least, key)
        if found is None:
            left.append(0)
            slot.append(len(values))
            values.append(sums[rows].sum(axis=0) / weight[rows].sum())
            continue
        goes_left, best = found
        left.append(n_nodes)
        slot.append(len(splits))
        splits.append(best)
        # Random choices depend on the path to a node, not on the order of growth.
        queue.append((rows[goes_left], depth + 1, 2 * key))
        queue.append((rows[~goes_left], depth + 1, 2 * key + 1))
        n_nodes += 2
    d = X.shape[1]
    return ObliqueTree(
        np.array(left, dtype=np.int32),
        np.array(slot, dtype=np.int32),
        np.array([weights for weights, _, _ in splits]).reshape(-1, d),
        np.array([threshold for _, threshold, _ in splits], dtype=np.float64),
        np.array([fill for _, _, fill in splits]).reshape(-1, d),
        np.array(values),
    )


def scores(X: Floats, weight: Floats, fill: Floats, line: NDArray[np.int64]) -> Floats:
    """Return w'x for each row, with the weights of its split; used by fit and predict."""
    missing = np.isnan(X)
    if missing.any():
        X = np.where(missing, fill[line], X)
    return np.einsum("ij,ij->i", X, weight[line])  # type: ignore[no-any-return]


def _best_split(
    X: Floats,
    sums: Floats,
    weight: Floats,
    split: Split,
    options: ObliqueOptions,
    least: float,
    key: int,
) -> tuple[NDArray[np.bool_], tuple[Floats, float, Floats]] | None:
    """Return the rows that go left, and (weights, threshold, fill) of the split; None = leaf."""
    if options.criterion == "squared_error":
        # Centred at the mean of the node, to avoid cancellation in the sums of squares.
        centred = sums - weight[:, None] * (sums.sum(axis=0) / weight.sum())
        if np.abs(centred).max() <= 1e-12 * np.abs(sums).max():
            return None
        sums = centred
    elif np.count_nonzero(sums.sum(axis=0)) < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        fill, spread = _moments(X, weight)
    known = np.where(np.isnan(X), fill, X)
    gain, cut = split.best_cuts(np.ascontiguousarray(known.T), sums, weight, 0.0)
    j = int(np.argmax(gain >= gain.max() * (1 - 1e-12)))
    best, threshold = gain[j], float(cut[j])
    weights = np.zeros(X.shape[1])
    weights[j] = 1.0
    usable = np.isfinite(spread) & (spread > 0)
    # With fewer rows a hyperplane can separate anything (the rule of OC1).
    if usable.sum() > 1 and len(X) > 2 * usable.sum():
        rng = np.random.default_rng([options.seed, key])
        z = (known[:, usable] - fill[usable]) / spread[usable]
        directions = _directions(z, sums, weight, split, options.n_restarts, rng)
        raw = np.zeros((len(directions), X.shape[1]))
        raw[:, usable] = directions / spread[usable]
        along = np.array([_along(known, line) for line in raw])
        gains, cuts = split.best_cuts(along, sums, weight, 1e-9)
        i = int(np.argmax(gains))
        if gains[i] > best * (1 + 1e-9) and np.isfinite(cuts[i]):
            best, threshold, weights = gains[i], float(cuts[i]), raw[i]
    if best <= 0 or best < least:
        return None
    goes_left = _along(known, weights) <= threshold
    return goes_left, (weights, threshold, fill)


def _directions(
    z: Floats,
    sums: Floats,
    weight: Floats,
    split: Split,
    n_restarts: int,
    rng: np.random.Generator,
) -> Floats:
    """Return candidate directions: discriminants, and the best of them and random ones improved."""
    informative = informative_directions(z, sums, weight, split.criterion != "squared_error")
    start = rng.normal(size=(n_restarts, z.shape[1]))
    if len(informative):
        gains, _ = split.best_cuts(informative @ z.T, sums, weight, 1e-9)
        start = np.concatenate([informative[[int(np.argmax(gains))]], start])
    size = np.abs(start).max(axis=1, keepdims=True)
    climbed = split.climb(z, start / size, sums, weight, rng) if len(start) else start
    found = np.concatenate([informative, climbed])
    found = found[np.isfinite(found).all(axis=1)]
    size = np.abs(found).max(axis=1, keepdims=True)
    return found / np.where(size > 0, size, 1.0)  # type: ignore[no-any-return]


def _along(known: Floats, weights: Floats) -> Floats:
    line = np.zeros(len(known), dtype=np.int64)
    return scores(known, weights[None], weights[None], line)


def _moments(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column over its known values."""
    known = ~np.isnan(X)
    heavy = np.where(known, weight[:, None], 0.0)
    total = np.maximum(heavy.sum(axis=0), 1e-300)
    values = np.where(known, X, 0.0)
    fill = (heavy * values).sum(axis=0) / total
    fill = np.where(np.isfinite(fill), fill, 0.0)
    spread = np.sqrt((heavy * np.where(known, X - fill, 0.0) ** 2).sum(axis=0) / total)
    return fill, np.where(spread > 1e-12 * np.abs(fill), spread, 0.0)
