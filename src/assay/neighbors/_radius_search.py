"""`radius_neighbors` of the estimators that search within a radius."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.base import check_interval, check_option
from assay.neighbors._index import Ragged, Reach
from assay.neighbors._search import NeighborRows


class RadiusSearch(NeighborRows):
    """Adds `radius_neighbors` and its graph."""

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all training rows within a radius of each row, the boundary included.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            The query rows. None: all training rows, which then are not their own neighbours.
        radius : float >= 0, default=None
            The radius; None uses the parameter of the model.
        return_distance : bool, default=True
            Whether to also return the distances.
        sort_results : bool, default=False
            Whether to sort neighbours by distance instead of by row number.

        Returns
        -------
        distance : ndarray of shape (n_queries,) of ndarrays of float64
            Only if `return_distance`.
        index : ndarray of shape (n_queries,) of ndarrays of int64
            Indices of training rows.
        """
        found = self._within(X, radius)
        if sort_results:
            found = _by_distance(found)
        index = _pieces(found.rows, found.offsets)
        return (_pieces(found.distance, found.offsets), index) if return_distance else index

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> csr_array:
        """Return the neighbours within a radius as a sparse matrix of queries by training rows.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            As in `radius_neighbors`.
        radius : float >= 0, default=None
            The radius; None uses the parameter of the model.
        mode : {'connectivity', 'distance'}, default='connectivity'
            Whether entries are 1 or the distance.
        sort_results : bool, default=False
            Whether to sort the entries of a row by distance instead of by row number.

        Returns
        -------
        scipy.sparse.csr_array of float64 of shape (n_queries, n_samples_fit_)
        """
        check_option("mode", mode, ("connectivity", "distance"))
        found = self._within(X, radius)
        if sort_results:
            found = _by_distance(found)
        value = found.distance if mode == "distance" else np.ones(len(found.distance))
        shape = (len(found.offsets) - 1, len(self.rows_))
        return csr_array((value, found.rows, found.offsets), shape=shape)

    def _within(self, X: Any, radius: float | None) -> Ragged:
        plan = self._plan()
        radius = self.radius if radius is None else radius
        check_interval("radius", radius, 0)
        found = self._index(plan).within(self._queries(X), float(radius), plan.n_threads)
        return _without_self(found) if X is None else found

    def _reach(self, queries: NDArray[Any], radius: float) -> Reach:
        plan = self._plan()
        return self._index(plan).reach(queries, radius, plan.n_threads)


def _without_self(found: Ragged) -> Ragged:
    sizes = np.diff(found.offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    keep = found.rows != owner
    offsets = np.concatenate([[0], np.cumsum(keep)])[found.offsets]
    return Ragged(offsets, found.rows[keep], found.distance[keep])


def _by_distance(found: Ragged) -> Ragged:
    sizes = np.diff(found.offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((found.rows, found.distance, owner))
    return Ragged(found.offsets, found.rows[order], found.distance[order])


def _pieces(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    out = np.empty(len(offsets) - 1, dtype=object)
    for i in range(len(out)):
        out[i] = values[offsets[i] : offsets[i + 1]]
    return out
