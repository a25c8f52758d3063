"""Minimal cost-complexity pruning: the path of prices, and the price by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay._core import tree as kernels
from assay.tree._tree_view import TreeView

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AlphaPath:
    r"""All trees that some price :math:`\alpha` for each leaf makes the best.

    Parameters
    ----------
    collapse : ndarray of float64 of shape (node_count,)
        Price from which each node is no longer inner; infinite at a leaf.
    alphas : ndarray of float64
        Prices at which the tree changes, one for each step, never falling; the first is 0.
    impurities : ndarray of float64
        Impurity of the leaves, weighted by their size, after each step.
    """

    collapse: Floats
    alphas: Floats
    impurities: Floats

    @classmethod
    def of(cls, tree: TreeView) -> AlphaPath:
        """Prune a tree link by link, the weakest first."""
        weight = tree.weighted_n_node_samples
        collapse = np.empty(tree.node_count)
        alphas, risks = kernels.weakest_links(
            tree.left, weight * tree.impurity / weight[0], collapse
        )
        return cls(collapse, alphas, risks)


@dataclass(frozen=True)
class Fold:
    """One fold of a cross-validation.

    Parameters
    ----------
    tree : TreeView
        Grown on the other folds.
    leaf : ndarray of int
        Leaf that each row of the fold reaches.
    target : ndarray of float64 of shape (n_rows, 1 or n_outputs)
        Class code, or values, of each row.
    weight : ndarray of float64 of shape (n_rows,)
        Weight of each row.
    """

    tree: TreeView
    leaf: NDArray[np.integer]
    target: Floats
    weight: Floats


@dataclass(frozen=True)
class AlphaChoice:
    """A price chosen by cross-validation, and what it was chosen from.

    Parameters
    ----------
    alpha : float
        The price chosen.
    alphas : ndarray of float64
        Distinct prices of the whole tree, ascending.
    errors, standard_errors : ndarray of float64
        Cross-validated error for each of them, and its standard error.
    """

    alpha: float
    alphas: Floats
    errors: Floats
    standard_errors: Floats


def choose_alpha(path: AlphaPath, folds: Iterable[Fold], standard_errors: float) -> AlphaChoice:
    r"""Choose the price of a leaf as CART does.

    Parameters
    ----------
    path : AlphaPath
        Of the tree grown on all rows.
    folds : iterable of Fold
        Trees grown without each fold, and the rows of the fold.
    standard_errors : float
        The largest price whose error is within this many standard errors of the least is taken.

    Notes
    -----
    Each price :math:`\alpha_k` stands for the range up to the next one and is tried in the folds as
    :math:`\sqrt{\alpha_k \alpha_{k+1}}`. The error is the share of wrong rows, or the mean square,
    over all rows; its standard error is that of a mean of independent losses.
    """
    alphas = np.unique(path.alphas)
    prices = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    moments = np.zeros((3, len(prices) + 1))
    mass = mass_of_squares = 0.0
    for fold in folds:
        _add_losses(fold, prices, moments)
        mass += fold.weight.sum()
        mass_of_squares += (fold.weight**2).sum()
    first, crossed, second = np.cumsum(moments, axis=1)[:, :-1]
    error = first / mass
    spread = np.maximum(second - 2 * error * crossed + error**2 * mass_of_squares, 0.0)
    margin = np.sqrt(spread) / mass
    best = int(error.argmin())
    limit = error[best] + standard_errors * margin[best]
    within = np.flatnonzero(error <= limit * (1 + 1e-12) + 1e-15)
    return AlphaChoice(float(alphas[within[-1]]), alphas, error, margin)


def _add_losses(fold: Fold, prices: Floats, moments: Floats) -> None:
    """Add sums of w loss, w^2 loss and w^2 loss^2 for every price, as differences along prices.

    The answer to a row changes only where a node above its leaf collapses: the way up is walked
    once for all prices.
    """
    tree = fold.tree
    starts = np.searchsorted(prices, AlphaPath.of(tree).collapse)
    node = fold.leaf.astype(np.int64)
    begin = np.zeros(len(node), dtype=np.int64)
    target, weight = fold.target, fold.weight
    while node.size:
        parent = tree.parent[node]
        end = np.where(parent >= 0, starts[parent], len(prices))
        loss = _loss(tree, node, target)
        for row, part in enumerate((weight * loss, weight**2 * loss, weight**2 * loss**2)):
            moments[row] += np.bincount(begin, part, len(prices) + 1)
            moments[row] -= np.bincount(end, part, len(prices) + 1)
        up = parent >= 0
        node, begin, target, weight = parent[up], end[up], target[up], weight[up]


def _loss(tree: TreeView, node: NDArray[np.int64], target: Floats) -> Floats:
    loss: Floats
    if tree.classes:
        loss = (tree.answer.argmax(axis=1)[node] != target[:, 0]).astype(np.float64)
    else:
        loss = ((tree.answer[node] - target) ** 2).mean(axis=1)
    return loss
