"""The neighbour graph as a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from assay.base import check_option


class GraphOfNeighbors:
    """Adds `kneighbors_graph` to a model that has `kneighbors` and `rows_`."""

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> csr_array:
        """Return the neighbour graph as a sparse matrix of queries by training rows.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            As in `kneighbors`.
        n_neighbors : int, default=None
            Number of neighbours; None uses the parameter of the model.
        mode : {'connectivity', 'distance'}, default='connectivity'
            Whether entries are 1 or the distance.

        Returns
        -------
        scipy.sparse.csr_array of float64 of shape (n_queries, n_samples)
            The entries of a row are ordered from near to far.
        """
        check_option("mode", mode, ("connectivity", "distance"))
        distance, index = self.kneighbors(X, n_neighbors)  # type: ignore[attr-defined]
        value = distance.ravel() if mode == "distance" else np.ones(distance.size)
        offsets = np.arange(len(index) + 1) * index.shape[1]
        shape = (len(index), len(self.rows_))  # type: ignore[attr-defined]
        return csr_array((value, index.ravel(), offsets), shape=shape)
