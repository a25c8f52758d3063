"""Fuzzy k-means: every row belongs to every cluster to a degree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from assay._core import cluster as kernels
from assay.base import check_interval, check_n_jobs, check_option, check_random_state
from assay.base.stored import Array, Count, Number, OneOf, declared, ensure
from assay.cluster._centroids import DRAWS, CentroidModel
from assay.cluster._lloyd import tolerance_of
from assay.cluster._seeds import (
    NO_WEIGHT,
    Init,
    check_enough_rows,
    check_init,
    first_centres,
    runs,
)


class FuzzyKMeans(CentroidModel):
    r"""Give every row a degree of membership in each of k clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    m : float, default=2.0
        Fuzzifier, above 1: near 1, memberships are almost 0 or 1 as in `KMeans`; large values make
        them all equal.
    centroid : {'standard', 'literal'}, default='standard'
        Weights of the rows in a centre: :math:`P^m`, which minimises J, or :math:`P`.
    init : {'k-means++', 'random'}, array-like or callable, default='k-means++'
        Initial centres: rows drawn far from each other, random rows, an array of shape
        (n_clusters, n_features), or a function of (X, n_clusters, random_state) that returns one.
    n_init : int or 'auto', default='auto'
        Number of runs; the one with the least J is kept. 'auto' is 1 for 'k-means++' and given
        centres, else 10.
    max_iter : int, default=300
        Maximum number of iterations of a run.
    tol : float, default=1e-06
        A run ends when the summed squared shifts of the centres are at most `tol` times the mean
        variance of the columns.
    random_state : int, RandomState or None, default=None
        Seed of the random choices.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of float64 of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of int32 of shape (n_samples,)
        The cluster with the greatest membership, for each row.
    n_samples_fit_ : int
        Number of rows.
    objective_ : float
        J of the centres.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        J of the initial centres and after each iteration; it never rises with
        centroid='standard'.
    n_iter_ : int
        Number of iterations of the run that was kept.
    stop_reason_ : {'converged', 'max_iter'}
        Why that run ended.

    Notes
    -----
    .. math:: J = \sum_i \sum_j w_j P(C_i \mid x_j)^m \|x_j - \theta_i\|^2, \qquad
              P(C_i \mid x) = \frac{1}{\sum_k (\|x - \theta_i\| / \|x - \theta_k\|)^{2/(m-1)}}

    .. math:: \theta_i = \frac{\sum_j w_j P(C_i \mid x_j)^m x_j}{\sum_j w_j P(C_i \mid x_j)^m}

    A row on a centre belongs to that one alone (in equal parts, if several centres coincide).
    Some lecture notes print the centre without the exponent; that is centroid='literal', whose
    iteration does not minimise J. O(nkd) per iteration, no copy of the rows.
    Source: Bezdek 1981.

    Examples
    --------
    >>> from assay.cluster import FuzzyKMeans
    >>> model = FuzzyKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(model.cluster_centers_.ravel().round(2).tolist())
    [0.5, 9.5]
    >>> model.predict_proba([[5.0]]).round(3).tolist()
    [[0.5, 0.5]]
    """

    model_id = 222
    expected_failures: ClassVar[Mapping[str, str]] = DRAWS
    takes_sparse = False
    stored = declared(
        n_iter_=Count(1),
        objective_=Number(0),
        stop_reason_=OneOf(("converged", "max_iter")),
        objective_path_=Array("n_iter_+1", 0),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: float = 2.0,
        centroid: str = "standard",
        init: Init = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.centroid = centroid
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Find the centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        path: NDArray[np.float64] | None = None
        for _ in range(runs(self.n_init, self.init, 10)):
            centres = first_centres(rows, weight, self.n_clusters, self.init, random, n_threads)
            history, stable, shift = kernels.fuzzy_kmeans(
                rows,
                NO_WEIGHT if weight is None else weight,
                centres,
                self.m,
                self.centroid == "literal",
                self.max_iter,
                tolerance,
                n_threads,
            )
            found = np.asarray(history, dtype=np.float64)
            if path is None or found[-1] < path[-1]:
                path, self.cluster_centers_ = found, centres
                self.stop_reason_ = "converged" if stable else "max_iter"
                last_shift = shift
        assert path is not None
        self.objective_path_ = path
        self.objective_ = float(path[-1])
        self.n_iter_ = len(path) - 1
        self.labels_ = self._nearest(rows)[0]
        self.n_samples_fit_ = len(self.labels_)
        if self.stop_reason_ == "max_iter":
            warnings.warn(
                f"FuzzyKMeans stopped after max_iter={self.max_iter} iterations while centres "
                f"still moved (summed squared shift {last_shift:.3g}, allowed {tolerance:.3g}): a "
                "larger max_iter or tol may help",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the membership of each row in each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Each row adds up to 1.
        """
        rows = self._predict_data(X)
        memberships = np.empty((rows.shape[0], len(self.cluster_centers_)))
        kernels.fuzzy_memberships(
            rows, self.cluster_centers_, self.m, memberships, check_n_jobs(self.n_jobs)
        )
        return memberships

    def _check_params(self) -> None:
        check_interval("n_clusters", self.n_clusters, 1, integer=True)
        check_interval("m", self.m, 1, open_low=True, open_high=True)
        check_option("centroid", self.centroid, ("standard", "literal"))
        check_init(self.init)
        runs(self.n_init, self.init, 10)
        check_interval("max_iter", self.max_iter, 1, integer=True)
        check_interval("tol", self.tol, 0)

    def _check_more(self) -> None:
        sound = isinstance(self.m, (int, float)) and 1 < self.m < np.inf
        ensure(sound, f"m must be above 1; got {self.m!r}")
