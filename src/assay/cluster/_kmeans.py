"""k-means clustering, by Lloyd's iteration with exact bounds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from assay.base import DataError, check_interval, check_n_jobs, check_option, check_random_state
from assay.base.stored import Array, Count, Number, OneOf, declared, ensure
from assay.cluster._centroids import DRAWS, CentroidModel
from assay.cluster._lloyd import Run, lloyd, tolerance_of
from assay.cluster._mahalanobis import shaped_distances, shaped_lloyd, shaped_nearest
from assay.cluster._seeds import Init, check_enough_rows, check_init, first_centres, runs


class KMeans(CentroidModel):
    r"""Divide rows into k clusters around their means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'k-means++', 'random'}, array-like or callable, default='k-means++'
        Initial centres: rows drawn far from each other, random rows, an array of shape
        (n_clusters, n_features), or a function of (X, n_clusters, random_state) that returns one.
    n_init : int or 'auto', default='auto'
        Number of runs; the one with the least inertia is kept. 'auto' is 1 for 'k-means++' and
        given centres, else 10.
    max_iter : int, default=300
        Maximum number of iterations of a run.
    tol : float, default=0.0001
        A run also ends when the summed squared shifts of the centres are at most `tol` times the
        mean variance of the columns.
    verbose : int, default=0
        Whether to print one line per run.
    random_state : int, RandomState or None, default=None
        Seed of the random choices; the same seed gives the same initial rows as in scikit-learn.
    copy_x : bool, default=True
        Without effect: X is read in place and never copied or changed.
    algorithm : {'lloyd', 'elkan', 'full'}, default='lloyd'
        'lloyd' and 'elkan' skip distances that bounds make unnecessary; 'full' computes all of
        them. The result is the same, bit for bit.
    metric : {'euclidean', 'mahalanobis'}, default='euclidean'
        Whether clusters are round, or each has its own elliptic shape.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of float64 of shape (n_clusters, n_features)
        The means.
    shapes_ : ndarray of shape (n_clusters, n_features, n_features) or None
        The matrices :math:`A_c` of metric='mahalanobis'.
    labels_ : ndarray of int32 of shape (n_samples,)
        The cluster of each row.
    n_samples_fit_ : int
        Number of rows.
    inertia_ : float
        The sum J of squared distances to the centres, weighted.
    n_iter_ : int
        Number of iterations of the run that was kept.
    stop_reason_ : {'converged', 'tol', 'max_iter'}
        Why that run ended: no label changed, the centres moved less than `tol`, or `max_iter`.

    Notes
    -----
    .. math:: J = \sum_i w_i \|x_i - \mu_{c(i)}\|^2

    falls in both steps of an iteration: each row goes to its nearest centre (ties to the first),
    then each centre to the mean of its rows. The bounds (Hamerly's, and Exponion's by panels of
    eight centres) hold for the distances as computed, and the sums of rows are exact integers, so
    labels and centres are those of the plain iteration, bit for bit, for any number of threads.

    A cluster that loses all its rows gets the row farthest from its centre. With fewer distinct
    rows than clusters some stay empty, and a `ConvergenceWarning` is raised.

    With metric='mahalanobis' the distance is :math:`(x - \mu_c)^T A_c (x - \mu_c)`, where
    :math:`A_c = \det(\Sigma_c)^{1/d}\,\Sigma_c^{-1}` is the best of all shapes of volume 1 for the
    covariance of its cluster (of all rows, in the first iteration): hyper-ellipsoids of any
    direction and elongation, with a J that still falls in every step. Flat clusters get at least
    1e-6 of the table's covariance. O(nkd²) per iteration; dense tables only.

    First iteration O(nkd), later ones O(n) plus the distances that the bounds leave open; 20 bytes
    per row. Sparse tables use the plain iteration. Sources: Lloyd 1982; Arthur and Vassilvitskii
    2007; Hamerly 2010; Newling and Fleuret 2016.

    Examples
    --------
    >>> from assay.cluster import KMeans
    >>> model = KMeans(2, random_state=0).fit([[1.0], [2.0], [10.0], [11.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [1.5, 10.5]
    >>> model.inertia_
    1.0
    """

    model_id = 220
    expected_failures: ClassVar[Mapping[str, str]] = DRAWS
    shapes_: Any
    stored = declared(
        inertia_=Number(0),
        n_iter_=Count(1),
        stop_reason_=OneOf(("converged", "tol", "max_iter")),
        shapes_=Array(
            "n_clusters, features, features",
            when=lambda model: getattr(model, "shapes_", 0) is not None,
        ),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 0.0001,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Find the centres.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : ignored
            For compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        self
        """
        self._check_params()
        n_threads = check_n_jobs(self.n_jobs)
        rows, weight = self._fit_data(X, sample_weight)
        check_enough_rows(rows, self.n_clusters)
        random = check_random_state(self.random_state)
        tolerance = tolerance_of(rows, self.tol, n_threads)
        if self.metric == "mahalanobis":
            self._dense(rows)
        best: Run | None = None
        for number in range(runs(self.n_init, self.init, 10)):
            centres = first_centres(rows, weight, self.n_clusters, self.init, random, n_threads)
            run, shapes = self._run(rows, weight, centres, tolerance, n_threads)
            if self.verbose:
                print(f"KMeans run {number + 1}: inertia {run.inertia:g}, {run.n_iter} iterations")
            if best is None or run.inertia < best.inertia:
                best, self.shapes_ = run, shapes
        assert best is not None
        self._keep(best)
        return self

    def _run(
        self,
        rows: Any,
        weight: NDArray[np.float64] | None,
        centres: NDArray[np.float64],
        tolerance: float,
        n_threads: int,
    ) -> tuple[Run, NDArray[np.float64] | None]:
        if self.metric == "mahalanobis":
            return shaped_lloyd(rows, weight, centres, max_iter=self.max_iter, tolerance=tolerance)
        run = lloyd(
            rows,
            weight,
            centres,
            max_iter=self.max_iter,
            tolerance=tolerance,
            bounds=self.algorithm != "full",
            n_threads=n_threads,
        )
        return run, None

    def _nearest(self, rows: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        if self.shapes_ is None:
            return super()._nearest(rows)
        return shaped_nearest(self._dense(rows), self.cluster_centers_, self.shapes_)

    def _distances(self, rows: Any) -> NDArray[Any]:
        if self.shapes_ is None:
            return super()._distances(rows)
        squared = shaped_distances(self._dense(rows), self.cluster_centers_, self.shapes_)
        return np.sqrt(squared).astype(rows.dtype, copy=False)

    def _dense(self, rows: Any) -> Any:
        if issparse(rows):
            raise DataError("metric='mahalanobis' needs a dense table; got a sparse one")
        return rows

    def _check_params(self) -> None:
        check_interval("n_clusters", self.n_clusters, 1, integer=True)
        check_init(self.init)
        runs(self.n_init, self.init, 10)
        check_interval("max_iter", self.max_iter, 1, integer=True)
        check_interval("tol", self.tol, 0)
        check_interval("verbose", self.verbose, 0, integer=True, options=(False, True))
        check_option("copy_x", self.copy_x, (False, True))
        check_option("algorithm", self.algorithm, ("lloyd", "elkan", "full"))
        check_option("metric", self.metric, ("euclidean", "mahalanobis"))

    def _keep(self, run: Run) -> None:
        self.cluster_centers_ = run.centres
        self.labels_ = run.labels
        self.n_samples_fit_ = len(run.labels)
        self.inertia_ = run.inertia
        self.n_iter_ = run.n_iter
        self.stop_reason_ = run.stop_reason
        distinct = _n_used(run.labels, self.n_clusters)
        if distinct < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({distinct}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif run.stop_reason == "max_iter":
            warnings.warn(
                f"KMeans stopped after max_iter={self.max_iter} iterations while labels still "
                f"changed (summed squared shift {run.shift:.3g}): a larger max_iter or tol, or "
                "n_init > 1 may help",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_more(self) -> None:
        if self.shapes_ is not None:
            try:
                np.linalg.cholesky(self.shapes_)
            except np.linalg.LinAlgError:
                ensure(False, "KMeans.shapes_ is not positive definite")

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(n_clusters=2), cls(n_clusters=2, metric="mahalanobis")]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "mahalanobis"
        return tags


def _n_used(labels: NDArray[np.int32], n_clusters: int) -> int:
    return int(np.count_nonzero(np.bincount(labels, minlength=n_clusters)))
