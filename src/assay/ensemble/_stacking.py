"""Stacking: a final model combines several others, fitted on their out-of-fold predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from assay.base import check_option, draw_seed, seeded
from assay.base.stored import Array, Count, declared, ensure
from assay.ensemble._folds import group_numbers, splits
from assay.ensemble._layers import Layers, LayersClassifier, LayersRegressor
from assay.ensemble._members import Named, fit_member
from assay.ensemble._outputs import n_columns, n_rows
from assay.ensemble._pair_out import NONE, Inputs, sets_of_folds
from assay.tree import DecisionTreeRegressor


class Stacking(Layers):
    """How a stack is fitted."""

    _member_lists = ("estimators", "levels")
    stored = declared(n_samples_fit_=Count(), oof_=Array("n_samples_fit_, columns"))

    def _fit_stack(self, X: Any, y: Any, sample_weight: ArrayLike | None, groups: Any) -> Self:
        levels, final = self._checked()
        check_option("keep_oof", self.keep_oof, (True, False))
        seed = draw_seed(self.random_state)
        X, target, weight = self._start(X, y, sample_weight, levels)
        n = n_rows(X)
        codes = target.astype(np.int64) if self._kind == "classifier" else np.zeros(n, np.int64)
        parts = splits(self.cv, X, codes, group_numbers(groups, X, n), seed)
        fitted: list[Any] = []
        methods: list[str] = []
        inputs = Inputs(X, parts, None, bool(self.passthrough), type(self).__name__)
        for depth, level in enumerate(levels):
            members = [seeded(m, (seed, depth, at)) for at, (_, m) in enumerate(level)]
            how = self._methods(level)
            sets = sets_of_folds(len(parts), len(levels) - depth)
            oof = self._held_out(members, how, inputs, sets, target, weight)
            fitted += self._fit_all(members, inputs.learned(NONE)[1], target, weight)
            methods += how
            inputs = replace(inputs, below=oof)
        final = seeded(final, (seed, len(levels), 0))
        self.estimators_ = fitted
        self.final_estimator_ = fit_member(final, inputs.learned(NONE)[1], target, weight)
        self.stack_method_ = np.array(methods)
        self.level_sizes_ = np.array([len(level) for level in levels])
        self.passthrough_ = bool(self.passthrough)
        self.n_samples_fit_ = n
        self.oof_ = inputs.outputs(NONE) if self.keep_oof else np.empty((n, 0))
        return self

    def _check_layers(self) -> None:
        super()._check_layers()
        width = int(self.level_sizes_[-1]) * n_columns(self._classes()) if self.oof_.size else 0
        fits = self.oof_.shape[1] == width
        ensure(fits, f"oof_ has shape {self.oof_.shape}, not ({len(self.oof_)}, {width})")


class StackingClassifier(LayersClassifier, Stacking):
    r"""Combine classifiers with a final one, fitted on their out-of-fold predictions.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The classifiers, by name. ``"drop"`` in place of one leaves it out.
    final_estimator : estimator, default=None
        The classifier fitted on their outputs. None = logistic regression.
    levels : list of list of (str, estimator), default=None
        Further layers between `estimators` and `final_estimator`; each is fitted on the out-of-fold
        outputs of the layer below.
    cv : int, splitter or iterable, default=5
        Number of stratified folds; or a scikit-learn splitter or (train, test) pairs that hold out
        every row exactly once. 'prefit' is not supported: a fitted model has no out-of-fold
        predictions for its training rows.
    stack_method : {'auto', 'predict_proba', 'decision_function', 'predict'}, default='auto'
        Method that gives a classifier's outputs; 'auto' = the first of the others that it has.
        Predicted labels become one indicator column per class.
    passthrough : bool, default=False
        Whether the layers above the first also get the columns of X.
    keep_oof : bool, default=True
        Whether to keep `oof_`. It has one row per training row, in a model file too.
    n_jobs : int, default=None
        Threads for the fits; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of members without a seed of their own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted. Members are fitted on their positions 0, 1, ...
    estimators_ : list of estimator
        The members, layer by layer, fitted on all rows.
    final_estimator_ : estimator
        Fitted on the out-of-fold outputs of the last layer.
    oof_ : ndarray of shape (n_samples_fit_, n_outputs)
        Out-of-fold outputs of the members of the last layer.
    stack_method_ : ndarray of shape (n_members,)
        Method that gives each member's outputs.
    level_sizes_ : ndarray of shape (n_levels,)
        Number of members in each layer.
    passthrough_ : bool
        Whether the layers above the first get the columns of X.
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With :math:`f_m^{(-k)}` the member m fitted without fold k, and k(i) the fold of row i,

    .. math:: z_{im} = f_m^{(-k(i))}(x_i), \qquad
              \hat y(x) = g\bigl(f_1(x), \ldots, f_M(x)\bigr), \quad
              g \text{ fitted on } (z_i, y_i)

    so g is never fitted on predictions for a member's own training rows: a member that overfits
    looks no better in :math:`z` than on new rows. Duplicate rows in different folds would undo
    that; ``fit(..., groups='duplicates')`` keeps them together.

    Two classes give one column per member, K > 2 classes give K. A member fitted on a fold
    without some class gives it probability 0 (or its lowest score); one whose training rows have a
    single class is not fitted and predicts that class. Sample weights are passed to members that
    accept them.

    With K folds each member costs K + 1 fits. With a second layer, members are also fitted without
    every pair of folds, 1 + K + K(K - 1)/2 fits in total. The second layer can then be fitted on
    predictions of members that saw neither the row itself nor the fold to predict, so no row of
    `oof_` depends on its own label in any layer.

    See Also
    --------
    BlendingClassifier : One held-out part instead of folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.ensemble import StackingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("logistic", LogisticRegression(max_iter=1000))]
    >>> model = StackingClassifier(members, random_state=0).fit(X, y)
    >>> model.oof_.shape
    (150, 6)
    >>> model.score(X, y) > 0.95
    True
    """

    model_id: ClassVar[int | None] = 149

    def __init__(
        self,
        estimators: Named,
        final_estimator: Any = None,
        *,
        levels: list[Named] | None = None,
        cv: Any = 5,
        stack_method: str = "auto",
        passthrough: bool = False,
        keep_oof: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.levels = levels
        self.cv = cv
        self.stack_method = stack_method
        self.passthrough = passthrough
        self.keep_oof = keep_oof
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> Self:
        """Fit the members on all rows, and the final estimator on their out-of-fold outputs.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training rows, in any form that the members accept.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for the members and the final estimator if they accept them.
        groups : array-like of shape (n_samples,) or 'duplicates', default=None
            Rows of one group stay in one fold; 'duplicates' puts duplicate rows into one group.

        Returns
        -------
        Self
        """
        return self._fit_stack(X, y, sample_weight, groups)

    @classmethod
    def _examples(cls) -> list[Self]:
        members: Named = [
            ("bayes", GaussianNB()),
            ("logistic", LogisticRegression(solver="newton-cholesky")),
        ]
        upper: Named = [
            ("again", LogisticRegression(solver="newton-cholesky")),
            ("bayes_too", GaussianNB()),
        ]
        return [
            cls(members, cv=3),
            cls(members, GaussianNB(), levels=[upper], cv=3, passthrough=True),
        ]


class StackingRegressor(LayersRegressor, Stacking):
    r"""Combine regressors with a final one, fitted on their out-of-fold predictions.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The regressors, by name. ``"drop"`` in place of one leaves it out.
    final_estimator : estimator, default=None
        The regressor fitted on their outputs. None = least squares with an intercept and, unless
        `passthrough`, non-negative weights.
    levels : list of list of (str, estimator), default=None
        Further layers between `estimators` and `final_estimator`; each is fitted on the out-of-fold
        outputs of the layer below.
    cv : int, splitter or iterable, default=5
        Number of folds; or a scikit-learn splitter or (train, test) pairs that hold out every row
        exactly once.
    passthrough : bool, default=False
        Whether the layers above the first also get the columns of X.
    keep_oof : bool, default=True
        Whether to keep `oof_`. It has one row per training row, in a model file too.
    n_jobs : int, default=None
        Threads for the fits; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of members without a seed of their own.

    Attributes
    ----------
    estimators_ : list of estimator
        The members, layer by layer, fitted on all rows.
    final_estimator_ : estimator
        Fitted on the out-of-fold outputs of the last layer.
    oof_ : ndarray of shape (n_samples_fit_, n_outputs)
        Out-of-fold outputs of the members of the last layer.
    stack_method_ : ndarray of shape (n_members,)
        Method that gives each member's outputs: 'predict'.
    level_sizes_ : ndarray of shape (n_levels,)
        Number of members in each layer.
    passthrough_ : bool
        Whether the layers above the first get the columns of X.
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With :math:`f_m^{(-k)}` the member m fitted without fold k, and k(i) the fold of row i,

    .. math:: z_{im} = f_m^{(-k(i))}(x_i), \qquad
              \min_{b,\; w \ge 0} \sum_i (y_i - b - \sum_m w_m z_{im})^2

    Non-negative weights are what makes stacked regressions work (Breiman 1996): nearly identical
    members cannot get large weights of opposite sign. Sample weights are passed to members that
    accept them.

    With K folds each member costs K + 1 fits. With a second layer, members are also fitted without
    every pair of folds, 1 + K + K(K - 1)/2 fits in total. The second layer can then be fitted on
    predictions of members that saw neither the row itself nor the fold to predict, so no row of
    `oof_` depends on its own target in any layer.

    See Also
    --------
    BlendingRegressor : One held-out part instead of folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from assay.ensemble import StackingRegressor
    >>> X = np.arange(40.0)[:, None]
    >>> members = [("line", LinearRegression()), ("ridge", Ridge(alpha=100.0))]
    >>> model = StackingRegressor(members, random_state=0).fit(X, 3 * X[:, 0] + 1)
    >>> model.predict([[100.0]]).round(6)
    array([301.])
    """

    model_id: ClassVar[int | None] = 150

    def __init__(
        self,
        estimators: Named,
        final_estimator: Any = None,
        *,
        levels: list[Named] | None = None,
        cv: Any = 5,
        passthrough: bool = False,
        keep_oof: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.levels = levels
        self.cv = cv
        self.passthrough = passthrough
        self.keep_oof = keep_oof
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> Self:
        """Fit the members on all rows, and the final estimator on their out-of-fold outputs.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training rows, in any form that the members accept.
        y : array-like of shape (n_samples,)
            The values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for the members and the final estimator if they accept them.
        groups : array-like of shape (n_samples,) or 'duplicates', default=None
            Rows of one group stay in one fold; 'duplicates' puts duplicate rows into one group.

        Returns
        -------
        Self
        """
        return self._fit_stack(X, y, sample_weight, groups)

    @classmethod
    def _examples(cls) -> list[Self]:
        # Trees, unlike linear algebra, give the same bits for any memory order of a dataframe.
        members: Named = [
            ("tree", DecisionTreeRegressor(random_state=0)),
            ("small", DecisionTreeRegressor(max_depth=3, random_state=0)),
        ]
        upper: Named = [("again", Ridge()), ("line_too", LinearRegression())]
        return [cls(members, cv=3), cls(members, Ridge(), levels=[upper], cv=3, passthrough=True)]
