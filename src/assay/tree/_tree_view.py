"""One fitted tree with the statistics of every node: `tree_`, also used by pruning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TreeView:
    """A tree as arrays, with scikit-learn's attribute names in addition to our own.

    Parameters
    ----------
    left : ndarray of int32 of shape (node_count,)
        Left child; the right child is the next node; 0 at a leaf. Children come after their parent.
    column : ndarray of int32 of shape (node_count,)
        Column of the split; -1 at a leaf.
    cut : ndarray of float64 of shape (node_count,)
        Threshold of a numeric column: rows with a value up to it go left.
    missing_left : ndarray of uint8 of shape (node_count,)
        Whether a missing value goes left.
    slot : ndarray of int32 of shape (node_count,)
        At a leaf its own index; at an inner node -1 (numeric) or the start of its categories in
        `words`.
    words : ndarray of uint32
        Sets of categories that go left, as bits, 32 per word.
    answer : ndarray of float64 of shape (node_count, n_answers)
        Class shares, or the mean of each output.
    impurity : ndarray of float64 of shape (node_count,)
        Impurity of each node.
    n_node_samples : ndarray of int64 of shape (node_count,)
        Training rows in each node.
    weighted_n_node_samples : ndarray of float64 of shape (node_count,)
        Total weight of the training rows in each node.
    n_levels : ndarray of int32 of shape (n_features,)
        Number of categories of each nominal column, 0 = numeric.
    classes : int, default=0
        Number of classes; 0 for regression.

    Examples
    --------
    >>> from assay.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0], [1], [2]], ["a", "a", "b"]).tree_
    >>> tree.node_count, tree.children_left.tolist(), tree.threshold.tolist()
    (3, [1, -1, -1], [1.5, -2.0, -2.0])
    """

    left: NDArray[np.int32]
    column: NDArray[np.int32]
    cut: NDArray[np.float64]
    missing_left: NDArray[np.uint8]
    slot: NDArray[np.int32]
    words: NDArray[np.uint32]
    answer: NDArray[np.float64]
    impurity: NDArray[np.float64]
    n_node_samples: NDArray[np.int64]
    weighted_n_node_samples: NDArray[np.float64]
    n_levels: NDArray[np.int32]
    classes: int = 0

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.left)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.n_levels)

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return 1 if self.classes else self.answer.shape[1]

    @property
    def n_classes(self) -> NDArray[np.int64]:
        """Classes of each output; 1 for a regression."""
        return np.full(self.n_outputs, max(self.classes, 1), dtype=np.int64)

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of an output."""
        return max(self.classes, 1)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        leaf: NDArray[np.bool_] = self.left == 0
        return leaf

    @property
    def is_nominal(self) -> NDArray[np.bool_]:
        """Whether each node splits a nominal column."""
        return ~self.is_leaf & (self.slot >= 0)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Depth of the tree: the largest number of splits above a leaf."""
        return len(self.levels) - 1

    @property
    def children_left(self) -> NDArray[np.int64]:
        """Left child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, self.left.astype(np.int64))

    @property
    def children_right(self) -> NDArray[np.int64]:
        """Right child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, self.left.astype(np.int64) + 1)

    @property
    def feature(self) -> NDArray[np.int64]:
        """Column of the split at each node, -2 at a leaf."""
        return np.where(self.is_leaf, -2, self.column.astype(np.int64))

    @property
    def threshold(self) -> NDArray[np.float64]:
        """Threshold of each node; -2 at a leaf, NaN at a split of a nominal column."""
        return np.where(self.is_leaf, -2.0, np.where(self.is_nominal, np.nan, self.cut))

    @property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        """Whether a missing value goes left at each node, 0 at a leaf."""
        return np.where(self.is_leaf, np.uint8(0), self.missing_left)

    @property
    def value(self) -> NDArray[np.float64]:
        """Prediction of each node, of shape (node_count, n_outputs, max_n_classes)."""
        return self.answer.reshape(self.node_count, self.n_outputs, self.max_n_classes)

    @cached_property
    def levels(self) -> list[NDArray[np.int64]]:
        """The nodes at depth 0, 1, 2 and so on."""
        found = []
        nodes = np.zeros(1, dtype=np.int64)
        while nodes.size:
            found.append(nodes)
            left = self.left[nodes].astype(np.int64)
            nodes = np.repeat(left[left > 0], 2)
            nodes[1::2] += 1
        return found

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """Parent of each node, -1 for the root."""
        inner = np.flatnonzero(~self.is_leaf)
        parent = np.full(self.node_count, -1, dtype=np.int64)
        parent[self.left[inner]] = inner
        parent[self.left[inner] + 1] = inner
        return parent

    def compute_node_depths(self) -> NDArray[np.int64]:
        """Return the depth of each node; the root's is 0."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for d, nodes in enumerate(self.levels):
            depth[nodes] = d
        return depth

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """Return the total decrease of impurity per column, weighted by node size.

        Parameters
        ----------
        normalize : bool, default=True
            Whether to scale the importances to sum to 1 (all are 0 in a tree of one leaf).
        """
        inner = np.flatnonzero(~self.is_leaf)
        left = self.left[inner]
        mass = self.weighted_n_node_samples * self.impurity
        decrease = (mass[inner] - mass[left] - mass[left + 1]) / self.weighted_n_node_samples[0]
        total: NDArray[np.float64] = np.bincount(
            self.column[inner], np.maximum(decrease, 0.0), self.n_features
        ).astype(np.float64)
        whole = total.sum()
        return total / whole if normalize and whole > 0 else total

    def level_mask(self, node: int) -> NDArray[np.bool_]:
        """Return which categories go left at a split of a nominal column."""
        n_levels = int(self.n_levels[self.column[node]])
        first = int(self.slot[node])
        words = self.words[first : first + (n_levels + 31) // 32]
        level = np.arange(n_levels)
        return (words[level // 32] >> (level % 32).astype(np.uint32) & 1).astype(bool)

    def cut_at(self, depth: int) -> TreeView:
        """Return the tree with all nodes at a depth made leaves; nodes below become unreachable.

        Parameters
        ----------
        depth : int
            Maximum depth.
        """
        left = self.left.copy()
        if depth < len(self.levels):
            left[self.levels[depth]] = 0
        return replace(self, left=left)

    def pruned(self, make_leaf: NDArray[np.bool_]) -> TreeView:
        """Return the tree with some nodes turned into leaves and the nodes below them removed.

        Parameters
        ----------
        make_leaf : ndarray of bool of shape (node_count,)
            The nodes that become leaves; nodes below another one are removed.
        """
        left = np.where(make_leaf, np.int32(0), self.left)
        kept = np.zeros(self.node_count, dtype=bool)
        kept[0] = True
        for nodes in self.levels[:-1]:
            first = left[nodes[kept[nodes]]]
            first = first[first > 0]
            kept[first] = kept[first + 1] = True
        nodes = np.flatnonzero(kept)
        number = np.cumsum(kept) - 1
        left = np.where(left[nodes] > 0, number[left[nodes]], 0).astype(np.int32)
        inner = left > 0
        nominal = inner & self.is_nominal[nodes]
        slot, words = self._packed(nodes, nominal)
        own = np.arange(len(nodes))
        return replace(
            self,
            left=left,
            column=np.where(inner, self.column[nodes], np.int32(-1)),
            cut=np.where(inner, self.cut[nodes], 0.0),
            missing_left=self.missing_left[nodes],
            slot=np.where(inner, np.where(nominal, slot, -1), own).astype(np.int32),
            words=words,
            answer=self.answer[nodes],
            impurity=self.impurity[nodes],
            n_node_samples=self.n_node_samples[nodes],
            weighted_n_node_samples=self.weighted_n_node_samples[nodes],
        )

    def _packed(
        self, nodes: NDArray[np.int64], nominal: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return the category sets of the remaining nominal nodes, and where each begins."""
        size = np.where(nominal, (self.n_levels[self.column[nodes]] + 31) // 32, 0)
        end = np.cumsum(size)
        begin = end - size
        source = np.repeat(self.slot[nodes] - begin, size) + np.arange(int(size.sum()))
        return begin, self.words[source]
