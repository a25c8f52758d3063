"""Leaves as boxes, one set of allowed values per column, and their simplification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.tree._tree_view import TreeView

_FREE = np.iinfo(np.int64).max


@dataclass
class Boxes:
    """Boxes in the space of the columns, one per row of the arrays.

    Parameters
    ----------
    low, high : ndarray of float64 of shape (n_boxes, n_features)
        Numeric columns: low < value <= high.
    levels : dict of int to ndarray of bool of shape (n_boxes, n_levels)
        Nominal columns: the categories allowed.
    missing : ndarray of bool of shape (n_boxes, n_features)
        Whether a missing value is allowed.
    order : ndarray of int64 of shape (n_boxes, n_features)
        Depth at which the column is first split on; the largest integer if never.
    leaf : ndarray of int64 of shape (n_boxes,)
        Node of the box.
    answer : ndarray of int64 of shape (n_boxes,)
        Class predicted in the box; -1 for a regression.
    has_missing : ndarray of bool of shape (n_features,)
        Columns with missing values in fit.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    levels: dict[int, NDArray[np.bool_]]
    missing: NDArray[np.bool_]
    order: NDArray[np.int64]
    leaf: NDArray[np.int64]
    answer: NDArray[np.int64]
    has_missing: NDArray[np.bool_]

    @classmethod
    def of(cls, tree: TreeView, has_missing: NDArray[np.bool_]) -> Boxes:
        """Return the boxes of all leaves, in order from left to right."""
        n, d = tree.node_count, tree.n_features
        answer = tree.answer.argmax(axis=1) if tree.classes else np.full(n, -1)
        nodes = cls(
            np.full((n, d), -np.inf),
            np.full((n, d), np.inf),
            {int(j): np.ones((n, tree.n_levels[j]), bool) for j in np.flatnonzero(tree.n_levels)},
            np.ones((n, d), dtype=bool),
            np.full((n, d), _FREE, dtype=np.int64),
            np.arange(n),
            answer.astype(np.int64),
            has_missing,
        )
        for depth, level in enumerate(tree.levels):
            for node in level[tree.left[level] > 0].tolist():
                nodes._split(tree, node, depth)
        return nodes.taken(_from_left_to_right(tree))

    def taken(self, rows: NDArray[np.int64]) -> Boxes:
        """Return a subset of the boxes."""
        return Boxes(
            self.low[rows],
            self.high[rows],
            {j: mask[rows] for j, mask in self.levels.items()},
            self.missing[rows],
            self.order[rows],
            self.leaf[rows],
            self.answer[rows],
            self.has_missing,
        )

    def meets(self, other: Boxes, row: int) -> NDArray[np.bool_]:
        """Return which boxes intersect one box of `other`."""
        common = np.ones(len(self.low), dtype=bool)
        for j in np.flatnonzero(other.order[row] < _FREE).tolist():
            if j in self.levels:
                touch = (self.levels[j] & other.levels[j][row]).any(axis=1)
            else:
                touch = np.maximum(self.low[:, j], other.low[row, j]) < np.minimum(
                    self.high[:, j], other.high[row, j]
                )
            if self.has_missing[j]:
                touch |= self.missing[:, j] & other.missing[row, j]
            common &= touch
        return common

    def contains(self, row: int) -> NDArray[np.bool_]:
        """Return which boxes contain the box `row`."""
        inside = (self.low <= self.low[row]) & (self.high >= self.high[row])
        inside &= self.missing | ~self.missing[row] | ~self.has_missing
        whole: NDArray[np.bool_] = inside.all(axis=1)
        for mask in self.levels.values():
            whole &= (mask | ~mask[row]).all(axis=1)
        return whole

    def _split(self, tree: TreeView, node: int, depth: int) -> None:
        left, j = int(tree.left[node]), int(tree.column[node])
        for child in (left, left + 1):
            for array in (self.low, self.high, self.missing, self.order, *self.levels.values()):
                array[child] = array[node]
            self.order[child, j] = min(self.order[child, j], depth)
            self.missing[child, j] &= bool(tree.missing_left[node]) == (child == left)
        if tree.is_nominal[node]:
            goes_left = tree.level_mask(node)
            self.levels[j][left] &= goes_left
            self.levels[j][left + 1] &= ~goes_left
        else:
            self.high[left, j] = min(self.high[left, j], tree.cut[node])
            self.low[left + 1, j] = max(self.low[left + 1, j], tree.cut[node])


def simplified(leaves: Boxes, answer: int) -> Boxes:
    """Return fewer and larger boxes that cover exactly the leaves of one class.

    Parameters
    ----------
    leaves : Boxes
        The leaves of a tree; they partition the space.
    answer : int
        The class.
    """
    others = leaves.taken(np.flatnonzero(leaves.answer != answer))
    terms = leaves.taken(np.flatnonzero(leaves.answer == answer))
    terms = _joined(terms)
    for row in range(len(terms.low)):
        _widen(terms, row, others)
    return _joined(_without_parts(terms))


def _widen(terms: Boxes, row: int, others: Boxes) -> None:
    """Drop every bound of a term that excludes no box of another class, starting at the root."""
    for j in np.argsort(terms.order[row], kind="stable"):
        if terms.order[row, j] == _FREE:
            break
        whole = _bounds(terms, row, j)
        if _dropped(terms, row, j, others, low=True, high=True):
            continue
        if j not in terms.levels:
            low_gone = np.isfinite(whole[0]) and _dropped(terms, row, j, others, low=True)
            if not low_gone and np.isfinite(whole[1]):
                _dropped(terms, row, j, others, high=True)


def _dropped(
    terms: Boxes, row: int, j: int, others: Boxes, *, low: bool = False, high: bool = False
) -> bool:
    """Drop one or both bounds of a column if that admits no other box; return whether it did."""
    kept = _bounds(terms, row, j)
    if low:
        terms.low[row, j] = -np.inf
    if high:
        terms.high[row, j] = np.inf
    if low and high:
        terms.order[row, j] = _FREE
        terms.missing[row, j] = True
        if j in terms.levels:
            terms.levels[j][row] = True
    if not others.meets(terms, row).any():
        return True
    terms.low[row, j], terms.high[row, j], terms.order[row, j], terms.missing[row, j] = kept[:4]
    if j in terms.levels:
        terms.levels[j][row] = kept[4]
    return False


def _bounds(terms: Boxes, row: int, j: int) -> tuple[float, float, int, bool, NDArray[np.bool_]]:
    levels = terms.levels[j][row].copy() if j in terms.levels else np.empty(0, dtype=bool)
    return (
        float(terms.low[row, j]),
        float(terms.high[row, j]),
        int(terms.order[row, j]),
        bool(terms.missing[row, j]),
        levels,
    )


def _without_parts(terms: Boxes) -> Boxes:
    """Remove terms that lie inside another one; of duplicates the first is kept."""
    gone = np.zeros(len(terms.low), dtype=bool)
    for row in range(len(gone)):
        larger = terms.contains(row) & ~gone
        larger[row] = False
        gone[row] = larger.any()
    return terms.taken(np.flatnonzero(~gone))


def _joined(terms: Boxes) -> Boxes:
    """Join terms that differ in one column, as long as one condition can express both."""
    n_before = -1
    while n_before != len(terms.low):
        n_before = len(terms.low)
        row = 0
        while row < len(terms.low):
            other = _partner(terms, row)
            if other is None:
                row += 1
            else:  # search again: the wider term may have another partner
                terms = terms.taken(np.delete(np.arange(len(terms.low)), other))
    return terms


def _partner(terms: Boxes, row: int) -> int | None:
    """Join a later term to this one and return its index; None if there is none to join."""
    differs = (terms.low != terms.low[row]) | (terms.high != terms.high[row])
    differs |= (terms.missing != terms.missing[row]) & terms.has_missing
    for j, mask in terms.levels.items():
        differs[:, j] |= (mask != mask[row]).any(axis=1)
    for other in np.flatnonzero(differs.sum(axis=1) == 1):
        if other > row and _join(terms, row, int(other), int(differs[other].argmax())):
            return int(other)
    return None


def _join(terms: Boxes, a: int, b: int, j: int) -> bool:
    """Replace term a by the union of a and b in column j, if that is one condition."""
    if j in terms.levels:
        terms.levels[j][a] |= terms.levels[j][b]
        free = terms.levels[j][a].all()
    else:
        if max(terms.low[a, j], terms.low[b, j]) > min(terms.high[a, j], terms.high[b, j]):
            return False
        terms.low[a, j] = min(terms.low[a, j], terms.low[b, j])
        terms.high[a, j] = max(terms.high[a, j], terms.high[b, j])
        free = np.isinf(terms.low[a, j]) and np.isinf(terms.high[a, j])
    terms.missing[a, j] |= terms.missing[b, j]
    if free and (terms.missing[a, j] or not terms.has_missing[j]):
        terms.order[a, j] = _FREE
    else:
        terms.order[a, j] = min(terms.order[a, j], terms.order[b, j])
    return True


def _from_left_to_right(tree: TreeView) -> NDArray[np.int64]:
    leaves, ahead = [], [0]
    while ahead:
        node = ahead.pop()
        left = int(tree.left[node])
        if left:
            ahead += [left + 1, left]
        else:
            leaves.append(node)
    return np.array(leaves)
