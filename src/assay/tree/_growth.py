"""Grow and prune one tree from parameters and data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._core import tree as kernels
from assay.base import ParameterError
from assay.tree._parameters import (
    DIVIDED,
    check_parameters,
    feature_count,
    grow_options,
    is_natural,
)
from assay.tree._prune import chi2_leaves, pessimistic_leaves, validated_leaves
from assay.tree._prune_cost import AlphaChoice, AlphaPath, Fold, choose_alpha
from assay.tree._tree_view import TreeView
from assay.tree.engine._bins import MAX_BINS_16, Bins, Ranks
from assay.tree.engine._exact import Columns, can_grow_exact, grow_exact
from assay.tree.engine._grow import Grown, GrowOptions, grow
from assay.tree.engine._nodes import Nodes

#: Also used by the ensembles.
__all__ = [
    "Fit",
    "Training",
    "check_parameters",
    "feature_count",
    "fit_tree",
    "grow_tree",
    "nodes_of",
    "pruned_leaves",
]


@dataclass(frozen=True)
class Training:
    """The training data of a tree.

    Parameters
    ----------
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class codes (integers) or values.
    weight : ndarray of float64 of shape (n_rows,) or None
        Positive weights.
    n_classes : int
        0 for a regression.
    n_levels : ndarray of int32 of shape (n_features,)
        Number of categories of each nominal column, 0 = numeric.
    X : ndarray of shape (n_rows, n_features)
        The rows, nominal columns as codes.
    ranks : Ranks, optional
        The sorted table that contains X as its rows `rows`, so that bins need no new sort.
    rows : ndarray of int64, optional
        Indices of the rows in the original table, or in `ranks`; all rows if absent.
    """

    target: NDArray[Any]
    weight: NDArray[np.float64] | None
    n_classes: int
    n_levels: NDArray[np.int32]
    X: NDArray[Any]
    ranks: Ranks | None = None
    rows: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.target)

    def bins(self, max_bins: int, n_threads: int) -> Bins:
        """Return the binned rows."""
        if self.ranks is None or self.rows is None:
            return Bins.build(self.X, max_bins, self.n_levels, self.weight, n_threads)
        return Bins.from_ranks(self.ranks, self.rows, max_bins, n_threads, self.weight)

    @property
    def is_prepared(self) -> bool:
        """Whether binning is cheap, because the columns are sorted already."""
        return self.ranks is not None

    def table(self, params: Mapping[str, Any], n_threads: int) -> Bins | Columns:
        """Return the table on which a tree with these parameters is grown.

        Raw columns if they give the same tree as bins of one value each in less memory; else bins.
        """
        max_bins = params["max_bins"]
        lossless = len(self) <= max_bins
        if (
            max_bins == MAX_BINS_16
            and not (lossless and self.is_prepared)
            and params["missing"] != "fractional"
            and Columns.suit(self.X, self.n_levels)
        ):
            columns = Columns(np.ascontiguousarray(self.X))
            options = grow_options(params, self.n_classes, columns)
            if can_grow_exact(options) and options.max_features == columns.n_features:
                return columns
        return self.bins(max_bins, n_threads)

    def taken(self, index: NDArray[np.int64]) -> Training:
        """Return a subset of the rows."""
        return replace(
            self,
            target=self.target[index],
            weight=None if self.weight is None else self.weight[index],
            X=self.X[index],
            rows=None if self.rows is None else self.rows[index],
        )

    def sorted_once(self, n_threads: int) -> Training:
        """Return the same data with ranks, for growing on several subsets of the rows."""
        if self.ranks is not None:
            return self
        ranks = Ranks.build(self.X, self.n_levels, n_threads)
        return replace(self, ranks=ranks, rows=np.arange(len(self)))

    def weights(self) -> NDArray[np.float64]:
        """Return the weights, ones if there are none."""
        return np.ones(len(self)) if self.weight is None else self.weight


@dataclass(frozen=True)
class Fit:
    """A fitted tree.

    Parameters
    ----------
    tree : TreeView
        Grown and pruned.
    has_missing : ndarray of uint8 of shape (n_features,)
        Columns with missing values.
    path : AlphaPath, optional
        Pruning path of the full tree, if it was pruned by cost-complexity.
    alpha : float, default=0.0
        The complexity parameter that was used.
    choice : AlphaChoice, optional
        How alpha was chosen.
    """

    tree: TreeView
    has_missing: NDArray[np.uint8]
    path: AlphaPath | None = None
    alpha: float = 0.0
    choice: AlphaChoice | None = None


def fit_tree(training: Training, params: Mapping[str, Any], seed: int, n_threads: int) -> Fit:
    """Grow a tree and prune it according to the parameters.

    Parameters
    ----------
    training : Training
        The rows.
    params : mapping of str to object
        Checked by `_parameters.check_parameters`.
    seed : int
        Seed of every random choice.
    n_threads : int
        Threads; the result does not depend on it.
    """
    if params["prune"] == "reduced_error":
        return _fit_and_validate(training, params, seed, n_threads)
    by_folds = params["ccp_alpha"] == "cv"
    if by_folds:
        training = training.sorted_once(n_threads)
    bins = training.table(params, n_threads)
    tree = grow_tree(bins, training, params, seed, n_threads)
    path = choice = None
    if by_folds or params["prune"] == "cost_complexity" or params["ccp_alpha"] > 0:
        path = AlphaPath.of(tree)
    if by_folds and path:
        folds = _folds(training, params, seed, n_threads)
        choice = choose_alpha(path, folds, params["standard_errors"])
        params = {**params, "ccp_alpha": choice.alpha, "prune": "cost_complexity"}
    leaves = pruned_leaves(tree, params)
    if not np.array_equal(leaves, tree.is_leaf):
        tree = tree.pruned(leaves)
    return Fit(tree, bins.has_missing, path, float(params["ccp_alpha"]), choice)


def pruned_leaves(tree: TreeView, params: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return the leaves after a pruning that needs only the tree."""
    if params["prune"] == "chi2":
        return chi2_leaves(tree, params["significance"])
    if params["prune"] == "pessimistic":
        squared = params["criterion"] in ("squared_error", "friedman_mse")
        return pessimistic_leaves(tree, params.get("confidence", 0.25), squared)
    if params["prune"] == "cost_complexity" or params["ccp_alpha"] > 0:
        leaves: NDArray[np.bool_] = AlphaPath.of(tree).collapse <= params["ccp_alpha"]
        return leaves
    return tree.is_leaf


def grow_tree(
    bins: Bins | Columns, training: Training, params: Mapping[str, Any], seed: int, n_threads: int
) -> TreeView:
    """Grow one tree on the table from `Training.table`, without pruning."""
    options = grow_options(params, training.n_classes, bins)
    if isinstance(bins, Columns):
        grown = grow_exact(bins, training.target, training.weight, options, n_threads)
        tree = _viewed(grown, training)
    elif params["missing"] == "fractional":
        tree = _grow_divided(bins, training, options, seed)
    else:
        tree = _grow(bins, training, options, seed, n_threads)
    if is_natural(params):
        return replace(tree, impurity=tree.impurity * math.log(2))
    return tree


def nodes_of(tree: TreeView) -> Nodes:
    """Return a tree in the form used for prediction."""
    return Nodes(
        tree_start=np.array([0, tree.node_count], dtype=np.int64),
        node_left=tree.left,
        node_feature=tree.column,
        node_threshold=tree.cut,
        node_missing_left=tree.missing_left,
        node_slot=tree.slot,
        level_words=tree.words,
        leaf_value=tree.answer,
        n_levels=tree.n_levels,
    )


def _grow(
    bins: Bins, training: Training, options: GrowOptions, seed: int, n_threads: int
) -> TreeView:
    return _viewed(grow(bins, training.target, training.weight, options, seed, n_threads), training)


def _viewed(grown: Grown, training: Training) -> TreeView:
    assert grown.impurity is not None
    assert grown.n_samples is not None
    assert grown.weight is not None
    nodes = grown.nodes
    return TreeView(
        left=nodes.node_left,
        column=nodes.node_feature,
        cut=nodes.node_threshold,
        missing_left=nodes.node_missing_left,
        slot=nodes.node_slot,
        words=nodes.level_words,
        answer=nodes.leaf_value,
        impurity=grown.impurity,
        n_node_samples=grown.n_samples,
        weighted_n_node_samples=grown.weight,
        n_levels=nodes.n_levels,
        classes=training.n_classes,
    )


def _grow_divided(bins: Bins, training: Training, options: GrowOptions, seed: int) -> TreeView:
    target = training.target.astype(np.float64, copy=False).reshape(len(training), -1)
    weight = training.weights()
    width = training.n_classes or target.shape[1]
    arrays = kernels.grow_fractional(
        bins.codes,
        bins.n_bins,
        bins.nominal,
        bins.has_missing,
        bins.bin_start,
        bins.lower,
        bins.upper,
        bins.level_start,
        bins.level_bin,
        np.ascontiguousarray(target),
        weight,
        criterion=DIVIDED[str(options.criterion)],
        n_outputs=width,
        max_depth=-1 if options.max_depth is None else options.max_depth,
        min_split=float(options.min_samples_split),
        min_leaf=float(options.min_samples_leaf),
        min_weight_leaf=options.min_weight_fraction_leaf * float(weight.sum()),
        min_decrease=options.min_impurity_decrease,
        max_features=options.max_features or bins.n_features,
        seed=seed,
    )
    return TreeView(
        left=arrays["left"],
        column=arrays["feature"],
        cut=arrays["threshold"],
        missing_left=arrays["missing_left"],
        slot=arrays["slot"],
        words=arrays["words"],
        answer=arrays["value"].reshape(-1, width),
        impurity=arrays["impurity"],
        n_node_samples=arrays["samples"],
        weighted_n_node_samples=arrays["weight"],
        n_levels=bins.n_levels,
        classes=training.n_classes,
    )


def _fit_and_validate(
    training: Training, params: Mapping[str, Any], seed: int, n_threads: int
) -> Fit:
    """Grow on some rows and prune by the others (reduced error)."""
    n = len(training)
    order = _mixed_order(training, seed)
    # Every k-th row of an order sorted by class: a stratified sample.
    edges = np.floor(np.arange(n + 1) * float(params["validation_fraction"]) + 1e-9)
    is_held = np.diff(edges) > 0
    if not is_held.any() or is_held.all():
        raise ParameterError(
            "validation_fraction must leave rows on both sides; "
            f"got {params['validation_fraction']!r} for {n} rows"
        )
    kept, held_out = (training.taken(np.sort(order[part])) for part in (~is_held, is_held))
    bins = kept.table(params, n_threads)
    tree = grow_tree(bins, kept, params, seed, n_threads)
    leaf = nodes_of(tree).apply(held_out.X, n_threads)[:, 0]
    if training.n_classes:
        target = np.eye(training.n_classes)[held_out.target]
    else:
        target = held_out.target.reshape(len(held_out), -1)
    leaves = validated_leaves(tree, leaf, target, held_out.weights())
    return Fit(tree.pruned(leaves), bins.has_missing)


def _folds(training: Training, params: Mapping[str, Any], seed: int, n_threads: int) -> list[Fold]:
    n, n_folds = len(training), int(params["n_folds"])
    if n_folds > n:
        raise ParameterError(f"n_folds must be at most the number of rows ({n}); got {n_folds}")
    number = np.empty(n, dtype=np.int64)
    number[_mixed_order(training, seed)] = np.arange(n) % n_folds
    found = []
    for k in range(n_folds):
        kept = training.taken(np.flatnonzero(number != k))
        held_out = training.taken(np.flatnonzero(number == k))
        bins = kept.table(params, n_threads)
        tree = grow_tree(bins, kept, params, seed, n_threads)
        leaf = nodes_of(tree).apply(held_out.X, n_threads)[:, 0]
        target = held_out.target.reshape(len(held_out), -1).astype(np.float64)
        found.append(Fold(tree, leaf, target, held_out.weights()))
    return found


def _mixed_order(training: Training, seed: int) -> NDArray[np.int64]:
    """Rows in random order, and class by class where there are classes."""
    order = np.random.RandomState(seed).permutation(len(training))
    if training.n_classes:
        order = order[np.argsort(training.target[order], kind="stable")]
    return order
