"""Blending: a final model combines several others, fitted on one held-out part of the rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from assay.base import DataError, check_interval, check_option, draw_seed, seeded
from assay.base.stored import Array, Count, declared
from assay.ensemble._folds import group_numbers
from assay.ensemble._layers import Layers, LayersClassifier, LayersRegressor, Target, Weight
from assay.ensemble._members import Named, fit_member
from assay.ensemble._outputs import beside, n_rows, take
from assay.tree import DecisionTreeRegressor

_ROWS_DECIDE = {
    "check_sample_weight_equivalence_on_dense_data": (
        "held-out rows are drawn row by row: a row of weight 2 is on one side, where two "
        "duplicates may be on both (groups='duplicates' keeps them together)"
    )
}


class Blending(Layers):
    """How a blend is fitted."""

    stored = declared(n_samples_fit_=Count(), held_out_=Array("n_samples_fit_", kinds="b"))

    def _fit_blend(self, X: Any, y: Any, sample_weight: ArrayLike | None, groups: Any) -> Self:
        levels, final = self._checked()
        check_interval("holdout", self.holdout, 0, 1, open_low=True, open_high=True)
        check_option("refit", self.refit, (True, False))
        seed = draw_seed(self.random_state)
        X, target, weight = self._start(X, y, sample_weight, levels)
        n = n_rows(X)
        codes = target.astype(np.int64) if self._kind == "classifier" else np.zeros(n, np.int64)
        held = held_out_rows(self.holdout, codes, group_numbers(groups, X, n), seed)
        self._check_parts(codes, held)
        members = [seeded(m, (seed, 0, at)) for at, (_, m) in enumerate(levels[0])]
        fitted = self._fit_part(members, X, target, weight, ~held)
        rows = np.flatnonzero(held)
        outputs = self._member_outputs(fitted, self._methods(levels[0]), take(X, rows))
        if self.passthrough:
            outputs = beside(outputs, take(X, rows), type(self).__name__)
        if self.refit:
            fitted = self._fit_part(members, X, target, weight, np.ones(n, dtype=bool))
        self.estimators_ = fitted
        self.final_estimator_ = fit_member(
            seeded(final, (seed, 1, 0)),
            outputs,
            target[rows],
            None if weight is None else weight[rows],
        )
        self.stack_method_ = np.array(self._methods(levels[0]))
        self.level_sizes_ = np.array([len(members)])
        self.passthrough_ = bool(self.passthrough)
        self.held_out_ = held
        self.n_samples_fit_ = n
        return self

    def _fit_part(
        self,
        members: list[Any],
        X: Any,
        target: Target,
        weight: Weight,
        part: NDArray[np.bool_],
    ) -> list[Any]:
        rows = np.flatnonzero(part)
        own = None if weight is None else weight[rows]
        return self._fit_all(members, take(X, rows), target[rows], own)

    def _check_parts(self, codes: NDArray[np.int64], held: NDArray[np.bool_]) -> None:
        if self._kind != "classifier":
            return
        for part, what in ((held, "held-out"), (~held, "other")):
            missing = np.setdiff1d(codes, codes[part])
            if missing.size:
                label = self.classes_[missing[0]].item()
                raise DataError(
                    f"the {what} rows have no row of class {label!r}; blending needs at least 2 "
                    "rows (or groups) of each class; use stacking for fewer"
                )


def held_out_rows(
    share: float, codes: NDArray[np.int64], groups: NDArray[np.int64] | None, seed: int
) -> NDArray[np.bool_]:
    """Return which rows are held out: a fraction of each class, at least one row and not all.

    Parameters
    ----------
    share : float in (0, 1)
        Fraction to hold out.
    codes : ndarray of int64 of shape (n_rows,)
        Classes.
    groups : ndarray of int64 of shape (n_rows,) or None
        Rows of one group stay together; the fraction is then not kept for each class.
    seed : int
        Seed of the draw.

    Returns
    -------
    ndarray of bool of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> held = held_out_rows(0.1, np.repeat([0, 1], [90, 10]), None, seed=0)
    >>> held[:90].sum(), held[90:].sum()
    (np.int64(9), np.int64(1))
    """
    n = len(codes)
    units = n if groups is None else int(groups.max()) + 1
    if units < 2:
        raise DataError(
            f"blending needs at least 2 rows (or groups of rows), one to train on and one to "
            f"hold out; got n_samples={n}"
        )
    shuffled = np.random.default_rng(seed).permutation(units)
    if groups is not None:
        sizes = np.bincount(groups)[shuffled]
        before = np.cumsum(sizes) - sizes
        chosen = shuffled[before < share * n][: units - 1]
        return np.isin(groups, chosen)
    held = np.zeros(n, dtype=bool)
    for code in range(int(codes.max()) + 1):
        own = shuffled[codes[shuffled] == code]
        count = min(max(1, round(share * len(own))), len(own) - 1)
        held[own[: max(count, 0)]] = True
    return held


class BlendingClassifier(LayersClassifier, Blending):
    r"""Combine classifiers with a final one, fitted on their outputs for held-out rows.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The classifiers, by name. ``"drop"`` in place of one leaves it out.
    final_estimator : estimator, default=None
        The classifier fitted on their outputs. None = logistic regression.
    holdout : float in (0, 1), default=0.1
        Fraction of the rows of each class to hold out, at least one row. Larger values leave more
        rows for the final estimator and fewer for the members.
    refit : bool, default=False
        Whether to refit the members on all rows after the final estimator is fitted. They are then
        better than the members that the final estimator was fitted on.
    stack_method : {'auto', 'predict_proba', 'decision_function', 'predict'}, default='auto'
        Method that gives a classifier's outputs; 'auto' = the first of the others that it has.
        Predicted labels become one indicator column per class.
    passthrough : bool, default=False
        Whether the final estimator also gets the columns of X.
    n_jobs : int, default=None
        Threads for the fits; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out rows, and of members without a seed of their own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted. Members are fitted on their positions 0, 1, ...
    estimators_ : list of estimator
        The members, fitted on the rows that are not held out, or on all if `refit`.
    final_estimator_ : estimator
        Fitted on the members' outputs for the held-out rows.
    held_out_ : ndarray of bool of shape (n_samples_fit_,)
        Which rows were held out.
    stack_method_ : ndarray of shape (n_members,)
        Method that gives each member's outputs.
    level_sizes_ : ndarray of shape (1,)
        Number of members.
    passthrough_ : bool
        Whether the final estimator gets the columns of X.
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With H the held-out rows and :math:`f_m` the members fitted on the others,

    .. math:: \hat y(x) = g\bigl(f_1(x), \ldots, f_M(x)\bigr), \quad
              g \text{ fitted on } \bigl(f_1(x_i), \ldots, f_M(x_i), y_i\bigr),\; i \in H

    One fit per member (two with `refit`); stacking needs one per fold plus one. In return, the
    final estimator learns from few rows, which the members then lack. Sample weights are passed to
    members that accept them.

    See Also
    --------
    StackingClassifier : Folds instead of one held-out part.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.ensemble import BlendingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("logistic", LogisticRegression(max_iter=1000))]
    >>> model = BlendingClassifier(members, random_state=0).fit(X, y)
    >>> int(model.held_out_.sum())
    15
    >>> model.score(X, y) > 0.9
    True
    """

    model_id: ClassVar[int | None] = 151
    expected_failures: ClassVar[dict[str, str]] = _ROWS_DECIDE

    def __init__(
        self,
        estimators: Named,
        final_estimator: Any = None,
        *,
        holdout: float = 0.1,
        refit: bool = False,
        stack_method: str = "auto",
        passthrough: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.holdout = holdout
        self.refit = refit
        self.stack_method = stack_method
        self.passthrough = passthrough
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> Self:
        """Fit the members on most rows, and the final estimator on their outputs for the rest.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training rows, in any form that the members accept.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for the members and the final estimator if they accept them.
        groups : array-like of shape (n_samples,) or 'duplicates', default=None
            Rows of one group are held out together; 'duplicates' puts duplicate rows into one
            group.

        Returns
        -------
        Self
        """
        return self._fit_blend(X, y, sample_weight, groups)

    @classmethod
    def _examples(cls) -> list[Self]:
        members: Named = [
            ("bayes", GaussianNB()),
            ("logistic", LogisticRegression(solver="newton-cholesky")),
        ]
        return [cls(members, holdout=0.3), cls(members, GaussianNB(), holdout=0.3, refit=True)]


class BlendingRegressor(LayersRegressor, Blending):
    r"""Combine regressors with a final one, fitted on their outputs for held-out rows.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The regressors, by name. ``"drop"`` in place of one leaves it out.
    final_estimator : estimator, default=None
        The regressor fitted on their outputs. None = least squares with an intercept and, unless
        `passthrough`, non-negative weights.
    holdout : float in (0, 1), default=0.1
        Fraction of the rows to hold out, at least one row. Larger values leave more rows for the
        final estimator and fewer for the members.
    refit : bool, default=False
        Whether to refit the members on all rows after the final estimator is fitted. They are then
        better than the members that the final estimator was fitted on.
    passthrough : bool, default=False
        Whether the final estimator also gets the columns of X.
    n_jobs : int, default=None
        Threads for the fits; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out rows, and of members without a seed of their own.

    Attributes
    ----------
    estimators_ : list of estimator
        The members, fitted on the rows that are not held out, or on all if `refit`.
    final_estimator_ : estimator
        Fitted on the members' outputs for the held-out rows.
    held_out_ : ndarray of bool of shape (n_samples_fit_,)
        Which rows were held out.
    stack_method_ : ndarray of shape (n_members,)
        Method that gives each member's outputs: 'predict'.
    level_sizes_ : ndarray of shape (1,)
        Number of members.
    passthrough_ : bool
        Whether the final estimator gets the columns of X.
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With H the held-out rows and :math:`f_m` the members fitted on the others,

    .. math:: \min_{b,\; w \ge 0} \sum_{i \in H} (y_i - b - \sum_m w_m f_m(x_i))^2

    One fit per member (two with `refit`). Sample weights are passed to members that accept them.

    See Also
    --------
    StackingRegressor : Folds instead of one held-out part.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from assay.ensemble import BlendingRegressor
    >>> X = np.arange(40.0)[:, None]
    >>> members = [("line", LinearRegression()), ("ridge", Ridge(alpha=100.0))]
    >>> model = BlendingRegressor(members, random_state=0).fit(X, 3 * X[:, 0] + 1)
    >>> model.predict([[100.0]]).round(6)
    array([301.])
    """

    model_id: ClassVar[int | None] = 152
    expected_failures: ClassVar[dict[str, str]] = _ROWS_DECIDE

    def __init__(
        self,
        estimators: Named,
        final_estimator: Any = None,
        *,
        holdout: float = 0.1,
        refit: bool = False,
        passthrough: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.holdout = holdout
        self.refit = refit
        self.passthrough = passthrough
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> Self:
        """Fit the members on most rows, and the final estimator on their outputs for the rest.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training rows, in any form that the members accept.
        y : array-like of shape (n_samples,)
            The values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for the members and the final estimator if they accept them.
        groups : array-like of shape (n_samples,) or 'duplicates', default=None
            Rows of one group are held out together; 'duplicates' puts duplicate rows into one
            group.

        Returns
        -------
        Self
        """
        return self._fit_blend(X, y, sample_weight, groups)

    @classmethod
    def _examples(cls) -> list[Self]:
        # Trees, unlike linear algebra, give the same bits for any memory order of a dataframe.
        members: Named = [
            ("tree", DecisionTreeRegressor(random_state=0)),
            ("small", DecisionTreeRegressor(max_depth=3, random_state=0)),
        ]
        return [cls(members, holdout=0.3), cls(members, Ridge(), holdout=0.3, passthrough=True)]
