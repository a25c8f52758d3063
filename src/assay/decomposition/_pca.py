"""Principal component analysis."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    DataError,
    ParameterError,
    Transformer,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import Array, Count, Number, Plain, declared, each, ensure
from assay.decomposition import _pca_routes as routes
from assay.decomposition._dimension import count_components
from assay.decomposition._factor import factor_of, merged
from assay.decomposition._pca_model import log_likelihood, model_covariance
from assay.decomposition._pca_path import ComponentsPath, Decompositions
from assay.decomposition._project import project
from assay.decomposition._signs import with_signs

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
#: Variances below this fraction of the largest lose half of their digits in products of columns.
LOST = 1e-10
#: Maximum number of columns for which products of columns are used; their eigenvectors cost d
#: cubed.
MAX_COLUMNS = 1000


class PCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Project rows onto the few directions of largest variance.

    Parameters
    ----------
    n_components : int, float in (0, 1), 'mle' or None, default=None
        Number of components to keep: a number; the fewest that explain this fraction of the
        variance; 'mle' = Minka's choice; None = all, min(n_samples, n_features).
    copy : bool, default=True
        For compatibility: X is never written to.
    whiten : bool, default=False
        Whether to divide each component by its standard deviation, so that the projected training
        rows have the identity as covariance.
    svd_solver : str, default='auto'
        'covariance_eigh': eigenvectors of the products of columns, one pass over the table; 'full':
        singular values of the rows; 'arpack', 'randomized': the first components only, by iteration
        or by random projection. 'auto': see Notes.
    tol : float >= 0, default=0.0
        Precision of 'arpack'; 0 = machine precision.
    iterated_power : int >= 0 or 'auto', default='auto'
        Power iterations of 'randomized'; more are slower and more precise. 'auto' = 7 for less than
        a tenth of all components, else 4.
    n_oversamples : int >= 1, default=10
        Extra random directions used by 'randomized'; more are slower and more precise.
    power_iteration_normalizer : {'auto', 'QR', 'LU', 'none'}, default='auto'
        Normalisation of the directions of 'randomized' between iterations.
    random_state : int, RandomState instance or None, default=None
        Seed of 'randomized', and of the first vector of 'arpack'.
    ddof : int, default=1
        Variances are sums of squares divided by n - ddof: 1 is the unbiased estimate, 0 divides by
        n.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        The directions, one per row, of unit length, by descending variance. The largest entry of
        each is positive.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance along each direction: the largest eigenvalues of the covariance.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        The same as a fraction of the total variance; 0 where nothing varies.
    singular_values_ : ndarray of shape (n_components_,)
        Norm of the projected training rows along each direction, before whitening.
    mean_ : ndarray of shape (n_features_in_,)
        Mean of each column.
    n_components_ : int
        Number of directions.
    n_samples_ : int
        Number of training rows.
    noise_variance_ : float
        Mean variance of the directions left out.
    solver_ : str
        The solver that was used.
    factor_ : ndarray of shape (n, n_features_in_)
        After `partial_fit` only: F'F is the scatter of all rows so far.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: C = \frac{1}{n - 1} \sum_i (x_i - \bar x)(x_i - \bar x)^\top = \Phi \Lambda \Phi^\top,
              \qquad y = \Phi^\top (x - \bar x), \qquad \hat x = \Phi y + \bar x

    With k columns of Φ, no other linear map to k numbers and back has a smaller squared error,
    which is (n - 1) times the sum of the eigenvalues left out.

    'auto' uses 'covariance_eigh' for tables of up to 1000 columns and at least as many rows: one
    pass, O(n d^2), without a copy of the table. Products of columns are squares, so a variance
    below 1e-10 of the largest keeps less than half of its digits; if such a component is requested,
    'auto' uses 'full' instead (blocks of rows are reduced to a triangle, so a long table is not
    copied either). Other tables: 'full' up to 500 rows and columns, for a fraction, for 'mle' and
    for nearly all components; else 'randomized'. Sparse tables: 'covariance_eigh', or 'arpack'
    beyond 1000 columns. Deterministic for a given seed.

    See Also
    --------
    LinearDiscriminantAnalysis : Directions that separate classes.

    Examples
    --------
    >>> from assay.decomposition import PCA
    >>> X = [[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]]
    >>> model = PCA(n_components=0.95).fit(X)
    >>> model.n_components_, model.explained_variance_ratio_.round(3).tolist()
    (1, [0.97])
    >>> model.inverse_transform(model.transform(X[:1])).round(2).tolist()
    [[2.36, 2.55]]
    """

    model_id: ClassVar[int | None] = 235
    assay_path: ClassVar[ComponentsPath] = ComponentsPath()
    takes_sparse: ClassVar[bool] = True
    stored = declared(
        n_components_=Count(0, "features"),
        n_samples_=Count(),
        components_=Array("n_components_, features"),
        mean_=Array("features"),
        **each(
            "explained_variance_ explained_variance_ratio_ singular_values_",
            Array("n_components_", 0),
        ),
        noise_variance_=Number(0),
        solver_=Plain(str),
        factor_=Array("directions, features", optional=True),
    )

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        ddof: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.ddof = ddof
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Learn the mean and the directions of largest variance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        PCA
            The fitted model.
        """
        return self._fit_from(X, Decompositions())

    def _fit_from(self, X: ArrayLike, made: Decompositions) -> Self:
        """Fit, reusing decompositions from other fits on the same rows."""
        n_threads = self._check_params()
        rows: Any = self._fit_data(X)
        _check_count(rows.shape[0], self.ddof)
        if hasattr(self, "factor_"):
            del self.factor_
        solver = self._route(rows)
        found = self._axes(rows, solver, n_threads, made)
        if solver == "covariance_eigh" and self.svd_solver == "auto" and not issparse(rows):
            kept = count_components(self._wanted(rows.shape), found.squares, found.total, len(rows))
            if _lost(found.squares[: min(kept, *rows.shape)]):
                solver = "full"
                found = self._axes(rows, solver, n_threads, made)
        self._store(found, rows.shape[0], self._wanted(rows.shape, solver))
        self.solver_ = solver
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Update with more rows; the model is that of all rows so far, up to rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows. Blocks with more rows than columns are the most efficient.
        y : object, default=None
            Ignored.

        Returns
        -------
        PCA
            The model of all rows so far.
        """
        n_threads = self._check_params()
        check_option("svd_solver", self.svd_solver, ("auto", "full"))
        first = not hasattr(self, "components_")
        before = None if first else self._factor()
        rows: Any = self._rows(X, reset=first)
        if issparse(rows):
            raise DataError("partial_fit takes dense rows only; got a sparse matrix")
        count, mean = len(rows), routes.column_means(rows, n_threads)
        factor = factor_of(rows, mean)
        if before is None:
            _check_count(count, self.ddof)
        else:
            factor, mean = merged(before, self.mean_, self.n_samples_, factor, mean, count)
            count += self.n_samples_
        shape = (count, rows.shape[1])
        self._store(routes.of_factor(mean, factor), count, self._wanted(shape, "full"))
        self.factor_ = factor
        self.solver_ = "full"
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Project rows onto the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            float32 for rows in float32, else float64.
        """
        rows: Any = self._predict_data(X)
        if issparse(rows):
            places = rows @ self.components_.T - self.mean_ @ self.components_.T
        else:
            n_threads = check_n_jobs(self.n_jobs)
            places = project(rows, self.mean_, self.components_, n_threads)
        if self.whiten:
            places /= self._scale()
        return places.astype(rows.dtype, copy=False)  # type: ignore[no-any-return]

    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Map projected rows back to the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Projected rows, as returned by `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        try:
            places = check_array(
                X, dtype=(np.float64, np.float32), order="C", ensure_min_features=0
            )
        except ValueError as error:
            raise DataError(str(error)) from None
        if places.shape[1] != self.n_components_:
            raise DataError(
                f"X has {places.shape[1]} columns, the model has {self.n_components_} components"
            )
        axes = self.components_ * self._scale()[:, None] if self.whiten else self.components_
        rows = project(places, np.zeros(len(axes)), axes.T, check_n_jobs(self.n_jobs))
        return np.asarray(rows + self.mean_, dtype=places.dtype)

    def truncated(self, n_components: int) -> PCA:
        """Return the model with the first components only, the same as a fit with that number.

        Every number of components comes from one decomposition.

        Parameters
        ----------
        n_components : int
            From 0 to `n_components_`.

        Returns
        -------
        PCA
            A fitted model that shares its arrays with this one.

        Examples
        --------
        >>> from assay.decomposition import PCA
        >>> X = [[2.5, 2.4, 0.1], [0.5, 0.7, 0.0], [2.2, 2.9, 0.3], [1.9, 2.2, 0.1]]
        >>> whole = PCA().fit(X)
        >>> [whole.truncated(k).transform(X).shape[1] for k in (1, 2, 3)]
        [1, 2, 3]
        """
        check_is_fitted(self)
        check_interval("n_components", n_components, 0, self.n_components_, integer=True)
        k, all_of = int(n_components), min(self.n_samples_, self.n_features_in_)
        left = self.noise_variance_ * (all_of - self.n_components_)
        left += float(self.explained_variance_[k:].sum())
        model = type(self)(**{**self.get_params(deep=False), "n_components": k})
        for name, value in vars(self).items():
            if name.endswith("_") and name != "factor_":
                setattr(model, name, value)
        model.components_, model.n_components_ = self.components_[:k], k
        model.explained_variance_ = self.explained_variance_[:k]
        model.explained_variance_ratio_ = self.explained_variance_ratio_[:k]
        model.singular_values_ = self.singular_values_[:k]
        model.noise_variance_ = left / (all_of - k) if k < all_of else 0.0
        return model

    def get_covariance(self) -> NDArray[np.float64]:
        r"""Return the covariance of the model.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            :math:`\Phi (\Lambda - \sigma^2 I) \Phi^\top + \sigma^2 I`, with the variance
            :math:`\sigma^2` of the directions left out.
        """
        check_is_fitted(self)
        return model_covariance(self, inverse=False)

    def get_precision(self) -> NDArray[np.float64]:
        """Return the inverse of the covariance of the model.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return model_covariance(self, inverse=True)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-likelihood of each row under the normal distribution of the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        rows: Any = self._predict_data(X)
        return log_likelihood(self, rows.toarray() if issparse(rows) else rows)

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        float
        """
        return float(np.mean(self.score_samples(X)))

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _factor(self) -> NDArray[np.float64]:
        """Return F with F'F = the scatter of the rows so far."""
        known: NDArray[np.float64] | None = getattr(self, "factor_", None)
        if known is not None:
            return known
        if self.n_components_ < min(self.n_samples_, self.n_features_in_):
            raise DataError(
                "partial_fit cannot continue a fit that left components out; start with "
                "partial_fit, or fit with n_components=None"
            )
        return self.singular_values_[:, None] * self.components_

    def _scale(self) -> NDArray[np.float64]:
        # A direction without variance has no scale; values along it are rounding errors.
        scale = np.sqrt(self.explained_variance_)
        return np.maximum(scale, np.finfo(np.float64).eps)

    def _wanted(self, shape: tuple[int, ...], solver: str = "full") -> Any:
        """Return `n_components` for a table of this shape, with None as a number."""
        most = min(shape[:2])
        if self.n_components is None:
            return most - 1 if solver == "arpack" else most
        if isinstance(self.n_components, str):
            if shape[0] < shape[1]:
                raise ParameterError(
                    "n_components='mle' is only supported if n_samples >= n_features; "
                    f"got {shape[0]} rows and {shape[1]} columns"
                )
        elif self.n_components > most:
            raise ParameterError(
                f"n_components={self.n_components} must be between 0 and "
                f"min(n_samples, n_features)={most}"
            )
        return self.n_components

    def _route(self, rows: Any) -> str:
        n, d = rows.shape
        wanted = self._wanted((n, d))
        few = isinstance(wanted, (int, np.integer)) and wanted >= 1
        if self.svd_solver in ("arpack", "randomized"):
            low = self.svd_solver == "arpack"
            if not few or (low and wanted >= min(n, d) and self.n_components is not None):
                raise ParameterError(
                    f"n_components must be an integer from 1 to {min(n, d) - low} with "
                    f"svd_solver={self.svd_solver!r}; got {self.n_components!r}"
                )
        if issparse(rows):
            if self.svd_solver in ("full", "randomized"):
                raise DataError(
                    "a sparse X needs svd_solver 'auto', 'covariance_eigh' or 'arpack'; "
                    f"got {self.svd_solver!r}"
                )
            if self.svd_solver == "auto":
                small = d <= MAX_COLUMNS or not few or wanted >= min(n, d)
                return "covariance_eigh" if small else "arpack"
        if self.svd_solver != "auto":
            return self.svd_solver
        if d <= MAX_COLUMNS and n >= d:
            return "covariance_eigh"
        if max(n, d) <= 500 or not few or wanted >= 0.8 * min(n, d):
            return "full"
        return "randomized"

    def _axes(self, rows: Any, solver: str, n_threads: int, made: Decompositions) -> routes.Axes:
        if solver in ("covariance_eigh", "full"):
            return made.axes(solver, rows, n_threads)
        k = int(self._wanted(rows.shape, solver))
        random = check_random_state(self.random_state)
        if solver == "arpack":
            return routes.by_lanczos(rows, k, self.tol, random, n_threads)
        return routes.by_random_projection(
            rows,
            k,
            self.iterated_power,
            self.n_oversamples,
            self.power_iteration_normalizer,
            random,
            n_threads,
        )

    def _store(self, found: routes.Axes, n_samples: int, wanted: Any) -> None:
        all_of = min(n_samples, len(found.mean))
        freedom = n_samples - self.ddof
        variance, total = found.squares[:all_of] / freedom, found.total / freedom
        k = count_components(wanted, variance, total, n_samples)
        self.mean_ = found.mean
        self.components_ = with_signs(found.directions[:k])
        self.explained_variance_ = variance[:k]
        self.explained_variance_ratio_ = variance[:k] / total if total > 0 else np.zeros(k)
        self.singular_values_ = np.sqrt(found.squares[:k])
        self.n_components_ = k
        self.n_samples_ = n_samples
        left = total - float(variance[:k].sum()) if len(variance) < all_of else variance[k:].sum()
        self.noise_variance_ = max(float(left), 0.0) / (all_of - k) if k < all_of else 0.0

    def _check_params(self) -> int:
        n = self.n_components
        if isinstance(n, str):
            check_option("n_components", n, ("mle",))
        elif n is not None:
            whole = isinstance(n, (int, np.integer)) and not isinstance(n, bool)
            if whole:
                check_interval("n_components", n, 0, integer=True)
            else:
                check_interval("n_components", n, 0, 1, open_low=True, open_high=True)
        for name in ("copy", "whiten"):
            check_option(name, getattr(self, name), [True, False])
        check_option("svd_solver", self.svd_solver, SOLVERS)
        check_interval("tol", self.tol, 0, open_high=True)
        check_interval("iterated_power", self.iterated_power, 0, integer=True, options=["auto"])
        check_interval("n_oversamples", self.n_oversamples, 1, integer=True)
        check_option(
            "power_iteration_normalizer",
            self.power_iteration_normalizer,
            ("auto", "QR", "LU", "none"),
        )
        check_random_state(self.random_state)
        check_interval("ddof", self.ddof, 0, 1, integer=True)
        return check_n_jobs(self.n_jobs)

    def _check_more(self) -> None:
        fits = len(getattr(self, "factor_", ())) <= self.n_features_in_
        ensure(fits, "PCA.factor_ has more rows than columns")


def _check_count(n_samples: int, ddof: int) -> None:
    if n_samples <= ddof:
        raise DataError(
            f"PCA needs at least {ddof + 1} rows: one row has no variance; got n_samples = 1 "
            "(1 sample)"
        )


def _lost(squares: NDArray[np.float64]) -> bool:
    """Return whether a variance is too small to be precise from products of columns."""
    return bool(squares.size and squares[-1] < LOST * squares[0])
