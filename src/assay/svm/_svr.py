"""Support vector regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from assay.base import Regressor, check_interval, check_n_jobs
from assay.base.stored import Array, Count, Integers, declared, ensure
from assay.svm._binary import Machine, Settings, Table, follow
from assay.svm._fitting import (
    check_solution,
    check_solver_params,
    print_certificates,
    warn_if_stopped,
)
from assay.svm._machine import KernelMachine, Queries
from assay.svm._path import KernelPath
from assay.svm._state import CERTIFICATE


class SVR(KernelMachine, Regressor):
    r"""Support vector regression with the epsilon-insensitive loss.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        The kernel, as in `SVC`. A model with a function as kernel can predict but not be saved.
    degree : int >= 1, default=3
        Degree of 'poly'. Larger values give more flexible boundaries.
    gamma : {'scale', 'auto'} or float > 0, default='scale'
        Coefficient of 'poly', 'rbf' and 'sigmoid'. Larger values make 'rbf' narrower, which
        overfits more easily. 'scale': 1 / (n_features * variance of X); 'auto': 1 / n_features.
    coef0 : float, default=0.0
        Constant term of 'poly' and 'sigmoid'.
    tol : float > 0, default=0.001
        Largest violation of the optimality (KKT) conditions.
    C : float > 0, default=1.0
        Penalty of errors beyond epsilon. Smaller values regularise more. Infinity allows no such
        errors, and raises an error if no function of the kernel achieves that.
    epsilon : float >= 0, default=0.1
        Errors up to this size are not penalised. Larger values give fewer support vectors.
    shrinking : bool, default=True
        Whether to leave out rows that stay at a bound for a while. Affects only speed.
    cache_size : float > 0, default=200
        Memory for kernel values in megabytes. Affects only speed.
    verbose : bool or int, default=False
        Whether to print the certificate.
    max_iter : int >= -1, default=-1
        Maximum number of iterations; -1 = no limit.
    sigma : float > 0, default=None
        Width of the 'rbf' kernel, instead of `gamma`. Larger values give smoother functions.
    sigma_convention : {'2sigma2', 'sigma2'}, default='2sigma2'
        Whether gamma is 1 / (2 sigma^2) or 1 / sigma^2; the literature has both.
    check_kernel : bool, default=True
        Whether to raise an error if a Gram matrix, passed in or computed by a function, is not
        symmetric and positive semidefinite.
    warm_start : bool, default=False
        Whether to start from the last solution; useful for another C on the same rows.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of int32 of shape (n_SV,)
        Indices of the support vectors, the training rows on or outside the tube, ascending.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, n_features), or list of items
        The support vectors. Predictions use no other rows.
    n_support_ : ndarray of int32 of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_SV)
        Dual variables; positive for targets above the function.
    intercept_ : ndarray of shape (1,)
        The intercept b: the mean over the free support vectors.
    coef_ : ndarray of shape (1, n_features)
        The weights w, for the linear kernel only.
    margin_ : ndarray of shape (1,)
        1 / \|w\|: how far apart inputs must be for the function to change by 1.
    slack_ : ndarray of shape (1, n_SV)
        How far each support vector is outside the tube.
    C_ : ndarray of shape (1,)
        The C in use.
    kkt_residual_ : ndarray of shape (1,)
        Largest violation of the optimality (KKT) conditions.
    duality_gap_ : ndarray of shape (1,)
        Primal minus dual objective: an upper bound on the distance to the optimum.
    n_iter_ : int
        Iterations.
    stop_reason_ : str
        'converged', or why the solver stopped.
    fit_status_ : int
        0 = converged, 1 = not.
    gamma_ : float
        The value of gamma in use.
    n_samples_fit_ : int
        Number of training rows.
    shape_fit_ : tuple of int
        Shape of the training table.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \min_{w, b} \tfrac{1}{2} \|w\|^2 + C \sum_i s_i \max(0, |y_i - f(x_i)| - \varepsilon),
              \qquad f(x) = w \cdot \phi(x) + b = \sum_i \beta_i K(x_i, x) + b

    solved in the dual with two variables for each row. Fitting takes between O(n^2) and O(n^3).
    Deterministic.

    See Also
    --------
    SVC : Classification; describes the kernels.

    Examples
    --------
    >>> from assay.svm import SVR
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5, tol=1e-9)
    >>> model = model.fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
    >>> model.coef_.round(6).tolist(), model.predict([[1.5]]).round(6).tolist()
    ([[0.666667]], [1.5])
    """

    model_id: ClassVar[int | None] = 191
    assay_path: ClassVar[KernelPath] = KernelPath()
    # Two fits may stop at different points within the tolerance; our own test uses tol=1e-10.
    expected_failures: ClassVar[Mapping[str, str]] = {
        f"check_sample_weight_equivalence_on_{kind}_data": "tol is 1e-3 by default, not 1e-7"
        for kind in ("dense", "sparse")
    }
    stored = declared(
        n_support_=Integers("1", "support", "support"),
        dual_coef_=Array("1, support"),
        slack_=Array("1, support", 0),
        **CERTIFICATE,
        n_iter_=Count(),
    )

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        sigma: float | None = None,
        sigma_convention: str = "2sigma2",
        check_kernel: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.sigma = sigma
        self.sigma_convention = sigma_convention
        self.check_kernel = check_kernel
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            Training rows; for ``kernel='precomputed'`` their Gram matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; each multiplies C.

        Returns
        -------
        SVR
            The fitted model.
        """
        settings = self._check_params()
        rows, values, weight = self._fit_data(X, y, sample_weight)
        self._learn(rows, self._training_table(rows, weight), values, weight, settings)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted target of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            The rows; for ``kernel='precomputed'`` their kernel values with all training rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._values(self._queries(X))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the columns, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ exists for kernel='linear' only")
        vectors = self.support_vectors_
        if issparse(vectors):
            return np.asarray((vectors.T @ self.dual_coef_.T).T)
        return self.dual_coef_ @ vectors  # type: ignore[no-any-return]

    def _check_params(self) -> Settings:
        settings = check_solver_params(vars(self))
        self._check_kernel_params()
        check_interval("epsilon", self.epsilon, 0, open_high=True)
        return settings

    def _learn(
        self,
        rows: Any,
        table: Table,
        values: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        settings: Settings,
    ) -> None:
        """Solve the problem and store the results."""
        n = len(values)
        used = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
        row_weight = np.ones(n) if weight is None else weight[used]
        machine = follow(
            table.part(used),
            values[used],
            row_weight,
            float(self.C),
            float(self.epsilon),
            settings,
            self._start(used, n),
        )
        check_solution(
            "SVR",
            machine,
            lambda: f"no function of this kernel stays within epsilon={self.epsilon:g}",
        )
        self._store(rows, table, used, machine)
        self.stop_reason_ = warn_if_stopped("SVR", [machine], settings)
        self.fit_status_ = int(self.stop_reason_ != "converged")
        if self.verbose:
            print_certificates("SVR", [machine])

    def _start(self, used: NDArray[np.intp], n: int) -> NDArray[np.float64] | None:
        """Return the last solution, for a warm start."""
        if not self.warm_start or getattr(self, "n_samples_fit_", None) != n:
            return None
        whole = np.zeros(n)
        ratio = float(self.C) / float(self.C_[0])
        whole[self.support_] = self.dual_coef_[0] * (ratio if 0 < ratio < np.inf else 1.0)
        return whole[used]

    def _store(self, rows: Any, table: Table, used: NDArray[np.intp], machine: Machine) -> None:
        mine = np.flatnonzero(machine.coef)
        self._keep(rows, used[mine].astype(np.int32))
        self.gamma_ = float(table.kernel.gamma)
        self.n_support_ = np.array([len(mine)], dtype=np.int32)
        self.dual_coef_ = machine.coef[None, mine]
        self.slack_ = machine.slack[None, mine]
        self.intercept_ = np.array([machine.bias])
        self.margin_ = np.array([machine.margin])
        self.C_ = np.array([machine.C])
        self.kkt_residual_ = np.array([machine.kkt_residual])
        self.duality_gap_ = np.array([machine.duality_gap])
        self.n_iter_ = machine.n_iter

    def _values(self, queries: Queries) -> NDArray[np.float64]:
        sums = queries.sums(self.dual_coef_.T, n_threads=check_n_jobs(self.n_jobs))
        return sums[:, 0] + self.intercept_[0]  # type: ignore[no-any-return]

    def _check_more(self) -> None:
        self._check_params()
        ensure(len(self.intercept_) == 1, "SVR.intercept_ does not hold one number")
