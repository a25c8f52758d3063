"""Growing the trees of a forest: in batches, with balanced samples, pruned, joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.ensemble._forest_plan import BATCH, MOST_TREES, PATIENCE, Plan
from assay.ensemble._forest_prune import pruned
from assay.ensemble._oob import OutOfBag
from assay.tree.engine import Bins, FineRows, Grown, Nodes, bootstrap_counts, grow

#: Called with (trees grown, trees wanted) after each batch; returning True stops the growing.
Callback = Callable[[int, int], Any]

#: Trees between two calls of a callback.
_TOLD_EVERY = 10


@dataclass(frozen=True)
class Training:
    """A table ready to grow trees on; rows of weight 0 are not in it.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Numeric values and category codes.
    target : ndarray
        Class codes (int32), or values of shape (n_samples, n_outputs).
    weight : ndarray of float64 of shape (n_samples,) or None
        All positive.
    bins : Bins
        The rows, binned.
    plan : Plan
        The parameters.
    seed : int
        All random choices follow from it.
    balanced : bool
        Whether class weights are computed in the sample of each tree.
    ccp_alpha : float
        Penalty per leaf in pruning.
    """

    rows: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None
    bins: Bins
    plan: Plan
    seed: int
    balanced: bool
    ccp_alpha: float

    @property
    def n_shared(self) -> int:
        """Value rows that all trees share: those of the pure leaves, one per class."""
        options = self.plan.options
        return 0 if options.with_stats else options.n_classes

    def grow(self, first: int, n_trees: int) -> Grown:
        """Grow trees number `first` to ``first + n_trees - 1``."""
        if self.balanced:
            return self._each_balanced(first, n_trees)
        options = replace(self.plan.options, n_trees=n_trees, first_tree=first)
        found = grow(
            self.bins,
            self.target,
            self.weight,
            options,
            self.seed,
            self.plan.n_threads,
            self._fine,
        )
        return pruned(found, self.ccp_alpha) if self.ccp_alpha > 0 else found

    @cached_property
    def _fine(self) -> FineRows | None:
        """Return exact columns for extra-trees; None where growing does not use them."""
        options = self.plan.options
        drawn = options.splitter == "random" and not options.bootstrap
        equal = self.weight is None or bool((self.weight == self.weight[0]).all())
        limited = options.max_leaf_nodes is not None or options.monotonic_cst is not None
        if not drawn or not equal or limited or self.bins.codes.dtype != np.uint8:
            return None
        return FineRows.build(self.rows, self.bins, self.plan.n_threads)

    def _each_balanced(self, first: int, n_trees: int) -> Grown:
        def one(tree: int) -> Grown:
            options = replace(self.plan.options, n_trees=1, first_tree=tree)
            found = grow(self.bins, self.target, self._balanced_weight(tree), options, self.seed, 1)
            return pruned(found, self.ccp_alpha) if self.ccp_alpha > 0 else found

        with ThreadPoolExecutor(self.plan.n_threads) as pool:
            parts = list(pool.map(one, range(first, first + n_trees)))
        return replace(
            parts[0],
            nodes=joined([part.nodes for part in parts], self.n_shared),
            importance=np.concatenate([part.importance for part in parts]),
        )

    def _balanced_weight(self, tree: int) -> NDArray[np.float64]:
        r"""Weight class c of the sample of a tree by :math:`n / (K n_c)`."""
        options = self.plan.options
        counts = bootstrap_counts(self.seed, tree, len(self.rows), options.bootstrap)
        sizes = np.bincount(self.target, weights=counts, minlength=options.n_classes)
        present = sizes > 0
        share = np.ones(options.n_classes)  # a class that is not in the sample has weight 0
        share[present] = options.bootstrap / (present.sum() * sizes[present])
        weight: NDArray[np.float64] = share[self.target]
        return weight if self.weight is None else weight * self.weight


def grown_forest(
    training: Training,
    n_trees: int,
    callback: Callback | None,
    kept: tuple[Nodes, NDArray[np.float64]] | None = None,
) -> tuple[Nodes, NDArray[np.float64]]:
    """Grow a forest up to `n_trees` trees.

    Parameters
    ----------
    training : Training
        The table.
    n_trees : int
        Number of trees to reach.
    callback : callable or None
        Called after each batch of ten trees.
    kept : (Nodes, ndarray), optional
        Existing trees, and their summed importances.

    Returns
    -------
    nodes : Nodes
        The trees; they do not depend on batches.
    importance : ndarray of float64 of shape (n_features,)
        Sum over the trees of the importances, each tree's scaled to sum 1.
    """
    parts = [] if kept is None else [kept[0]]
    total = np.zeros(training.rows.shape[1]) if kept is None else kept[1].copy()
    done = 0 if kept is None else kept[0].n_trees
    while done < n_trees:
        size = n_trees - done if callback is None else min(_TOLD_EVERY, n_trees - done)
        found = training.grow(done, size)
        parts.append(found.nodes)
        add_importance(total, found.importance)
        done += size
        if callback is not None and callback(done, n_trees):
            break
    return joined(parts, training.n_shared), total


def chosen_by_oob(
    training: Training,
    out_of_bag: OutOfBag,
    error: Callable[[NDArray[np.float64], NDArray[Any]], float],
    tol: float,
    callback: Callback | None,
) -> tuple[Nodes, NDArray[np.float64]]:
    """Grow batches of trees until the out-of-bag error stops improving.

    Parameters
    ----------
    training : Training
        The table.
    out_of_bag : OutOfBag
        Empty.
    error : callable
        Error of out-of-bag predictions against the target.
    tol : float
        Minimum improvement of the error that counts.
    callback : callable or None
        Called after each batch.

    Returns
    -------
    tuple of Nodes and ndarray
        As from `grown_forest`; all trees that were grown, since more trees do not hurt.

    Notes
    -----
    The out-of-bag error is computed after each batch of 25 trees. Growing stops when the smallest
    error of the last three batches is not below the smallest earlier one by more than `tol`, and at
    1000 trees at the latest.
    """
    parts: list[Nodes] = []
    errors: list[float] = []
    total = np.zeros(training.rows.shape[1])
    for first in range(0, MOST_TREES, BATCH):
        found = training.grow(first, BATCH)
        parts.append(found.nodes)
        add_importance(total, found.importance)
        out_of_bag.add(found.nodes, first)
        errors.append(error(out_of_bag.answers(), training.target))
        if callback is not None and callback(first + BATCH, MOST_TREES):
            break
        earlier, last = errors[:-PATIENCE], errors[-PATIENCE:]
        if earlier and not min(last) < min(earlier) - tol:
            break
    return joined(parts, training.n_shared), total


def add_importance(total: NDArray[np.float64], importance: NDArray[np.float64]) -> None:
    """Add each tree's importances, scaled to sum 1, in the order of the trees."""
    for row in importance:
        whole = row.sum()
        if whole > 0:
            total += row / whole


def joined(parts: Sequence[Nodes], n_shared: int) -> Nodes:
    """Concatenate several sets of trees, as if they had been grown together.

    Parameters
    ----------
    parts : sequence of Nodes
        In the order of the trees.
    n_shared : int
        Value rows at the beginning that all parts have in common.

    Returns
    -------
    Nodes
    """
    if len(parts) == 1:
        return parts[0]
    first_value = np.cumsum([0, *(len(part.leaf_value) - n_shared for part in parts)])
    first_word = np.cumsum([0, *(len(part.level_words) for part in parts)])
    first_node = np.cumsum([0, *(part.tree_start[-1] for part in parts)])
    slots = [
        _moved(part, n_shared, int(value), int(word))
        for part, value, word in zip(parts, first_value[:-1], first_word[:-1], strict=True)
    ]
    starts = [part.tree_start[:-1] + first for part, first in zip(parts, first_node, strict=False)]

    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    return replace(
        parts[0],
        tree_start=np.concatenate([*starts, first_node[-1:]]),
        node_left=all_of("node_left"),
        node_feature=all_of("node_feature"),
        node_threshold=all_of("node_threshold"),
        node_missing_left=all_of("node_missing_left"),
        node_slot=np.concatenate(slots),
        level_words=all_of("level_words"),
        leaf_value=np.concatenate(
            [parts[0].leaf_value[:n_shared], *(part.leaf_value[n_shared:] for part in parts)]
        ),
    )


def _moved(part: Nodes, n_shared: int, value: int, word: int) -> NDArray[np.int32]:
    slot, leaf = part.node_slot, part.node_left == 0
    shift = np.where(leaf, np.where(slot >= n_shared, value, 0), np.where(slot >= 0, word, 0))
    return slot + shift.astype(np.int32)
