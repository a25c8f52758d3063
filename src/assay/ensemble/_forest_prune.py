"""Minimal cost-complexity pruning of all trees of a forest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay._core import tree as kernels
from assay.tree.engine import Grown, Nodes


def pruned(grown: Grown, ccp_alpha: float) -> Grown:
    r"""Prune each tree to the smallest subtree of least cost at the given penalty per leaf.

    Parameters
    ----------
    grown : Grown
        Trees with the statistics of every node.
    ccp_alpha : float
        Penalty per leaf.

    Returns
    -------
    Grown
        Without statistics; leaf values are those of the leaves that are left.

    Notes
    -----
    .. math:: R_\alpha(T) = \sum_{\text{leaves } l} \frac{w_l}{w} I(l) + \alpha |T|

    (Breiman and others, 1984, chapter 3.)
    """
    nodes, weight, impurity = grown.nodes, grown.weight, grown.impurity
    if weight is None or impurity is None:
        raise ValueError("pruning needs trees grown with statistics")
    root = np.repeat(nodes.tree_start[:-1], np.diff(nodes.tree_start))
    risk = weight / weight[root] * impurity
    left = np.where(_collapse_prices(nodes, risk) <= ccp_alpha, 0, nodes.node_left)
    kept = _reachable(nodes.tree_start[:-1], root, left)
    inner = np.flatnonzero(kept & (left > 0))
    children = root[inner] + left[inner]
    decrease = risk[inner] - risk[children] - risk[children + 1]
    importance = np.zeros_like(grown.importance)
    tree = np.searchsorted(nodes.tree_start, inner, side="right") - 1
    np.add.at(importance, (tree, nodes.node_feature[inner]), np.maximum(decrease, 0.0))
    return Grown(_cut(nodes, root, left, kept), importance)


def _collapse_prices(nodes: Nodes, risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the alpha at which each node becomes a leaf."""
    price = np.empty(len(risk))
    for start, end in zip(nodes.tree_start[:-1], nodes.tree_start[1:], strict=True):
        kernels.weakest_links(nodes.node_left[start:end], risk[start:end], price[start:end])
    return price


def _reachable(
    roots: NDArray[np.int64], root: NDArray[np.int64], left: NDArray[np.int32]
) -> NDArray[np.bool_]:
    kept = np.zeros(len(left), dtype=bool)
    frontier = roots
    while len(frontier):
        kept[frontier] = True
        inner = frontier[left[frontier] > 0]
        first = root[inner] + left[inner]
        frontier = np.concatenate([first, first + 1])
    return kept


def _cut(
    nodes: Nodes, root: NDArray[np.int64], left: NDArray[np.int32], kept: NDArray[np.bool_]
) -> Nodes:
    """Renumber the nodes that are kept; unused category sets stay in place."""
    number = np.cumsum(kept) - 1
    index = np.flatnonzero(kept)
    inner = left[index] > 0
    child = number[root[index] + left[index]] - number[root[index]]
    leaf_row = np.cumsum(~inner) - 1
    return replace(
        nodes,
        tree_start=np.append(number[nodes.tree_start[:-1]], len(index)).astype(np.int64),
        node_left=np.where(inner, child, 0).astype(np.int32),
        node_feature=np.where(inner, nodes.node_feature[index], -1).astype(np.int32),
        node_threshold=np.where(inner, nodes.node_threshold[index], 0.0),
        node_missing_left=nodes.node_missing_left[index],
        node_slot=np.where(inner, nodes.node_slot[index], leaf_row).astype(np.int32),
        leaf_value=nodes.leaf_value[index[~inner]],
    )
