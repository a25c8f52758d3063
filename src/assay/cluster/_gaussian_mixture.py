"""Clustering by a mixture of Gaussian distributions."""

from __future__ import annotations

import warnings
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    Clusterer,
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import (
    Array,
    Count,
    Integers,
    OneOf,
    Plain,
    check_stored,
    declared,
    each,
    ensure,
)
from assay.cluster._gaussian_mixture_em import Mixture, Run, Shape, answers, climb, factorised
from assay.cluster._gaussian_mixture_rows import Rows
from assay.cluster._gaussian_mixture_start import start

KINDS = ("full", "tied", "diag", "spherical")
STARTS = ("kmeans", "k-means++", "random", "random_from_data")


class GaussianMixture(Clusterer):
    r"""Fit a mixture of Gaussian distributions, and assign each row to a component.

    Parameters
    ----------
    n_components : int, default=1
        Number k of components.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        A covariance matrix for each component; one for all; variances of the columns for each
        component; one variance for each component.
    tol : float >= 0, default=0.001
        EM stops when an iteration raises the mean log-likelihood by less.
    reg_covar : float >= 0, default=1e-06
        Added to the diagonal of each covariance, so that a component on few rows does not collapse.
    max_iter : int >= 0, default=100
        Maximum number of EM iterations.
    n_init : int, default=1
        Number of starts; the one with the largest likelihood is kept.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='kmeans'
        Initial responsibilities: clusters of k-means; clusters around k-means++ seeds; random
        numbers; clusters around random rows.
    weights_init : array-like of shape (n_components,), default=None
        Weights to start from.
    means_init : array-like of shape (n_components, n_features), default=None
        Means to start from.
    precisions_init : array-like, default=None
        Inverse covariances to start from, shaped like `covariances_`.
    random_state : int, RandomState or None, default=None
        Seed of starts and of `sample`.
    warm_start : bool, default=False
        Whether `fit` continues from the last fit; `n_init` is then ignored.
    verbose : int, default=0
        1 prints starts and iterations; 2 also the gains.
    verbose_interval : int, default=10
        Number of iterations between two printed lines.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weight of each component. 0 = it lost its rows (see Notes).
    means_ : ndarray of shape (n_components, n_features)
        The means.
    covariances_ : ndarray
        Shape (n_components, n_features, n_features) for 'full', (n_features, n_features) for
        'tied', (n_components, n_features) for 'diag', (n_components,) for 'spherical'.
    precisions_ : ndarray
        Inverses of the covariances, of the same shape.
    precisions_cholesky_ : ndarray
        Upper triangular U with :math:`\Sigma^{-1} = U U^\top`; for 'diag' and 'spherical' one over
        the standard deviation.
    labels_ : ndarray of int32 of shape (n_samples_fit_,)
        The most likely component of each training row.
    converged_ : bool
        Whether EM stopped before `max_iter`.
    stop_reason_ : {'converged', 'no_gain', 'max_iter'}
        The gain fell below `tol`; the next iteration would not have raised the likelihood; or
        `max_iter` was reached.
    n_iter_ : int
        Number of iterations of the best start.
    lower_bound_ : float
        Mean log-likelihood of the training rows in the last iteration.
    lower_bounds_ : ndarray of shape (n_iter_,)
        The same for each iteration; it never falls.
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: p(x) = \sum_k w_k N(x; \mu_k, \Sigma_k), \qquad
              r_{ik} = \frac{w_k N(x_i; \mu_k, \Sigma_k)}{\sum_l w_l N(x_i; \mu_l, \Sigma_l)}

    .. math:: w_k = \frac{1}{n} \sum_i r_{ik}, \quad
              \mu_k = \frac{\sum_i r_{ik} x_i}{\sum_i r_{ik}}, \quad
              \Sigma_k = \frac{\sum_i r_{ik} (x_i - \mu_k)(x_i - \mu_k)^\top}{\sum_i r_{ik}}
              + \rho I

    E and M step are one pass over the rows, :math:`O(n k d^2)`, in panels that stay in the cache;
    the table is not copied and nothing of size n x k is kept. The same bits for any `n_jobs`.

    **Missing values** (NaN) are integrated out, exactly: the density of a row is that of its
    observed columns, and the M step uses the expected moments of the missing values, given the rest
    of the row and the component. This is valid if values are missing at random (MAR). A column
    without any value raises an error.

    **The likelihood never falls.** EM guarantees that for :math:`\rho = 0`. With `reg_covar` the
    M step is not exactly the maximiser; an iteration that would lower the likelihood is not taken
    and ends the fit (``stop_reason_ == 'no_gain'`` if by more than `tol`).

    **Collapse.** A component of duplicate rows, or of fewer rows than columns, has a singular
    covariance; `reg_covar` bounds its variances from below. With ``reg_covar=0``, or when that is
    too small for the scale of the columns, `fit` raises an error that names the component. A
    component whose responsibilities sum to zero stays where it is, with weight 0.

    See Also
    --------
    KMeans : Clusters around centres, without shapes and weights.

    Examples
    --------
    >>> from assay.cluster import GaussianMixture
    >>> X = [[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]]
    >>> model = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> sorted(model.means_.round(6).tolist())
    [[1.0, 2.0], [10.0, 2.0]]
    >>> bool(model.predict([[0, 0]])[0] != model.predict([[12, 3]])[0])
    True
    """

    model_id: ClassVar[int | None] = 223
    takes_missing: ClassVar[bool] = True
    stored = declared(
        weights_=Array("n_components", 0, 1),
        means_=Array("n_components, features"),
        n_samples_fit_=Count(),
        n_iter_=Count(),
        converged_=Plain(bool),
        labels_=Integers("n_samples_fit_", 0, "n_components-1"),
        lower_bounds_=Array("n_iter_"),
        lower_bound_=Plain(float),
        stop_reason_=OneOf(("converged", "no_gain", "max_iter")),
    )

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Estimate weights, means and covariances by expectation-maximisation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN where a value is missing.
        y : None
            Not used.

        Returns
        -------
        GaussianMixture
            The fitted model.
        """
        n_threads = self._check_params()
        fitted = self.warm_start and hasattr(self, "converged_")
        table, _ = self._fit_data(X)
        shape = self._shape(table.shape[1])
        if len(table) < shape.n_components:
            raise ParameterError(
                f"n_components must be at most the number of rows ({len(table)} samples); "
                f"got {self.n_components}"
            )
        rows = Rows.of(table)
        _refuse_empty_columns(rows)
        rng = check_random_state(self.random_state)
        given = self._given(shape)
        best: Run | None = None
        for attempt in range(1 if fitted else self.n_init):
            if self.verbose:
                print(f"Initialization {attempt}")
            if fitted:
                first = self._mixture(self._warm_shape(shape))
            else:
                first = start(rows, shape, self.init_params, given, rng, n_threads)
            run = climb(
                rows,
                first,
                shape,
                tol=self.tol,
                max_iter=self.max_iter,
                n_threads=n_threads,
                tell=self._tell,
            )
            if best is None or run.bound > best.bound:
                best = run
        assert best is not None
        self._store(best, shape, rows, n_threads)
        return self

    def fit_predict(self, X: ArrayLike, y: object = None) -> NDArray[np.int32]:
        """Fit, and return the most likely component of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        ndarray of int32 of shape (n_samples,)
        """
        return self.fit(X, y).labels_

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the most likely component of each row; ties go to the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of int32 of shape (n_samples,)
        """
        return self._answers(X, labels=True)[0]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each component, given the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_components)
        """
        return self._answers(X, shares=True)[2]

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-density of each row, over its observed columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
        """
        return self._answers(X, norms=True)[1]

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002
        """Return the mean log-density of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def bic(self, X: ArrayLike) -> float:
        r"""Return the Bayesian information criterion; lower is better.

        .. math:: -2 \sum_i \log p(x_i) + q \log n, \qquad q \text{ free parameters}

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        float
        """
        scores = self.score_samples(X)
        shape = self._shape(self.n_features_in_)
        return float(-2 * scores.sum() + shape.n_parameters * np.log(len(scores)))

    def aic(self, X: ArrayLike) -> float:
        r"""Return the Akaike information criterion; lower is better.

        .. math:: -2 \sum_i \log p(x_i) + 2 q, \qquad q \text{ free parameters}

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        float
        """
        scores = self.score_samples(X)
        return float(-2 * scores.sum() + 2 * self._shape(self.n_features_in_).n_parameters)

    def sample(self, n_samples: int = 1) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.

        Returns
        -------
        X : ndarray of float64 of shape (n_samples, n_features)
            The rows, component after component.
        y : ndarray of int64 of shape (n_samples,)
            Their components.
        """
        check_is_fitted(self)
        check_interval("n_samples", n_samples, 1, integer=True)
        rng = check_random_state(self.random_state)
        shape = self._shape(self.n_features_in_)
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        labels = np.repeat(np.arange(len(counts)), counts)
        noise = rng.standard_normal(size=(n_samples, self.n_features_in_))
        parts = []
        for k, part in enumerate(np.split(noise, np.cumsum(counts)[:-1])):
            if shape.dense:
                whole = self.covariances_ if shape.kind == "tied" else self.covariances_[k]
                parts.append(self.means_[k] + part @ np.linalg.cholesky(whole).T)
            else:
                parts.append(self.means_[k] + part * np.sqrt(self.covariances_[k]))
        return np.concatenate(parts), labels

    @property
    def precisions_(self) -> NDArray[np.float64]:
        """The inverse covariances."""
        check_is_fitted(self)
        factor: NDArray[np.float64] = self.precisions_cholesky_
        if factor.ndim < 2 or self.covariance_type == "diag":
            return factor**2
        return factor @ np.swapaxes(factor, -1, -2)

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(n_components=3), cls(n_components=3, covariance_type="spherical")]

    def _check_params(self) -> int:
        check_interval("n_components", self.n_components, 1, integer=True)
        check_option("covariance_type", self.covariance_type, KINDS)
        check_interval("tol", self.tol, 0.0, open_high=True)
        check_interval("reg_covar", self.reg_covar, 0.0, open_high=True)
        check_interval("max_iter", self.max_iter, 0, integer=True)
        check_interval("n_init", self.n_init, 1, integer=True)
        check_option("init_params", self.init_params, STARTS)
        check_random_state(self.random_state)
        check_option("warm_start", self.warm_start, (True, False))
        if not isinstance(self.verbose, bool):
            check_interval("verbose", self.verbose, 0, integer=True)
        check_interval("verbose_interval", self.verbose_interval, 1, integer=True)
        return check_n_jobs(self.n_jobs)

    def _shape(self, n_features: int) -> Shape:
        return Shape(self.covariance_type, self.n_components, n_features, float(self.reg_covar))

    def _given(self, shape: Shape) -> dict[str, NDArray[np.float64] | None]:
        """Return the checked initial values given by the user."""
        k, d = shape.n_components, shape.n_features
        weights = _numbers("weights_init", self.weights_init, (k,))
        if weights is not None:
            if (weights < 0).any() or not np.isclose(weights.sum(), 1.0):
                raise ParameterError(
                    f"weights_init must not be negative and sum to 1; got {weights.tolist()}"
                )
            weights = weights / weights.sum()
        return {
            "weights": weights,
            "means": _numbers("means_init", self.means_init, (k, d)),
            "precisions": _numbers("precisions_init", self.precisions_init, shape.public),
        }

    def _tell(self, step: int, gain: float) -> None:
        if self.verbose and step % self.verbose_interval == 0:
            print(f"  Iteration {step}" + (f"\t gain {gain:.5g}" if self.verbose > 1 else ""))

    def _warm_shape(self, shape: Shape) -> Shape:
        found = (self.means_.shape, self.covariances_.shape)
        wanted = ((shape.n_components, shape.n_features), shape.public)
        if found != wanted:
            raise ParameterError(
                "warm_start=True continues from the last fit, whose means and covariances have "
                f"shapes {found}; n_components, covariance_type and X now need {wanted}"
            )
        return shape

    def _mixture(self, shape: Shape) -> Mixture:
        return Mixture(
            self.weights_,
            self.means_,
            shape.inner(self.covariances_),
            shape.inner(self.precisions_cholesky_),
        )

    def _store(self, run: Run, shape: Shape, rows: Rows, n_threads: int) -> None:
        self.weights_, self.means_ = run.mixture.weights, run.mixture.means
        self.covariances_ = shape.outer(run.mixture.covariance)
        self.precisions_cholesky_ = shape.outer(run.mixture.factor)
        labels, norms, _ = answers(
            rows, run.mixture, shape, n_threads, labels=True, norms=not run.bounds
        )
        self.labels_, self.n_samples_fit_ = labels, len(labels)
        self.lower_bounds_ = np.array(run.bounds, dtype=np.float64)
        self.lower_bound_ = run.bound if run.bounds else float(norms.mean())
        self.n_iter_ = len(run.bounds)
        self.stop_reason_ = run.reason
        self.converged_ = run.reason != "max_iter"
        if not self.converged_ and self.max_iter > 0:
            gain = np.diff(self.lower_bounds_[-2:])
            last = f"{gain[0]:.2g}" if len(gain) else "unknown"
            warnings.warn(
                f"GaussianMixture did not converge in max_iter={self.max_iter} iterations: the "
                f"last gain of the mean log-likelihood was {last}, tol is {self.tol:g}. Raise "
                "max_iter or tol, try another init_params, or fewer components",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _answers(
        self, X: ArrayLike, **asked: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        table = self._predict_data(X)
        shape = self._shape(self.n_features_in_)
        n_threads = check_n_jobs(self.n_jobs)
        return answers(Rows.of(table), self._mixture(shape), shape, n_threads, **asked)

    def _check_more(self) -> None:
        self._check_params()
        d = self.n_features_in_
        shape = self._shape(d)
        rule = Array(", ".join(map(str, shape.public)), dtype=np.float64)
        check_stored(self, each("covariances_ precisions_cholesky_", rule))
        ensure(np.isclose(self.weights_.sum(), 1.0), "weights_ do not sum to 1")
        covariance = shape.inner(self.covariances_)
        if shape.dense:
            square = covariance.reshape(-1, d, d)
            ensure(np.array_equal(square, square.mT), "covariances_ are not symmetric")
        try:
            sound = factorised(self.weights_, self.means_, covariance, shape)
        except DataError:
            raise DataError("the model is damaged: covariances_ are singular") from None
        factor = shape.inner(self.precisions_cholesky_)
        fits = np.allclose(sound.factor, factor, rtol=1e-9, atol=0.0)
        ensure(fits, "precisions_cholesky_ belongs to another model")


def _numbers(
    name: str, value: ArrayLike | None, shape: tuple[int, ...]
) -> NDArray[np.float64] | None:
    if value is None:
        return None
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be None or numbers of shape {shape}; got {value!r}"
        ) from None
    if array.shape != shape or not np.isfinite(array).all():
        raise ParameterError(
            f"{name} must be None or finite numbers of shape {shape}; got shape {array.shape}"
        )
    return array


def _refuse_empty_columns(rows: Rows) -> None:
    if not rows.complete:
        empty = np.flatnonzero(~(rows.observed != 0).any(axis=0))
        if len(empty):
            raise DataError(
                f"column {empty[0]} of X has no value in any row (all NaN); leave this column out"
            )
