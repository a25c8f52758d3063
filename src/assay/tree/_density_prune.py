"""Likelihood of the rows in each node of a box tree, and pruning by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from assay.tree._density_grow import BoxLimits, BoxTree, grow

Floats = NDArray[np.float64]

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class LeafDensity:
    """Densities inside boxes: uniform, or Gaussian truncated at the sides that are not open."""

    low: Floats
    high: Floats
    mean: Floats | None = None
    scale: Floats | None = None

    @classmethod
    def of(cls, tree: BoxTree, is_gaussian: bool, floor: Floats) -> LeafDensity:
        """Return the densities of all nodes; `floor` is the smallest standard deviation allowed."""
        if not is_gaussian:
            return cls(tree.low, tree.high)
        low, high = open_sides(tree.low, tree.high, tree.low[0], tree.high[0])
        return cls(low, high, tree.mean, np.maximum(tree.deviation, floor))

    def log_of_nodes(self, n: Floats, deviation: Floats) -> Floats:
        """Return the summed log density of the n rows around the mean of each node."""
        if self.scale is None:
            return np.asarray(-n * self.log_norm())
        quadratic = 0.5 * ((deviation / self.scale) ** 2).sum(axis=1)
        return np.asarray(-n * (quadratic + self.log_norm()))

    def log_of_rows(self, X: Floats, line: NDArray[np.int64], log_norm: Floats) -> Floats:
        """Return the log density of each row in its node."""
        if self.mean is None or self.scale is None:
            return -log_norm[line]
        z = (X - self.mean[line]) / self.scale[line]
        return -0.5 * np.einsum("ij,ij->i", z, z) - log_norm[line]  # type: ignore[no-any-return]

    def log_norm(self) -> Floats:
        """Return the log of the normalising constant of each node."""
        if self.mean is None or self.scale is None:
            return np.asarray(np.log(self.high - self.low).sum(axis=1))
        last, first = (self.high - self.mean) / self.scale, (self.low - self.mean) / self.scale
        parts = np.log(self.scale) + _HALF_LOG_2PI + np.log(ndtr(last) - ndtr(first))
        return np.asarray(parts.sum(axis=1))


def open_sides(
    low: Floats, high: Floats, root_low: Floats, root_high: Floats
) -> tuple[Floats, Floats]:
    """Extend boxes to infinity at the sides where they touch the root's box."""
    return np.where(low <= root_low, -np.inf, low), np.where(high >= root_high, np.inf, high)


def log_likelihoods(tree: BoxTree, density: LeafDensity) -> Floats:
    """Return the log-likelihood of the rows of each node if it were a leaf."""
    n = tree.weight
    return np.asarray(n * np.log(n / n[0]) + density.log_of_nodes(n, tree.deviation))


def collapse_index(tree: BoxTree, own: Floats, alphas: Floats) -> NDArray[np.int64]:
    """Return, per node, the first alpha (ascending) at which it becomes a leaf.

    The best subtree for alpha maximises log-likelihood - alpha (number of leaves); a node becomes a
    leaf when its own value is at least that of the best subtree below it.
    """
    best = own[:, None] - alphas
    is_leaf = np.ones(best.shape, dtype=bool)
    for depth in range(int(tree.depth.max()) - 1, -1, -1):
        inner = np.flatnonzero((tree.depth == depth) & (tree.left > 0))
        below = best[tree.left[inner]] + best[tree.left[inner] + 1]
        is_leaf[inner] = best[inner] >= below
        best[inner] = np.maximum(best[inner], below)
    return np.where(is_leaf.any(axis=1), is_leaf.argmax(axis=1), len(alphas))


def held_out(
    X: Floats,
    weight: Floats,
    fold: NDArray[np.int64],
    box: tuple[Floats, Floats],
    limits: BoxLimits,
    alphas: Floats,
    is_gaussian: bool,
    floor: Floats,
) -> Floats:
    """Return the cross-validated log-likelihood of each alpha.

    The box of the root contains all rows and is the same for every alpha. For each alpha a row
    counts in the node that is its leaf in that subtree, so one pass down the tree serves all
    alphas.
    """
    total = np.zeros(len(alphas) + 1)
    for k in range(int(fold.max()) + 1):
        train, test = fold != k, fold == k
        tree = grow(X[train], weight[train], *box, limits)
        density = LeafDensity.of(tree, is_gaussian, floor)
        share = weight[train].sum() / weight.sum()
        first = collapse_index(tree, log_likelihoods(tree, density), alphas * share)
        inside, w = X[test], weight[test]
        # A node is a leaf from the alpha where it collapses to the one where an ancestor does.
        last = np.full(len(first), len(alphas))
        for node in np.flatnonzero(tree.left):
            children = slice(tree.left[node], tree.left[node] + 2)
            last[children] = min(last[node], first[node])
        value, log_norm = np.zeros(len(first)), density.log_norm()
        log_share = np.log(tree.weight / tree.weight[0])
        for row, at in tree.visits(inside):
            log_density = density.log_of_rows(inside[row], at, log_norm) + log_share[at]
            np.add.at(value, at, w[row] * log_density)
        used = first < last
        np.add.at(total, first[used], value[used])
        np.add.at(total, last[used], -value[used])
    return np.cumsum(total)[:-1]
