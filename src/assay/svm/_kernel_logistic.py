"""Kernel logistic regression."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from assay.base import Classifier, DataError, check_interval, check_option
from assay.base.stored import Array, Integers, Plain, declared, each, ensure
from assay.svm._fitting import class_weights, classes_with_weight
from assay.svm._kernel import resolve
from assay.svm._machine import KernelMachine
from assay.svm._newton import Logistic, minimise

#: Largest n for which the n x n float64 matrices fit in memory and factorise in reasonable time.
_MOST_ROWS = 10_000
#: Up to this many rows, matrices are factorised on one thread.
_ONE_THREAD = 1000


class KernelLogisticRegression(KernelMachine, Classifier):
    r"""Kernel logistic regression: class probabilities from a kernel.

    Parameters
    ----------
    C : float > 0, default=1.0
        Inverse strength of the penalty. Smaller values give smoother functions.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        The kernel, as in `SVC`. A model with a function as kernel can predict but not be saved.
    degree : int >= 1, default=3
        Degree of 'poly'. Larger values give more flexible boundaries.
    gamma : {'scale', 'auto'} or float > 0, default='scale'
        Coefficient of 'poly', 'rbf' and 'sigmoid'. Larger values make 'rbf' narrower, which
        overfits more easily. 'scale': 1 / (n_features * variance of X); 'auto': 1 / n_features.
    coef0 : float, default=0.0
        Constant term of 'poly' and 'sigmoid'.
    tol : float > 0, default=1e-08
        Largest difference between a dual variable and its value implied by the probabilities.
    class_weight : dict or 'balanced', default=None
        Factor of C for each class. 'balanced': inversely proportional to the weight of the class.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps.
    multi_class : {'multinomial', 'ovr'}, default='multinomial'
        More than two classes: softmax, or one binary model per class against the rest.
    sigma : float > 0, default=None
        Width of the 'rbf' kernel, instead of `gamma`. Larger values give smoother functions.
    sigma_convention : {'2sigma2', 'sigma2'}, default='2sigma2'
        Whether gamma is 1 / (2 sigma^2) or 1 / sigma^2; the literature has both.
    check_kernel : bool, default=True
        Whether to raise an error if a Gram matrix, passed in or computed by a function, is not
        symmetric and positive semidefinite.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    support_ : ndarray of int32 of shape (n_kept,)
        Indices of the training rows used in predictions: all with a weight above 0.
    support_vectors_ : ndarray or CSR matrix of shape (n_kept, n_features), or list of items
        These rows.
    dual_coef_ : ndarray of shape (1, n_kept) or (n_classes, n_kept)
        Dual variables; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    gradient_norm_ : float
        Largest difference between a dual variable and its value implied by the probabilities.
    duality_gap_ : float
        Primal minus dual objective (summed over problems): an upper bound on the distance to the
        optimum.
    n_iter_ : ndarray of int32 of shape (1,) or (n_classes,)
        Newton steps.
    stop_reason_ : str
        'converged', 'max_iter' or 'precision'.
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
    .. math:: \min_{f, b} \tfrac{1}{2} \|f\|_K^2 + C \sum_i s_i \ln(1 + e^{-y_i (f(x_i) + b)})

    and, for several classes, the cross-entropy of
    :math:`P(c \mid x) \propto e^{f_c(x) + b_c}` with the sum of all :math:`\|f_c\|_K^2`. By the
    representer theorem :math:`f = \sum_i \alpha_i K(x_i, \cdot)`; unlike in `SVC` no
    :math:`\alpha_i` is zero. Newton's method, O(n^3) for each step and class, O(n) for each row to
    predict, so at most 10,000 training rows are accepted. For more, put scikit-learn's ``Nystroem``
    before a linear logistic regression.

    With ``kernel='linear'`` it is the logistic regression with an L2 penalty.

    See Also
    --------
    SVC : The hinge loss: no probabilities, but predictions use only some of the rows.

    Examples
    --------
    >>> from assay.svm import KernelLogisticRegression
    >>> model = KernelLogisticRegression(C=10.0, gamma=1.0)
    >>> model = model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "a"])
    >>> model.predict([[0.2], [1.5]]).tolist()
    ['a', 'b']
    >>> model.predict_proba([[1.5]]).round(2).tolist()
    [[0.1, 0.9]]
    """

    model_id: ClassVar[int | None] = 192
    stored = declared(
        class_weight_=Array("classes", 0),
        dual_coef_=Array("problems, support"),
        intercept_=Array("problems"),
        n_iter_=Integers("fits", 0),
        **each("gradient_norm_ duality_gap_", Plain(float)),
        stop_reason_=Plain(str),
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-8,
        class_weight: Any = None,
        max_iter: int = 100,
        multi_class: str = "multinomial",
        sigma: float | None = None,
        sigma_convention: str = "2sigma2",
        check_kernel: bool = True,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.sigma = sigma
        self.sigma_convention = sigma_convention
        self.check_kernel = check_kernel

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            Training rows; for ``kernel='precomputed'`` their Gram matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; each multiplies C.

        Returns
        -------
        KernelLogisticRegression
            The fitted model.
        """
        self._check_params()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        if rows.shape[0] > _MOST_ROWS:
            raise DataError(
                f"KernelLogisticRegression factorises a matrix of n x n numbers and takes at most "
                f"{_MOST_ROWS} rows; got {rows.shape[0]}. For more, use make_pipeline(Nystroem("
                "n_components=1000), LogisticRegression())"
            )
        kernel = resolve(vars(self), rows, weight)
        used = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
        weight = np.ones(len(codes)) if weight is None else weight
        owner = type(self).__name__
        self.classes_, codes = classes_with_weight(owner, self.classes_, codes, used)
        codes = codes[used]
        gram = self._gram(rows)
        gram = kernel.matrix(rows[used]) if gram is None else gram[np.ix_(used, used)]
        factors = class_weights(self.class_weight, self.classes_, codes, weight[used])
        penalty = float(self.C) * weight[used] * factors[codes]
        # Threads do not help with small matrices, and they change the last bits of the result.
        with threadpool_limits(1 if len(used) <= _ONE_THREAD else None):
            found = self._solve(np.asarray(gram, dtype=np.float64), codes, penalty)
        self._keep(rows, used.astype(np.int32))
        self.gamma_, self.class_weight_ = float(kernel.gamma), factors
        self.dual_coef_ = np.ascontiguousarray(np.hstack([each.coef for each in found]).T)
        self.intercept_ = np.concatenate([each.intercept for each in found])
        self.gradient_norm_ = max(each.residual for each in found)
        self.duality_gap_ = float(sum(each.gap for each in found))
        self.n_iter_ = np.array([each.n_iter for each in found], dtype=np.int32)
        self._warn_unless_converged(found)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the values of the functions: log-odds up to a constant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            The rows; for ``kernel='precomputed'`` their kernel values with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: log-odds of the second.
        """
        check_is_fitted(self)
        scores = self._queries(X).sums(self.dual_coef_.T) + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            The rows; for ``kernel='precomputed'`` their kernel values with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            The rows; for ``kernel='precomputed'`` their kernel values with all training rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        if self.multi_class == "multinomial":
            return softmax(scores, axis=1)  # type: ignore[no-any-return]
        shares = expit(scores)
        # Far from every class all probabilities may underflow; then they are equal.
        shares = np.maximum(shares, np.finfo(np.float64).tiny)
        return shares / shares.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def _check_params(self) -> None:
        check_interval("C", self.C, 0, open_low=True, open_high=True)
        check_interval("tol", self.tol, 0, open_low=True, open_high=True)
        check_interval("max_iter", self.max_iter, 1, integer=True)
        check_option("multi_class", self.multi_class, ("multinomial", "ovr"))
        class_weights(self.class_weight, np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0))
        self._check_kernel_params()

    def _solve(
        self, gram: NDArray[np.float64], codes: NDArray[np.int64], penalty: NDArray[np.float64]
    ) -> list[Logistic]:
        truth = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        if len(self.classes_) == 2:
            problems = [truth[:, 1:]]
        elif self.multi_class == "multinomial":
            problems = [truth]
        else:
            problems = [column[:, None] for column in truth.T]
        return [minimise(gram, part, penalty, float(self.tol), self.max_iter) for part in problems]

    def _warn_unless_converged(self, found: list[Logistic]) -> None:
        worst = max(found, key=lambda each: (each.stop_reason != "converged", each.residual))
        self.stop_reason_ = worst.stop_reason
        if worst.stop_reason != "converged":
            warnings.warn(
                f"KernelLogisticRegression did not converge ({worst.stop_reason}, {worst.n_iter} "
                f"steps): the residual is {worst.residual:.3g}, above tol={self.tol:g}. "
                f"Lower C, scale the columns (StandardScaler), or raise max_iter={self.max_iter}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_more(self) -> None:
        self._check_params()
        k = len(self.classes_)
        ensure(k >= 2, "KernelLogisticRegression.classes_ has fewer than two classes")
        single = k == 2 or self.multi_class == "multinomial"
        ensure(len(self.n_iter_) == (1 if single else k), "n_iter_ does not have one entry per fit")
