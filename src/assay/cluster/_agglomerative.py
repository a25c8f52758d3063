"""Agglomerative clustering: merge the two nearest clusters repeatedly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.metrics import pairwise_distances

from assay.base import Clusterer, DataError, ParameterError, check_interval, check_option
from assay.base.stored import Array, Count, Integers, declared, ensure
from assay.cluster._dendrogram import draw
from assay.cluster._graph import in_order

_LINKAGES = ("ward", "complete", "average", "single")
_METRICS = ("euclidean", "l2", "l1", "manhattan", "cosine", "chebyshev", "precomputed")


class AgglomerativeClustering(Clusterer):
    r"""Build a hierarchy of clusters from single rows upwards, and cut it.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters; None if `distance_threshold` is given.
    metric : str, default='euclidean'
        Distance of rows: 'euclidean' ('l2'), 'manhattan' ('l1'), 'chebyshev', 'cosine', or
        'precomputed': X is the symmetric matrix of distances.
    linkage : {'ward', 'complete', 'average', 'single'}, default='ward'
        Distance of clusters: growth of the sum of squares (Euclidean only), or the largest, mean or
        smallest distance of their rows.
    distance_threshold : float or None, default=None
        Clusters at this distance or farther are not merged.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The cluster of each row; clusters are numbered by their first rows.
    n_clusters_ : int
        Number of clusters.
    linkage_ : ndarray of float64 of shape (n_samples - 1, 4)
        One line per merge, nearest first, in SciPy's format: the two nodes, their distance, the
        number of rows of the new node. Rows are nodes 0 to n - 1, and line i makes node n + i.
    children_ : ndarray of int64 of shape (n_samples - 1, 2)
        The two nodes of each merge.
    distances_ : ndarray of float64 of shape (n_samples - 1,)
        Their distances.
    n_leaves_ : int
        Number of rows.

    Notes
    -----
    .. math:: d_\text{ward}(A, B) = \sqrt{\frac{2 |A| |B|}{|A| + |B|}}\, \|\bar a - \bar b\|, \qquad
              d_\text{complete} = \max_{a, b} d(a, b), \qquad
              d_\text{average} = \frac{1}{|A| |B|} \sum_{a, b} d(a, b), \qquad
              d_\text{single} = \min_{a, b} d(a, b)

    The tree is SciPy's: O(n²) time and memory, so suited to some ten thousand rows. One tree gives
    every number of clusters. Duplicate rows are merged at distance 0; more clusters than distinct
    rows separate some of them, in the order of the tree. Deterministic. Cannot assign new rows.
    Connectivity constraints are not supported.

    Examples
    --------
    >>> from assay.cluster import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2, linkage="single").fit([[0.0], [1.0], [3.0], [7.0]])
    >>> model.labels_.tolist(), model.distances_.tolist()
    ([0, 0, 0, 1], [1.0, 2.0, 4.0])
    >>> print(model.dendrogram(labels=["a", "b", "c", "d"], width=24))
    a ───────┐
    b ───────┴─────┐
    c ─────────────┴───────────┐
    d ─────────────────────────┘
    """

    model_id = 226
    stored = declared(
        labels_=Integers("samples", 0), linkage_=Array("samples-1, 4", 0), n_clusters_=Count(1)
    )

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: str = "euclidean",
        linkage: str = "ward",
        distance_threshold: float | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.linkage = linkage
        self.distance_threshold = distance_threshold

    @property
    def children_(self) -> NDArray[np.int64]:
        """The two nodes of each merge."""
        return np.asarray(self.linkage_[:, :2], dtype=np.int64)

    @property
    def distances_(self) -> NDArray[np.float64]:
        """The distance of each merge."""
        return np.array(self.linkage_[:, 2])

    @property
    def n_leaves_(self) -> int:
        """Number of rows."""
        return len(self.labels_)

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Build the tree and cut it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; for metric='precomputed' the (n_samples, n_samples) distances.
        y : ignored
            For compatibility.

        Returns
        -------
        self
        """
        self._check_params()
        rows, _ = self._fit_data(X)
        n_rows = rows.shape[0]
        if n_rows < 2:
            raise DataError(f"a tree of clusters needs at least 2 rows; X has {n_rows} (1 sample)")
        if self.n_clusters is not None and self.n_clusters > n_rows:
            raise DataError(f"n_clusters={self.n_clusters} needs as many rows; X has {n_rows}")
        self.linkage_ = self._tree(rows)
        if self.distance_threshold is None:
            self.n_clusters_ = int(self.n_clusters or 1)
        else:
            self.n_clusters_ = int((self.linkage_[:, 2] >= self.distance_threshold).sum()) + 1
        self.labels_ = self.cut(self.n_clusters_)
        return self

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the clusters of the tree when it is cut to this number of them.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of rows.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            The cluster of each row; clusters are numbered by their first rows.
        """
        n_rows = len(self.linkage_) + 1
        check_interval("n_clusters", n_clusters, 1, n_rows, integer=True)
        # Undo the last merges: every node takes the cluster of the node it was merged into.
        group = np.arange(2 * n_rows - 1)
        for at in range(n_rows - n_clusters - 1, -1, -1):
            group[self.children_[at]] = group[n_rows + at]
        return in_order(group[:n_rows])

    def dendrogram(
        self,
        form: str = "text",
        *,
        labels: Sequence[str] | None = None,
        max_leaves: int = 30,
        width: int = 60,
    ) -> Any:
        """Draw the tree.

        Parameters
        ----------
        form : {'text', 'svg', 'vega'}, default='text'
            Text, an SVG picture, or a Vega-Lite specification as a dict.
        labels : sequence of str, default=None
            Names of the rows; by default their numbers.
        max_leaves : int, default=30
            Maximum number of branches drawn; a branch of several rows shows their number.
        width : int, default=60
            Characters between the smallest and the largest distance, for form='text'.

        Returns
        -------
        str or dict
            Distances grow to the right; a bar connects two branches at the distance of their merge.
        """
        check_option("form", form, ("text", "svg", "vega"))
        check_interval("max_leaves", max_leaves, 2, integer=True)
        check_interval("width", width, 4, integer=True)
        if labels is not None and len(labels) != self.n_leaves_:
            raise ParameterError(
                f"labels must name every row ({self.n_leaves_}); got {len(labels)} names"
            )
        return draw(self.linkage_, form, labels, max_leaves, width)

    def _check_params(self) -> None:
        check_interval("n_clusters", self.n_clusters, 1, integer=True, options=(None,))
        check_option("metric", self.metric, _METRICS)
        check_option("linkage", self.linkage, _LINKAGES)
        check_interval("distance_threshold", self.distance_threshold, 0, options=(None,))
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ParameterError(
                "exactly one of n_clusters and distance_threshold must be None; got "
                f"n_clusters={self.n_clusters!r} and distance_threshold="
                f"{self.distance_threshold!r}"
            )
        if self.linkage == "ward" and self.metric not in ("euclidean", "l2"):
            raise ParameterError(
                f"linkage='ward' needs metric='euclidean'; got metric={self.metric!r}"
            )

    def _tree(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        if self.metric == "precomputed":
            distance = _checked_distances(rows)
            return np.asarray(hierarchy.linkage(distance, method=self.linkage))
        rows = rows.astype(np.float64, copy=False)
        if self.metric == "cosine":
            # As in scikit-learn: a row of zeros has distance 1 to every other row.
            full = pairwise_distances(rows, metric="cosine")
            full = np.maximum(full, full.T)
            np.fill_diagonal(full, 0.0)
            return np.asarray(hierarchy.linkage(squareform(full), method=self.linkage))
        names = {"l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock"}
        metric = names.get(self.metric, self.metric)
        return np.asarray(hierarchy.linkage(rows, method=self.linkage, metric=metric))

    def _check_more(self) -> None:
        made = self.linkage_[:, :2]
        nodes = len(self.labels_) + np.arange(len(made))[:, None]
        ensure(
            (made == np.floor(made)).all() and (made < nodes).all(),
            "linkage_ merges a node that does not exist yet",
        )
        ensure(len(np.unique(made)) == made.size, "linkage_ merges a node twice")
        ensure(self.n_clusters_ == self.labels_.max() + 1, "n_clusters_ does not fit labels_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _checked_distances(given: NDArray[Any]) -> NDArray[np.float64]:
    """Return a square matrix of distances in SciPy's condensed form."""
    distance = given.astype(np.float64, copy=False)
    if distance.shape[0] != distance.shape[1]:
        raise DataError(
            f"metric='precomputed' needs a square matrix of distances; got shape {distance.shape}"
        )
    if distance.min() < 0 or np.diag(distance).any():
        raise DataError("distances must not be negative, and 0 on the diagonal")
    gap = np.abs(distance - distance.T).max()
    if gap > 1e-8 * max(distance.max(), 1e-300):
        raise DataError(
            f"distances must be symmetric; the largest difference between (i, j) and (j, i) is "
            f"{gap:g}"
        )
    return np.asarray(squareform((distance + distance.T) / 2, checks=False))
