"""Bagging: any estimator, fitted on many samples of the table."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags

from assay.base import Classifier, Regressor, check_option
from assay.base.stored import Array, Count, Models, OneOf, declared, ensure
from assay.ensemble._bagging_base import Bagging, is_instance
from assay.ensemble._bagging_members import member_shares, normalised, summand
from assay.ensemble._oob import covered_score
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor

_COMBINATIONS = ("mean", "vote", "confidence", "product")


class BaggingClassifier(Classifier, Bagging):
    r"""Combine classifiers, each fitted on a random sample of the rows and columns.

    Parameters
    ----------
    estimator : classifier, default=None
        The model to fit on each sample; None = an unpruned decision tree.
    n_estimators : int, default=10
        Number of members. More is slower but rarely less accurate.
    max_samples : int, float or None, default=None
        Rows drawn for each member: a number, or a fraction of all rows. None = as many as the table
        has. Smaller values give more diverse but weaker members.
    max_features : int or float, default=1.0
        Columns drawn for each member: a number, or a fraction of all columns.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool or callable, default=False
        Whether to estimate the accuracy on out-of-bag rows: each row is predicted by the members
        that were not fitted on it. A function of true and predicted targets replaces the accuracy;
        such a model cannot be saved. Needs `bootstrap`.
    n_jobs : int, default=None
        Threads over the members; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random choices, including those of the members. None: different at each fit.
    combine : {'mean', 'vote', 'confidence', 'product'}, default='mean'
        How the members are combined: mean of their probabilities; one vote each; votes weighted by
        the probability of the predicted class; normalised product of probabilities (naive Bayes).
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, indices or a boolean mask; 'from_dtype' takes the categorical and
        text columns of a dataframe. If there are any, the members must have this parameter too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    estimators_ : list of estimator
        The fitted members. Classifiers are fitted on class codes.
    estimators_features_ : list of ndarray of int64
        Columns of each member.
    estimators_samples_ : list of ndarray of int64
        Rows drawn for each member.
    oob_decision_function_ : ndarray of float64 of shape (n_samples, n_classes)
        Out-of-bag probabilities, if `oob_score`; NaN for rows that every member was fitted on.
    oob_score_ : float
        Out-of-bag accuracy, if `oob_score`.
    member_features_ : ndarray of int64 of shape (n_estimators, n_columns)
        The columns of each member.
    member_seeds_ : ndarray of int64 of shape (n_estimators,)
        The seed of each member.
    n_samples_ : int
        Number of training rows.
    draw_weight_ : ndarray of float64
        Weights used to draw rows; empty if none were given.
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With the probabilities :math:`p_t(c)` of member t and its predicted class :math:`c_t`,

    .. math:: \hat P(c) = \frac1T \sum_t p_t(c), \quad
              \frac1T \sum_t [c_t = c], \quad
              \propto \sum_t p_t(c_t) [c_t = c], \quad
              \propto \exp(\frac1T \sum_t \log p_t(c))

    for `combine` = 'mean', 'vote', 'confidence' and 'product'. A member without `predict_proba`
    counts as probability 1 for its predicted class.

    A bootstrap sample of n draws contains 1 - 1/e = 63 % of the rows; the others are out of bag and
    serve to score the member. The mean of members with variance :math:`\sigma^2` and correlation
    :math:`\rho` has variance :math:`\rho \sigma^2 + (1 - \rho) \sigma^2 / T`: bagging helps members
    that change much from sample to sample, such as trees.

    With replacement, rows are drawn with probability proportional to `sample_weight`. Without, all
    rows are equally likely, and the weights are passed to members that accept them. A member that
    takes weights is fitted on the distinct rows with their counts as weights. Missing values are
    passed to the members. The same seed gives the same members for any `n_jobs`.

    See Also
    --------
    RandomForestClassifier : Bagged trees that also draw columns at each split; much faster.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.ensemble import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(GaussianNB(), oob_score=True, random_state=0, n_estimators=25)
    >>> round(model.fit(X, y).oob_score_, 2)
    0.95
    """

    model_id: ClassVar[int | None] = 144
    stored = declared(
        combine=OneOf(_COMBINATIONS),
        estimators_=Models("members", features="width", classes="some"),
        # NaN where every member saw the row.
        oob_decision_function_=Array(
            "n_samples_, classes", dtype=np.float64, finite=False, when="oob_score"
        ),
    )

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        combine: str = "mean",
        categorical_features: ArrayLike | str | None = "from_dtype",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.combine = combine
        self.categorical_features = categorical_features

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Relative probability of drawing each row; without replacement, weights passed to the
            members.

        Returns
        -------
        BaggingClassifier
            The fitted model.
        """
        self._check_parameters()
        check_option("combine", self.combine, _COMBINATIONS)
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        self._fit_members(rows, codes, weight)
        if self.oob_score:
            sums, counts = self._out_of_bag(rows)
            shares = normalised(sums, counts, self.combine)
            covered = counts[:, 0] > 0
            labels = self.classes_[np.where(covered, shares.argmax(axis=1), 0)]
            score = self.oob_score if callable(self.oob_score) else accuracy_score
            self.oob_decision_function_ = np.where(covered[:, None], shares, np.nan)
            self.oob_score_ = covered_score(self.classes_[codes], labels, covered, score)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class for each row, combined over the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        rows = self._predict_data(X)
        return normalised(self._sums(rows), float(len(self.estimators_)), self.combine)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    def _is_valid_member(self, estimator: Any) -> bool:
        return bool(is_classifier(estimator))

    def _contribution(self, member: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
        return summand(member_shares(member, rows, len(self.classes_)), self.combine)

    def _n_outputs(self) -> int:
        return len(self.classes_)


class BaggingRegressor(Regressor, Bagging):
    r"""Average regressors, each fitted on a random sample of the rows and columns.

    Parameters
    ----------
    estimator : regressor, default=None
        The model to fit on each sample; None = an unpruned decision tree.
    n_estimators : int, default=10
        Number of members. More is slower but rarely less accurate.
    max_samples : int, float or None, default=None
        Rows drawn for each member: a number, or a fraction of all rows. None = as many as the table
        has. Smaller values give more diverse but weaker members.
    max_features : int or float, default=1.0
        Columns drawn for each member: a number, or a fraction of all columns.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool or callable, default=False
        Whether to estimate R2 on out-of-bag rows: each row is predicted by the members that were
        not fitted on it. A function of true and predicted targets replaces R2; such a model cannot
        be saved. Needs `bootstrap`.
    n_jobs : int, default=None
        Threads over the members; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random choices, including those of the members. None: different at each fit.
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, indices or a boolean mask; 'from_dtype' takes the categorical and
        text columns of a dataframe. If there are any, the members must have this parameter too.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets.
    estimators_ : list of estimator
        The fitted members. Classifiers are fitted on class codes.
    estimators_features_ : list of ndarray of int64
        Columns of each member.
    estimators_samples_ : list of ndarray of int64
        Rows drawn for each member.
    oob_prediction_ : ndarray of float64 of shape (n_samples,) or (n_samples, n_outputs)
        Out-of-bag predictions, if `oob_score`; NaN for rows that every member was fitted on.
    oob_score_ : float
        Out-of-bag R2, if `oob_score`.
    member_features_ : ndarray of int64 of shape (n_estimators, n_columns)
        The columns of each member.
    member_seeds_ : ndarray of int64 of shape (n_estimators,)
        The seed of each member.
    n_samples_ : int
        Number of training rows.
    draw_weight_ : ndarray of float64
        Weights used to draw rows; empty if none were given.
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \frac1T \sum_t \hat y_t(x)

    A bootstrap sample of n draws contains 1 - 1/e = 63 % of the rows; the others are out of bag and
    serve to score the member. The mean of members with variance :math:`\sigma^2` and correlation
    :math:`\rho` has variance :math:`\rho \sigma^2 + (1 - \rho) \sigma^2 / T`: bagging helps members
    that change much from sample to sample, such as trees.

    With replacement, rows are drawn with probability proportional to `sample_weight`. Without, all
    rows are equally likely, and the weights are passed to members that accept them. A member that
    takes weights is fitted on the distinct rows with their counts as weights. Missing values are
    passed to the members. The same seed gives the same members for any `n_jobs`.

    See Also
    --------
    RandomForestRegressor : Bagged trees that may also draw columns at each split; much faster.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.ensemble import BaggingRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = BaggingRegressor(n_estimators=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.57], [4.71]]).round(1).tolist()
    [1.0, -1.0]
    """

    model_id: ClassVar[int | None] = 145
    stored = declared(
        n_outputs_=Count(1),
        # NaN where every member saw the row.
        oob_prediction_=Array(
            "n_samples_, n_outputs_?", dtype=np.float64, finite=False, when="oob_score"
        ),
    )

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Relative probability of drawing each row; without replacement, weights passed to the
            members.

        Returns
        -------
        BaggingRegressor
            The fitted model.
        """
        self._check_parameters()
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        self.n_outputs_ = 1 if values.ndim == 1 else values.shape[1]
        self._fit_members(rows, values, weight)
        if self.oob_score:
            sums, counts = self._out_of_bag(rows)
            with np.errstate(invalid="ignore"):
                self.oob_prediction_ = self._shaped(sums / counts)
            score = self.oob_score if callable(self.oob_score) else r2_score
            covered = counts[:, 0] > 0
            self.oob_score_ = covered_score(values, self.oob_prediction_, covered, score)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of the members' values for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,) or (n_samples, n_outputs)
        """
        rows = self._predict_data(X)
        return self._shaped(self._sums(rows) / len(self.estimators_))

    def _shaped(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        return answers[:, 0] if self.n_outputs_ == 1 else answers

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    def _is_valid_member(self, estimator: Any) -> bool:
        return bool(is_regressor(estimator))

    def _contribution(self, member: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
        predicted = np.asarray(member.predict(rows), dtype=np.float64)
        return predicted.reshape(len(rows), self.n_outputs_)

    def _n_outputs(self) -> int:
        return self.n_outputs_

    def _check_more(self) -> None:
        for position, member in enumerate(self.estimators_):
            fits = getattr(member, "n_outputs_", self.n_outputs_) == self.n_outputs_
            ensure(fits, f"estimators_[{position}] has other targets")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self._default() if self.estimator is None else self.estimator
        if is_instance(given):
            tags.target_tags.multi_output = get_tags(given).target_tags.multi_output
        return tags
