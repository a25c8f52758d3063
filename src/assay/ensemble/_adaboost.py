"""AdaBoost on stumps, deeper trees or any other classifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    Classifier,
    DataError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import Array, Models, declared, ensure
from assay.ensemble._adaboost_path import AdaBoostPath
from assay.ensemble._adaboost_rounds import Boosting, Rounds, boost_any, boost_native, is_native
from assay.ensemble._members import check_kind
from assay.tree._growth import Training
from assay.tree.engine import Bins, Nodes, Ranks, levels_of

FORMULATIONS = ("discrete", "aima", "symmetric")

#: Fitted attributes that only trees of the core have, or only other learners.
_OF_ONE_KIND = frozenset(
    {f"{field.name}_" for field in fields(Nodes)} | {"estimators_", "tree_importance_"}
)


def _is_native(model: Any) -> bool:
    return not hasattr(model, "estimators_")


class AdaBoostClassifier(Classifier):
    r"""Fit weak learners in turn, each giving more weight to rows that earlier ones got wrong.

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner; None = a decision stump. A :class:`~assay.tree.DecisionTreeClassifier`
        without pruning is boosted in the compiled core, on columns binned once. Any other
        classifier is fitted on class codes: with ``sample_weight`` if its ``fit`` accepts it, else
        on rows drawn in proportion to their weights.
    n_estimators : int >= 1, default=50
        Maximum number of learners; stops early at zero error or when a learner is no better than
        chance.
    learning_rate : float > 0, default=1.0
        Factor on every learner's weight. Smaller values need more learners.
    formulation : {'discrete', 'aima', 'symmetric'}, default='discrete'
        Textbook form of the weight updates, see Notes. All three give the same row weights and
        decisions; `estimator_weights_` are half as large in the last two.
    max_bins : int in [2, 65535], default=255
        Maximum number of bins per column, for trees in the core. Columns with at most this many
        distinct values are split exactly.
    categorical_features : array-like, str or None, default='from_dtype'
        Nominal columns: indices, names or a mask; 'from_dtype': text and categorical columns of a
        dataframe; None: no column.
    random_state : int, RandomState or None, default=None
        Seed of random learners, and of the drawing of rows.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    estimator_weights_ : ndarray of shape (n_learners,)
        Weight of each learner.
    estimator_errors_ : ndarray of shape (n_learners,)
        Weighted training error of each learner.
    estimators_ : list of classifier
        The learners, fitted on class codes; absent for trees in the core.
    tree_start_ : ndarray of int64 of shape (n_learners + 1,)
        Trees in the core: index of the first node of each tree in `node_left_`, `node_feature_`,
        `node_threshold_`, `node_missing_left_` and `node_slot_`; with `level_words_` and
        `leaf_value_`.
    tree_importance_ : ndarray of shape (n_learners, n_features_in_)
        Trees in the core: impurity decrease by column, scaled to sum 1.
    categorical_features_ : ndarray of int64
        Indices of the nominal columns.
    levels_ : ndarray of str
        Categories of the nominal columns.
    level_offsets_ : ndarray of int64
        Position in `levels_` of the first category of each nominal column.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With :math:`\epsilon_t` the weight of the rows that learner t gets wrong and rate
    :math:`\eta`,

    .. math:: \alpha_t = \eta (\ln \frac{1 - \epsilon_t}{\epsilon_t} + \ln (K - 1)), \qquad
              f_c(x) = \sum_t \alpha_t ([h_t(x) = c] - \tfrac{1}{K - 1} [h_t(x) \ne c])

    (SAMME; two classes: :math:`\ln 1 = 0`, AdaBoost as first published). The weights of the rows
    for the next learner, scaled to sum 1 in each case:

    - 'discrete': misclassified rows times :math:`e^{\alpha_t}`;
    - 'aima': correctly classified rows times :math:`e^{-\alpha_t} = \epsilon_t / (1 - \epsilon_t)`,
      learner weight :math:`\alpha_t / 2`;
    - 'symmetric': misclassified rows times :math:`e^{\alpha_t / 2}`, correctly classified rows
      times :math:`e^{-\alpha_t / 2}`, learner weight :math:`\alpha_t / 2`.

    They differ by a constant factor, which the scaling removes. The weighted training error of the
    ensemble is at most `error_bound_`, :math:`\prod_t 2 \sqrt{\epsilon_t (1 - \epsilon_t)}` for two
    classes and rate 1.

    If the first learner is no better than chance, it is kept as the only one. Missing and nominal
    values are accepted if the learner accepts them; trees do. O(n d) per stump after one binning.

    Sources: Freund and Schapire (1997); Zhu, Zou, Rosset and Hastie: Multi-class AdaBoost (2009).

    See Also
    --------
    GradientBoostingClassifier : Fits the gradient of a loss instead of weights.

    Examples
    --------
    >>> from assay.ensemble import AdaBoostClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 0, 1, 1, 0, 0]
    >>> model.estimator_errors_.round(3).tolist()
    [0.333, 0.25, 0.167]
    """

    model_id: ClassVar[int | None] = 146
    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    assay_path: ClassVar[AdaBoostPath] = AdaBoostPath()
    stored = declared(
        estimator_weights_=Array("members", 0),
        estimator_errors_=Array("members", 0, 1),
        estimators_=Models("members", optional=True),
        leaf_value_=Array("members*classes, classes", when=_is_native),
        tree_importance_=Array("members, features", 0, when=_is_native),
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        formulation: str = "discrete",
        max_bins: int = 255,
        categorical_features: ArrayLike | str | None = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.formulation = formulation
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the learners one after the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Initial weights of the rows; rows of weight 0 are ignored.

        Returns
        -------
        AdaBoostClassifier
            The fitted model.
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest weighted vote for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return probabilities of the classes: the softmax of the decisions over K - 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        return self._probabilities(self.decision_function(X))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the weighted vote for each class, divided by the sum of the learner weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_classes) or (n_samples,)
            For two classes: the vote for the second minus that for the first.
        """
        rows = self._predict_data(X)
        if hasattr(self, "estimators_"):
            *_, votes = self._staged_votes(rows)
        else:
            votes = Nodes.from_state(self).predict(rows, check_n_jobs(self.n_jobs), "sum")
        return self._decision(votes, len(self.estimator_weights_))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """Yield `decision_function` after each learner.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of float64 of shape (n_samples, n_classes) or (n_samples,)
        """
        rows = self._predict_data(X)
        for n, votes in enumerate(self._staged_votes(rows), start=1):
            yield self._decision(votes, n)

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Yield `predict` after each learner.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for decision in self.staged_decision_function(X):
            yield self._labels(decision)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """Yield `predict_proba` after each learner.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of float64 of shape (n_samples, n_classes)
        """
        for decision in self.staged_decision_function(X):
            yield self._probabilities(decision)

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """Yield the accuracy after each learner.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Yields
        ------
        float
        """
        truth = np.asarray(y)
        for labels in self.staged_predict(X):
            yield float(np.average(labels == truth, weights=sample_weight))  # type: ignore[arg-type]

    @property
    def error_bound_(self) -> float:
        """Upper bound on the weighted training error."""
        check_is_fitted(self)
        alpha = self.estimator_weights_ * (1 if self.formulation == "discrete" else 2)
        error = self.estimator_errors_
        return float(np.prod((1 - error) * np.exp(-alpha / 2) + error * np.exp(alpha / 2)))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Weighted mean of the learners' feature importances."""
        check_is_fitted(self)
        say = self.estimator_weights_ / self.estimator_weights_.sum()
        if not hasattr(self, "estimators_"):
            return say @ self.tree_importance_  # type: ignore[no-any-return]
        try:
            each = [learner.feature_importances_ for learner in self.estimators_]
        except AttributeError:
            raise AttributeError(
                f"{type(self.estimators_[0]).__name__} has no feature_importances_"
            ) from None
        return np.asarray(say @ np.array(each), dtype=np.float64)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        ranks: tuple[Ranks, NDArray[np.int64]] | None = None,
    ) -> Self:
        self._check_parameters()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        if weight is not None and not weight.all():
            # Dropped, because learners that count rows would count rows of weight 0 too.
            kept = np.flatnonzero(weight)
            rows, codes, weight = rows[kept], codes[kept], weight[kept]
            ranks = None if ranks is None else (ranks[0], ranks[1][kept])
        plan = Boosting(
            n_rounds=self.n_estimators,
            learning_rate=self.learning_rate,
            n_threads=check_n_jobs(self.n_jobs),
            rng=check_random_state(self.random_state),
        )
        n_classes = len(self.classes_)
        if is_native(self.estimator):
            training = Training(codes, weight, n_classes, levels_of(self), rows)
            bins = self._bins(training, ranks, plan.n_threads)
            self._store(boost_native(self.estimator, bins, training, plan))
        else:
            weight = np.ones(len(rows)) if weight is None else weight
            learner = self._nominal_learner()
            self._store(boost_any(learner, rows, codes, weight, n_classes, plan))
        return self

    def _check_parameters(self) -> None:
        check_interval("n_estimators", self.n_estimators, 1, integer=True)
        check_interval(
            "learning_rate", self.learning_rate, 0.0, np.inf, open_low=True, open_high=True
        )
        check_option("formulation", self.formulation, FORMULATIONS)
        check_interval("max_bins", self.max_bins, 2, 65535, integer=True)
        if self.estimator is not None:
            check_kind("estimator", self.estimator, "classifier")

    def _bins(
        self, training: Training, ranks: tuple[Ranks, NDArray[np.int64]] | None, n_threads: int
    ) -> Bins:
        if ranks is None or training.n_levels.any():
            return Bins.build(
                training.X, self.max_bins, training.n_levels, training.weight, n_threads
            )
        return Bins.from_ranks(*ranks, self.max_bins, n_threads, training.weight)

    def _nominal_learner(self) -> Any:
        """Return the learner with its nominal columns set."""
        if not len(self.categorical_features_):
            return self.estimator
        if not getattr(self.estimator, "takes_nominal", False):
            raise DataError(
                f"{type(self.estimator).__name__} takes no nominal columns; "
                f"X has {len(self.categorical_features_)}: encode them, or boost trees"
            )
        nominal = {"categorical_features": self.categorical_features_.tolist()}
        return type(self.estimator)(**{**self.estimator.get_params(deep=False), **nominal})

    def _store(self, rounds: Rounds) -> None:
        half = 1.0 if self.formulation == "discrete" else 0.5
        self.estimator_errors_ = rounds.errors
        self.estimator_weights_ = half * rounds.alphas
        for name in [name for name in vars(self) if name in _OF_ONE_KIND]:
            delattr(self, name)  # left by a fit with the other kind of learner
        if rounds.nodes is None:
            self.estimators_ = rounds.estimators
            return
        code = self._class_code()
        values = (self.estimator_weights_[:, None, None] * code).reshape(-1, len(code))
        Nodes(**{**vars(rounds.nodes), "leaf_value": values}).store_in(self)
        self.tree_importance_ = rounds.importance

    def _class_code(self) -> NDArray[np.float64]:
        """Return the vote matrix: row c is the vote of a learner of weight 1 for class c."""
        k = len(self.classes_)
        return np.full((k, k), -1 / max(k - 1, 1)) + np.eye(k) * (1 + 1 / max(k - 1, 1))

    def _staged_votes(self, rows: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
        """Yield the summed votes for each class after each learner."""
        total = np.zeros((len(rows), len(self.classes_)))
        code = self._class_code()
        n_threads = check_n_jobs(self.n_jobs)
        native = None if hasattr(self, "estimators_") else Nodes.from_state(self)
        for t, weight in enumerate(self.estimator_weights_):
            if native is None:
                codes = np.asarray(self.estimators_[t].predict(rows)).astype(np.int64)
                total += weight * code[codes]
            else:
                total += native.part(t, t + 1).predict(rows, n_threads, "sum")
            yield total.copy()

    def _decision(self, votes: NDArray[np.float64], n_learners: int) -> NDArray[np.float64]:
        decision: NDArray[np.float64] = votes / self.estimator_weights_[:n_learners].sum()
        if len(self.classes_) == 2:
            return decision[:, 1] - decision[:, 0]
        return decision

    def _labels(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        if decision.ndim == 1:
            return self.classes_[(decision > 0).astype(np.int64)]
        return self.classes_[decision.argmax(axis=1)]  # type: ignore[no-any-return]

    def _probabilities(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        if decision.ndim == 1:
            decision = np.column_stack([-decision, decision]) / 2
        else:
            decision = decision / max(len(self.classes_) - 1, 1)
        return softmax(decision, axis=1)  # type: ignore[no-any-return]

    def _check_more(self) -> None:
        ensure(self.estimator_weights_.sum() > 0, "estimator_weights_ has no positive weight")
        if _is_native(self):
            nodes, n = Nodes.from_state(self), len(self.estimator_weights_)
            nodes.check(self.n_features_in_, len(self.classes_))
            ensure(nodes.n_trees == n, f"{n} weights for {nodes.n_trees} trees")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
