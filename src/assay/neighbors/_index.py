"""Search index of the training rows in the space of their metric; exact for every algorithm.

The index is built at the first search and is not a fitted attribute: it can be rebuilt from the
rows, so a model file holds rows, not trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._core import neighbors as kernels
from assay.base import ParameterError
from assay.neighbors._metric import MetricPlan, VectorSpace, vector_space
from assay.neighbors._mixed import MixedSpace, mixed_space

#: Number of neighbours held at once while predicting: 2 million, 32 MB of distances and indices.
_CHUNK = 1 << 21

#: Limits within which 'auto' tries a tree: with fewer rows or more columns it was never faster.
_TREE_ROWS, _TREE_COLUMNS, _TREE_CODES = 4096, 16, 256
#: A tree is faster if a query visits fewer than one row in this many: 3.4 ns per visited row,
#: against 0.24 ns per row in the tiles of brute force (100k rows, 8 and 9 columns, one thread).
_TREE_PAYS = 15
_PROBES, _PROBE_NEIGHBORS = 64, 10

Found = tuple[NDArray[np.float64], NDArray[np.int64]]


class Codes(NamedTuple):
    """Information on nominal columns, besides their codes."""

    nominal: NDArray[np.int64]
    level_counts: list[int]
    names: list[str] | None


class Ragged(NamedTuple):
    """Neighbours within a radius; those of query i are at ``offsets[i]:offsets[i + 1]``."""

    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    distance: NDArray[np.float64]


class Reach(NamedTuple):
    """Neighbours within the largest of several radii, with distances of the metric's space."""

    space: VectorSpace | MixedSpace | None
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    inner: NDArray[np.float64]
    distance: NDArray[np.float64]

    def within(self, radius: float) -> Ragged:
        """Return those within a smaller radius, the same as a search for it."""
        keep = self.inner <= (radius if self.space is None else self.space.inward(radius))
        upto = np.concatenate([[0], np.cumsum(keep)])
        return Ragged(upto[self.offsets], self.rows[keep], self.distance[keep])


def chunks(n_queries: int, width: int) -> Iterator[slice]:
    """Split the queries so that arrays of `width` numbers per query stay within the limit."""
    step = max(1, _CHUNK // max(1, width))
    for start in range(0, n_queries, step):
        yield slice(start, min(start + step, n_queries))


class Index:
    """A set of rows prepared for search.

    Parameters
    ----------
    metric : MetricPlan
        The distance.
    rows : ndarray of shape (n_rows, n_columns)
        The rows as stored by the estimator.
    codes : Codes
        Their nominal columns.
    algorithm : str
        'auto', 'brute', 'kd_tree' or 'ball_tree'.
    leaf_size : int
        Maximum number of rows in a leaf.
    n_threads : int
        Threads to build a tree; the tree does not depend on it.
    """

    def __init__(
        self,
        metric: MetricPlan,
        rows: NDArray[Any],
        codes: Codes,
        algorithm: str,
        leaf_size: int,
        n_threads: int,
    ) -> None:
        self.metric = metric
        self.leaf_size = leaf_size
        self.space: VectorSpace | MixedSpace | None = None
        if metric.coded:
            self.space = mixed_space(metric, rows, *codes)
        elif metric.function is None:
            self.space = vector_space(metric, rows)
        elif algorithm in ("kd_tree", "ball_tree"):
            raise ParameterError(
                f"algorithm={algorithm!r} does not support a function as metric; use 'auto' or "
                "'brute'"
            )
        self.rows = rows if self.space is None else self.space.rows(rows)
        self._tree: Any = None  # for the nearest rows
        self._flat: Any = None  # a single leaf, for all rows within a radius
        self.algorithm = self._choose(algorithm, n_threads)

    def nearest(self, queries: NDArray[Any], k: int, n_threads: int) -> Found:
        """Return distances and row numbers of the k rows nearest to each query.

        Nearest first; equal distances in the order of the rows.
        """
        if self.space is None:
            return self._smallest(queries, k)
        queries = self.space.rows(queries)
        if self.algorithm == "brute" and isinstance(self.space, VectorSpace):
            distance, index = brute_force(queries, self.rows, k, self.metric.p, n_threads)
        else:
            distance = np.empty((len(queries), k))
            index = np.empty((len(queries), k), dtype=np.int64)
            tree = self._tree_in_use(n_threads)
            tree.nearest(_doubles(queries), distance, index, n_threads)
        return self.space.outward(distance), index

    def within(self, queries: NDArray[Any], radius: float, n_threads: int) -> Ragged:
        """Return the rows within the radius of each query, in the order of the rows."""
        found = self.reach(queries, radius, n_threads)
        return Ragged(found.offsets, found.rows, found.distance)

    def reach(self, queries: NDArray[Any], radius: float, n_threads: int) -> Reach:
        """Return the same in a form that can be restricted to smaller radii."""
        if self.space is None:
            found = self._function_within(queries, radius)
            return Reach(None, *found, found.distance)
        tree = self._tree_in_use(n_threads)
        points = _doubles(self.space.rows(queries))
        offsets, rows, inner = tree.within(points, self.space.inward(radius), n_threads)
        return Reach(self.space, offsets, rows, inner, self.space.outward(inner))

    def _choose(self, algorithm: str, n_threads: int) -> str:
        if algorithm == "brute" or self.space is None:
            return "brute"
        n_rows, n_columns = self.rows.shape
        if algorithm != "auto":
            self._tree = self._plant(self.leaf_size, n_threads)
            return "kd_tree"
        if isinstance(self.space, MixedSpace):
            if n_rows < _TREE_CODES:
                return "brute"
            self._tree = self._plant(self.leaf_size, n_threads)
            return "kd_tree"
        if n_rows < _TREE_ROWS or n_columns > _TREE_COLUMNS:
            return "brute"
        # The number of rows visited depends on the intrinsic dimension of the data: test some
        # queries.
        tree = self._plant(self.leaf_size, n_threads)
        probes = _doubles(self.rows[:: n_rows // _PROBES][:_PROBES])
        shape = (len(probes), _PROBE_NEIGHBORS)
        seen = tree.nearest(probes, np.empty(shape), np.empty(shape, dtype=np.int64), 1)
        if seen * _TREE_PAYS > n_rows * len(probes):
            return "brute"
        self._tree = tree
        return "kd_tree"

    def _tree_in_use(self, n_threads: int) -> Any:
        if self._tree is not None:
            return self._tree
        if self._flat is None:
            self._flat = self._plant(len(self.rows), n_threads)
        return self._flat

    def _plant(self, leaf_size: int, n_threads: int) -> Any:
        if isinstance(self.space, MixedSpace):
            space = self.space
            columns = (space.kinds, space.weights, space.tables, space.starts, space.sizes)
            return kernels.CodeTree.make(self.rows, *columns, leaf_size, n_threads)
        rows = np.ascontiguousarray(self.rows)
        return kernels.PointTree.make(rows, self.metric.p, leaf_size, n_threads)

    def _function_distances(self, queries: NDArray[Any]) -> NDArray[np.float64]:
        function, params = self.metric.function, self.metric.params
        assert function is not None
        return np.array(
            [[function(query, row, **params) for row in self.rows] for query in queries],
            dtype=np.float64,
        )

    def _smallest(self, queries: NDArray[Any], k: int) -> Found:
        distances = self._function_distances(queries)
        index = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(distances, index, axis=1), index.astype(np.int64)

    def _function_within(self, queries: NDArray[Any], radius: float) -> Ragged:
        distances = self._function_distances(queries)
        inside = distances <= radius
        offsets = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int64)
        return Ragged(offsets, np.nonzero(inside)[1].astype(np.int64), distances[inside])


def brute_force(
    queries: NDArray[Any], refs: NDArray[Any], k: int, p: float, n_threads: int
) -> Found:
    """Compute all pairs; float32 is used only if both are float32, so no query is rounded."""
    kind = np.result_type(queries, refs)
    queries = np.ascontiguousarray(queries, dtype=kind)
    refs = np.ascontiguousarray(refs, dtype=kind)
    distance = np.empty((len(queries), k))
    index = np.empty((len(queries), k), dtype=np.int64)
    kernels.brute_force(queries, refs, k, p, distance, index, n_threads)
    return distance, index


def _doubles(queries: NDArray[Any]) -> NDArray[np.float64]:
    return np.ascontiguousarray(queries, dtype=np.float64)
