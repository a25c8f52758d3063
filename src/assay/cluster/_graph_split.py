"""Cutting a graph in two repeatedly, each time where the normalised cut is least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from assay.cluster._graph import degrees, graph_parts, normalized_cut, residual

Solve = Callable[[Any], tuple[NDArray[np.float64], NDArray[np.float64]]]


@dataclass(frozen=True)
class Cut:
    """One part of a graph divided in two.

    Parameters
    ----------
    value : float
        Ncut within the part.
    side : ndarray of bool
        Whether each of its rows is on the second side.
    eigenvalue : float
        The second smallest eigenvalue of the part; 0 if it was not connected.
    vector : ndarray of float64
        The eigenvector that was divided.
    residual : float
        Relative residual of the two.
    """

    value: float
    side: NDArray[np.bool_]
    eigenvalue: float
    vector: NDArray[np.float64]
    residual: float


@dataclass(frozen=True)
class Made:
    """All cuts made, in order."""

    labels: NDArray[np.int64]
    cuts: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    vectors: NDArray[np.float64]
    residual: float


class Splitter:
    """Cuts parts of one graph.

    Parameters
    ----------
    graph : ndarray or CSR matrix
        The similarities of all rows.
    threshold : {'sweep', 'zero', 'median'}
        Where the eigenvector is divided.
    solve : callable
        Returns the second eigenvalue and vector of a connected graph.
    """

    def __init__(self, graph: Any, threshold: str, solve: Solve) -> None:
        self.graph = graph
        self.threshold = threshold
        self.solve = solve

    def split(self, part: NDArray[np.int64], count: int) -> Made:
        """Divide parts until there are `count`, always the one with the least cut."""
        labels = part.copy()
        n_parts = int(labels.max()) + 1
        cuts = {p: self.cut(labels == p) for p in range(n_parts)} if n_parts < count else {}
        done: list[tuple[Cut, NDArray[np.bool_]]] = []
        while n_parts < count:
            open_cuts = {p: cut for p, cut in cuts.items() if cut is not None}
            chosen = min(open_cuts, key=lambda p: (open_cuts[p].value, p))
            cut, inside = open_cuts[chosen], labels == chosen
            labels[np.flatnonzero(inside)[cut.side]] = n_parts
            done.append((cut, inside))
            n_parts += 1
            if n_parts < count:
                cuts[chosen] = self.cut(labels == chosen)
                cuts[n_parts - 1] = self.cut(labels == n_parts - 1)
        vectors = np.zeros((len(labels), len(done)))
        for at, (cut, inside) in enumerate(done):
            vectors[inside, at] = cut.vector
        return Made(
            labels,
            np.array([cut.value for cut, _ in done]),
            np.array([cut.eigenvalue for cut, _ in done]),
            vectors,
            max((cut.residual for cut, _ in done), default=0.0),
        )

    def cut(self, inside: NDArray[np.bool_]) -> Cut | None:
        """Return the best cut of a part; None for a single row."""
        size = int(inside.sum())
        if size < 2:
            return None
        own = self.graph if inside.all() else self.graph[inside][:, inside]
        parts = graph_parts(own)
        if parts.any():
            # The cut between unconnected parts is 0: split the largest from the rest.
            side = parts != np.bincount(parts).argmax()
            return Cut(0.0, side, 0.0, np.where(side, -1.0, 1.0), 0.0)
        values, vectors = self.solve(own)
        vector = vectors[:, 0]
        side = divided(own, vector, self.threshold)
        return Cut(
            normalized_cut(own, side),
            side,
            float(values[0]),
            vector,
            residual(own, values, vectors),
        )


def divided(graph: Any, vector: NDArray[np.float64], threshold: str) -> NDArray[np.bool_]:
    """Return which rows are on the upper side of an eigenvector; neither side is empty."""
    order = np.argsort(vector, kind="stable")
    size = len(vector)
    if threshold == "zero":
        count = int((vector <= 0).sum())
    elif threshold == "median":
        count = (size + 1) // 2
    else:
        count = int(sweep(graph, order).argmin()) + 1
    side = np.zeros(size, dtype=bool)
    side[order[min(max(count, 1), size - 1) :]] = True
    return side


def sweep(graph: Any, order: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Return Ncut of the first 1, 2, ..., n - 1 rows of an order against the others.

    When row v changes sides, the cut grows by its similarity to later rows and falls by that to
    earlier rows: :math:`c_{t} = c_{t-1} + \sum_{j > t} W_{vj} - \sum_{j < t} W_{vj}`. O(edges).
    """
    sums = degrees(graph)[order]
    if issparse(graph):
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        edges = csr_matrix(graph).tocoo()
        row, column = place[edges.row], place[edges.col]
        behind = np.bincount(row, weights=edges.data * (column < row), minlength=len(order))
        own = np.bincount(row, weights=edges.data * (column == row), minlength=len(order))
    else:
        ordered = graph[np.ix_(order, order)]
        behind = np.tril(ordered, -1).sum(axis=1)
        own = np.diag(ordered)
    cut = np.maximum(np.cumsum(sums - own - 2.0 * behind)[:-1], 0.0)
    # Sum the rest from its own end: a difference of sums could be rounded to 0.
    before, after = np.cumsum(sums)[:-1], np.cumsum(sums[::-1])[::-1][1:]
    return np.asarray(cut / before + cut / after)
