"""The linear support vector machine."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from assay.base import Classifier, check_interval, check_n_jobs, check_option, draw_seed
from assay.base.stored import Array, Count, OneOf, declared, each
from assay.linear._gradient_descent_classes import (
    ClassWeight,
    binary_problems,
    check_class_weight,
)
from assay.linear._gradient_descent_solver import Floats
from assay.linear._least_model import scores
from assay.linear._linear_svc_solve import STOPS, Task, solve


class LinearSVC(Classifier):
    r"""Linear support vector machine: separate classes with the widest margin.

    Parameters
    ----------
    penalty : {'l2', 'l1'}, default='l2'
        :math:`\frac{1}{2}\|w\|_2^2`, or :math:`\|w\|_1`, which sets many weights to zero.
    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        :math:`\max(0, 1 - yf)^2`, or :math:`\max(0, 1 - yf)`, the loss of the classical SVM.
    dual : bool or 'auto', default='auto'
        Accepted for compatibility with scikit-learn. The minimum is the same, and the solver is
        chosen by size.
    tol : float > 0, default=0.0001
        Tolerance: the duality gap is at most ``tol / 10000`` of the objective.
    C : float > 0, default=1.0
        Penalty of margin violations. Smaller values give a wider margin and regularise more.
    multi_class : {'ovr'}, default='ovr'
        More than two classes: one binary model per class against the rest.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float > 0, default=1.0
        The intercept is the weight of a constant column of this value and is penalised like the
        others, as in scikit-learn; a large value makes that penalty small.
    class_weight : dict, 'balanced' or None, default=None
        C is multiplied by the weight of the class.
    verbose : int, default=0
        Accepted for compatibility with scikit-learn; nothing is printed.
    random_state : int, RandomState or None, default=None
        Seed for the order of rows in dual coordinate descent.
    max_iter : int >= 1, default=1000
        Maximum number of solver iterations.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    coef_ : ndarray of float64 of shape (1, n_features) or (n_classes, n_features)
        The weights w; one row per class if there are more than two.
    intercept_ : ndarray of float64 of shape (1,) or (n_classes,)
        The intercepts b.
    objective_ : ndarray of float64 of shape (1,) or (n_classes,)
        The objective reached.
    duality_gap_ : ndarray of float64 of shape (1,) or (n_classes,)
        Duality gap: the minimum is at most this far below `objective_`.
    n_iter_ : int
        Number of iterations (of the slowest class).
    stop_reason_ : str
        'converged', 'max_iter', or 'stalled' (at the precision of the machine).
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \min_{w, b} \; \tfrac{1}{2} (\|w\|^2 + (b / s)^2) + C \sum_i c_i \, \ell(y_i f_i),
              \qquad f_i = w \cdot x_i + b

    with s = `intercept_scaling` and the weights :math:`c_i` of the rows. At the minimum the hinge
    loss of a row is its slack :math:`\xi_i`; the margin is :math:`1 / \|w\|`. The unconstrained
    form :math:`\sum_i \ell_i + \lambda \|w\|^2` is the same with :math:`\lambda = 1 / (2C)`.

    Solvers: with up to 320 columns an interior point method ('hinge', about 20 passes over the
    rows) or Newton's method ('squared_hinge', finite); with more, dual coordinate descent (Hsieh
    and others 2008) or Newton's method by conjugate gradients. 'l1': proximal Newton on working
    sets of columns for 'squared_hinge'; a linear program (HiGHS) for 'hinge', which scikit-learn
    does not have. The solvers for few columns copy the table once. Deterministic; independent of
    `n_jobs`.

    See Also
    --------
    SVC : Nonlinear boundaries by kernels.
    LogisticRegression : Class probabilities.

    Examples
    --------
    >>> from assay.linear import LinearSVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC(loss="hinge", C=10).fit(X, y)
    >>> model.predict([[1.5, 1.0], [3.0, 2.5]]).tolist()
    ['no', 'yes']
    >>> bool(model.duality_gap_[0] <= 1e-8 * model.objective_[0])
    True
    """

    model_id: ClassVar[int | None] = 175
    takes_sparse: ClassVar[bool] = True
    stored = declared(
        coef_=Array("problems, features"),
        **each("intercept_ objective_ duality_gap_", Array("problems")),
        n_iter_=Count(),
        stop_reason_=OneOf(STOPS),
    )

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: ClassWeight = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows: C is multiplied by them.

        Returns
        -------
        LinearSVC
            The fitted model.
        """
        task = self._task()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        problems = binary_problems(self.classes_, codes, weight, self.class_weight)
        problems.check_two_sides()
        found = solve(rows, problems, task)
        self.coef_, self.intercept_ = found.coef, found.intercept
        self.objective_, self.duality_gap_ = found.objective, found.gap
        self.n_iter_, self.stop_reason_ = found.n_iter, found.stop
        if found.stop == "max_iter":
            share = float((found.gap / found.objective).max())
            warnings.warn(
                f"LinearSVC did not converge in max_iter={self.max_iter} iterations: the duality "
                f"gap is {share:.1g} of the objective, the target is {task.tol:.1g}. Scale the "
                "columns, raise max_iter, or raise tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the scores f = x.w + b; divided by the length of w they are distances.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_rows,) or (n_rows, n_classes)
            One column per class if there are more than two.
        """
        rows = self._predict_data(X)
        found = scores(rows, self.coef_, self.intercept_, check_n_jobs(self.n_jobs))
        return found[:, 0] if found.shape[1] == 1 else found

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
        found = self.decision_function(X)
        codes = (found > 0).astype(np.int64) if found.ndim == 1 else found.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _task(self) -> Task:
        """Check the parameters and return the problem to solve."""
        check_option("penalty", self.penalty, ["l2", "l1"])
        check_option("loss", self.loss, ["squared_hinge", "hinge"])
        check_option("dual", self.dual, ["auto", True, False])
        check_option("multi_class", self.multi_class, ["ovr"])
        check_option("fit_intercept", self.fit_intercept, [True, False])
        check_interval("tol", self.tol, 0, open_low=True, open_high=True)
        check_interval("C", self.C, 0, open_low=True, open_high=True)
        check_interval(
            "intercept_scaling", self.intercept_scaling, 0, open_low=True, open_high=True
        )
        check_interval("verbose", self.verbose, 0, integer=True)
        check_interval("max_iter", self.max_iter, 1, integer=True)
        check_class_weight(self.class_weight)
        return Task(
            penalty=self.penalty,
            loss=self.loss,
            C=float(self.C),
            constant=float(self.intercept_scaling) if self.fit_intercept else 0.0,
            tol=max(1e-4 * float(self.tol), 1e-12),
            max_iter=int(self.max_iter),
            seed=draw_seed(self.random_state),
            n_threads=check_n_jobs(self.n_jobs),
        )
