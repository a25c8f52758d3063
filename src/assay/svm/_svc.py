"""Support vector classification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    Classifier,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
    in_threads,
)
from assay.base.stored import Array, Integers, declared, ensure
from assay.svm._binary import Machine, Settings, Table, separate, separate_pairs
from assay.svm._budget import separate_within
from assay.svm._classes import (
    Task,
    by_class,
    gather,
    n_lines,
    n_tasks,
    pair_decisions,
    tasks,
    votes,
    votes_and_confidence,
)
from assay.svm._fitting import (
    check_solution,
    check_solver_params,
    class_weights,
    classes_with_weight,
    print_certificates,
    warn_if_stopped,
)
from assay.svm._gram import gram_of_function
from assay.svm._machine import KernelMachine, Queries
from assay.svm._path import KernelPath
from assay.svm._state import CERTIFICATE

#: Signed dual variables of a fit, and its C.
Start = tuple[NDArray[np.float64], float]


class SVC(KernelMachine, Classifier):
    r"""Support vector machine: separate classes with the widest margin, by a kernel.

    Parameters
    ----------
    C : float > 0, default=1.0
        Penalty of margin violations. Smaller values give a wider margin and regularise more.
        Infinity is a hard margin, an error if the classes cannot be separated.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        The kernel, see Notes. A function either takes two tables and returns the matrix of all
        pairs, or takes two items (texts, graphs, ...) and returns a number; X is then a list of
        items. A model with a function as kernel can predict but not be saved.
    degree : int >= 1, default=3
        Degree of 'poly'. Larger values give more flexible boundaries.
    gamma : {'scale', 'auto'} or float > 0, default='scale'
        Coefficient of 'poly', 'rbf' and 'sigmoid'. Larger values make 'rbf' narrower, which
        overfits more easily. 'scale': 1 / (n_features * variance of X); 'auto': 1 / n_features.
    coef0 : float, default=0.0
        Constant term of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Whether to leave out rows that stay at a bound for a while. Affects only speed.
    tol : float > 0, default=0.001
        Largest violation of the optimality (KKT) conditions.
    cache_size : float > 0, default=200
        Memory for kernel values in megabytes. Affects only speed.
    class_weight : dict or 'balanced', default=None
        Factor of C for each class. 'balanced': inversely proportional to the weight of the class.
    verbose : bool or int, default=False
        Whether to print the certificate of each problem solved.
    max_iter : int >= -1, default=-1
        Maximum number of iterations per binary problem; -1 = no limit.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Columns of `decision_function` with more than two classes: one per class, or one per pair.
    break_ties : bool, default=False
        Whether `predict` breaks ties of votes by confidence instead of taking the first class.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility with scikit-learn; the fit is deterministic.
    sigma : float > 0, default=None
        Width of the 'rbf' kernel, instead of `gamma`. Larger values give smoother functions.
    sigma_convention : {'2sigma2', 'sigma2'}, default='2sigma2'
        Whether gamma is 1 / (2 sigma^2) or 1 / sigma^2; the literature has both.
    slack_budget : float >= 0, default=None
        Upper bound on the sum of slacks of each problem, instead of C. Larger values give a wider
        margin.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        More than two classes: 'ovo' fits every pair of classes and lets them vote; 'ovr' fits each
        class against the rest and the largest decision value wins.
    check_kernel : bool, default=True
        Whether to raise an error if a Gram matrix, passed in or computed by a function, is not
        symmetric and positive semidefinite.
    warm_start : bool, default=False
        Whether to start from the last solution; useful for another C on the same rows.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    support_ : ndarray of int32 of shape (n_SV,)
        Indices of the support vectors among the training rows, class by class.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, n_features), or list of items
        The support vectors. Predictions use no other rows.
    n_support_ : ndarray of int32 of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        Dual variables with the sign of the class, in libsvm's order; with `multi_class='ovr'` one
        row per class.
    intercept_ : ndarray of shape (n_problems,)
        Intercepts b: the mean over the free support vectors.
    coef_ : ndarray of shape (n_problems, n_features)
        Normal vectors w, for the linear kernel only.
    margin_ : ndarray of shape (n_problems,)
        1 / \|w\|, the distance from the boundary to the margin.
    slack_ : ndarray of the shape of `dual_coef_`
        Slack of each support vector in each of its problems; 0 for all other rows.
    C_ : ndarray of shape (n_problems,)
        The C in use: `C`, or the one found for `slack_budget`.
    kkt_residual_ : ndarray of shape (n_problems,)
        Largest violation of the optimality (KKT) conditions.
    duality_gap_ : ndarray of shape (n_problems,)
        Primal minus dual objective: an upper bound on the distance to the optimum.
    n_iter_ : ndarray of int32 of shape (n_problems,)
        Iterations.
    stop_reason_ : str
        'converged', or why the worst problem stopped.
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
    For two classes :math:`y = \pm 1` and :math:`f(x) = w \cdot \phi(x) + b`,

    .. math:: \min_{w, b, \xi} \tfrac{1}{2} \|w\|^2 + C \sum_i s_i \xi_i, \qquad
              y_i f(x_i) \ge 1 - \xi_i, \quad \xi_i \ge 0

    so :math:`\xi_i = \max(0, 1 - y_i f(x_i))` is the hinge loss. It is solved in the dual, where
    rows appear only in :math:`K(x, z) = \phi(x) \cdot \phi(z)`:

    ===========  =================================================================================
    'linear'     :math:`x \cdot z`
    'poly'       :math:`(\gamma x \cdot z + r)^p`: homogeneous with :math:`\gamma = 1, r = 0`,
                 inhomogeneous with :math:`\gamma = r = 1`
    'rbf'        :math:`e^{-\gamma \|x - z\|^2}`, :math:`\gamma = 1/(2 \sigma^2)`
                 or :math:`1/\sigma^2`
    'sigmoid'    :math:`\tanh(\gamma x \cdot z + r)`, not a valid kernel for most settings
    ===========  =================================================================================

    A row of weight 2 counts as two rows, also in the variance of ``gamma='scale'`` (scikit-learn
    ignores weights there). Fitting takes between O(n^2) and O(n^3). Deterministic.

    There is no `probability` parameter: scikit-learn deprecates it, since Platt scaling on internal
    folds can contradict `predict`. For probabilities use scikit-learn's
    ``CalibratedClassifierCV(SVC(), ensemble=False)``, or `KernelLogisticRegression`.

    See Also
    --------
    SVR : Regression.
    KernelLogisticRegression : Class probabilities from a kernel.
    check_mercer : Check whether a function is a valid kernel.

    Examples
    --------
    >>> from assay.svm import SVC
    >>> X, y = [[-2.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [2.0, 0.0]], ["a", "a", "b", "b"]
    >>> model = SVC(kernel="linear", C=float("inf")).fit(X, y)
    >>> model.predict([[-0.2, 5.0], [0.2, 5.0]]).tolist()
    ['a', 'b']
    >>> model.margin_.round(6).tolist(), model.support_.tolist()
    ([1.0], [1, 2])
    """

    model_id: ClassVar[int | None] = 190
    assay_path: ClassVar[KernelPath] = KernelPath()
    # Two fits may stop at different points within the tolerance; our own test uses tol=1e-10.
    expected_failures: ClassVar[Mapping[str, str]] = {
        f"check_sample_weight_equivalence_on_{kind}_data": "tol is 1e-3 by default, not 1e-7"
        for kind in ("dense", "sparse")
    }
    stored = declared(
        class_weight_=Array("classes", 0),
        n_support_=Integers("classes", 0, "support"),
        dual_coef_=Array("lines, support"),
        gram_slack_=Array("lines, support", 0, when=lambda model: model.kernel == "precomputed"),
        **CERTIFICATE,
        n_iter_=Integers("tasks", 0),
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        sigma: float | None = None,
        sigma_convention: str = "2sigma2",
        slack_budget: float | None = None,
        multi_class: str = "ovo",
        check_kernel: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.sigma = sigma
        self.sigma_convention = sigma_convention
        self.slack_budget = slack_budget
        self.multi_class = multi_class
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
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; each multiplies C.

        Returns
        -------
        SVC
            The fitted model.
        """
        settings = self._check_params()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        self._learn(rows, self._training_table(rows, weight), codes, weight, settings)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the decision values: distance from the boundary in units of the margin.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            The rows; for ``kernel='precomputed'`` their kernel values with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: positive for the second. Otherwise one column per class (votes, with ties
            broken by confidence; or the decision values themselves for ``multi_class='ovr'``), or
            one per pair (positive for the first class of the pair).
        """
        check_is_fitted(self)
        decisions = self._decisions(self._queries(X))
        return self._shaped(decisions)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or sequence of items
            The rows; for ``kernel='precomputed'`` their kernel values with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        codes = self._codes(self._decisions(self._queries(X)))
        return np.asarray(self.classes_[codes])

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The normal vector of each problem, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ exists for kernel='linear' only")
        vectors = self.support_vectors_
        n_classes = len(self.classes_)
        if n_classes == 2 or self.multi_class == "ovr":
            return _product(self.dual_coef_, vectors)
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        sums = [_product(self.dual_coef_[:, a:b], vectors[a:b]).T for a, b in pairwise(ends)]
        none = np.zeros(len(self.intercept_))
        return pair_decisions(sums, none, n_classes).T

    @property
    def slack_(self) -> NDArray[np.float64]:
        """The slack of each support vector in each of its problems; computed on access."""
        if not hasattr(self, "dual_coef_"):
            raise AttributeError("SVC has no slack_ before fit")
        if self.kernel == "precomputed":
            return self.gram_slack_
        vectors = self.support_vectors_
        if callable(self.kernel):
            return self._hinge(Queries(None, gram_of_function(self.kernel, vectors, vectors), None))
        return self._hinge(Queries(self._engine_kernel(), vectors, vectors))

    def _hinge(self, inner: Queries) -> NDArray[np.float64]:
        """Return max(0, 1 - y f) of the support vectors, in the layout of `dual_coef_`."""
        decisions = self._decisions(inner)
        codes = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        parts = tasks(codes, np.arange(len(codes)), len(self.classes_), self.multi_class)
        losses = [
            np.maximum(0.0, 1.0 - task.signs * decisions[task.rows, number])
            for number, task in enumerate(parts)
        ]
        slack = gather(parts, losses, self.dual_coef_.shape)
        # If a row is not a support vector of a problem, its slack is only rounding.
        return np.where(self.dual_coef_ != 0, slack, 0.0)

    def _check_params(self) -> Settings:
        settings = check_solver_params(vars(self))
        self._check_kernel_params()
        check_option("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        check_option("break_ties", self.break_ties, (True, False))
        check_option("multi_class", self.multi_class, ("ovo", "ovr"))
        check_random_state(self.random_state)
        check_interval("slack_budget", self.slack_budget, 0, open_high=True, options=(None,))
        class_weights(self.class_weight, np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0))
        if self.slack_budget is not None and self.C != 1.0:
            raise ParameterError(
                "C penalises slack and slack_budget bounds its sum; set only one of them "
                f"(got C={self.C!r} and slack_budget={self.slack_budget!r})"
            )
        if self.decision_function_shape == "ovo":
            if self.break_ties:
                raise ParameterError(
                    "break_ties must be False when decision_function_shape is 'ovo'; got True"
                )
            if self.multi_class == "ovr":
                raise ParameterError(
                    "decision_function_shape must be 'ovr' when multi_class is 'ovr': there are "
                    "no pairs; got 'ovo'"
                )
        return settings

    def _learn(
        self,
        rows: Any,
        table: Table,
        codes: NDArray[np.int64],
        weight: NDArray[np.float64] | None,
        settings: Settings,
    ) -> None:
        """Solve all problems and store the results."""
        n = len(codes)
        used = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
        weight = np.ones(n) if weight is None else weight
        self.classes_, codes = classes_with_weight("SVC", self.classes_, codes, used)
        n_classes = len(self.classes_)
        factors = class_weights(self.class_weight, self.classes_, codes[used], weight[used])
        parts = tasks(codes, used, n_classes, self.multi_class)
        starts = self._starts(parts, n, n_classes)
        row_weight = weight * factors[codes]
        if n_classes > 2 and self.multi_class == "ovo" and self.slack_budget is None and not starts:
            machines = separate_pairs(
                table.part(used), codes[used], n_classes, row_weight[used], float(self.C), settings
            )
        else:
            machines = self._one_by_one(table, parts, row_weight, settings, starts)
        for machine, task in zip(machines, parts, strict=True):
            check_solution("SVC", machine, partial(self._inseparable_text, task))
        self._store(rows, table, parts, machines, codes)
        self.class_weight_ = factors
        self.stop_reason_ = warn_if_stopped("SVC", machines, settings)
        self.fit_status_ = int(self.stop_reason_ != "converged")
        if self.verbose:
            print_certificates("SVC", machines)

    def _one_by_one(
        self,
        table: Table,
        parts: list[Task],
        row_weight: NDArray[np.float64],
        settings: Settings,
        starts: list[Start],
    ) -> list[Machine]:
        """Solve the binary problems, several at a time."""
        inner = settings if len(parts) == 1 else replace(settings, n_threads=1)

        def solve(number: int) -> Machine:
            task = parts[number]
            part, mine = table.part(task.rows), row_weight[task.rows]
            if self.slack_budget is not None:
                budget = float(self.slack_budget)
                return separate_within(part, task.signs, mine, budget, inner)
            C, begin = float(self.C), None
            if starts:
                coef, old = starts[number]
                begin = coef * (C / old) if 0 < C / old < np.inf else coef
            return separate(part, task.signs, mine, C, inner, begin)

        work = [partial(solve, number) for number in range(len(parts))]
        return in_threads(work, settings.n_threads)

    def _starts(self, parts: list[Task], n: int, n_classes: int) -> list[Start]:
        """Return the last solution of each problem and its C; nothing for a cold start."""
        shape = (n_lines(n_classes, self.multi_class), len(getattr(self, "support_", ())))
        fits = (
            self.warm_start
            and getattr(self, "n_samples_fit_", None) == n
            and getattr(self, "dual_coef_", np.empty(0)).shape == shape
            and len(self.C_) == len(parts)
        )
        if not fits:
            return []
        whole = np.zeros((shape[0], n))
        whole[:, self.support_] = self.dual_coef_
        return [
            (whole[task.slots, task.rows], float(C)) for task, C in zip(parts, self.C_, strict=True)
        ]

    def _inseparable_text(self, task: Task) -> str:
        labels = [repr(label) for label in self.classes_.tolist()]
        other = "the other classes" if task.negative is None else f"class {labels[task.negative]}"
        return f"class {labels[task.positive]} and {other} cannot be separated by this kernel"

    def _store(
        self,
        rows: Any,
        table: Table,
        parts: list[Task],
        machines: list[Machine],
        codes: NDArray[np.int64],
    ) -> None:
        n, n_classes = len(codes), len(self.classes_)
        shape = (n_lines(n_classes, self.multi_class), n)
        coef = gather(parts, [machine.coef for machine in machines], shape)
        support = by_class(np.flatnonzero(coef.any(axis=0)), codes)
        self._keep(rows, support)
        self.gamma_ = float(table.kernel.gamma)
        self.n_support_ = np.bincount(codes[support], minlength=n_classes).astype(np.int32)
        self.dual_coef_ = np.ascontiguousarray(coef[:, support])
        self.intercept_ = np.array([machine.bias for machine in machines])
        self.margin_ = np.array([machine.margin for machine in machines])
        self.C_ = np.array([machine.C for machine in machines])
        self.kkt_residual_ = np.array([machine.kkt_residual for machine in machines])
        self.duality_gap_ = np.array([machine.duality_gap for machine in machines])
        self.n_iter_ = np.array([machine.n_iter for machine in machines], dtype=np.int32)
        if hasattr(self, "gram_slack_"):
            delattr(self, "gram_slack_")
        if self.kernel == "precomputed":
            inner = Queries(None, rows[np.ix_(support, support)], None)
            self.gram_slack_ = self._hinge(inner)

    def _decisions(self, queries: Queries) -> NDArray[np.float64]:
        """Return the decision of each problem."""
        n_threads = check_n_jobs(self.n_jobs)
        n_classes = len(self.classes_)
        if n_classes == 2 or self.multi_class == "ovr":
            sums = queries.sums(self.dual_coef_.T, n_threads=n_threads)
            return np.asarray(sums + self.intercept_)
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        parts = [
            queries.sums(self.dual_coef_[:, a:b].T, slice(a, b), n_threads)
            for a, b in pairwise(ends)
        ]
        return pair_decisions(parts, self.intercept_, n_classes)

    def _shaped(self, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        if n_classes == 2:
            return decisions[:, 0]
        if self.multi_class == "ovr" or self.decision_function_shape == "ovo":
            return decisions
        return votes_and_confidence(decisions, n_classes)

    def _codes(self, decisions: NDArray[np.float64]) -> NDArray[np.int64]:
        n_classes = len(self.classes_)
        if n_classes == 2:
            return (decisions[:, 0] > 0).astype(np.int64)
        if self.multi_class == "ovo":
            if not self.break_ties:
                return np.asarray(votes(decisions, n_classes).argmax(axis=1))
            decisions = votes_and_confidence(decisions, n_classes)
        return np.asarray(decisions.argmax(axis=1))

    def _check_more(self) -> None:
        self._check_params()
        k = len(self.classes_)
        ensure(k >= 2, "SVC.classes_ has fewer than two classes")
        divides = self.n_support_.sum() == len(self.support_)
        ensure(divides, "n_support_ does not divide the support vectors")
        sizes = (n_lines(k, self.multi_class), n_tasks(k, self.multi_class))
        fits = (len(self.dual_coef_), len(self.intercept_)) == sizes
        ensure(fits, "dual_coef_ or intercept_ does not fit classes_")


def _product(coef: NDArray[np.float64], vectors: Any) -> NDArray[np.float64]:
    if issparse(vectors):
        return np.asarray((vectors.T @ coef.T).T)
    return coef @ vectors  # type: ignore[no-any-return]
