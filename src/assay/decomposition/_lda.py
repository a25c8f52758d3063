"""Linear discriminant analysis."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from assay._core import linear as linear_kernels
from assay.base import (
    Classifier,
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
)
from assay.base.stored import Array, Number, declared, ensure
from assay.decomposition._class_scatter import Classes, Sums
from assay.decomposition._lda_path import DiscriminantPath, best_class, class_probabilities
from assay.decomposition._lda_solve import solve
from assay.decomposition._project import project

SOLVERS = ("svd", "lsqr", "eigen")


def _has_axes(model: Any) -> bool:
    """Return whether rows can be projected on axes."""
    return hasattr(model, "scalings_") or model.solver != "lsqr"


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Classifier):
    r"""Find the directions that best separate the classes, relative to their width.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        'svd': axes and classifier, any table, no shrinkage; 'lsqr': classifier only; 'eigen': axes
        and classifier. The last two take shrinkage.
    shrinkage : float in [0, 1], 'auto' or None, default=None
        Fraction by which the covariance within classes is shrunk towards its mean variance; larger
        values help with few rows per column. 'auto': the fraction of least expected error (Ledoit
        and Wolf), for each class.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None = their shares of the training rows.
    n_components : int, default=None
        Number of axes for `transform`; None = the maximum, min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether 'svd' also computes the covariance; the other solvers always do.
    tol : float >= 0, default=0.0001
        'svd' leaves out directions whose scatter within classes is below this fraction of that of
        the columns.
    covariance_estimator : estimator, default=None
        An object with `fit` and `covariance_`, for 'lsqr' and 'eigen', in place of `shrinkage`.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    coef_ : ndarray of shape (n_classes, n_features_in_), or (1, n_features_in_) for two classes
        Weights of the discriminant functions; for two classes, of their difference.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Their intercepts.
    means_ : ndarray of shape (n_classes, n_features_in_)
        Mean of each class.
    priors_ : ndarray of shape (n_classes,)
        Probability of each class.
    xbar_ : ndarray of shape (n_features_in_,)
        Mean of the class means, weighted by the priors.
    covariance_ : ndarray of shape (n_features_in_, n_features_in_)
        Covariance within classes, with shrinkage if set; for 'svd' with `store_covariance` only.
    scalings_ : ndarray of shape (n_features_in_, n_axes)
        The axes, one per column, scaled to unit variance within classes; the largest entry of each
        is positive. Not for 'lsqr'.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of each axis in the variance between classes. Not for 'lsqr'.
    j1_ : float
        The criterion :math:`J_1 = \mathrm{tr}(S_w^{-1} S_b)` over all axes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: S_w = \sum_k \sum_{i \in k} (x_i - m_k)(x_i - m_k)^\top, \qquad
              S_b = \sum_k n_k (m_k - m)(m_k - m)^\top

    The axes are eigenvectors of :math:`S_w^{-1} S_b`. Their eigenvalues sum to :math:`J_1 =
    \mathrm{tr}(S_w^{-1} S_b)`, and at most (number of classes - 1) are not zero. The classifier
    assumes normal classes with a common covariance :math:`\Sigma = S_w / n`:

    .. math:: \delta_k(x) = x^\top \Sigma^{-1} m_k - \frac{1}{2} m_k^\top \Sigma^{-1} m_k
              + \log \pi_k, \qquad p(k \mid x) \propto \exp \delta_k(x)

    Two passes over the table, O(n d^2), without a copy of it; then O(d^3). A singular
    :math:`S_w` (constant or duplicate columns, more columns than rows): 'svd' leaves out directions
    without scatter, 'lsqr' takes the solution of least norm, 'eigen' raises an error unless there
    is shrinkage. Deterministic.

    See Also
    --------
    PCA : Directions of largest variance, without classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from assay.decomposition import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.transform(X).shape, round(model.j1_, 2), model.score(X, y)
    ((150, 2), 32.48, 0.98)
    """

    model_id: ClassVar[int | None] = 236
    assay_path: ClassVar[DiscriminantPath] = DiscriminantPath()
    stored = declared(
        coef_=Array("problems, features"),
        intercept_=Array("problems"),
        means_=Array("classes, features"),
        priors_=Array("classes", 0, 1),
        xbar_=Array("features"),
        j1_=Number(),
        covariance_=Array("features, features", optional=True),
        scalings_=Array("features, directions", when=_has_axes),
        explained_variance_ratio_=Array("axes", when=_has_axes),
    )

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the class means, the covariance within classes, and the discriminant functions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their classes, at least two.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; weight 2 is the same as having the row twice.

        Returns
        -------
        LinearDiscriminantAnalysis
            The fitted model.
        """
        self._fit(X, y, sample_weight)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Project rows onto the axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_axes)
            Fewer axes than `n_components` if the class means span fewer.
        """
        check_is_fitted(self)
        if not hasattr(self, "scalings_"):
            raise NotImplementedError(
                "transform needs axes, which solver 'lsqr' does not compute (use 'svd' or 'eigen')"
            )
        rows = self._predict_data(X)
        shift = self.xbar_ if self.solver == "svd" else np.zeros_like(self.xbar_)
        axes = self.scalings_[:, : self._n_axes()]
        return project(rows, shift, axes.T, check_n_jobs(self.n_jobs))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the discriminant functions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Log-probabilities up to a term common to all classes; for two classes, the
            log-probability of the second minus that of the first.
        """
        return self._scores(self._predict_data(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = best_class(self.decision_function(X))
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return class_probabilities(self.decision_function(X))

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sums: Sums | None = None,
    ) -> Classes:
        """Fit, and return the sums that other fits on the same rows can use."""
        n_threads = self._check_params()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        if weight is not None and not weight.all():
            there = np.flatnonzero(weight)
            present, codes = np.unique(codes[there], return_inverse=True)
            rows, weight, self.classes_ = rows[there], weight[there], self.classes_[present]
        self._check_classes(codes, weight)
        classes = Classes(rows, codes, weight, len(self.classes_), n_threads, sums)
        self._learn(classes)
        return classes

    def _fit_beside(self, other: LinearDiscriminantAnalysis, classes: Classes) -> None:
        """Fit from the sums of another model on the same rows, without reading them."""
        self._check_params()
        self.classes_ = other.classes_
        self.n_features_in_ = classes.X.shape[1]
        self._learn(classes)

    def _scores(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        out = np.empty((len(rows), len(self.coef_)))
        n_threads = check_n_jobs(self.n_jobs)
        linear_kernels.predict_scores(rows, self.coef_, self.intercept_, out, n_threads)
        return out[:, 0] if len(self.classes_) == 2 else out

    def _learn(self, classes: Classes) -> None:
        """Fit from sums that other fits may share."""
        for name in ("covariance_", "scalings_", "explained_variance_ratio_"):
            if hasattr(self, name):
                delattr(self, name)
        priors = self._class_priors(classes)
        self._check_components(len(priors), classes.X.shape[1])
        solved = solve(self, classes, priors)
        self.priors_, self.means_, self.j1_ = priors, classes.sums.means, solved.j1
        self.xbar_ = priors @ self.means_
        self.coef_, self.intercept_ = solved.coef, solved.intercept
        if len(priors) == 2:
            self.coef_ = self.coef_[1:] - self.coef_[:1]
            self.intercept_ = self.intercept_[1:] - self.intercept_[:1]
        self.coef_ = np.ascontiguousarray(self.coef_)
        if solved.covariance is not None:
            self.covariance_ = solved.covariance
        if solved.scalings is not None and solved.ratio is not None:
            self.scalings_ = solved.scalings
            self.explained_variance_ratio_ = solved.ratio[: self._n_axes()]

    def _class_priors(self, classes: Classes) -> NDArray[np.float64]:
        if self.priors is None:
            return classes.shares
        priors = np.array(self.priors, dtype=np.float64)
        if priors.shape != (len(self.classes_),):
            raise ParameterError(
                f"priors must hold one number for each of {len(self.classes_)} classes; "
                f"got shape {priors.shape}"
            )
        if abs(priors.sum() - 1) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=5)
        return np.asarray(priors / priors.sum())

    def _check_classes(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise DataError(
                "LinearDiscriminantAnalysis needs at least 2 classes; y has 1 class, "
                f"{self.classes_.tolist()[0]!r}"
            )
        n_rows = len(codes) if weight is None else float(weight.sum())
        if n_rows <= n_classes and len(codes) == n_classes:
            raise DataError(
                "The number of samples must be more than the number of classes; "
                f"got {len(codes)} rows of {n_classes} classes"
            )

    def _check_components(self, n_classes: int, n_features: int) -> None:
        most = min(n_classes - 1, n_features)
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"n_components must be at most min(n_features, n_classes - 1) = {most}; "
                f"got {self.n_components}"
            )

    def _n_axes(self) -> int:
        most = int(min(len(self.classes_) - 1, self.n_features_in_))
        return most if self.n_components is None else min(most, int(self.n_components))

    @property
    def _n_features_out(self) -> int:
        return min(self._n_axes(), int(self.scalings_.shape[1]))

    def _check_params(self) -> int:
        check_option("solver", self.solver, SOLVERS)
        check_interval("shrinkage", self.shrinkage, 0, 1, options=["auto", None])
        check_interval("n_components", self.n_components, 1, integer=True, options=[None])
        check_option("store_covariance", self.store_covariance, [True, False])
        check_interval("tol", self.tol, 0, open_high=True)
        if self.priors is not None:
            try:
                priors = np.array(self.priors, dtype=np.float64)
            except (TypeError, ValueError):
                raise ParameterError(
                    f"priors must hold numbers only; got {self.priors!r}"
                ) from None
            if not (np.isfinite(priors) & (priors >= 0)).all() or not priors.any():
                raise ParameterError(
                    f"priors must be non-negative, and not all 0; got {self.priors!r}"
                )
        if self.solver == "svd" and self.shrinkage is not None:
            raise ParameterError(
                "shrinkage must be None with solver 'svd' ('lsqr' and 'eigen' take one); "
                f"got {self.shrinkage!r}"
            )
        if self.covariance_estimator is not None:
            if self.solver == "svd":
                raise ParameterError(
                    "covariance_estimator must be None with solver 'svd' ('lsqr' and 'eigen' take "
                    f"one); got {self.covariance_estimator!r}"
                )
            if self.shrinkage not in (None, 0):
                raise ParameterError(
                    "covariance_estimator and shrinkage cannot both be set; got "
                    f"shrinkage={self.shrinkage!r}"
                )
            if not hasattr(self.covariance_estimator, "fit"):
                raise ParameterError(
                    "covariance_estimator must have a method fit; got "
                    f"{self.covariance_estimator!r}"
                )
        return check_n_jobs(self.n_jobs)

    def _check_more(self) -> None:
        self._check_params()
        ensure(len(self.classes_) >= 2, "classes_ holds fewer than 2 classes")
        if _has_axes(self):
            fits = len(self.explained_variance_ratio_) == self._n_axes()
            ensure(fits, "explained_variance_ratio_ does not have one entry per axis")
