"""A weighted mean of models, with weights given or learned out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.naive_bayes import GaussianNB

from assay.base import Classifier, Regressor
from assay.ensemble._members import Named
from assay.ensemble._weighted import WEIGHTED, Floats, Weighted, whole_shares
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor


class WeightedEnsembleClassifier(Classifier, Weighted):
    r"""Average the probabilities of several classifiers, with one weight each.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The classifiers, by name. ``"drop"`` in place of one leaves it out. One without
        `predict_proba` counts as probability 1 for the class it predicts.
    weights : array-like of shape (n_members,), default=None
        Non-negative weights, divided by their sum. None: learned from out-of-fold predictions.
    cv : int, splitter or iterable, default=5
        Folds for learning the weights, as in `StackingClassifier`.
    ridge : float, default=0.0
        Penalty on unequal weights when they are learned; larger values pull them together.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of members without a seed of their own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted. Members are fitted on their positions 0, 1, ...
    estimators_ : list of estimator
        The members, fitted on all rows.
    weights_ : ndarray of shape (n_members,)
        Weights of the members; their sum is 1.
    encoders_ : list of transformer
        Encoders in front of the members, if made by `of_fitted`; absent if there are none.
    encoder_of_ : ndarray of int64 of shape (n_members,)
        Index of each member's encoder, -1 for none.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: P(k \mid x) = \sum_m w_m P_m(k \mid x), \qquad w_m \ge 0, \quad \sum_m w_m = 1

    Learned weights minimise the log loss of out-of-fold predictions (`convex_weights`). They are
    few and none is negative, so the ensemble can hardly be worse than its best member, unlike a
    free model on top of the members.

    See Also
    --------
    StackingClassifier : A model of any kind on top of the members.
    convex_weights : The weights alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.ensemble import WeightedEnsembleClassifier
    >>> from assay.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=1))]
    >>> model = WeightedEnsembleClassifier(members, random_state=0).fit(X, y)
    >>> bool(model.weights_[0] > 0.8), model.predict(X[:2]).tolist()
    (True, [0, 0])
    """

    model_id: ClassVar[int | None] = 155
    _kind = "classifier"
    stored = WEIGHTED

    def __init__(
        self,
        estimators: Named,
        *,
        weights: Any = None,
        cv: Any = 5,
        ridge: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def of_fitted(
        cls,
        members: Named,
        weights: ArrayLike,
        *,
        n_classes: int,
        n_features: int,
        encoders: Sequence[Any] | None = None,
    ) -> Self:
        """Make an ensemble of classifiers that are fitted already, on class codes.

        Parameters
        ----------
        members : list of (str, classifier)
            Fitted on class codes 0..K-1, possibly not on all of them.
        weights : array-like of shape (n_members,)
            One each.
        n_classes : int
            K.
        n_features : int
            Number of columns of a row, before any encoder.
        encoders : sequence of transformer or None, default=None
            Fitted encoder in front of each member.

        Returns
        -------
        WeightedEnsembleClassifier
            Its classes are the codes.
        """
        model = cls._assembled(members, weights, encoders, n_features)
        model.classes_ = np.arange(n_classes)
        return model

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> Self:
        """Fit the members on all rows; learn the weights out of fold if none are given.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training rows, in any form that the members accept.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for members that accept them and for the loss.
        groups : array-like of shape (n_samples,) or 'duplicates', default=None
            Rows of one group stay in one fold; 'duplicates' puts duplicate rows into one group.

        Returns
        -------
        Self
        """
        return self._fit_weighted(X, y, sample_weight, groups)

    def predict_proba(self, X: Any) -> Floats:
        """Return the weighted mean of the members' probabilities.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._answers(X, partial(_shares, n_classes=self._n_classes()))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return labels

    def _n_classes(self) -> int:
        return len(getattr(self, "classes_", ()))

    def _check_more(self) -> None:
        self._check_weighted()

    @classmethod
    def _examples(cls) -> list[Self]:
        members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
        return [
            cls(members, cv=2, random_state=0),
            cls(members, weights=[3.0, 1.0], random_state=0),
        ]


class WeightedEnsembleRegressor(Regressor, Weighted):
    r"""Average the predictions of several regressors, with one weight each.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The regressors, by name. ``"drop"`` in place of one leaves it out.
    weights : array-like of shape (n_members,), default=None
        Non-negative weights, divided by their sum. None: learned from out-of-fold predictions.
    cv : int, splitter or iterable, default=5
        Folds for learning the weights, as in `StackingRegressor`.
    ridge : float, default=0.0
        Penalty on unequal weights when they are learned; larger values pull them together.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of members without a seed of their own.

    Attributes
    ----------
    estimators_ : list of estimator
        The members, fitted on all rows.
    weights_ : ndarray of shape (n_members,)
        Weights of the members; their sum is 1.
    encoders_ : list of transformer
        Encoders in front of the members, if made by `of_fitted`; absent if there are none.
    encoder_of_ : ndarray of int64 of shape (n_members,)
        Index of each member's encoder, -1 for none.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \sum_m w_m f_m(x), \qquad w_m \ge 0, \quad \sum_m w_m = 1

    Learned weights minimise the squared error of out-of-fold predictions (`convex_weights`).

    See Also
    --------
    StackingRegressor : A model of any kind on top of the members.
    convex_weights : The weights alone.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from assay.ensemble import WeightedEnsembleRegressor
    >>> from assay.linear import Ridge
    >>> from assay.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", Ridge(0.1)), ("tree", DecisionTreeRegressor(max_depth=2))]
    >>> model = WeightedEnsembleRegressor(members, random_state=0).fit(X, y)
    >>> bool(model.weights_[0] > model.weights_[1])
    True
    """

    model_id: ClassVar[int | None] = 156
    _kind = "regressor"
    stored = WEIGHTED

    def __init__(
        self,
        estimators: Named,
        *,
        weights: Any = None,
        cv: Any = 5,
        ridge: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def of_fitted(
        cls,
        members: Named,
        weights: ArrayLike,
        *,
        n_features: int,
        encoders: Sequence[Any] | None = None,
    ) -> Self:
        """Make an ensemble of regressors that are fitted already.

        Parameters
        ----------
        members : list of (str, regressor)
            Fitted.
        weights : array-like of shape (n_members,)
            One each.
        n_features : int
            Number of columns of a row, before any encoder.
        encoders : sequence of transformer or None, default=None
            Fitted encoder in front of each member.

        Returns
        -------
        WeightedEnsembleRegressor
        """
        return cls._assembled(members, weights, encoders, n_features)

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> Self:
        """Fit the members on all rows; learn the weights out of fold if none are given.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training rows, in any form that the members accept.
        y : array-like of shape (n_samples,)
            The values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for members that accept them and for the loss.
        groups : array-like of shape (n_samples,) or 'duplicates', default=None
            Rows of one group stay in one fold; 'duplicates' puts duplicate rows into one group.

        Returns
        -------
        Self
        """
        return self._fit_weighted(X, y, sample_weight, groups)

    def predict(self, X: Any) -> Floats:
        """Return the weighted mean of the members' predictions.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._answers(X, _values)

    def _check_more(self) -> None:
        self._check_weighted()

    @classmethod
    def _examples(cls) -> list[Self]:
        # Trees, unlike linear algebra, give the same bits for any memory order of a dataframe.
        members = [
            ("stump", DecisionTreeRegressor(max_depth=1)),
            ("tree", DecisionTreeRegressor(max_depth=3)),
        ]
        return [
            cls(members, cv=2, random_state=0),
            cls(members, weights=[1.0, 3.0], random_state=0),
        ]


def _shares(member: Any, X: Any, n_classes: int) -> Floats:
    return whole_shares(member, X, n_classes)


def _values(member: Any, X: Any) -> Floats:
    return np.asarray(member.predict(X), dtype=np.float64).reshape(-1)
