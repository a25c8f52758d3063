"""Gradient boosting: trees fitted one after the other to the gradient of a loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_sample_weight

from assay.base import (
    Classifier,
    DataError,
    ParameterError,
    Regressor,
    check_interval,
    check_option,
)
from assay.base.stored import Array, declared
from assay.ensemble._boost_fit import Callback, GradientBoosting, Real, Settings, Training
from assay.ensemble._boost_losses import (
    BINARY,
    REGRESSION,
    SOFTMAX,
    BoostLoss,
    class_probabilities,
    class_starts,
)
from assay.ensemble._boost_path import BoostPath


class GradientBoostingClassifier(Classifier, GradientBoosting):
    r"""Classify with many small trees, each correcting the ones before it.

    Parameters
    ----------
    loss : {'log_loss', 'exponential'}, default='log_loss'
        Loss to minimise. 'exponential' is the loss of AdaBoost, for two classes only.
    learning_rate : float > 0, default=0.1
        Factor on every tree. Smaller values need more trees and often predict better.
    n_estimators : int >= 1, default=100
        Number of rounds: one tree each, or one per class with more than two classes. Too many
        overfit; see `early_stopping`.
    max_leaf_nodes : int >= 2 or None, default=31
        Maximum number of leaves of a tree, grown by largest gain first. None: no limit.
    max_depth : int >= 1 or None, default=None
        Maximum depth of each tree. None: no limit.
    min_samples_leaf : int >= 1, default=20
        Minimum number of rows in a leaf, regardless of their weights. Larger values overfit less.
    l2_regularization : float >= 0, default=0.01
        L2 penalty :math:`\lambda`, added to the curvature of every leaf. A small value keeps steps
        bounded where the model is nearly certain and the curvature vanishes.
    l1_regularization : float >= 0, default=0.0
        L1 penalty :math:`\alpha`: shrinks the summed gradient of every leaf towards 0 by this much.
    subsample : float in (0, 1], default=1.0
        Fraction of the rows used in each round, drawn without replacement.
    max_features : int, float in (0, 1], {'sqrt', 'log2'} or None, default=None
        Columns that each tree may use: a number or a fraction of them. None: all.
    max_bins : int in [2, 255], default=255
        Maximum number of bins per column. Columns with at most this many distinct values are split
        exactly.
    categorical_features : {'from_dtype'}, array-like or None, default='from_dtype'
        Nominal columns: those of a dataframe that hold text or categories; or their names, indices,
        or a boolean mask. None: none.
    monotonic_cst : array-like of {-1, 0, 1}, dict or None, default=None
        Per column (or a dict by column name): 1 = the prediction may only rise with it, -1 = only
        fall, 0 = no constraint. Two classes only; applies to the probability of the second class.
    early_stopping : {'auto'} or bool, default='auto'
        Whether to stop when the validation loss no longer falls; 'auto': with more than 10000 rows.
    validation_fraction : float in (0, 1) or None, default=0.1
        Fraction of the rows used for validation, the same in each class. None: the training loss
        decides.
    n_iter_no_change : int >= 1, default=10
        Rounds without improvement before stopping.
    tol : float >= 0, default=1e-07
        Minimum decrease of the loss that counts as improvement.
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes; 'balanced': all classes get the same total weight.
    random_state : int, RandomState or None, default=None
        Seed of the rows and columns drawn, and of the validation rows.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    verbose : int, default=0
        Print the loss every `verbose` rounds; 0 = never.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    tree_start_ : ndarray of int64 of shape (n_trees + 1,)
        Index of the first node of each tree in ``node_left_``, ``node_feature_``,
        ``node_threshold_``, ``node_missing_left_``, ``node_slot_``, ``level_words_`` and
        ``leaf_value_``, which are as in a forest; tree ``r * n_trees_per_iteration_ + k`` belongs
        to round r and class k.
    start_ : ndarray of shape (n_trees_per_iteration_,)
        The initial score: the best constant.
    train_score_ : ndarray of shape (n_iter_,)
        Mean loss of the training rows after each round.
    validation_score_ : ndarray of shape (n_iter_,) or (0,)
        Mean loss of the validation rows after each round; empty when there were none.
    feature_gain_ : ndarray of shape (n_features_in_,)
        Sum of the gains of all splits on each column.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same as fractions of the total.
    n_iter_ : int
        Number of rounds in the model.
    n_trees_per_iteration_ : int
        Trees per round.
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: F_r(x) = F_{r-1}(x) + \nu\, v_{\ell(x)}, \qquad
              v_\ell = -\frac{S_\alpha(G_\ell)}{H_\ell + \lambda}, \qquad
              G_\ell = \sum_{i \in \ell} w_i g_i, \quad H_\ell = \sum_{i \in \ell} w_i h_i

    with gradient and curvature of the loss at :math:`F_{r-1}`, and :math:`S_\alpha(G) =
    \operatorname{sign}(G) \max(|G| - \alpha, 0)`; a split is chosen by
    :math:`S_\alpha(G_L)^2/(H_L+\lambda) + S_\alpha(G_R)^2/(H_R+\lambda) -
    S_\alpha(G)^2/(H+\lambda)`. Two classes: one tree per round and :math:`P = 1/(1+e^{-F})`;
    more: one tree per class and the softmax.

    Gradients are stored as integers with a common unit, so every sum is exact and the model is the
    same for any number of threads. Each split learns the side of missing values; categories unseen
    in fit go with them. The categories of a nominal column are ordered by G / (H + the curvature of
    10 rows) and cut along that order; the smaller part goes left, and categories with less than the
    curvature of 10 rows in a node go right. Random choices depend on (seed, round) only, so a
    shorter run is a `prefix` of a longer one.

    See Also
    --------
    GradientBoostingRegressor : The same for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from assay.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=20).fit(X, y)
    >>> model.n_iter_, model.n_trees_per_iteration_
    (20, 3)
    >>> model.prefix(5).n_iter_
    5
    """

    model_id: ClassVar[int | None] = 147
    assay_path: ClassVar[BoostPath] = BoostPath()
    stored = declared(start_=Array("problems"))

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.01,
        l1_regularization: float = 0.0,
        subsample: float = 1.0,
        max_features: float | int | str | None = None,
        max_bins: int = 255,
        categorical_features: ArrayLike | str | None = "from_dtype",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        early_stopping: str | bool = "auto",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.subsample = subsample
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def _examples(cls) -> list[Self]:
        # Few rows in the checks: leaves of 20 would leave nothing to learn.
        return [cls(n_estimators=12, min_samples_leaf=1)]

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library; NaN = missing.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a row of weight 0 is left out.
        callback : callable, optional
            Called after each round as ``callback(round, training loss, validation loss or None)``;
            returning False stops the run.

        Returns
        -------
        GradientBoostingClassifier
            The fitted model.
        """
        settings = self._checked()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        data = Training(rows, codes.astype(np.float64), weight)
        del codes  # not two copies of the target during the run
        self._fit_codes(data, settings, callback)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._labels(self._scores(X))

    def predict_proba(self, X: ArrayLike) -> Real:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return self._shares(self._scores(X))

    def decision_function(self, X: ArrayLike) -> Real:
        """Return the score F of each row, before it becomes a probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,), or (n_samples, n_classes) for more than two
        """
        return _flat(self._scores(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Yield the classes after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        yield from map(self._labels, self._staged_scores(X))

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Real]:
        """Yield the probabilities after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        yield from map(self._shares, self._staged_scores(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Real]:
        """Yield the scores after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of float64 of shape (n_samples,), or (n_samples, n_classes) for more than two
        """
        yield from map(_flat, self._staged_scores(X))

    def _checked(self) -> Settings:
        check_option("loss", self.loss, BINARY)
        if not (self.class_weight is None or isinstance(self.class_weight, dict)):
            check_option("class_weight", self.class_weight, ("balanced", None))
        return self._settings()

    def _fit_codes(
        self, data: Training, settings: Settings, callback: Callback | None = None
    ) -> None:
        """Fit class codes; `classes_` is set and the parameters are checked."""
        n_classes = len(self.classes_)
        present = np.arange(n_classes)  # some may have no weight
        if data.weight is not None:
            present = np.unique(data.target[data.weight > 0]).astype(np.int64)
        if len(present) < 2:
            raise DataError(
                "GradientBoostingClassifier needs at least two classes; y has one class: "
                f"{self.classes_[present[0]].item()!r}"
            )
        if n_classes > 2 and self.loss == "exponential":
            raise DataError(f"loss='exponential' is for two classes; y has {n_classes}")
        if n_classes > 2 and self.monotonic_cst is not None:
            raise ParameterError(
                f"monotonic_cst is for two classes; y has {n_classes}; got {self.monotonic_cst!r}"
            )
        weight = self._class_weights(data.target, data.weight)
        data = Training(data.X, data.target, weight, data.ranks, data.place)
        number = SOFTMAX if n_classes > 2 else BINARY[self.loss].number
        self._boost(data, settings, (number, 0.0), self._starts, by_class=True, callback=callback)

    def _starts(self, part: Training) -> Real:
        if len(self.classes_) > 2:
            return class_starts(part.target, part.weight, len(self.classes_))
        return np.array([BINARY[self.loss].start(part.target, part.weight, 0.0)])

    def _class_weights(self, target: Real, weight: Real | None) -> Real | None:
        given = self.class_weight
        if given is None:
            return weight
        if isinstance(given, dict):
            unknown = [label for label in given if label not in self.classes_.tolist()]
            if unknown:
                raise ParameterError(
                    f"class_weight names class {unknown[0]!r}, which y does not have; got {given!r}"
                )
        factor: Real = compute_sample_weight(given, self.classes_[target.astype(np.int64)])
        return factor if weight is None else weight * factor

    def _shares(self, score: Real) -> Real:
        if score.shape[1] > 1:
            return class_probabilities(score)
        positive = BINARY[self.loss].answer(score[:, 0])
        return np.column_stack([1 - positive, positive])

    def _labels(self, score: Real) -> NDArray[Any]:
        first = score[:, 0] > 0 if score.shape[1] == 1 else score.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[first.astype(np.int64)]
        return labels

    def _check_more(self) -> None:
        self._checked()  # predictions depend on the loss


class GradientBoostingRegressor(Regressor, GradientBoosting):
    r"""Predict numbers with many small trees, each correcting the ones before it.

    Parameters
    ----------
    loss : str, default='squared_error'
        Loss to minimise: 'squared_error', 'absolute_error', 'huber', 'quantile', 'poisson' or
        'gamma'. The last two predict :math:`e^F`.
    quantile : float in (0, 1), default=0.5
        The quantile that loss='quantile' predicts.
    alpha : float in (0, 1), default=0.9
        Fraction of the residuals that loss='huber' treats as small.
    learning_rate : float > 0, default=0.1
        Factor on every tree. Smaller values need more trees and often predict better.
    n_estimators : int >= 1, default=100
        Number of rounds: one tree each, or one per class with more than two classes. Too many
        overfit; see `early_stopping`.
    max_leaf_nodes : int >= 2 or None, default=31
        Maximum number of leaves of a tree, grown by largest gain first. None: no limit.
    max_depth : int >= 1 or None, default=None
        Maximum depth of each tree. None: no limit.
    min_samples_leaf : int >= 1, default=20
        Minimum number of rows in a leaf, regardless of their weights. Larger values overfit less.
    l2_regularization : float >= 0, default=0.01
        L2 penalty :math:`\lambda`, added to the curvature of every leaf. A small value keeps steps
        bounded where the model is nearly certain and the curvature vanishes.
    l1_regularization : float >= 0, default=0.0
        L1 penalty :math:`\alpha`: shrinks the summed gradient of every leaf towards 0 by this much.
    subsample : float in (0, 1], default=1.0
        Fraction of the rows used in each round, drawn without replacement.
    max_features : int, float in (0, 1], {'sqrt', 'log2'} or None, default=None
        Columns that each tree may use: a number or a fraction of them. None: all.
    max_bins : int in [2, 255], default=255
        Maximum number of bins per column. Columns with at most this many distinct values are split
        exactly.
    categorical_features : {'from_dtype'}, array-like or None, default='from_dtype'
        Nominal columns: those of a dataframe that hold text or categories; or their names, indices,
        or a boolean mask. None: none.
    monotonic_cst : array-like of {-1, 0, 1}, dict or None, default=None
        Per column (or a dict by column name): 1 = the prediction may only rise with it, -1 = only
        fall, 0 = no constraint.
    early_stopping : {'auto'} or bool, default='auto'
        Whether to stop when the validation loss no longer falls; 'auto': with more than 10000 rows.
    validation_fraction : float in (0, 1) or None, default=0.1
        Fraction of the rows used for validation. None: the training loss decides.
    n_iter_no_change : int >= 1, default=10
        Rounds without improvement before stopping.
    tol : float >= 0, default=1e-07
        Minimum decrease of the loss that counts as improvement.
    random_state : int, RandomState or None, default=None
        Seed of the rows and columns drawn, and of the validation rows.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    verbose : int, default=0
        Print the loss every `verbose` rounds; 0 = never.

    Attributes
    ----------
    tree_start_ : ndarray of int64 of shape (n_trees + 1,)
        Index of the first node of each tree in ``node_left_``, ``node_feature_``,
        ``node_threshold_``, ``node_missing_left_``, ``node_slot_``, ``level_words_`` and
        ``leaf_value_``, which are as in a forest; tree ``r * n_trees_per_iteration_ + k`` belongs
        to round r and class k.
    start_ : ndarray of shape (n_trees_per_iteration_,)
        The initial score: the best constant.
    train_score_ : ndarray of shape (n_iter_,)
        Mean loss of the training rows after each round.
    validation_score_ : ndarray of shape (n_iter_,) or (0,)
        Mean loss of the validation rows after each round; empty when there were none.
    feature_gain_ : ndarray of shape (n_features_in_,)
        Sum of the gains of all splits on each column.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same as fractions of the total.
    n_iter_ : int
        Number of rounds in the model.
    n_trees_per_iteration_ : int
        Trees per round.
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: F_r(x) = F_{r-1}(x) + \nu\, v_{\ell(x)}, \qquad
              v_\ell = -\frac{S_\alpha(G_\ell)}{H_\ell + \lambda}, \qquad
              G_\ell = \sum_{i \in \ell} w_i g_i, \quad H_\ell = \sum_{i \in \ell} w_i h_i

    with gradient and curvature of the loss at :math:`F_{r-1}` and :math:`S_\alpha(G) =
    \operatorname{sign}(G) \max(|G| - \alpha, 0)`. For 'absolute_error' and 'quantile' the value
    of a leaf is the (weighted) quantile of its residuals; for 'huber' it is their median plus the
    mean deviation from it, clipped at the `alpha` quantile of all absolute residuals. The penalties
    then only affect the choice of splits.

    Gradients are stored as integers with a common unit, so every sum is exact and the model is the
    same for any number of threads. Each split learns the side of missing values; categories unseen
    in fit go with them. Random choices depend on (seed, round) only, so a shorter run is a `prefix`
    of a longer one.

    See Also
    --------
    GradientBoostingClassifier : The same for classes; its notes explain splits on nominal columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from assay.ensemble import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=30, max_leaf_nodes=4).fit(X, y)
    >>> int(model.feature_importances_.argmax())
    8
    """

    model_id: ClassVar[int | None] = 148
    assay_path: ClassVar[BoostPath] = BoostPath()
    stored = declared(start_=Array("1"))

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        quantile: float = 0.5,
        alpha: float = 0.9,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.01,
        l1_regularization: float = 0.0,
        subsample: float = 1.0,
        max_features: float | int | str | None = None,
        max_bins: int = 255,
        categorical_features: ArrayLike | str | None = "from_dtype",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        early_stopping: str | bool = "auto",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.subsample = subsample
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def _examples(cls) -> list[Self]:
        # Few rows in the checks: leaves of 20 would leave nothing to learn.
        return [cls(n_estimators=30, min_samples_leaf=1, learning_rate=0.2)]

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library; NaN = missing.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a row of weight 0 is left out.
        callback : callable, optional
            Called after each round as ``callback(round, training loss, validation loss or None)``;
            returning False stops the run.

        Returns
        -------
        GradientBoostingRegressor
            The fitted model.
        """
        settings = self._checked()
        rows, values, weight = self._fit_data(X, y, sample_weight)
        self._fit_values(Training(rows, values, weight), settings, callback)
        return self

    def predict(self, X: ArrayLike) -> Real:
        """Return the prediction for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
        """
        return self._answer(self._scores(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[Real]:
        """Yield the predictions after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of float64 of shape (n_samples,)
        """
        yield from map(self._answer, self._staged_scores(X))

    def _checked(self) -> Settings:
        check_option("loss", self.loss, REGRESSION)
        for name in ("quantile", "alpha"):
            check_interval(name, getattr(self, name), 0, 1, open_low=True, open_high=True)
        return self._settings()

    def _fit_values(
        self, data: Training, settings: Settings, callback: Callback | None = None
    ) -> None:
        """Fit real values; the parameters are checked."""
        loss = self._loss()
        loss.check_target(self.loss, data.target)
        param = float(self.alpha if self.loss == "huber" else self.quantile)

        def starts(part: Training) -> Real:
            return np.array([loss.start(part.target, part.weight, param)])

        self._boost(data, settings, (loss.number, param), starts, by_class=False, callback=callback)

    def _loss(self) -> BoostLoss:
        return REGRESSION[self.loss]

    def _check_more(self) -> None:
        self._checked()  # predictions depend on the loss

    def _answer(self, score: Real) -> Real:
        return self._loss().answer(score[:, 0])


def _flat(score: Real) -> Real:
    return score[:, 0] if score.shape[1] == 1 else score
