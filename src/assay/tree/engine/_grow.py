"""Grow trees on a binned table: single trees, forests and extra-trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from assay._core import tree as kernels
from assay.base import ParameterError, check_interval, check_option
from assay.tree.engine._bins import Bins
from assay.tree.engine._fine import FineRows
from assay.tree.engine._nodes import Nodes

#: Criteria of each task, with their numbers in the core.
CRITERIA: dict[str, dict[str, int]] = {
    "classification": {"gini": 0, "entropy": 1, "log_loss": 1, "error": 2},
    "regression": {"squared_error": 3, "friedman_mse": 4, "poisson": 5, "absolute_error": 6},
}

#: Stands for unlimited depth.
NO_LIMIT = 2**31 - 1


class Table(Protocol):
    """What `GrowOptions` needs from a table, binned or not."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def nominal(self) -> NDArray[np.uint8]:
        """Whether each column is nominal."""


@dataclass(frozen=True)
class GrowOptions:
    """Limits and randomisation of trees, and how many to grow.

    Parameters
    ----------
    task : {'classification', 'regression'}
        The task.
    n_classes : int, default=0
        Number of classes; not used for regression.
    criterion : str, optional
        Impurity: ``'gini'`` (default), ``'entropy'``, ``'log_loss'`` (the same), ``'error'``;
        ``'squared_error'`` (default), ``'friedman_mse'``, ``'poisson'``, ``'absolute_error'``.
    splitter : {'best', 'random'}, default='best'
        The best threshold of a column, or one drawn at random (extra-trees).
    max_depth : int, optional
        Maximum depth.
    min_samples_split, min_samples_leaf : int, default=2 and 1
        Minimum number of rows, regardless of weight, of a node to be split and of a leaf.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Minimum share of the total weight in a leaf.
    max_features : int, optional
        Number of columns drawn per split, not counting constant ones; all if absent.
    max_leaf_nodes : int, optional
        Maximum number of leaves; nodes with the largest decrease of impurity are then split first.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of impurity of a split.
    monotonic_cst : ndarray of int8 of shape (n_features,), optional
        1 = the prediction must not decrease with the column, -1 = must not increase, 0 = no
        constraint.
    n_trees : int, default=1
        Number of trees to grow.
    bootstrap : int, default=0
        Size of each tree's bootstrap sample; 0 = every row once.
    first_tree : int, default=0
        Index of the first tree; trees grown in batches are the same as from one call.
    with_stats : bool, default=False
        Whether to store impurity, rows, weight and value of every node.
    """

    task: Literal["classification", "regression"]
    n_classes: int = 0
    criterion: str | None = None
    splitter: str = "best"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: int | None = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    monotonic_cst: NDArray[np.int8] | None = None
    n_trees: int = 1
    bootstrap: int = 0
    first_tree: int = 0
    with_stats: bool = False

    def check(self, bins: Table) -> None:
        """Raise a ParameterError for options that are invalid for this table."""
        check_option("task", self.task, tuple(CRITERIA))
        if self.criterion is not None:
            check_option("criterion", self.criterion, tuple(CRITERIA[self.task]))
        check_option("splitter", self.splitter, ("best", "random"))
        if self.max_depth is not None:
            check_interval("max_depth", self.max_depth, 1, integer=True)
        check_interval("min_samples_split", self.min_samples_split, 2, integer=True)
        check_interval("min_samples_leaf", self.min_samples_leaf, 1, integer=True)
        check_interval("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        if self.max_features is not None:
            check_interval("max_features", self.max_features, 1, bins.n_features, integer=True)
        if self.max_leaf_nodes is not None:
            check_interval("max_leaf_nodes", self.max_leaf_nodes, 2, integer=True)
        check_interval("min_impurity_decrease", self.min_impurity_decrease, 0.0)
        check_interval("n_trees", self.n_trees, 0, integer=True)
        self._check_monotone(bins)

    def _check_monotone(self, bins: Table) -> None:
        if self.monotonic_cst is None:
            return
        signs = np.asarray(self.monotonic_cst)
        if signs.shape != (bins.n_features,) or not np.isin(signs, (-1, 0, 1)).all():
            raise ParameterError(
                f"monotonic_cst must hold -1, 0 or 1 for each of {bins.n_features} columns; "
                f"got {self.monotonic_cst!r}"
            )
        if self.task == "classification" and self.n_classes > 2:
            raise ParameterError(
                f"monotonic_cst needs two classes or a regression; got {self.n_classes} classes"
            )
        forbidden = np.flatnonzero((signs != 0) & (bins.nominal != 0))
        if len(forbidden):
            raise ParameterError(
                "monotonic_cst must be 0 for nominal columns, which have no order; "
                f"column {forbidden[0]} got {signs[forbidden[0]]}"
            )


@dataclass(frozen=True)
class Grown:
    """The trees grown, with their statistics.

    Parameters
    ----------
    nodes : Nodes
        The trees.
    importance : ndarray of shape (n_trees, n_features)
        Total decrease of impurity per column, weighted by the share of rows, not normalised.
    impurity, n_samples, weight : ndarray of shape (n_nodes,), optional
        Statistics of every node, if ``with_stats``.
    """

    nodes: Nodes
    importance: NDArray[np.float64]
    impurity: NDArray[np.float64] | None = None
    n_samples: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None


def grow(
    bins: Bins,
    target: NDArray[Any],
    weight: NDArray[np.float64] | None,
    options: GrowOptions,
    seed: int,
    n_threads: int = 1,
    fine: FineRows | None = None,
) -> Grown:
    """Grow trees on a binned table.

    Parameters
    ----------
    bins : Bins
        The table.
    target : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class codes, or real values.
    weight : ndarray of float64 of shape (n_samples,), optional
        Weights of the rows; all 1 if absent.
    options : GrowOptions
        Options of growing.
    seed : int in [0, 2**64)
        Seed of every random choice; each tree depends only on it and on its own index.
    n_threads : int, default=1
        Threads; the result does not depend on it.
    fine : FineRows, optional
        Raw values, for random thresholds in small nodes. Not used where trees are not grown on
        bitmaps: with best splits, bootstrap samples, unequal weights, codes of two bytes, limits on
        leaves, monotone constraints or several outputs.
    """
    options.check(bins)
    fine = FineRows.none() if fine is None else fine
    is_classes = options.task == "classification"
    labels = np.empty(0, dtype=np.int32)
    values = np.empty((0, 1))
    if is_classes:
        labels = np.ascontiguousarray(target, dtype=np.int32)
    else:
        values = np.ascontiguousarray(target, dtype=np.float64).reshape(bins.n_samples, -1)
    criterion = options.criterion or ("gini" if is_classes else "squared_error")
    signs = options.monotonic_cst
    if signs is None or not np.any(signs):
        signs = np.empty(0, dtype=np.int8)
    arrays = kernels.grow(
        bins.codes,
        bins.n_bins,
        bins.nominal,
        bins.has_missing,
        bins.bin_start,
        bins.lower,
        bins.upper,
        bins.level_start,
        bins.level_bin,
        labels,
        values,
        np.empty(0) if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
        fine.slots,
        fine.values,
        criterion=CRITERIA[options.task][criterion],
        n_classes=options.n_classes if is_classes else 0,
        random_splitter=options.splitter == "random",
        max_depth=NO_LIMIT if options.max_depth is None else min(options.max_depth, NO_LIMIT),
        min_samples_split=options.min_samples_split,
        min_samples_leaf=options.min_samples_leaf,
        min_weight_fraction_leaf=float(options.min_weight_fraction_leaf),
        max_features=bins.n_features if options.max_features is None else options.max_features,
        max_leaf_nodes=0 if options.max_leaf_nodes is None else options.max_leaf_nodes,
        min_impurity_decrease=float(options.min_impurity_decrease),
        monotone=np.ascontiguousarray(signs, dtype=np.int8),
        seed=seed,
        n_trees=options.n_trees,
        first_tree=options.first_tree,
        n_draws=options.bootstrap,
        with_stats=options.with_stats,
        n_threads=n_threads,
    )
    return arrays_as_grown(arrays, bins.n_levels)


def arrays_as_grown(arrays: Mapping[str, NDArray[Any]], n_levels: NDArray[np.int32]) -> Grown:
    """Return the arrays of the core as `Grown`."""
    nodes = Nodes(
        tree_start=arrays["start"],
        node_left=arrays["left"],
        node_feature=arrays["feature"],
        node_threshold=arrays["threshold"],
        node_missing_left=arrays["missing_left"],
        node_slot=arrays["slot"],
        level_words=arrays["words"],
        leaf_value=arrays["value"],
        n_levels=n_levels,
    )
    return Grown(
        nodes,
        arrays["importance"],
        arrays.get("impurity"),
        arrays.get("n_samples"),
        arrays.get("weight"),
    )


def bootstrap_counts(
    seed: int, tree: int, n_samples: int, n_draws: int | None = None
) -> NDArray[np.uint32]:
    """Return how often each row occurs in the bootstrap sample of a tree; 0 = out of bag.

    Parameters
    ----------
    seed : int in [0, 2**64)
        The seed that the trees were grown with.
    tree : int
        Index of the tree.
    n_samples : int
        Number of rows of the table.
    n_draws : int, optional
        Size of the sample; `n_samples` if absent.
    """
    counts = np.empty(n_samples, dtype=np.uint32)
    kernels.bootstrap_counts(seed, tree, n_samples if n_draws is None else n_draws, counts)
    return counts
