"""Spectral clustering: cut a similarity graph where little similarity is lost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, svd
from scipy.sparse import issparse

from assay.base import (
    Clusterer,
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import Array, Count, Integers, Number, declared, each, ensure
from assay.cluster._graph import (
    checked_affinity,
    cut_vectors,
    degrees,
    full_graph,
    graph_parts,
    in_order,
    neighbor_graph,
    normalized_cut,
    residual,
)
from assay.cluster._graph_join import join_parts
from assay.cluster._graph_split import Splitter
from assay.cluster._kmeans import KMeans

_AFFINITIES = ("rbf", "nearest_neighbors", "rbf_neighbors", "precomputed")


class SpectralClustering(Clusterer):
    r"""Find connected clusters by cutting a similarity graph.

    Clusters need not be round: rings and chains are found, too.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    affinity : {'rbf', 'nearest_neighbors', 'rbf_neighbors', 'precomputed'}, default='rbf'
        The graph. 'rbf': all pairs, weight :math:`\exp(-\gamma \|x_i - x_j\|^2)`.
        'nearest_neighbors': pairs of which one is among the nearest neighbours of the other,
        weight 1 if that is mutual and 1/2 if not. 'rbf_neighbors': the same pairs with the weights
        of 'rbf'. 'precomputed': X is the symmetric matrix W itself, dense or sparse.
    gamma : float, default=1.0
        Factor :math:`\gamma` of the weights 'rbf'.
    sigma : float or None, default=None
        Alternative to `gamma`; give only one of them.
    sigma_convention : {'sigma2', '2sigma2'}, default='sigma2'
        Whether gamma is :math:`1 / \sigma^2` or :math:`1 / (2 \sigma^2)`.
    n_neighbors : int, default=10
        Number of neighbours in the graph, the row itself included; at most all rows.
    cut : {'eigenvectors', 'recursive'}, default='eigenvectors'
        K eigenvectors and k-means, or repeated cuts in two.
    threshold : {'sweep', 'zero', 'median'}, default='sweep'
        Where cut='recursive' divides the values of the second eigenvector: at the least Ncut, at 0,
        or at their median (halves of equal size).
    assign_labels : {'kmeans', 'cluster_qr'}, default='kmeans'
        How cut='eigenvectors' finds the clusters: k-means, or a pivoted QR decomposition, which
        needs no random start.
    n_init : int, default=10
        Number of random starts of k-means.
    eigen_tol : float or 'auto', default='auto'
        Relative accuracy of the eigenvalues of a large graph; 'auto' is 1e-9.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means.
    n_jobs : int or None, default=None
        Threads of the neighbour search and of k-means; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The cluster of each row; clusters are numbered by their first rows.
    ncut_ : float
        Normalised cut of the clustering, 0 if nothing is cut.
    eigenvalues_ : ndarray
        cut='eigenvectors': the K smallest, one 0 for every connected part. cut='recursive': the
        second one of every cut made, in order.
    embedding_ : ndarray of shape (n_samples, K)
        The K eigenvectors; with cut='recursive', the vectors that were cut, 0 outside of the part.
    split_cuts_ : ndarray of shape (n_cuts,)
        Ncut of each cut in two within the part it divides; empty for cut='eigenvectors'.
    residual_ : float
        Largest relative residual of the eigenvectors.
    n_connected_components_ : int
        Number of connected components of the graph.
    affinity_matrix_ : ndarray or CSR matrix of shape (n_samples, n_samples)
        The graph W. Not kept in model files.

    Notes
    -----
    .. math:: \min \sum_k \frac{\mathrm{cut}(A_k, \bar A_k)}{\mathrm{vol}(A_k)}
              \quad\text{relaxed to}\quad (D - W) y = \lambda D y, \qquad D_{ii} = \sum_j W_{ij}

    The graph need not be connected, since a cut between its components costs nothing: no cluster
    spans two components, and each is divided into as many clusters as it has of the K smallest
    eigenvalues. With more components than `n_clusters`, the smallest are merged with the nearest
    one, one by one, and a warning is raised. With affinity='precomputed', where distances are
    unknown, they are merged with the next larger one.

    O(n²d) for the full graph and O(n²) memory; with neighbours O(n k) memory. Small graphs are
    solved completely, larger ones by the Lanczos method from a fixed start; signs are fixed. Cannot
    assign new rows. Source: Shi and Malik 2000; von Luxburg, *A tutorial on spectral
    clustering*, 2007; cluster_qr: Damle, Minden and Ying 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.cluster import SpectralClustering
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> rings = np.vstack([circle, 3 * circle])
    >>> model = SpectralClustering(2, sigma=0.4).fit(rings)
    >>> np.bincount(model.labels_[:60]), np.bincount(model.labels_[60:])
    (array([60]), array([ 0, 60]))
    >>> model.ncut_ < 1e-6
    True
    """

    model_id = 224
    takes_sparse = True
    stored = declared(
        **each("ncut_ residual_", Number(0)),
        n_connected_components_=Count(),
        labels_=Integers("samples", 0, "n_clusters-1"),
        split_cuts_=Array("cuts", 0),
        eigenvalues_=Array("axes", 0),
        embedding_=Array("samples, axes"),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "rbf",
        gamma: float = 1.0,
        sigma: float | None = None,
        sigma_convention: str = "sigma2",
        n_neighbors: int = 10,
        cut: str = "eigenvectors",
        threshold: str = "sweep",
        assign_labels: str = "kmeans",
        n_init: int = 10,
        eigen_tol: float | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.gamma = gamma
        self.sigma = sigma
        self.sigma_convention = sigma_convention
        self.n_neighbors = n_neighbors
        self.cut = cut
        self.threshold = threshold
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.eigen_tol = eigen_tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(), cls(3, affinity="nearest_neighbors", cut="recursive")]

    @property
    def affinity_matrix_(self) -> Any:
        """The graph that was cut."""
        try:
            return self._affinity
        except AttributeError:
            raise AttributeError(
                "affinity_matrix_ exists after fit only; a model file does not keep it"
            ) from None

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Build the graph and cut it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; for affinity='precomputed' the (n_samples, n_samples) similarities.
        y : ignored
            For compatibility.

        Returns
        -------
        self
        """
        gamma = self._check_params()
        rows, _ = self._fit_data(X)
        self._check_count(rows)
        self._affinity = graph = self._graph(rows, gamma)
        part = graph_parts(graph)
        self.n_connected_components_ = int(part.max()) + 1
        if self.n_connected_components_ > self.n_clusters:
            warnings.warn(
                f"the similarity graph has {self.n_connected_components_} connected components, "
                f"more than n_clusters={self.n_clusters}; the smallest are merged with others. "
                "More similarity (a smaller gamma, a larger sigma or n_neighbors) connects them",
                UserWarning,
                stacklevel=2,
            )
            part = join_parts(
                part, self.n_clusters, None if self.affinity == "precomputed" else rows
            )
        if self.cut == "recursive":
            self._cut_in_two(graph, part)
        else:
            self._cut_at_once(graph, part)
        self.ncut_ = normalized_cut(graph, self.labels_)
        return self

    def _check_params(self) -> float:
        check_interval("n_clusters", self.n_clusters, 1, integer=True)
        check_option("affinity", self.affinity, _AFFINITIES)
        check_interval("gamma", self.gamma, 0, open_low=True, open_high=True)
        check_interval("sigma", self.sigma, 0, open_low=True, open_high=True, options=(None,))
        check_option("sigma_convention", self.sigma_convention, ("sigma2", "2sigma2"))
        check_interval("n_neighbors", self.n_neighbors, 1, integer=True)
        check_option("cut", self.cut, ("eigenvectors", "recursive"))
        check_option("threshold", self.threshold, ("sweep", "zero", "median"))
        check_option("assign_labels", self.assign_labels, ("kmeans", "cluster_qr"))
        check_interval("n_init", self.n_init, 1, integer=True)
        check_interval("eigen_tol", self.eigen_tol, 0, open_high=True, options=("auto",))
        check_n_jobs(self.n_jobs)
        check_random_state(self.random_state)
        if self.sigma is None:
            return float(self.gamma)
        if self.gamma != 1.0:
            raise ParameterError(
                f"gamma and sigma say the same thing; give one of them "
                f"(got gamma={self.gamma!r} and sigma={self.sigma!r})"
            )
        return 1.0 / (self.sigma**2 * (1 if self.sigma_convention == "sigma2" else 2))

    def _check_count(self, rows: Any) -> None:
        found, what = rows.shape[0], "rows"
        if self.affinity != "precomputed" and not issparse(rows) and self.n_clusters > 1:
            found, what = len(np.unique(rows, axis=0)), "distinct rows"
        if self.n_clusters > found:
            raise DataError(
                f"n_clusters={self.n_clusters} needs as many {what}; X has {found} "
                f"({rows.shape[0]} samples)"
            )

    def _graph(self, rows: Any, gamma: float) -> Any:
        if self.affinity == "precomputed":
            return checked_affinity(rows)
        if self.affinity == "rbf":
            return full_graph(rows, gamma)
        if issparse(rows):
            rows = rows.toarray()
        by_distance = gamma if self.affinity == "rbf_neighbors" else None
        return neighbor_graph(rows, self.n_neighbors, by_distance, self.n_jobs)

    def _cut_at_once(self, graph: Any, part: NDArray[np.int64]) -> None:
        n_parts = int(part.max()) + 1
        embedding = np.zeros((len(part), self.n_clusters))
        volume = np.bincount(part, weights=degrees(graph))
        embedding[np.arange(len(part)), part] = 1.0 / np.sqrt(np.maximum(volume, 1e-300))[part]
        extra = self.n_clusters - n_parts
        found = [self._solved(graph, part == p, extra) for p in range(n_parts)] if extra else []
        values = np.concatenate([np.empty(0), *(v for v, _ in found)])
        owner = np.repeat(np.arange(len(found)), [len(v) for v, _ in found])
        place = np.arange(len(owner)) - np.searchsorted(owner, owner)
        chosen = np.argsort(values, kind="stable")[:extra]
        groups = np.zeros(len(part), dtype=np.int64)
        self.residual_ = 0.0
        for p in range(n_parts):
            inside = part == p
            mine = chosen[owner[chosen] == p]
            if not len(mine):
                continue
            vectors = found[p][1][:, place[mine]]
            columns = n_parts + np.flatnonzero(owner[chosen] == p)
            embedding[np.ix_(inside, columns)] = vectors
            self.residual_ = max(
                self.residual_, residual(graph[inside][:, inside], values[mine], vectors)
            )
            groups[inside] = self._assigned(embedding[inside][:, [p, *columns]], len(mine) + 1)
        self.eigenvalues_ = np.concatenate([np.zeros(n_parts), values[chosen]])
        self.embedding_ = embedding
        self.split_cuts_ = np.empty(0)
        self.labels_ = in_order(part * self.n_clusters + groups)

    def _solved(
        self, graph: Any, inside: NDArray[np.bool_], extra: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest eigenvalues of a part besides 0, as many as may be needed."""
        size = int(inside.sum())
        count = min(extra, size - 1)
        if not count:
            return np.empty(0), np.empty((size, 0))
        own = graph if size == graph.shape[0] else graph[inside][:, inside]
        return cut_vectors(own, count, self._tolerance())

    def _tolerance(self) -> float:
        return 1e-9 if isinstance(self.eigen_tol, str) else float(self.eigen_tol)

    def _assigned(self, vectors: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        if self.assign_labels == "cluster_qr":
            return _by_pivots(vectors)
        # Every part uses the same seed, so that parts do not depend on each other.
        model = KMeans(
            count, n_init=self.n_init, random_state=self.random_state, n_jobs=self.n_jobs
        )
        return np.asarray(model.fit(vectors).labels_, dtype=np.int64)

    def _cut_in_two(self, graph: Any, part: NDArray[np.int64]) -> None:
        solve: Callable[[Any], Any] = lambda own: cut_vectors(own, 1, self._tolerance())  # noqa: E731
        splitter = Splitter(graph, self.threshold, solve)
        made = splitter.split(part, self.n_clusters)
        self.labels_ = in_order(made.labels)
        self.eigenvalues_ = made.eigenvalues
        self.embedding_ = made.vectors
        self.split_cuts_ = made.cuts
        self.residual_ = made.residual

    def _check_more(self) -> None:
        n_cuts, n_axes = len(self.split_cuts_), len(self.eigenvalues_)
        wanted = (0, self.n_clusters) if self.cut == "eigenvectors" else (n_axes, n_cuts)
        ensure(
            (n_cuts, n_axes) == wanted, "split_cuts_ and eigenvalues_ do not fit cut and n_clusters"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


def _by_pivots(vectors: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return clusters from eigenvectors: pivot rows represent clusters, rotated onto the axes."""
    count = vectors.shape[1]
    _, _, pivots = qr(vectors.T, pivoting=True, mode="economic")
    left, _, right = svd(vectors[pivots[:count]].T)
    return np.asarray(np.abs(vectors @ (left @ right)).argmax(axis=1), dtype=np.int64)
