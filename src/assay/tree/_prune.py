"""Bottom-up pruning of a grown tree: which inner nodes become leaves.

Each rule decides about a node after both of its children, deepest nodes first, one depth of the
tree at a time. It returns a flag for every node: whether it is a leaf afterwards. Unreachable nodes
(of a tree cut at a depth) keep their flag.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, chi2, f

from assay.tree._tree_view import TreeView

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def chi2_leaves(tree: TreeView, significance: float) -> Flags:
    r"""Prune splits whose branches are not significantly related to the target.

    Parameters
    ----------
    tree : TreeView
        Fully grown.
    significance : float
        Splits with a larger p-value are pruned, if both children are leaves.

    Returns
    -------
    ndarray of bool of shape (node_count,)
        The leaves.

    Notes
    -----
    Classes: Pearson's statistic of the table (child, class), as in AIMA,

    .. math:: \Delta = \sum_k \sum_c \frac{(n_{kc} - \hat n_{kc})^2}{\hat n_{kc}}, \qquad
              \hat n_{kc} = n_c \frac{n_k}{n}

    with C - 1 degrees of freedom for the C classes of the node. Regression: the F test of the
    variance explained by the split, with 1 and n - 2 degrees of freedom for each output.
    """
    passes = _class_test if tree.classes else _variance_test

    def is_idle(nodes: NDArray[np.int64], leaf: Flags) -> Flags:
        left = tree.left[nodes]
        testable = leaf[left] & leaf[left + 1]
        return testable & ~(passes(tree, nodes) <= significance)

    return _bottom_up(tree, is_idle)


def pessimistic_leaves(tree: TreeView, confidence: float, squared: bool) -> Flags:
    r"""Prune nodes whose pessimistic error as a leaf is at most that of the subtree.

    Parameters
    ----------
    tree : TreeView
        Fully grown.
    confidence : float
        Classification: the probability that the true error is above the upper limit.
    squared : bool
        Regression: whether impurities are mean squares, whose root is the error.

    Returns
    -------
    ndarray of bool of shape (node_count,)
        The leaves.

    Notes
    -----
    Classification (C4.5): a leaf with E misclassified rows of N counts as N U errors, where U is
    the upper limit of a binomial proportion, :math:`P(\mathrm{Bin}(N, U) \le E) =
    \text{confidence}`. Regression (M5): the training error times (n + v) / (n - v) for v
    parameters, where a leaf has one and each split adds one. With as many parameters as rows there
    is no error estimate, and the subtree is pruned.
    """
    return _upper_errors(tree, confidence) if tree.classes else _m5_errors(tree, squared)


def validated_leaves(
    tree: TreeView, leaf: NDArray[np.integer], target: Floats, weight: Floats
) -> Flags:
    """Reduced-error pruning: prune nodes if that does not hurt the validation rows.

    Parameters
    ----------
    tree : TreeView
        Fully grown.
    leaf : ndarray of int
        The leaf that each validation row reaches.
    target : ndarray of shape (n_rows, n_answers)
        One-hot class of each validation row, or its target values.
    weight : ndarray of float64 of shape (n_rows,)
        Weight of each validation row.

    Returns
    -------
    ndarray of bool of shape (node_count,)
        The leaves. A branch that no validation row reaches is pruned.
    """
    error = _held_out_errors(tree, leaf, target, weight)
    best = error.copy()

    def is_enough(nodes: NDArray[np.int64], leaf: Flags) -> Flags:  # noqa: ARG001
        left = tree.left[nodes]
        below = best[left] + best[left + 1]
        enough = error[nodes] <= below * (1 + 1e-12)
        best[nodes] = np.where(enough, error[nodes], below)
        return enough

    return _bottom_up(tree, is_enough)


def _bottom_up(tree: TreeView, decide: Callable[[NDArray[np.int64], Flags], Flags]) -> Flags:
    """Let `decide` choose which inner nodes become leaves, from the bottom up."""
    leaf = tree.is_leaf.copy()
    for level in reversed(tree.levels):
        nodes = level[tree.left[level] > 0]
        if nodes.size:
            leaf[nodes] = decide(nodes, leaf)
    return leaf


def _class_test(tree: TreeView, nodes: NDArray[np.int64]) -> Floats:
    left = tree.left[nodes]
    weight = tree.weighted_n_node_samples
    whole = weight[nodes, None] * tree.answer[nodes]
    present = whole > 0
    delta = np.zeros(len(nodes))
    for child in (left, left + 1):
        got = weight[child, None] * tree.answer[child]
        expected = whole * (weight[child] / weight[nodes])[:, None]
        delta += ((got - expected) ** 2 / np.where(present, expected, 1.0)).sum(
            axis=1, where=present
        )
    freedom = np.maximum(present.sum(axis=1) - 1, 1)
    p_value: Floats = chi2.sf(delta, freedom)
    return p_value


def _variance_test(tree: TreeView, nodes: NDArray[np.int64]) -> Floats:
    left = tree.left[nodes]
    weight = tree.weighted_n_node_samples
    squares = weight * tree.impurity
    unexplained = squares[left] + squares[left + 1]
    explained = np.maximum(squares[nodes] - unexplained, 0.0)
    rest = weight[nodes] - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = explained / (unexplained / rest)
    p_value: Floats = f.sf(ratio, tree.n_outputs, tree.n_outputs * rest)
    # Two rows, one on each side, are always explained completely: no evidence.
    return np.where(rest > 0, p_value, 1.0)


def _upper_errors(tree: TreeView, confidence: float) -> Flags:
    weight = tree.weighted_n_node_samples
    wrong = weight * (1 - tree.answer.max(axis=1))
    limit = beta.ppf(1 - confidence, wrong + 1, np.maximum(weight - wrong, 1e-300))
    best = weight * np.where(weight - wrong > 1e-9 * weight, limit, 1.0)
    alone = best.copy()

    def is_enough(nodes: NDArray[np.int64], leaf: Flags) -> Flags:  # noqa: ARG001
        left = tree.left[nodes]
        below = best[left] + best[left + 1]
        enough = alone[nodes] <= below * (1 + 1e-12)
        best[nodes] = np.where(enough, alone[nodes], below)
        return enough

    return _bottom_up(tree, is_enough)


def _m5_errors(tree: TreeView, squared: bool) -> Flags:
    weight = tree.weighted_n_node_samples
    parameters = np.ones(tree.node_count)
    loss = tree.impurity.copy()  # mean training loss of the subtree below each node

    def error(nodes: NDArray[np.int64], mean: Floats, v: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            factor = np.where(weight[nodes] > v, (weight[nodes] + v) / (weight[nodes] - v), np.inf)
        with np.errstate(invalid="ignore"):
            return (np.sqrt(mean) if squared else mean) * factor

    def is_enough(nodes: NDArray[np.int64], leaf: Flags) -> Flags:  # noqa: ARG001
        left = tree.left[nodes]
        mean = (weight[left] * loss[left] + weight[left + 1] * loss[left + 1]) / weight[nodes]
        v = parameters[left] + parameters[left + 1] + 1
        alone = error(nodes, tree.impurity[nodes], np.ones(len(nodes)))
        enough = ~(error(nodes, mean, v) < alone * (1 - 1e-12))
        loss[nodes] = np.where(enough, tree.impurity[nodes], mean)
        parameters[nodes] = np.where(enough, 1.0, v)
        return enough

    return _bottom_up(tree, is_enough)


def _held_out_errors(
    tree: TreeView, leaf: NDArray[np.integer], target: Floats, weight: Floats
) -> Floats:
    """Return the error of each node as a leaf, on the validation rows that reach it."""
    n = tree.node_count
    answer = tree.answer
    if not tree.classes:
        # Centred, since sums of squares of a target far from 0 lose precision.
        target, answer = target - tree.answer[0], answer - tree.answer[0]
    mass = np.bincount(leaf, weight, n)
    sums = np.stack([np.bincount(leaf, weight * column, n) for column in target.T], axis=1)
    squares = np.bincount(leaf, weight * (target**2).sum(axis=1), n)
    for level in reversed(tree.levels):
        nodes = level[tree.left[level] > 0]
        left = tree.left[nodes]
        for total in (mass, sums, squares):
            total[nodes] = total[left] + total[left + 1]
    error: Floats
    if tree.classes:
        error = mass - sums[np.arange(n), tree.answer.argmax(axis=1)]
    else:
        error = squares - 2 * (sums * answer).sum(axis=1) + mass * (answer**2).sum(axis=1)
    return np.maximum(error, 0.0)
