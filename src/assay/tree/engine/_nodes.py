"""Trees as flat arrays: checks, storage and prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from assay._core import tree as kernels
from assay.base import DataError, check_option

Combine = Literal["mean", "sum", "vote", "product"]

#: The fitted attribute of each array has the same name with a trailing underscore.
_STATE = {
    "tree_start": np.int64,
    "node_left": np.int32,
    "node_feature": np.int32,
    "node_threshold": np.float64,
    "node_missing_left": np.uint8,
    "node_slot": np.int32,
    "level_words": np.uint32,
    "leaf_value": np.float64,
}

#: Faults reported by `node_fault` (core/include/assay/tree/predict_check.hpp), by number.
_FAULTS = (
    "",
    "tree_start_ does not divide the nodes into trees",
    "node_left_ has a child that does not come after its parent in its tree",
    "node_left_ has a node that is not the child of exactly one other",
    "node_feature_ has a column outside the table, or one at a leaf",
    "node_slot_ points outside leaf_value_ or level_words_",
    "node_threshold_ has values that are not finite",
    "leaf_value_ has values that are not finite",
)


@dataclass(frozen=True)
class Nodes:
    """All trees of a model in one set of arrays; children come after their parent, side by side.

    Parameters
    ----------
    tree_start : ndarray of int64 of shape (n_trees + 1,)
        Start of the nodes of each tree; the first is its root.
    node_left : ndarray of int32 of shape (n_nodes,)
        Left child, counted from the root of the tree; the right child is the next node; 0 = leaf.
    node_feature : ndarray of int32 of shape (n_nodes,)
        Column of the split, -1 at a leaf.
    node_threshold : ndarray of float64 of shape (n_nodes,)
        Threshold: rows with x <= threshold go left.
    node_missing_left : ndarray of uint8 of shape (n_nodes,)
        Whether a missing value, or a category unseen in fit, goes left.
    node_slot : ndarray of int32 of shape (n_nodes,)
        At a leaf its row in `leaf_value`; at an inner node -1, or the start in `level_words` of the
        set of categories that go left.
    level_words : ndarray of uint32
        Sets of categories as bits.
    leaf_value : ndarray of float64 of shape (n_rows, n_outputs)
        Values of the leaves; leaves may share a row.
    n_levels : ndarray of int32 of shape (n_features,)
        Number of categories of each nominal column, 0 = numeric.
    """

    tree_start: NDArray[np.int64]
    node_left: NDArray[np.int32]
    node_feature: NDArray[np.int32]
    node_threshold: NDArray[np.float64]
    node_missing_left: NDArray[np.uint8]
    node_slot: NDArray[np.int32]
    level_words: NDArray[np.uint32]
    leaf_value: NDArray[np.float64]
    n_levels: NDArray[np.int32]

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_start) - 1

    @property
    def n_outputs(self) -> int:
        """Number of values per leaf."""
        return int(self.leaf_value.shape[1])

    @classmethod
    def from_state(cls, estimator: Any) -> Self:
        """Return the trees of a fitted estimator; `check` reports missing attributes."""
        arrays: dict[str, Any] = {name: getattr(estimator, f"{name}_", None) for name in _STATE}
        return cls(**arrays, n_levels=levels_of(estimator))

    def store_in(self, estimator: Any) -> None:
        """Set the fitted attributes of an estimator, except those of its categories."""
        for name in _STATE:
            setattr(estimator, f"{name}_", getattr(self, name))

    def check(self, n_features: int, n_outputs: int) -> None:
        """Raise if the trees are damaged, so that no walk can leave the arrays or loop forever.

        Parameters
        ----------
        n_features : int
            Number of columns of the model's input.
        n_outputs : int
            Number of values that a leaf must have.

        Raises
        ------
        DataError
            Naming the invalid attribute.
        """
        for name, kind in _STATE.items():
            array = getattr(self, name)
            wide = 2 if name == "leaf_value" else 1
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != wide:
                raise DataError(f"the model is damaged: {name}_ is missing or of the wrong type")
            if not array.flags.c_contiguous:
                raise DataError(f"the model is damaged: {name}_ is not contiguous")
        if len(self.n_levels) != n_features:
            raise DataError("the model is damaged: its columns and categories differ in number")
        if self.leaf_value.shape[1] != n_outputs:
            raise DataError(
                f"the model is damaged: leaf_value_ has {self.leaf_value.shape[1]} columns, "
                f"not {n_outputs}"
            )
        lengths = {len(getattr(self, name)) for name in _STATE if name.startswith("node_")}
        if len(lengths) != 1:
            raise DataError("the model is damaged: the node_ arrays differ in length")
        if len(self.tree_start) < 2 or self.tree_start[-1] not in lengths:
            raise DataError(f"the model is damaged: {_FAULTS[1]}")
        fault = kernels.node_fault(self._arrays())
        if fault:
            raise DataError(f"the model is damaged: {_FAULTS[fault]}")

    def predict(
        self,
        X: NDArray[Any],
        n_threads: int = 1,
        combine: Combine = "mean",
        stops: Sequence[int] | NDArray[np.integer[Any]] | None = None,
        *,
        n_groups: int = 1,
        init: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        r"""Return the combined prediction of the trees for each row.

        Parameters
        ----------
        X : ndarray of float64 or float32 of shape (n_samples, n_features)
            C order.
        n_threads : int, default=1
            Threads; the result does not depend on it.
        combine : {'mean', 'sum', 'vote', 'product'}, default='mean'
            Mean of the leaf values; their sum; the share of trees for which an output is the
            largest (ties go to the first); the normalised geometric mean.
        stops : sequence of int, optional
            Ascending numbers of trees; the predictions after each of them are computed in one pass.
        n_groups : int, default=1
            Tree t adds to the outputs of group ``t % n_groups`` (boosting with several classes).
        init : ndarray of shape (n_groups * n_outputs,), optional
            Initial value of the sums.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_groups * n_outputs)
            With `stops`: (len(stops), n_samples, n_groups * n_outputs).

        Notes
        -----
        Sums are float64, in the order of the trees. The product of the trees' probabilities, as the
        mean of their logarithms (p below the smallest normal number is replaced by that):

        .. math:: p \propto \exp(\frac{1}{T} \sum_t \log p_t)
        """
        check_option("combine", combine, ("mean", "sum", "vote", "product"))
        ends = np.array([self.n_trees] if stops is None else stops, dtype=np.int64)
        width = n_groups * self.n_outputs
        out = np.empty((len(ends), len(X), width))
        kernels.predict_sums(
            self._arrays(_summands(self.leaf_value, combine)),
            X,
            ends,
            n_groups,
            np.empty(0) if init is None else np.ascontiguousarray(init, dtype=np.float64),
            out.reshape(-1),
            n_threads,
        )
        if combine != "sum" and self.n_trees > 1:
            out /= np.maximum(ends, 1)[:, None, None]
        if combine == "product":
            out = softmax(out, axis=2)
        return out[0] if stops is None else out

    def predict_oob(
        self,
        X: NDArray[Any],
        in_bag: NDArray[np.uint8] | NDArray[np.bool_],
        n_threads: int = 1,
        combine: Combine = "mean",
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return, per row, the sum over the trees that were not trained on it, and their number.

        Parameters
        ----------
        X : ndarray of float64 or float32 of shape (n_samples, n_features)
            The training rows.
        in_bag : ndarray of uint8 or bool of shape (n_trees, n_samples)
            Whether a row is in the sample of a tree.
        n_threads : int, default=1
            Threads.
        combine : {'mean', 'sum', 'vote', 'product'}, default='mean'
            What is summed: values, votes or logarithms.

        Returns
        -------
        tuple of ndarray of shape (n_samples, n_outputs) and ndarray of int32 of shape (n_samples,)
        """
        sums = np.empty((len(X), self.n_outputs))
        trees = np.empty(len(X), dtype=np.int32)
        bag = np.ascontiguousarray(in_bag).view(np.uint8)
        arrays = self._arrays(_summands(self.leaf_value, combine))
        kernels.out_of_bag_sums(arrays, X, bag, sums, trees, n_threads)
        return sums, trees

    def apply(self, X: NDArray[Any], n_threads: int = 1) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree, counted from the root of the tree."""
        out = np.empty((len(X), self.n_trees), dtype=np.int32)
        kernels.leaves(self._arrays(), X, out, n_threads)
        return out

    def decision_path(self, X: NDArray[Any], n_threads: int = 1) -> sparse.csr_matrix:
        """Return the nodes on the path of each row: (n_samples, n_nodes), 1 if it passes."""
        begin = np.zeros(len(X) + 1, dtype=np.int64)
        kernels.path_lengths(self._arrays(), X, begin[1:], n_threads)
        np.cumsum(begin, out=begin)
        index = np.empty(begin[-1], dtype=np.int64)
        kernels.fill_paths(self._arrays(), X, begin, index, n_threads)
        ones = np.ones(len(index), dtype=np.int64)
        return sparse.csr_matrix((ones, index, begin), shape=(len(X), len(self.node_left)))

    def node_depths(self) -> NDArray[np.int32]:
        """Return the depth of every node, 0 at the roots."""
        depth = np.empty(len(self.node_left), dtype=np.int32)
        kernels.node_depths(self._arrays(), depth)
        return depth

    def depths(self) -> NDArray[np.int32]:
        """Return the depth of every tree; 0 = a single leaf."""
        return np.maximum.reduceat(self.node_depths(), self.tree_start[:-1])

    def first(self, n_trees: int) -> Self:
        """Return the first trees; leaf values and category sets are shared, not copied."""
        return self.part(0, n_trees)

    def part(self, begin: int, end: int) -> Self:
        """Return the trees ``begin .. end - 1``; values and category sets are not copied."""
        starts = self.tree_start[begin : end + 1]
        cut: dict[str, Any] = {
            name: getattr(self, name)[starts[0] : starts[-1]]
            for name in _STATE
            if name.startswith("node_")
        }
        return replace(self, tree_start=starts - starts[0], **cut)

    def _arrays(self, value: NDArray[np.float64] | None = None) -> tuple[Any, ...]:
        return (
            self.tree_start,
            self.node_left,
            self.node_feature,
            self.node_threshold,
            self.node_missing_left,
            self.node_slot,
            self.level_words,
            self.n_levels,
            self.leaf_value if value is None else value,
        )


def levels_of(estimator: Any) -> NDArray[np.int32]:
    """Return the number of categories of each column of a fitted estimator, 0 = numeric."""
    n_levels = np.zeros(estimator.n_features_in_, dtype=np.int32)
    columns = getattr(estimator, "categorical_features_", None)
    if columns is not None:
        n_levels[columns] = np.diff(estimator.level_offsets_)
    return n_levels


def _summands(value: NDArray[np.float64], combine: Combine) -> NDArray[np.float64]:
    """Return the contribution of each leaf to the sum."""
    if combine == "vote":
        votes = np.zeros_like(value)
        votes[np.arange(len(value)), value.argmax(axis=1)] = 1
        return votes
    if combine == "product":
        logs: NDArray[np.float64] = np.log(np.maximum(value, np.finfo(np.float64).tiny))
        return logs
    return value
