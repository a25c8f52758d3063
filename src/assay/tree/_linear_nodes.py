"""Linear models in the nodes of a tree: fitting, simplifying, pruning and smoothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, pinvh

from assay.tree._model_tree_grow import DeviationTree

Floats = NDArray[np.float64]

_ROUNDING = 1e-7  # errors that differ by less than this share of the target's range are equal


@dataclass(frozen=True)
class Linear:
    """coef'(z - table mean) + intercept, its mean absolute error and number of parameters."""

    coef: Floats
    intercept: float
    absolute: float
    n_parameters: int


def fit_linear(
    Z: Floats,
    target: Floats,
    weight: Floats,
    columns: NDArray[np.int64],
    ridge: float,
    slack: float,
) -> Linear:
    """Fit a linear model and drop columns as long as its pessimistic error does not increase.

    The mean absolute residual of n rows is multiplied by (n + v) / (n - v) for v parameters
    (Quinlan 1992). The least significant column is dropped. Errors within `slack` of each other are
    equal: on data without noise they are only rounding.
    """
    coef, n = np.zeros(Z.shape[1]), weight.sum()
    mean = weight @ target / n
    absolute = float(weight @ np.abs(target - mean) / n)
    best = Linear(coef, float(mean), absolute, 1)
    if not len(columns):
        return best
    z = Z[:, columns]
    centre = weight @ z / n
    z = z - centre
    spread = np.sqrt(weight @ z**2 / n)
    keep = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(centre)))
    # At most as many columns as parameters are possible, the most correlated with the target first.
    product = z.T @ (weight * (target - mean)) / n
    if len(keep) >= n - 1:
        relevance = np.abs(product[keep]) / spread[keep]
        keep = np.sort(keep[np.argsort(-relevance, kind="stable")[: max(0, int(n) - 2)]])
    z, spread, product = z[:, keep] / spread[keep], spread[keep], product[keep] / spread[keep]
    gram = (z * weight[:, None]).T @ z / n
    current: Linear | None = None
    lowest = np.inf
    active = np.arange(len(keep))
    inverse = _inverse(gram + ridge * np.eye(len(gram)))
    beta = inverse @ product
    while len(active):
        residual = target - mean - z[:, active] @ beta
        absolute = float(weight @ np.abs(residual) / n)
        error = pessimistic(absolute, n, 1 + len(active))
        if error > lowest + slack:
            break
        coef = np.zeros(Z.shape[1])
        coef[columns[keep[active]]] = beta / spread[active]
        intercept = float(mean - centre @ coef[columns])
        current, lowest = Linear(coef, intercept, absolute, 1 + len(active)), error
        least = int(np.argmin(beta**2 / np.maximum(np.diag(inverse), 1e-300)))
        active = np.delete(active, least)
        inverse, beta = _without(inverse, beta, least)
    if current is None or pessimistic(best.absolute, n, 1) <= lowest + slack:
        return best
    return current


def _inverse(gram: Floats) -> Floats:
    try:
        return np.asarray(cho_solve(cho_factor(gram), np.eye(len(gram))))
    except LinAlgError:
        return np.asarray(pinvh(gram))


def _without(inverse: Floats, beta: Floats, j: int) -> tuple[Floats, Floats]:
    """Return the inverse and the solution without equation and unknown j."""
    others = np.delete(np.arange(len(beta)), j)
    line = inverse[others, j] / max(float(inverse[j, j]), 1e-300)
    left = inverse[np.ix_(others, others)] - np.outer(line, inverse[j, others])
    return left, beta[others] - line * beta[j]


def pessimistic(absolute: float, n: float, n_parameters: int) -> float:
    """Return the expected error on new rows of a model with `n_parameters` parameters."""
    if n <= n_parameters:
        return np.inf if absolute > 0 else 0.0
    return absolute * (n + n_parameters) / (n - n_parameters)


def fit_nodes(
    tree: DeviationTree,
    Z: Floats,
    target: Floats,
    weight: Floats,
    *,
    all_columns: bool,
    ridge: float,
    prune: bool,
) -> tuple[list[Linear], NDArray[np.bool_]]:
    """Fit the model of every node from the bottom up, and prune.

    Parameters
    ----------
    tree : DeviationTree
        The full tree.
    Z, target, weight : ndarray
        The training table, centred.
    all_columns : bool
        Whether a model may use all columns, or only those used by splits below the node.
    ridge : float
        Ridge term added to the variance of each standardised column.
    prune : bool
        Whether to prune nodes whose model is at least as good as the subtree below.

    Returns
    -------
    models : list of Linear
        The models of all nodes.
    is_leaf : ndarray of bool
        The leaves after pruning; values below a leaf are undefined.
    """
    n_nodes = len(tree.left)
    everything = np.arange(Z.shape[1])
    models: list[Linear | None] = [None] * n_nodes
    used_columns: list[set[int]] = [set() for _ in range(n_nodes)]
    absolute, n_parameters = np.zeros(n_nodes), np.zeros(n_nodes, dtype=np.int64)
    is_leaf = np.array(tree.left) == 0
    slack = _ROUNDING * float(np.abs(target - np.median(target)).max())
    for node in range(n_nodes - 1, -1, -1):
        left, rows = tree.left[node], tree.rows[node]
        if left:
            used_columns[node] = used_columns[left] | used_columns[left + 1] | {tree.feature[node]}
        columns = (
            everything if all_columns else np.array(sorted(used_columns[node]), dtype=np.int64)
        )
        model = fit_linear(Z[rows], target[rows], weight[rows], columns, ridge, slack)
        models[node] = model
        absolute[node], n_parameters[node] = model.absolute, model.n_parameters
        if not left:
            continue
        heavy = np.array([weight[tree.rows[left + side]].sum() for side in (0, 1)])
        n = float(heavy.sum())
        below = float(heavy @ absolute[left : left + 2] / n)
        n_below = 1 + int(n_parameters[left : left + 2].sum())  # 1 for the threshold
        own = pessimistic(model.absolute, n, model.n_parameters)
        if prune and own <= pessimistic(below, n, n_below) + slack:
            is_leaf[node] = True
            used_columns[node] = set(np.flatnonzero(model.coef).tolist())
        else:
            absolute[node], n_parameters[node] = below, n_below
    return [model for model in models if model is not None], is_leaf


@dataclass(frozen=True)
class LinearTree:
    """The pruned tree in breadth-first order, with one smoothed model per leaf."""

    left: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: Floats
    slot: NDArray[np.int32]
    coef: Floats
    intercept: Floats


def mix_leaves(
    tree: DeviationTree,
    models: list[Linear],
    is_leaf: NDArray[np.bool_],
    weight: Floats,
    smoothing: float,
) -> LinearTree:
    """Drop pruned nodes, and smooth the model of each leaf with those of the nodes above.

    Going up from a leaf, p <- (n p + k q) / (n + k), with n the weight of the lower node, p its
    model, and q the model of the node above.
    """
    keep, ways = [0], [[0]]
    lines: list[tuple[int, int, float]] = []
    mixed: list[tuple[Floats, float]] = []
    while len(lines) < len(keep):
        node, way = keep[len(lines)], ways[len(lines)]
        left = tree.left[node]
        if is_leaf[node]:
            lines.append((0, -1, 0.0))
            mixed.append(_mixed(way, tree, models, weight, smoothing))
            continue
        lines.append((len(keep), tree.feature[node], tree.threshold[node]))
        keep += [left, left + 1]
        ways += [[*way, left], [*way, left + 1]]
    leaf = np.array([line[0] == 0 for line in lines])
    return LinearTree(
        np.array([line[0] for line in lines], dtype=np.int32),
        np.array([line[1] for line in lines], dtype=np.int32),
        np.array([line[2] for line in lines], dtype=np.float64),
        np.where(leaf, np.cumsum(leaf) - 1, -1).astype(np.int32),
        np.array([coef for coef, _ in mixed]),
        np.array([intercept for _, intercept in mixed]),
    )


def _mixed(
    way: list[int], tree: DeviationTree, models: list[Linear], weight: Floats, smoothing: float
) -> tuple[Floats, float]:
    coef, intercept = models[way[-1]].coef, models[way[-1]].intercept
    for above, below in zip(way[-2::-1], way[:0:-1], strict=True):
        n = float(weight[tree.rows[below]].sum())
        share = n / (n + smoothing)
        coef = share * coef + (1 - share) * models[above].coef
        intercept = share * intercept + (1 - share) * models[above].intercept
    return coef, intercept
