"""k-means from small random batches of rows, and from rows that arrive in parts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from assay.base import check_interval, check_n_jobs, check_option, check_random_state, check_weight
from assay.base.stored import Array, Count, Integers, Number, OneOf, declared
from assay.cluster._centroids import DRAWS, CentroidModel
from assay.cluster._lloyd import nearest, tolerance_of
from assay.cluster._seeds import (
    Init,
    check_enough_rows,
    check_init,
    dense,
    first_centres,
    runs,
)


class MiniBatchKMeans(CentroidModel):
    r"""Divide rows into k clusters around their means, from small random batches.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'k-means++', 'random'}, array-like or callable, default='k-means++'
        Initial centres: rows drawn far from each other, random rows, an array of shape
        (n_clusters, n_features), or a function of (X, n_clusters, random_state) that returns one.
    max_iter : int, default=100
        Maximum number of passes over the rows.
    batch_size : int, default=1024
        Number of rows per batch.
    verbose : int, default=0
        Whether to print why the fit ended.
    compute_labels : bool, default=True
        Whether to label all rows at the end.
    random_state : int, RandomState or None, default=None
        Seed of the random choices.
    tol : float, default=0.0
        Ends the fit when the centres move by at most `tol` times the mean variance of the columns
        (summed squared shifts) in a batch; 0 = never.
    max_no_improvement : int or None, default=10
        Ends the fit after this many batches in a row without an improvement of the smoothed
        inertia; None = never.
    init_size : int or None, default=None
        Number of random rows for the initial centres; None = 3 `batch_size`, at least
        3 `n_clusters`.
    n_init : int or 'auto', default='auto'
        Number of initialisations, of which the best is kept. 'auto' is 1 for 'k-means++' and given
        centres, else 3.
    reassignment_ratio : float, default=0.01
        Centres with fewer rows than this share of the largest are moved to random rows.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of float64 of shape (n_clusters, n_features)
        The centres.
    counts_ : ndarray of float64 of shape (n_clusters,)
        Total weight of the rows used for each centre.
    labels_ : ndarray of int32 of shape (n_samples,)
        The cluster of each row, if `compute_labels`.
    n_samples_fit_ : int
        Number of rows in the last call of `fit` or `partial_fit`.
    inertia_ : float
        The weighted sum of squared distances to the centres; smoothed over batches
        unless `compute_labels`.
    n_iter_ : int
        Number of rows used, in multiples of the table.
    n_steps_ : int
        Number of batches.
    stop_reason_ : {'converged', 'tol', 'max_iter'}
        Why `fit` ended: no improvement, centres moved less than `tol`, or `max_iter`.

    Notes
    -----
    A batch with total weight :math:`v_c` and mean :math:`b_c` of its rows in cluster c moves

    .. math:: \mu_c \leftarrow \frac{n_c \mu_c + v_c b_c}{n_c + v_c}, \qquad
              n_c \leftarrow n_c + v_c.

    With the same `random_state`, batches and initial centres are those of scikit-learn.
    `partial_fit` takes one batch from the caller. Source: Sculley 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.cluster import MiniBatchKMeans
    >>> rows = np.r_[np.zeros((50, 1)), np.ones((50, 1))]
    >>> model = MiniBatchKMeans(2, batch_size=20, random_state=0).fit(rows)
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.0, 1.0]
    """

    model_id = 221
    expected_failures: ClassVar[Mapping[str, str]] = DRAWS
    stored = declared(
        labels_=Integers("n_samples_fit_", 0, "n_clusters-1", when="compute_labels"),
        n_steps_=Count(1),
        inertia_=Number(0, when=lambda model: model.compute_labels or hasattr(model, "n_iter_")),
        n_iter_=Count(
            1, when=lambda model: hasattr(model, "n_iter_") or hasattr(model, "stop_reason_")
        ),
        stop_reason_=OneOf(
            ("converged", "tol", "max_iter"), when=lambda model: hasattr(model, "n_iter_")
        ),
        counts_=Array("n_clusters", 0),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: int | np.random.RandomState | None = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | str = "auto",
        reassignment_ratio: float = 0.01,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Find the centres from random batches of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : ignored
            For compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row: rows are drawn in proportion to it.

        Returns
        -------
        self
        """
        self._check_params()
        n_threads = check_n_jobs(self.n_jobs)
        rows, weight = self._fit_data(X, sample_weight)
        check_enough_rows(rows, self.n_clusters)
        random = check_random_state(self.random_state)
        n = rows.shape[0]
        size = min(self.batch_size, n)
        centres = self._best_beginning(rows, weight, random, n_threads)
        counts = np.zeros(self.n_clusters)
        watch = _Watch(size, n, tolerance_of(rows, self.tol, n_threads), self.max_no_improvement)
        until = None if weight is None else np.cumsum(weight) / weight.sum()
        self.stop_reason_ = "max_iter"
        unit = np.ones(size)
        self._since_reassigned = 0
        for _ in range(max(1, self.max_iter * n // size)):
            drawn = random.random_sample(size)
            batch = rows[_rows_at(drawn, until, n)]
            before = centres.copy() if watch.tolerance > 0 else centres
            cost = self._step(batch, unit, centres, counts, random, n_threads)
            shift = float(((centres - before) ** 2).sum()) if watch.tolerance > 0 else np.inf
            reason = watch.after(cost, shift)
            if reason is not None:
                self.stop_reason_ = reason
                break
        self.cluster_centers_, self.counts_ = centres, counts
        self.n_steps_ = watch.steps
        self.n_iter_ = int(np.ceil(watch.steps * size / n))
        if self.verbose:
            print(f"MiniBatchKMeans: {self.stop_reason_} after {self.n_steps_} batches")
        self._label(rows, weight, watch.smooth * (n if weight is None else weight.sum()))
        if self.stop_reason_ == "max_iter" and self.max_no_improvement is not None:
            warnings.warn(
                f"MiniBatchKMeans stopped after max_iter={self.max_iter} passes while the inertia "
                "still improved: a larger max_iter or batch_size may help",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Move the centres by one batch; the first call also initialises them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the batch; the first one needs at least `n_clusters`.
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
        begun = hasattr(self, "cluster_centers_")
        rows = self._predict_data(X) if begun else self._fit_rows(X)
        weight = check_weight(sample_weight, rows)
        if not hasattr(self, "_random"):
            self._random = check_random_state(self.random_state)
        if not begun:
            check_enough_rows(rows, self.n_clusters)
            self.cluster_centers_ = self._beginning(rows, weight, self._random, n_threads)
            self.counts_ = np.zeros(self.n_clusters)
            self.n_steps_ = 0
        self._since_reassigned = getattr(self, "_since_reassigned", 0)
        mass = np.ones(rows.shape[0]) if weight is None else weight
        self._step(rows, mass, self.cluster_centers_, self.counts_, self._random, n_threads)
        self.n_steps_ += 1
        self._label(rows, weight, None)
        return self

    def _step(
        self,
        batch: Any,
        weight: NDArray[np.float64],
        centres: NDArray[np.float64],
        counts: NDArray[np.float64],
        random: np.random.RandomState,
        n_threads: int,
    ) -> float:
        """Move the centres, in place, by one batch; return its inertia before the move."""
        k, n = len(centres), batch.shape[0]
        labels, squared = nearest(batch, centres, n_threads)
        members = csr_matrix((weight, labels, np.arange(n + 1)), shape=(n, k))
        sums = members.T @ batch
        sums = sums.toarray() if hasattr(sums, "toarray") else np.asarray(sums)
        mass = np.bincount(labels, weights=weight, minlength=k)
        seen = mass > 0
        centres[seen] = (centres[seen] * counts[seen, None] + sums[seen]) / (
            counts[seen, None] + mass[seen, None]
        )
        counts += mass
        self._since_reassigned += n
        if (counts == 0).any() or self._since_reassigned >= 10 * k:
            self._since_reassigned = 0
            self._reassign(batch, centres, counts, random)
        return float(weight @ squared)

    def _reassign(
        self,
        batch: Any,
        centres: NDArray[np.float64],
        counts: NDArray[np.float64],
        random: np.random.RandomState,
    ) -> None:
        """Move centres with hardly any rows to random rows of the batch."""
        weak = counts < self.reassignment_ratio * counts.max()
        most = int(0.5 * batch.shape[0])
        if weak.sum() > most:
            weak[np.argsort(counts)[most:]] = False
        if weak.any():
            chosen = random.choice(batch.shape[0], replace=False, size=int(weak.sum()))
            centres[weak] = dense(batch[chosen])
            counts[weak] = counts[~weak].min()

    def _beginning(
        self,
        rows: Any,
        weight: NDArray[np.float64] | None,
        random: np.random.RandomState,
        n_threads: int,
    ) -> NDArray[np.float64]:
        size = self._init_rows(rows.shape[0])
        if isinstance(self.init, str) and size < rows.shape[0]:
            part = random.randint(0, rows.shape[0], size)
            rows = rows[part]
            weight = _usable(weight, part)
        return first_centres(rows, weight, self.n_clusters, self.init, random, n_threads)

    def _best_beginning(
        self,
        rows: Any,
        weight: NDArray[np.float64] | None,
        random: np.random.RandomState,
        n_threads: int,
    ) -> NDArray[np.float64]:
        judges = random.randint(0, rows.shape[0], self._init_rows(rows.shape[0]))
        judged, mass = rows[judges], None if weight is None else weight[judges]
        best, least = None, np.inf
        for _ in range(runs(self.n_init, self.init, 3)):
            centres = self._beginning(rows, weight, random, n_threads)
            squared = nearest(judged, centres, n_threads)[1]
            cost = float(squared.sum() if mass is None else mass @ squared)
            if best is None or cost < least:
                best, least = centres, cost
        assert best is not None
        return best

    def _init_rows(self, n: int) -> int:
        wanted = 3 * min(self.batch_size, n) if self.init_size is None else self.init_size
        return min(wanted if wanted >= self.n_clusters else 3 * self.n_clusters, n)

    def _label(
        self, rows: Any, weight: NDArray[np.float64] | None, otherwise: float | None
    ) -> None:
        self.n_samples_fit_ = rows.shape[0]
        if self.compute_labels:
            self.labels_, squared = self._nearest(rows)
            self.inertia_ = float(squared.sum() if weight is None else weight @ squared)
        elif otherwise is not None:
            self.inertia_ = float(otherwise)

    def _check_params(self) -> None:
        check_interval("n_clusters", self.n_clusters, 1, integer=True)
        check_init(self.init)
        check_interval("verbose", self.verbose, 0, integer=True, options=(False, True))
        check_option("compute_labels", self.compute_labels, (False, True))
        check_interval("max_iter", self.max_iter, 1, integer=True)
        check_interval("batch_size", self.batch_size, 1, integer=True)
        check_interval("tol", self.tol, 0)
        if self.max_no_improvement is not None:
            check_interval("max_no_improvement", self.max_no_improvement, 0, integer=True)
        if self.init_size is not None:
            check_interval("init_size", self.init_size, 1, integer=True)
        runs(self.n_init, self.init, 3)
        check_interval("reassignment_ratio", self.reassignment_ratio, 0)


class _Watch:
    """Decides when batches no longer help, as scikit-learn does."""

    def __init__(self, size: int, n: int, tolerance: float, patience: int | None) -> None:
        self.size = size
        self.share = min(1.0, 2.0 * size / (n + 1))
        self.tolerance = tolerance
        self.patience = patience
        self.steps = 0
        self.smooth = np.inf
        self.least = np.inf
        self.worse = 0

    def after(self, cost: float, shift: float) -> str | None:
        """Record one batch; return the reason to stop, if any."""
        self.steps += 1
        cost /= self.size
        if self.steps == 1:  # the inertia of the initial centres
            self.smooth = cost
            return None
        first = self.steps == 2
        self.smooth = cost if first else self.smooth * (1 - self.share) + cost * self.share
        if self.tolerance > 0 and shift <= self.tolerance:
            return "tol"
        if self.smooth < self.least:
            self.worse, self.least = 0, self.smooth
        else:
            self.worse += 1
        if self.patience is not None and self.worse >= self.patience:
            return "converged"
        return None


def _rows_at(
    drawn: NDArray[np.float64], until: NDArray[np.float64] | None, n: int
) -> NDArray[np.int64]:
    if until is None:
        return np.minimum((drawn * n).astype(np.int64), n - 1)
    return np.minimum(np.searchsorted(until, drawn, side="right"), n - 1)


def _usable(
    weight: NDArray[np.float64] | None, part: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    # If all sampled rows have weight 0, they get equal weights.
    return None if weight is None or not weight[part].any() else weight[part]
