"""DBSCAN: clusters are dense regions; rows in sparse regions are noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from assay.base import Clusterer, DataError, check_interval, check_n_jobs
from assay.base.stored import Array, Count, Integers, declared
from assay.cluster._graph import in_order
from assay.neighbors import NearestNeighbors

#: Pairs of neighbours held at once: 4 million, 64 MB.
_PAIRS = 1 << 22

#: A part of the search: query rows, and the neighbours of all of them in one array.
_Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_Ask = Callable[[NDArray[np.int64], NDArray[np.int64]], Any]


class DBSCAN(Clusterer):
    r"""Find clusters as dense regions; rows in sparse regions are noise.

    The number of clusters follows from the data, and clusters may have any shape.

    Parameters
    ----------
    eps : float, default=0.5
        Maximum distance of two neighbours.
    min_samples : int, default=5
        Minimum number of neighbours (or total weight) of a core row, itself included.
    metric : str, default='euclidean'
        Any metric of `NearestNeighbors`, or 'precomputed': X is the matrix of distances.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    algorithm : str, default='auto'
        Algorithm of `NearestNeighbors`.
    leaf_size : int, default=30
        Maximum number of rows in a leaf of its tree.
    p : float or None, default=None
        Exponent of metric='minkowski'; None is 2.
    n_jobs : int or None, default=None
        Threads of the search; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The cluster of each row, -1 for noise. Clusters are numbered by their first core rows.
    core_sample_indices_ : ndarray of int64 of shape (n_core,)
        The core rows.
    components_ : ndarray of shape (n_core, n_features)
        Copies of the core rows.
    n_samples_fit_ : int
        Number of rows.

    Notes
    -----
    With :math:`N(i) = \{j : d(x_i, x_j) \le \varepsilon\}` row i is a core row if
    :math:`\sum_{j \in N(i)} w_j \ge` `min_samples`. Core rows that are neighbours belong to one
    cluster. Another row belongs to the cluster of the core rows in :math:`N(i)` (the one with the
    smallest number if there are several), or is noise. So the clusters do not depend on the order
    of the rows, apart from their numbers and from rows on the border of two clusters, and are those
    of scikit-learn, label for label.

    The search runs in parts: memory for the rows and some 4 million pairs, not for all
    neighbourhoods at once. Source: Ester, Kriegel, Sander and Xu 1996.

    Examples
    --------
    >>> from assay.cluster import DBSCAN
    >>> rows = [[1.0], [1.1], [1.2], [5.0], [5.1], [5.2], [9.0]]
    >>> DBSCAN(eps=0.3, min_samples=3).fit(rows).labels_.tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """

    model_id = 225
    stored = declared(
        n_samples_fit_=Count(1),
        labels_=Integers("n_samples_fit_", -1, "n_samples_fit_-1"),
        core_sample_indices_=Integers("core", 0, "n_samples_fit_-1"),
        components_=Array("core, features"),
    )

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: str = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Find the core rows and their clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; for metric='precomputed' the (n_samples, n_samples) distances.
        y : ignored
            For compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row as a neighbour.

        Returns
        -------
        self
        """
        check_interval("eps", self.eps, 0, open_low=True, open_high=True)
        check_interval("min_samples", self.min_samples, 1, integer=True)
        check_n_jobs(self.n_jobs)
        rows, weight = self._fit_data(X, sample_weight)
        ask = self._asker(rows)
        every = np.arange(rows.shape[0])
        core = _mass(ask, every, weight) >= self.min_samples
        cores, others = np.flatnonzero(core), np.flatnonzero(~core)
        self.labels_ = np.full(rows.shape[0], -1, dtype=np.int64)
        if len(cores):
            self.labels_[cores] = _connected(ask, cores)
            self.labels_[others] = _border(ask, others, cores, self.labels_)
        self.n_samples_fit_ = int(rows.shape[0])
        self.core_sample_indices_ = cores
        self.components_ = rows[cores]
        return self

    def fit_predict(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int64]:
        """Return the cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `fit`.
        y : ignored
            For compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def _asker(self, rows: NDArray[Any]) -> _Ask:
        """Return a function that finds, for some rows, their neighbours among some rows."""
        if self.metric == "precomputed":
            if rows.shape[0] != rows.shape[1]:
                raise DataError(
                    f"metric='precomputed' needs a square matrix of distances; got shape "
                    f"{rows.shape}"
                )
            return lambda asked, among: _near(rows[np.ix_(asked, among)] <= self.eps)
        p = 2 if self.p is None else self.p
        search = NearestNeighbors(
            radius=self.eps,
            metric=self.metric,
            metric_params=self.metric_params,
            algorithm=self.algorithm,
            leaf_size=self.leaf_size,
            p=p,
            n_jobs=self.n_jobs,
        )
        built: dict[int, Any] = {}

        def ask(asked: NDArray[np.int64], among: NDArray[np.int64]) -> Any:
            if len(among) not in built:
                built.clear()
                built[len(among)] = search.fit(rows if len(among) == len(rows) else rows[among])
            found = built[len(among)].radius_neighbors_graph(rows[asked])
            return np.diff(found.indptr), found.indices

        return ask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _near(close: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    asked, among = np.nonzero(close)
    return np.bincount(asked, minlength=len(close)), among


def _pieces(ask: _Ask, asked: NDArray[np.int64], among: NDArray[np.int64]) -> Iterator[_Found]:
    """Yield the neighbours of all query rows, some millions of pairs at a time."""
    step, start = 256, 0
    while start < len(asked):
        part = asked[start : start + step]
        sizes, found = ask(part, among)
        yield np.arange(start, start + len(part)), sizes, found
        start += len(part)
        per_row = max(1.0, len(found) / len(part))
        step = int(min(max(256, _PAIRS / per_row), 8 * step))


def _mass(
    ask: _Ask, every: NDArray[np.int64], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the number of neighbours of each row, or their total weight."""
    mass = np.empty(len(every))
    for place, sizes, found in _pieces(ask, every, every):
        if weight is None:
            mass[place] = sizes
        else:
            asked = np.repeat(np.arange(len(sizes)), sizes)
            mass[place] = np.bincount(asked, weights=weight[found], minlength=len(sizes))
    return mass


def _connected(ask: _Ask, cores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cluster of each core row, numbered by their first core rows."""
    group = np.arange(len(cores))
    for place, sizes, found in _pieces(ask, cores, cores):
        asked = np.repeat(place, sizes)
        later = asked < found  # every pair is found from both ends
        ends = (group[asked[later]], group[found[later]])
        edges = coo_matrix((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(len(cores),) * 2)
        group = connected_components(edges, directed=False)[1][group]
    return in_order(group)


def _border(
    ask: _Ask, others: NDArray[np.int64], cores: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the smallest cluster among the core neighbours of each other row, or -1."""
    groups = np.full(len(others), -1, dtype=np.int64)
    for place, sizes, found in _pieces(ask, others, cores):
        some = sizes > 0
        if some.any():
            starts = (np.cumsum(sizes) - sizes)[some]
            groups[place[some]] = np.minimum.reduceat(labels[cores[found]], starts)
    return groups
