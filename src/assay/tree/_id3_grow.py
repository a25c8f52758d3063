"""Grow and prune a tree with one branch per category (LEARN-DECISION-TREE)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from assay.theory import chi_square_deviation, chi_square_threshold

LEAF, BRANCH, CUT, LEVEL = range(4)  # kinds of node and of splits

#: Gains that differ by less than this are tied, and the first column wins.
TIE = 1e-10

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tree:
    """Nodes in breadth-first order: those of one parent are side by side.

    Children of node i are ``child_start[i] .. child_start[i + 1] - 1``.
    """

    kind: NDArray[np.uint8]
    feature: NDArray[np.int32]
    threshold: Floats
    child_start: NDArray[np.int32]
    value: Floats  # class weights; an empty node has those of its parent
    weight: Floats  # 0 for an empty node


@dataclass(frozen=True)
class Options:
    """Options of growing."""

    kinds: NDArray[np.uint8]  # kind of split of each column; LEAF = never used
    n_levels: NDArray[np.int32]
    n_classes: int
    by_ratio: bool
    max_depth: int | None
    min_samples_split: int


@dataclass(frozen=True)
class _Part:
    """The rows of one node: indices, weights, and order by each column split by a threshold."""

    rows: Ints
    weight: Floats
    orders: NDArray[np.int32]
    unused: NDArray[np.bool_]
    depth: int


def grow(X: Floats, codes: Ints, weight: Floats, options: Options) -> Tree:
    """Grow the full tree.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers and category codes; NaN = missing.
    codes, weight : ndarray of shape (n_samples,)
        Class codes and positive weights.
    options : Options
        Options of growing.

    Returns
    -------
    Tree
    """
    search = _Search(X, codes, options)
    kinds: list[int] = []
    features: list[int] = []
    thresholds: list[float] = []
    first: list[int] = []
    values = [search.classes(np.arange(len(X)), weight)]
    weights = [float(weight.sum())]
    queue = deque([search.root(weight)])
    while queue:
        part = queue.popleft()
        split = search.best(part, values[len(kinds)])
        first.append(len(values))
        if split is None:
            kinds.append(LEAF)
            features.append(-1)
            thresholds.append(0.0)
            continue
        kind, feature, threshold = split
        for child in search.children(part, kind, feature, threshold):
            own = search.classes(child.rows, child.weight)
            values.append(own if len(child.rows) else values[len(kinds)])
            weights.append(float(own.sum()))
            queue.append(child)
        kinds.append(kind)
        features.append(feature)
        thresholds.append(threshold)
    return Tree(
        np.array(kinds, dtype=np.uint8),
        np.array(features, dtype=np.int32),
        np.array(thresholds),
        np.array([*first, len(values)], dtype=np.int32),
        np.array(values),
        np.array(weights),
    )


def prune_chi_square(tree: Tree, significance: float) -> Tree:
    """Prune, from the bottom up, splits above leaves that are not significant.

    Parameters
    ----------
    tree : Tree
        The full tree.
    significance : float in (0, 1)
        A split stays when chance gives its deviation with at most this probability.

    Returns
    -------
    Tree
    """
    kind, start = tree.kind.copy(), tree.child_start
    for node in np.flatnonzero(kind != LEAF)[::-1]:
        children = slice(start[node], start[node + 1])
        if (kind[children] == LEAF).all():
            table = tree.value[children][tree.weight[children] > 0]
            limit = chi_square_threshold(
                len(table), significance, n_classes=int(table.any(axis=0).sum())
            )
            if chi_square_deviation(table) < limit:
                kind[node] = LEAF
    return _reachable(tree, kind)


def _reachable(tree: Tree, kind: NDArray[np.uint8]) -> Tree:
    """Drop the nodes below new leaves; breadth-first order is kept."""
    keep = np.zeros(len(kind), dtype=bool)
    keep[0] = True
    for node in np.flatnonzero(kind != LEAF):
        if keep[node]:
            keep[tree.child_start[node] : tree.child_start[node + 1]] = True
    is_leaf = kind[keep] == LEAF
    n_children = np.where(is_leaf, 0, np.diff(tree.child_start)[keep])
    return Tree(
        kind[keep],
        np.where(is_leaf, -1, tree.feature[keep]).astype(np.int32),
        np.where(is_leaf, 0.0, tree.threshold[keep]),
        np.cumsum([1, *n_children]).astype(np.int32),
        tree.value[keep],
        tree.weight[keep],
    )


class _Search:
    """Search the best split of a node, with the counts of all columns at once."""

    def __init__(self, X: Floats, codes: Ints, options: Options) -> None:
        self.X, self.codes, self.options = X, codes, options
        self.listed = np.flatnonzero(np.isin(options.kinds, (BRANCH, LEVEL)))
        self.cut = np.flatnonzero(options.kinds == CUT)
        # One slot per category of each listed column and one for its missing values.
        sizes = options.n_levels[self.listed].astype(np.int64) + 1
        self.slots = np.cumsum([0, *sizes])
        listed = X[:, self.listed]
        gone = np.isnan(listed)
        self.slot = np.where(gone, sizes - 1, np.where(gone, 0, listed)).astype(np.int64)
        self.slot += self.slots[:-1]
        self.weight_of = np.zeros(len(X))
        self.member = np.zeros(len(X), dtype=bool)

    def root(self, weight: Floats) -> _Part:
        orders = np.argsort(self.X[:, self.cut], axis=0, kind="stable").T.astype(np.int32)
        unused = self.options.kinds != LEAF
        return _Part(np.arange(len(self.X)), weight, np.ascontiguousarray(orders), unused, 0)

    def classes(self, rows: Ints, weight: Floats) -> Floats:
        counts = np.bincount(self.codes[rows], weight, self.options.n_classes)
        return counts.astype(np.float64)

    def best(self, part: _Part, value: Floats) -> tuple[int, int, float] | None:
        """Return kind, column and threshold of the best split; None = leaf."""
        options = self.options
        if (
            len(part.rows) < options.min_samples_split
            or np.count_nonzero(value) < 2
            or part.depth == options.max_depth
        ):
            return None
        n_features = len(options.kinds)
        gain, info, threshold = (
            np.full(n_features, -1.0),
            np.zeros(n_features),
            np.zeros(n_features),
        )
        total = value.sum()
        self.weight_of[part.rows] = part.weight
        for columns, answer in (
            (self.listed, self._listed(part, total)),
            (self.cut, self._cut(part, total)),
        ):
            gain[columns], info[columns], threshold[columns] = answer
        gain[~part.unused] = -1.0
        usable = np.flatnonzero(gain >= 0)
        if not usable.size:
            return None
        merit = gain[usable]
        if options.by_ratio:
            # Quinlan: use the ratio among columns of at least average gain.
            ratio = merit / np.maximum(info[usable], 1e-300)
            merit = np.where(merit >= merit.mean() - TIE, ratio, -1.0)
        feature = int(usable[np.argmax(merit >= merit.max() - TIE)])
        return int(options.kinds[feature]), feature, float(threshold[feature])

    def children(self, part: _Part, kind: int, feature: int, threshold: float) -> list[_Part]:
        """Return the rows of each branch; one with a missing value goes to all, split by weight."""
        x = self.X[part.rows, feature]
        if kind == BRANCH:
            branch, n_branches = x, int(self.options.n_levels[feature])
        else:
            branch, n_branches = (x > threshold if kind == CUT else x != threshold) * 1.0, 2
        missing = np.isnan(x)
        known = np.bincount(branch[~missing].astype(np.int64), part.weight[~missing], n_branches)
        unused = part.unused.copy()
        unused[feature] = kind != BRANCH
        return [
            self._child(part, (branch == b) & ~missing, missing, known[b] / known.sum(), unused)
            for b in range(n_branches)
        ]

    def _child(
        self,
        part: _Part,
        inside: NDArray[np.bool_],
        missing: NDArray[np.bool_],
        share: float,
        unused: NDArray[np.bool_],
    ) -> _Part:
        if not inside.any():
            nothing = np.empty(0, dtype=np.int64)
            return _Part(nothing, np.empty(0), part.orders[:, :0], unused, part.depth + 1)
        keep = inside | missing
        rows = part.rows[keep]
        weight = np.where(missing, part.weight * share, part.weight)[keep]
        self.member[rows] = True
        orders = part.orders[self.member[part.orders]].reshape(len(self.cut), len(rows))
        self.member[rows] = False
        return _Part(rows, weight, orders, unused, part.depth + 1)

    def _listed(self, part: _Part, total: float) -> tuple[Floats, Floats, Floats]:
        """Gain, split information and best category of each column split by category."""
        n_columns, n_classes = len(self.listed), self.options.n_classes
        gain, info, level = np.full(n_columns, -1.0), np.zeros(n_columns), np.zeros(n_columns)
        if not n_columns:
            return gain, info, level
        cell = self.slot[part.rows] * n_classes + self.codes[part.rows, None]
        cells = np.bincount(
            cell.ravel(), np.repeat(part.weight, n_columns), self.slots[-1] * n_classes
        )
        counts = cells.astype(np.float64).reshape(-1, n_classes)
        for c, feature in enumerate(self.listed):
            if not part.unused[feature]:
                continue
            table = counts[self.slots[c] : self.slots[c + 1] - 1]
            whole = table.sum(axis=0)
            sizes = table.sum(axis=1)
            if np.count_nonzero(sizes) < 2:
                continue
            known = whole.sum()
            if self.options.kinds[feature] == LEVEL:
                rest = np.maximum(whole - table, 0.0)
                left = _spread(table) + _spread(rest)
                left[sizes == 0] = np.inf
                best = int(np.argmax(left <= left.min() + TIE * total))
                level[c], remainder = best, left[best]
                sizes = np.array([sizes[best], known - sizes[best]])
            else:
                remainder = _spread(table).sum()
            gain[c] = max(0.0, float(_spread(whole) - remainder)) / total
            info[c] = _spread(np.append(sizes, max(0.0, total - known))) / total
        return gain, info, level

    def _cut(self, part: _Part, total: float) -> tuple[Floats, Floats, Floats]:
        """Gain, split information and best threshold of each column split by a threshold."""
        n_columns = len(self.cut)
        answer = np.full(n_columns, -1.0), np.zeros(n_columns), np.zeros(n_columns)
        # As many columns at once as fit, with their cumulative class counts, in the cache.
        step = max(1, 2**20 // (self.options.n_classes * max(1, len(part.rows))))
        for begin in range(0, n_columns, step):
            some = slice(begin, begin + step)
            for mine, found in zip(answer, self._cut_some(part, total, some), strict=True):
                mine[some] = found
        return answer

    def _cut_some(self, part: _Part, total: float, some: slice) -> tuple[Floats, Floats, Floats]:
        orders = part.orders[some]
        x = self.X[orders, self.cut[some, None]]
        weight = self.weight_of[orders]
        below = np.zeros((*orders.shape, self.options.n_classes))
        np.put_along_axis(below, self.codes[orders][..., None], weight[..., None], axis=2)
        below = np.cumsum(below, axis=1)
        n_known = np.count_nonzero(~np.isnan(x), axis=1)
        lines = np.arange(len(orders))
        whole = below[lines, np.maximum(n_known - 1, 0)]
        known = np.where(n_known > 0, whole.sum(axis=1), 0.0)
        above = np.maximum(whole[:, None] - below[:, :-1], 0.0)
        with np.errstate(invalid="ignore"):
            possible = x[:, :-1] < x[:, 1:]  # False next to a missing value
        left = np.where(possible, _spread(below[:, :-1]) + _spread(above), np.inf)
        if not left.shape[1]:
            return np.full(len(orders), -1.0), np.zeros(len(orders)), np.zeros(len(orders))
        best = np.argmax(left <= left.min(axis=1, keepdims=True) + TIE * total, axis=1)
        found = possible[lines, best]
        with np.errstate(invalid="ignore"):
            gain = np.maximum(0.0, _spread(whole) - left[lines, best]) / total
        low, high = x[lines, best], x[lines, best + 1]
        middle = low / 2 + high / 2
        size = below[lines, best].sum(axis=1)
        sizes = np.column_stack([size, known - size, total - known])
        return (
            np.where(found, gain, -1.0),
            _spread(np.maximum(sizes, 0.0)) / total,
            np.where(found, np.where((middle < high) & (middle >= low), middle, low), 0.0),
        )


def _spread(counts: Floats) -> Floats:
    """Entropy in bits times the total, over the last axis."""
    total = counts.sum(axis=-1)
    return (xlogy(total, total) - xlogy(counts, counts).sum(axis=-1)) / np.log(2.0)  # type: ignore[no-any-return]
