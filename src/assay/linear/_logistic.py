"""Classification by logistic regression, binary and multinomial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import log_expit, log_softmax
from sklearn.utils.validation import check_is_fitted

from assay.base import Classifier, DataError, check_n_jobs
from assay.base.stored import Array, Integers, OneOf, Plain, declared, ensure
from assay.linear._logistic_path import LogisticPath
from assay.linear._logistic_solve import (
    STOPS,
    Solution,
    check_settings,
    class_weights,
    probabilities,
    solve_path,
    strength_of,
    warn_if_unfinished,
    warn_if_wide,
)
from assay.linear._logistic_wide import is_wide, solve_wide


class LogisticRegression(Classifier):
    r"""Logistic regression classifier, binary and multinomial.

    Parameters
    ----------
    penalty : {'auto', 'l2', 'l1', 'elasticnet', None}, default='auto'
        'auto' is given by `C` and `l1_ratio`. The other values follow scikit-learn's older
        interface: 'l2' and 'l1' override `l1_ratio`, 'elasticnet' uses it, None is no penalty.
        ('deprecated', scikit-learn's default, means 'auto'.)
    C : float > 0, default=1.0
        Inverse strength of the penalty. Smaller values regularise more; infinity means no penalty.
    l1_ratio : float in [0, 1] or None, default=0.0
        Share of the L1 norm in the penalty: 0 is L2, 1 is L1, between is the elastic net; None is
        0.
    dual : bool, default=False
        Accepted for compatibility with scikit-learn; the solution is the same.
    tol : float > 0, default=0.0001
        Largest gradient of the mean objective (columns scaled) at which a fit that cannot improve
        further counts as converged. Solutions are normally far more exact, see Notes.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is never penalised.
    intercept_scaling : float, default=1
        Accepted for compatibility with scikit-learn; has no effect.
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes, multiplied with the weights of the rows. 'balanced' gives all
        classes the same total weight.
    random_state : int, RandomState instance or None, default=None
        Accepted for compatibility with scikit-learn; the fit is deterministic.
    solver : {'auto', 'newton-cholesky', 'newton-cg', ...}, default='auto'
        'newton-cholesky' factors the Hessian, 'newton-cg' uses conjugate gradients (both without
        effect on an L1 penalty). 'auto', and scikit-learn's other names ('lbfgs', 'liblinear',
        'sag', 'saga'), take the faster of the two for the size of the table. Every solver supports
        every penalty and any number of classes, and all find the same solution.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps.
    verbose : int, default=0
        Accepted for compatibility with scikit-learn; has no effect.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The coefficients; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts; they sum to zero for more than two classes.
    n_iter_ : ndarray of int of shape (1,)
        Number of Newton steps.
    gradient_norm_ : float
        Largest violation of the conditions of optimality, for the objective divided by C and by the
        sum of the weights, and columns scaled to about unit size.
    duality_gap_ : float or None
        Upper bound on how far that objective is above its minimum; None without a penalty.
    stop_reason_ : str
        'converged', 'max_iter', 'separated' (no penalty, and the coefficients would grow without
        bound) or 'stalled' (rounding allows no further step).
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \min_{w, b} \; r \|w\|_1 + \frac{1 - r}{2} \|w\|^2 + C \sum_i s_i \,
              \ell(y_i, w^\top x_i + b)

    with r = `l1_ratio` and the weights s. Two classes, y = -1 or 1:
    :math:`\ell = \ln(1 + e^{-y f})`, gradient :math:`X^\top(\sigma(f) - t)` for t = 0 or 1, and
    :math:`\ln \frac{P(1 | x)}{P(0 | x)} = w^\top x + b`. More classes: softmax,
    :math:`\ell = \ln \sum_k e^{f_k} - f_y`.

    Newton's method: gradient and Hessian from one pass over the rows, a line search, and steps
    until no score changes by more than 1e-6, which leaves an error of about its square. For L1 the
    quadratic model is solved by coordinate descent and then exactly on the nonzero coefficients
    (proximal Newton, on a working set of columns). So solutions do not depend on the start or on
    the scale of the columns: the table is scaled and centred internally, without changing the
    objective.

    Without a penalty, a warning is given when there are as many columns as rows and when the
    classes are separable. O(n p^2) per step with few columns. Deterministic. Missing values raise
    an error.

    Examples
    --------
    >>> from assay.linear import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"])
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['a', 'b']
    >>> model.predict_proba([[1.5]]).round(3).tolist()
    [[0.5, 0.5]]
    >>> model.stop_reason_
    'converged'
    """

    model_id: ClassVar[int | None] = 174
    takes_sparse: ClassVar[bool] = True
    assay_path: ClassVar[LogisticPath] = LogisticPath()
    stored = declared(
        coef_=Array("problems, features"),
        intercept_=Array("problems"),
        n_iter_=Integers("1", 0),
        stop_reason_=OneOf(STOPS),
        gradient_norm_=Plain(float),
        duality_gap_=Plain((float, type(None))),
    )

    def __init__(
        self,
        penalty: str | None = "auto",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows: an array, a dataframe of any library, or a SciPy matrix.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        LogisticRegression
            The fitted model.
        """
        self._fit_together([self], X, y, sample_weight)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores w'x + b: the log-odds of the second class, or one score per class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._scores(self._predict_data(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return probabilities(self.decision_function(X))

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class, without loss of digits.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return log_softmax(scores, axis=1)  # type: ignore[no-any-return]

    def sparsify(self) -> Self:
        """Convert `coef_` to a sparse matrix. Such a model cannot be saved."""
        check_is_fitted(self)
        self.coef_: Any = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Convert `coef_` back to an array."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def _scores(self, rows: Any) -> NDArray[np.float64]:
        scores = rows @ self.coef_.T
        if sparse.issparse(scores):
            scores = scores.toarray()
        scores = np.asarray(scores, dtype=np.float64) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _labels(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]

    def _fit_together(
        self, models: Sequence[Self], X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> None:
        """Fit models that differ only in their penalty, one after the other on one table."""
        settings = self.get_params(deep=False)
        strengths = [strength_of(model.get_params(deep=False)) for model in models]
        check_settings(settings)
        n_threads = check_n_jobs(self.n_jobs)
        start = self._start() if self.warm_start else None
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        _need_two_classes(self.classes_)
        weights = class_weights(self.class_weight, self.classes_, codes, weight)
        n_classes = len(self.classes_)
        if start is not None and start.shape != (_n_outputs(n_classes), rows.shape[1] + 1):
            start = None  # the last fit was on another table
        for strength in strengths:
            warn_if_wide(strength, *rows.shape)
        solve = solve_wide if is_wide(rows, strengths) else solve_path
        solutions = solve(rows, codes, weights, n_classes, strengths, settings, n_threads, start)
        for model, solution in zip(models, solutions, strict=True):
            model.classes_ = self.classes_
            model.n_features_in_ = self.n_features_in_
            model._store(solution)
            warn_if_unfinished(solution, settings)

    def _start(self) -> NDArray[np.float64] | None:
        coef: Any = getattr(self, "coef_", None)
        if coef is None:
            return None
        coef = coef.toarray() if sparse.issparse(coef) else coef
        return np.column_stack([coef, self.intercept_])

    def _store(self, solution: Solution) -> None:
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
        self.n_iter_ = np.array([solution.n_iter], dtype=np.int32)
        self.gradient_norm_ = solution.gradient_norm
        self.duality_gap_ = solution.duality_gap
        self.stop_reason_ = solution.stop_reason

    def _check_more(self) -> None:
        ensure(len(self.classes_) >= 2, "LogisticRegression.classes_ has one class")


def _need_two_classes(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise DataError(
            f"LogisticRegression needs at least 2 classes in y; got one class, {classes[0]!r}"
        )


def _n_outputs(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes
