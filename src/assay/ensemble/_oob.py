"""Out-of-bag predictions: each row is predicted by the trees that were not grown on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from assay.tree.engine import Nodes, bootstrap_counts

Combine = Literal["mean", "vote", "product"]

#: Trees whose samples are in memory at once. Sums are cut here, so that they do not depend on the
#: batches of growing.
_BLOCK = 25


class OutOfBag:
    """Sums over the trees that were not grown on a row, in blocks of trees.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        The training rows.
    n_outputs : int
        Values per leaf.
    seed : int
        The seed that the trees were grown with.
    n_draws : int
        Draws of each bootstrap sample.
    combine : {'mean', 'vote', 'product'}
        How the trees are combined.
    n_threads : int
        Threads; the sums do not depend on them.
    """

    def __init__(
        self,
        rows: NDArray[Any],
        n_outputs: int,
        seed: int,
        n_draws: int,
        combine: Combine,
        n_threads: int,
    ) -> None:
        self._rows, self._seed, self._n_draws = rows, seed, n_draws
        self._combine, self._n_threads = combine, n_threads
        self._sums = np.zeros((len(rows), n_outputs))
        self._trees = np.zeros(len(rows), dtype=np.int64)

    def add(self, nodes: Nodes, first: int) -> None:
        """Add trees; `first` is the number of the first of them."""
        for begin in range(0, nodes.n_trees, _BLOCK):
            end = min(begin + _BLOCK, nodes.n_trees)
            sums, trees = trees_between(nodes, begin, end).predict_oob(
                self._rows,
                in_bag(self._seed, first + begin, first + end, len(self._rows), self._n_draws),
                self._n_threads,
                self._combine,
            )
            self._sums += sums
            self._trees += trees

    def answers(self) -> NDArray[np.float64]:
        """Return the prediction for each row; NaN where every tree was grown on it."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found = self._sums / self._trees[:, None]
        return softmax(found, axis=1) if self._combine == "product" else found


def in_bag(seed: int, first: int, end: int, n_samples: int, n_draws: int) -> NDArray[np.bool_]:
    """Return the in-bag rows of trees `first` to ``end - 1``, of shape (n_trees, n_samples)."""
    seen = np.empty((end - first, n_samples), dtype=bool)
    for t in range(first, end):
        seen[t - first] = bootstrap_counts(seed, t, n_samples, n_draws) > 0
    return seen


def trees_between(nodes: Nodes, begin: int, end: int) -> Nodes:
    """Return some of the trees; leaf values and category sets are shared, not copied."""
    start = nodes.tree_start[begin : end + 1]
    part = slice(int(start[0]), int(start[-1]))
    return replace(
        nodes,
        tree_start=start - start[0],
        node_left=nodes.node_left[part],
        node_feature=nodes.node_feature[part],
        node_threshold=nodes.node_threshold[part],
        node_missing_left=nodes.node_missing_left[part],
        node_slot=nodes.node_slot[part],
    )


def covered_score(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    covered: NDArray[np.bool_],
    score: Callable[[Any, Any], float],
) -> float:
    """Score the rows that have an out-of-bag prediction; warn when some have none.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Labels or values.
    covered : ndarray of bool of shape (n_samples,)
        Rows with a prediction.
    score : callable
        A function of truth and prediction.

    Returns
    -------
    float
        NaN when no row has a prediction.
    """
    if not covered.all():
        warnings.warn(
            f"{np.count_nonzero(~covered)} of {len(covered)} rows are in every bootstrap sample "
            "and have no out-of-bag prediction; increase n_estimators",
            UserWarning,
            stacklevel=5,
        )
    if not covered.any():
        return float("nan")
    return float(score(truth[covered], predicted[covered]))
