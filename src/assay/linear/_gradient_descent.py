"""Linear models by gradient descent: any loss with any penalty."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from assay.base import Classifier, DataError, Regressor, check_weight, real_values
from assay.base.stored import Array, Number, declared
from assay.linear._gradient_descent_classes import (
    ClassWeight,
    binary_problems,
    check_class_weight,
    continued_codes,
)
from assay.linear._gradient_descent_model import DescentModel, Floats
from assay.linear._gradient_descent_solver import Binaries, check_settings
from assay.linear._losses import LOSSES, PROBABILITY_LOSSES, REGRESSION_LOSSES


class GradientDescentClassifier(Classifier, DescentModel):
    r"""Linear classifier fitted by gradient descent, for any loss and penalty.

    Parameters
    ----------
    loss : str, default='logistic'
        The loss of a row with label y = -1 or +1 and score f: 'logistic'
        :math:`\ln(1 + e^{-yf})`; 'hinge' :math:`\max(0, 1 - yf)`; 'squared_hinge' its square;
        'exponential' :math:`e^{-yf}`; 'squared' :math:`\frac{1}{2} (y - f)^2`; 'squared_logistic',
        the squared error :math:`\frac{1}{2} (\frac{1+y}{2} - \sigma(f))^2` of a logistic unit,
        which is not convex; 'huber'; 'absolute' :math:`|y - f|`.
    penalty : {'l2', 'l1', 'elasticnet', 'lp', 'norm'} or None, default='l2'
        The penalty R(w): :math:`\frac{\alpha}{2}\|w\|_2^2`; :math:`\alpha\|w\|_1`; a mix of these
        with share `l1_ratio`; :math:`\frac{\alpha}{p}\sum_j |w_j|^p`; the norm
        :math:`\alpha\|w\|_p` itself, neither squared nor separable.
    alpha : float >= 0, default=0.0001
        Strength of the penalty. Larger values shrink the weights more.
    l1_ratio : float in [0, 1], default=0.5
        Share of the L1 norm in 'elasticnet'.
    p : float >= 1, default=2.0
        Exponent of 'lp' and 'norm': below 2 the weights become sparser, above 2 more equal.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is never penalised.
    method : {'batch', 'coordinate', 'stochastic', 'minibatch'}, default='batch'
        What each step uses: all rows; one column; one random row; `batch_size` random rows.
    schedule : str, default='auto'
        Step size at step t: 'constant', 'inverse_time', 'slow' or 'inverse_scaling', see
        `learning_rate`; 'line_search' (only for 'batch' and 'coordinate') searches it at each step.
        'auto': 'line_search' where possible, else 'inverse_scaling'.
    eta0 : float > 0 or 'auto', default='auto'
        Size of the first step. 'auto': one over the curvature of the loss along an average row.
    power_t : float >= 0, default=0.5
        Exponent of 'inverse_scaling'.
    max_iter : int >= 1, default=1000
        Maximum number of iterations: steps ('batch'), or passes over all columns or rows.
    tol : float >= 0, default=1e-06
        With a line search: the fit has converged when the gradient has fallen to this fraction of
        the gradient at w = 0. Otherwise: smallest relative decrease of the loss that counts as
        progress.
    n_iter_no_change : int >= 1, default=5
        Number of iterations without progress after which a fit without line search stops.
    batch_size : int >= 1, default=32
        Number of rows per step of 'minibatch'.
    penalty_step : {'proximal', 'subgradient'}, default='proximal'
        How a step without line search handles the penalty: by its proximal operator (so that 'l1'
        sets weights to zero), or as part of the gradient, :math:`w_j \leftarrow w_j - \eta\,(g_j +
        \lambda\,\mathrm{sign}\,w_j)`.
    shuffle : bool, default=True
        Whether to visit rows ('stochastic', 'minibatch') or columns ('coordinate') in random order.
    average : bool, default=False
        Whether to use the average of all iterates as the model; only for 'stochastic' and
        'minibatch'.
    init : {'zeros', 'normal'}, default='zeros'
        Starting weights: all zero, or standard normal.
    class_weight : dict, 'balanced' or None, default=None
        Weight of the rows of each class; 'balanced' gives all classes the same total weight.
    delta : float > 0, default=1.0
        Residual beyond which 'huber' is linear.
    random_state : int, RandomState or None, default=None
        Seed for the order of rows or columns and for ``init='normal'``.
    n_jobs : int, default=None
        Threads, one per binary problem; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    coef_ : ndarray of float64 of shape (1, n_features) or (n_classes, n_features)
        The weights w; one row per class if there are more than two.
    intercept_ : ndarray of float64 of shape (1,) or (n_classes,)
        The intercepts b.
    loss_history_ : ndarray of float64
        The objective at the start and after each iteration; one row per
        class if there are more than two.
    zero_one_history_ : ndarray of float64
        Share of rows on the wrong side (y f <= 0) at the start and after each iteration.
    gradient_norm_ : float
        Optimality check: largest :math:`|\partial F / \partial w_j|` (after the prox step of the
        penalty) in units of the standard deviation of column j, all columns centred; 0 at a
        stationary point.
    n_iter_ : int
        Number of iterations (of the slowest class).
    stop_reason_ : str
        'converged' (gradient below `tol`), 'no_decrease', 'max_iter', 'diverged', or 'saddle':
        zero gradient but negative curvature, for a loss that is not convex.
    t_ : int
        Number of steps made; the schedule continues from here.
    last_coef_, last_intercept_ : ndarray
        The last iterate, if `average`.
    curvature_ : float
        Smallest eigenvalue of the Hessian; only for 'squared_logistic' with at most 1000 columns.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: F(w, b) = \sum_i s_i \, \ell(y_i, x_i \cdot w + b) + R(w), \qquad \sum_i s_i = 1

    where :math:`s_i` are the weights of the rows. A step is
    :math:`w \leftarrow \mathrm{prox}_{\eta R}(w - \eta \nabla)`; for one row with
    :math:`c = -\eta\,\ell'(y, f)` that is :math:`w \leftarrow w + c\,x`,
    :math:`b \leftarrow b + c`.

    'batch' with a line search is accelerated (Beck and Teboulle 2009, with restarts) and reaches
    the minimum of every convex loss; 'hinge' and 'absolute' are smoothed, less in each stage until
    the error is below `tol` (Nesterov 2005), so they need more iterations. 'coordinate' is
    guaranteed to reach it for smooth losses. With decreasing step sizes a non-smooth minimum is
    approached at the rate :math:`1/\sqrt t`, and the best iterate is kept. For 'squared_logistic' a
    stationary point is found, with a warning if it is a saddle point. O(n d) for each pass.
    Deterministic for a `random_state`; independent of `n_jobs`.

    More than two classes: one model per class against all others, and the highest score wins.

    See Also
    --------
    LogisticRegression : The logistic loss by Newton's method; much faster.
    LinearSVC : The hinge loss, exactly.

    Examples
    --------
    >>> from assay.linear import GradientDescentClassifier
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = GradientDescentClassifier("squared_hinge", alpha=0.1).fit(X, y)
    >>> model.predict([[-0.5], [0.5]]).tolist()
    ['no', 'yes']
    >>> bool((model.loss_history_[1:] <= model.loss_history_[:-1]).all())
    True
    """

    model_id: ClassVar[int | None] = 177
    stored = declared(coef_=Array("problems, features"), intercept_=Array("problems"))

    def __init__(
        self,
        loss: str = "logistic",
        *,
        penalty: str | None = "l2",
        alpha: float = 1e-4,
        l1_ratio: float = 0.5,
        p: float = 2.0,
        fit_intercept: bool = True,
        method: str = "batch",
        schedule: str = "auto",
        eta0: float | str = "auto",
        power_t: float = 0.5,
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_iter_no_change: int = 5,
        batch_size: int = 32,
        penalty_step: str = "proximal",
        shuffle: bool = True,
        average: bool = False,
        init: str = "zeros",
        class_weight: ClassWeight = None,
        delta: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.fit_intercept = fit_intercept
        self.method = method
        self.schedule = schedule
        self.eta0 = eta0
        self.power_t = power_t
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.batch_size = batch_size
        self.penalty_step = penalty_step
        self.shuffle = shuffle
        self.average = average
        self.init = init
        self.class_weight = class_weight
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Fit the model by gradient descent.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        coef_init : array-like of the shape of `coef_`, optional
            Starting weights, instead of `init`.
        intercept_init : array-like of the shape of `intercept_`, optional
            Starting intercepts, instead of zero.

        Returns
        -------
        GradientDescentClassifier
            The fitted model.
        """
        self._check_params()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        problems = binary_problems(self.classes_, codes, weight, self.class_weight)
        problems.check_two_sides()
        if (self.penalty is None or self.alpha == 0) and rows.shape[1] >= rows.shape[0]:
            warnings.warn(
                f"GradientDescentClassifier has no penalty, but {rows.shape[1]} columns for "
                f"{rows.shape[0]} rows: it can fit any labels exactly, and will do poorly on "
                "new rows. Set a penalty and alpha > 0, or use fewer columns",
                UserWarning,
                stacklevel=2,
            )
        self._descend(rows, problems, coef_init, intercept_init)
        if self.penalty is None or self.alpha == 0:
            self._warn_if_separated()
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Run one more iteration, on these rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes; required in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        GradientDescentClassifier
            The updated model.
        """
        self._check_params()
        first = not hasattr(self, "coef_")
        rows = self._rows(X, reset=first)
        self.classes_, codes = continued_codes(self, y, classes, rows.shape[0], first=first)
        weight = check_weight(sample_weight, rows)
        problems = binary_problems(self.classes_, codes, weight, self.class_weight, complete=False)
        self._descend_further(rows, problems, first=first)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the scores f = x.w + b.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_rows,) or (n_rows, n_classes)
            One column per class if there are more than two.
        """
        check_is_fitted(self)
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the highest score.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]  # type: ignore[no-any-return]

    @available_if(lambda self: _has_probabilities(self))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return probabilities of the classes; only for 'logistic' and 'squared_logistic'.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_classes)
            For more than two classes: the probability of each binary model, scaled to sum to 1.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        shares: Floats = expit(scores)
        shares += np.finfo(np.float64).tiny  # equal shares if all are zero
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _check_params(self) -> None:
        check_settings(self.get_params(deep=False), tuple(LOSSES))
        check_class_weight(self.class_weight)

    def _warn_if_separated(self) -> None:
        """Warn when the loss has no minimum because the classes are separated."""
        wrong = np.atleast_2d(self.zero_one_history_)[:, -1]
        endless = self.loss in ("logistic", "exponential", "squared_logistic")
        if endless and (wrong == 0).any():
            warnings.warn(
                "GradientDescentClassifier without penalty: the classes are separated perfectly, "
                f"so the loss {self.loss!r} has no minimum and the weights mean little. Set a "
                "penalty and alpha > 0",
                ConvergenceWarning,
                stacklevel=3,
            )


class GradientDescentRegressor(Regressor, DescentModel):
    r"""Linear regression fitted by gradient descent, for any loss and penalty.

    Parameters
    ----------
    loss : {'squared', 'huber', 'absolute'}, default='squared'
        The loss of a row with residual r = y - f: :math:`\frac{1}{2} r^2`; the same up to `delta`,
        linear beyond; :math:`|r|`.
    penalty : {'l2', 'l1', 'elasticnet', 'lp', 'norm'} or None, default='l2'
        The penalty R(w): :math:`\frac{\alpha}{2}\|w\|_2^2`; :math:`\alpha\|w\|_1`; a mix of these
        with share `l1_ratio`; :math:`\frac{\alpha}{p}\sum_j |w_j|^p`; the norm
        :math:`\alpha\|w\|_p` itself, neither squared nor separable.
    alpha : float >= 0, default=0.0001
        Strength of the penalty. Larger values shrink the weights more.
    l1_ratio : float in [0, 1], default=0.5
        Share of the L1 norm in 'elasticnet'.
    p : float >= 1, default=2.0
        Exponent of 'lp' and 'norm': below 2 the weights become sparser, above 2 more equal.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is never penalised.
    method : {'batch', 'coordinate', 'stochastic', 'minibatch'}, default='batch'
        What each step uses: all rows; one column; one random row; `batch_size` random rows.
    schedule : str, default='auto'
        Step size at step t: 'constant', 'inverse_time', 'slow' or 'inverse_scaling', see
        `learning_rate`; 'line_search' (only for 'batch' and 'coordinate') searches it at each step.
        'auto': 'line_search' where possible, else 'inverse_scaling'.
    eta0 : float > 0 or 'auto', default='auto'
        Size of the first step. 'auto': one over the curvature of the loss along an average row.
    power_t : float >= 0, default=0.5
        Exponent of 'inverse_scaling'.
    max_iter : int >= 1, default=1000
        Maximum number of iterations: steps ('batch'), or passes over all columns or rows.
    tol : float >= 0, default=1e-06
        With a line search: the fit has converged when the gradient has fallen to this fraction of
        the gradient at w = 0. Otherwise: smallest relative decrease of the loss that counts as
        progress.
    n_iter_no_change : int >= 1, default=5
        Number of iterations without progress after which a fit without line search stops.
    batch_size : int >= 1, default=32
        Number of rows per step of 'minibatch'.
    penalty_step : {'proximal', 'subgradient'}, default='proximal'
        How a step without line search handles the penalty: by its proximal operator (so that 'l1'
        sets weights to zero), or as part of the gradient, :math:`w_j \leftarrow w_j - \eta\,(g_j +
        \lambda\,\mathrm{sign}\,w_j)`.
    shuffle : bool, default=True
        Whether to visit rows ('stochastic', 'minibatch') or columns ('coordinate') in random order.
    average : bool, default=False
        Whether to use the average of all iterates as the model; only for 'stochastic' and
        'minibatch'.
    init : {'zeros', 'normal'}, default='zeros'
        Starting weights: all zero, or standard normal.
    delta : float > 0, default=1.0
        Residual beyond which 'huber' is linear.
    random_state : int, RandomState or None, default=None
        Seed for the order of rows or columns and for ``init='normal'``.
    n_jobs : int, default=None
        Accepted for a common interface; there is only one problem to solve.

    Attributes
    ----------
    coef_ : ndarray of float64 of shape (n_features,)
        The weights w.
    intercept_ : float
        The intercept b.
    loss_history_ : ndarray of float64
        The objective at the start and after each iteration.
    zero_one_history_ : ndarray of float64
        Share of rows whose prediction has the wrong sign (y f <= 0), at the start and after each
        iteration.
    gradient_norm_ : float
        Optimality check: largest :math:`|\partial F / \partial w_j|` (after the prox step of the
        penalty) in units of the standard deviation of column j, all columns centred; 0 at a
        stationary point.
    n_iter_ : int
        Number of iterations.
    stop_reason_ : str
        'converged' (gradient below `tol`), 'no_decrease', 'max_iter', 'diverged'.
    t_ : int
        Number of steps made; the schedule continues from here.
    last_coef_, last_intercept_ : ndarray
        The last iterate, if `average`.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: F(w, b) = \sum_i s_i \, \ell(y_i, x_i \cdot w + b) + R(w), \qquad \sum_i s_i = 1

    where :math:`s_i` are the weights of the rows. A step is
    :math:`w \leftarrow \mathrm{prox}_{\eta R}(w - \eta \nabla)`; for one row with
    :math:`c = -\eta\,\ell'(y, f)` that is :math:`w \leftarrow w + c\,x`,
    :math:`b \leftarrow b + c`.

    'batch' with a line search is accelerated (Beck and Teboulle 2009, with restarts) and reaches
    the minimum of every convex loss; 'absolute' is smoothed, less in each stage until the error is
    below `tol` (Nesterov 2005), so it needs more iterations. 'coordinate' is guaranteed to reach it
    for smooth losses. With decreasing step sizes a non-smooth minimum is approached at the rate
    :math:`1/\sqrt t`, and the best iterate is kept. O(n d) for each pass. Deterministic for a
    `random_state`; independent of `n_jobs`.

    See Also
    --------
    Ridge : The squared loss with 'l2', exactly.
    Lasso : The squared loss with 'l1', much faster.

    Examples
    --------
    >>> from assay.linear import GradientDescentRegressor
    >>> model = GradientDescentRegressor(penalty=None).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(3).tolist()
    [7.0]
    >>> model.stop_reason_
    'converged'
    """

    model_id: ClassVar[int | None] = 178
    stored = declared(coef_=Array("features"), intercept_=Number())

    def __init__(
        self,
        loss: str = "squared",
        *,
        penalty: str | None = "l2",
        alpha: float = 1e-4,
        l1_ratio: float = 0.5,
        p: float = 2.0,
        fit_intercept: bool = True,
        method: str = "batch",
        schedule: str = "auto",
        eta0: float | str = "auto",
        power_t: float = 0.5,
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_iter_no_change: int = 5,
        batch_size: int = 32,
        penalty_step: str = "proximal",
        shuffle: bool = True,
        average: bool = False,
        init: str = "zeros",
        delta: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.fit_intercept = fit_intercept
        self.method = method
        self.schedule = schedule
        self.eta0 = eta0
        self.power_t = power_t
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.batch_size = batch_size
        self.penalty_step = penalty_step
        self.shuffle = shuffle
        self.average = average
        self.init = init
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Fit the model by gradient descent.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        coef_init : array-like of shape (n_features,), optional
            Starting weights, instead of `init`.
        intercept_init : float, optional
            Starting intercept, instead of zero.

        Returns
        -------
        GradientDescentRegressor
            The fitted model.
        """
        check_settings(self.get_params(deep=False), REGRESSION_LOSSES)
        rows, values, weight = self._fit_data(X, y, sample_weight)
        self._descend(rows, Binaries.of_values(values, weight), coef_init, intercept_init)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Run one more iteration, on these rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        GradientDescentRegressor
            The updated model.
        """
        check_settings(self.get_params(deep=False), REGRESSION_LOSSES)
        first = not hasattr(self, "coef_")
        rows = self._rows(X, reset=first)
        values = real_values(y)
        if len(values) != rows.shape[0]:
            raise DataError(f"X has {rows.shape[0]} rows but y has {len(values)}")
        problem = Binaries.of_values(values, check_weight(sample_weight, rows))
        self._descend_further(rows, problem, first=first)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Return the scores f = x.w + b.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_rows,)
        """
        check_is_fitted(self)
        return self._scores(X)[:, 0]

    def _set_coefficients(self, coef: Floats, intercept: Floats) -> None:
        self.coef_, self.intercept_ = coef[0], float(intercept[0])


def _has_probabilities(model: GradientDescentClassifier) -> bool:
    if model.loss not in PROBABILITY_LOSSES:
        raise AttributeError(
            f"predict_proba needs a loss whose score is a log-odds, 'logistic' or "
            f"'squared_logistic'; got {model.loss!r}"
        )
    return True
