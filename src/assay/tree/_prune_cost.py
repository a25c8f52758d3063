"""Minimal cost-complexity pruning: the path of alphas, and the choice by cross-validation."""

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
    r"""All trees that are optimal for some complexity parameter :math:`\alpha`.

    Parameters
    ----------
    collapse : ndarray of float64 of shape (node_count,)
        The alpha at which each node becomes a leaf; infinite at a leaf.
    alphas : ndarray of float64
        The alphas at which the tree changes, one per step, ascending; the first is 0.
    impurities : ndarray of float64
        Total impurity of the leaves, weighted by their size, after each step.
    """

    collapse: Floats
    alphas: Floats
    impurities: Floats

    @classmethod
    def of(cls, tree: TreeView) -> AlphaPath:
        """Prune a tree by weakest-link pruning."""
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
        Tree grown on the other folds.
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
    """The alpha chosen by cross-validation, and the candidates with their errors.

    Parameters
    ----------
    alpha : float
        The alpha chosen.
    alphas : ndarray of float64
        Distinct alphas of the full tree, ascending.
    errors, standard_errors : ndarray of float64
        Cross-validated error for each of them, and its standard error.
    """

    alpha: float
    alphas: Floats
    errors: Floats
    standard_errors: Floats


def choose_alpha(path: AlphaPath, folds: Iterable[Fold], standard_errors: float) -> AlphaChoice:
    r"""Choose alpha by cross-validation, as CART does.

    Parameters
    ----------
    path : AlphaPath
        The path of the tree grown on all rows.
    folds : iterable of Fold
        Trees grown without each fold, and the rows of the fold.
    standard_errors : float
        The largest alpha whose error is within this many standard errors of the smallest is chosen.

    Notes
    -----
    Each :math:`\alpha_k` represents the range up to the next one and is evaluated in the folds as
    :math:`\sqrt{\alpha_k \alpha_{k+1}}`. The error is the share of wrong rows, or the mean square,
    over all rows; its standard error is that of a mean of independent losses.
    """
    alphas = np.unique(path.alphas)
    trials = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    moments = np.zeros((3, len(trials) + 1))
    mass = mass_of_squares = 0.0
    for fold in folds:
        _add_losses(fold, trials, moments)
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


def _add_losses(fold: Fold, trials: Floats, moments: Floats) -> None:
    """Add sums of w loss, w^2 loss and w^2 loss^2 for every alpha, as differences along the alphas.

    The prediction of a row changes only where a node above its leaf collapses, so one walk up the
    tree serves all alphas.
    """
    tree = fold.tree
    starts = np.searchsorted(trials, AlphaPath.of(tree).collapse)
    node = fold.leaf.astype(np.int64)
    begin = np.zeros(len(node), dtype=np.int64)
    target, weight = fold.target, fold.weight
    while node.size:
        parent = tree.parent[node]
        end = np.where(parent >= 0, starts[parent], len(trials))
        loss = _loss(tree, node, target)
        for row, part in enumerate((weight * loss, weight**2 * loss, weight**2 * loss**2)):
            moments[row] += np.bincount(begin, part, len(trials) + 1)
            moments[row] -= np.bincount(end, part, len(trials) + 1)
        up = parent >= 0
        node, begin, target, weight = parent[up], end[up], target[up], weight[up]


def _loss(tree: TreeView, node: NDArray[np.int64], target: Floats) -> Floats:
    loss: Floats
    if tree.classes:
        loss = (tree.answer.argmax(axis=1)[node] != target[:, 0]).astype(np.float64)
    else:
        loss = ((tree.answer[node] - target) ** 2).mean(axis=1)
    return loss
