"""A cascade of boosted stages for rare positives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import (
    Classifier,
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    draw_seed,
)
from assay.base.stored import Array, Integers, Number, OneOf, declared, each, ensure
from assay.ensemble._cascade_stages import CascadePlan, Stages, grow_stages
from assay.tree.engine import Nodes, levels_of


class CascadeClassifier(Classifier):
    r"""Detect a rare class in stages that each pass nearly all positives and reject many negatives.

    Parameters
    ----------
    n_stages : int >= 1, default=10
        Maximum number of stages; fewer if `target_false_alarm` is reached or no negative row is
        left.
    detection_rate : float in (0, 1], default=0.99
        Minimum share of the positives that each stage passes.
    false_alarm_rate : float in (0, 1], default=0.5
        Maximum share of the negatives that each stage passes.
    target_false_alarm : float in [0, 1], default=0.001
        Share of all negatives passed by the whole cascade at which no more stages are added.
    max_stumps : int >= 1, default=100
        Maximum number of stumps per stage; each stage uses the fewest that reach its rates.
    learning_rate : float > 0, default=1.0
        Factor on every stump's weight.
    validation_fraction : float in (0, 1), default=0.25
        Fraction of each class kept out of boosting, to set the thresholds and measure the rates.
    positive : label, default=None
        The class to detect; None = the rarer one.
    max_bins : int in [2, 65535], default=255
        Maximum number of bins per column. Columns with at most this many distinct values are split
        exactly.
    categorical_features : array-like, str or None, default='from_dtype'
        Nominal columns: indices, names or a mask; 'from_dtype': text and categorical columns of a
        dataframe; None: no column.
    random_state : int, RandomState or None, default=None
        Seed of the draw of the validation rows.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels seen in fit, sorted.
    positive_ : int
        Position in `classes_` of the class to detect.
    stage_start_ : ndarray of int64 of shape (n_stages_ + 1,)
        Index of the first stump of each stage.
    stage_threshold_ : ndarray of shape (n_stages_,)
        A row passes a stage when the sum of its stumps is at least this.
    stage_detection_ : ndarray of shape (n_stages_,)
        Share of the positive validation rows reaching each stage that passed it.
    stage_false_alarm_ : ndarray of shape (n_stages_,)
        The same for the negative rows.
    detection_ : float
        Share of the positive validation rows that passed all stages.
    false_alarm_ : float
        The same for the negative rows.
    tree_start_ : ndarray of int64
        Index of the first node of each stump; likewise `node_left_`, `node_feature_`,
        `node_threshold_`, `node_missing_left_`, `node_slot_`, `level_words_` and `leaf_value_`.
    categorical_features_ : ndarray of int64
        Nominal columns.
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
    A stage is AdaBoost on stumps, :math:`F_s(x) = \sum_t \alpha_t h_t(x)` with
    :math:`h_t = \pm 1`, on all positives and the negatives that passed all earlier stages, each
    class with half of the weight. Its threshold is the largest :math:`\theta_s` that passes at
    least `detection_rate` of the positive validation rows, and it uses the fewest stumps with which
    at most `false_alarm_rate` of the negative ones pass. A row is positive when it passes all
    stages:

    .. math:: \hat y(x) = \prod_s [F_s(x) \ge \theta_s], \qquad
              D = \prod_s d_s, \qquad A = \prod_s a_s

    for the detection and false alarm rates of the cascade: ten stages with :math:`d = 0.99` and
    :math:`a = 0.5` pass 90 % of the positives and one negative in a thousand. Most rows are
    rejected by the first stages, so a row costs a few stumps on average. If a stage cannot reach
    its rates with `max_stumps` stumps, `fit` raises an error that states how close it came.

    Missing and nominal values are accepted. There are no probabilities, because every stage is
    trained on different negatives. Source: Viola and Jones (2001).

    See Also
    --------
    AdaBoostClassifier : One stage, without rates.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.ensemble import CascadeClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(4000, 3))
    >>> y = (X > 0.9).all(axis=1)
    >>> model = CascadeClassifier(random_state=0).fit(X, y)
    >>> bool(model.detection_ > 0.9), bool(model.false_alarm_ < 0.01)
    (True, True)
    >>> model.predict([[1.5, 1.5, 1.5], [1.5, 0.0, 1.5]]).tolist()
    [True, False]
    """

    model_id: ClassVar[int | None] = 153
    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    expected_failures: ClassVar[Mapping[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "validation rows are drawn: duplicates may fall on both sides, a weighted row cannot"
        ),
    }
    stored = declared(
        stage_threshold_=Array("stages", filled=True),
        stage_start_=Integers("stages+1", 0),
        **each("stage_detection_ stage_false_alarm_", Array("stages", 0, 1)),
        **each("detection_ false_alarm_", Number(0, 1)),
        positive_=OneOf((0, 1)),
        leaf_value_=Array("2*stumps, 1"),
    )

    def __init__(
        self,
        *,
        n_stages: int = 10,
        detection_rate: float = 0.99,
        false_alarm_rate: float = 0.5,
        target_false_alarm: float = 0.001,
        max_stumps: int = 100,
        learning_rate: float = 1.0,
        validation_fraction: float = 0.25,
        positive: Any = None,
        max_bins: int = 255,
        categorical_features: ArrayLike | str | None = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_stages = n_stages
        self.detection_rate = detection_rate
        self.false_alarm_rate = false_alarm_rate
        self.target_false_alarm = target_false_alarm
        self.max_stumps = max_stumps
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.positive = positive
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the stages.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes, exactly two.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, used in boosting and in the rates; rows of weight 0 are ignored.

        Returns
        -------
        CascadeClassifier
            The fitted model.

        Raises
        ------
        DataError
            When a stage cannot reach its rates.
        """
        plan = self._plan()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        weight = np.ones(len(rows)) if weight is None else weight
        if not weight.all():
            kept = np.flatnonzero(weight)
            rows, codes, weight = rows[kept], codes[kept], weight[kept]
        self._check_classes(codes)
        self.positive_ = self._positive(codes, weight)
        is_positive = codes == self.positive_
        self._store(grow_stages(rows, is_positive, weight, levels_of(self), plan))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the positive class for rows that pass every stage, else the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        passed = self.stages_passed(X) == self.n_stages_
        other = 1 - self.positive_
        return self.classes_[np.where(passed, self.positive_, other)]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return a score that grows with the stages passed, larger for the second class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            For a row that passed: the last stage's sum minus its threshold, divided by the weight
            of its stumps. For a rejected row: the same for the stage that rejected it (negative),
            minus 2 for each stage after that. The sign is reversed if the positive class is the
            first.
        """
        _, decision = self._run(self._predict_data(X))
        return decision if self.positive_ == 1 else -decision

    def stages_passed(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the number of stages that each row passed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
        """
        return self._run(self._predict_data(X))[0]

    @property
    def n_stages_(self) -> int:
        """Number of stages."""
        return len(self.stage_threshold_)

    def _plan(self) -> CascadePlan:
        for name in ("n_stages", "max_stumps"):
            check_interval(name, getattr(self, name), 1, integer=True)
        for name in ("detection_rate", "false_alarm_rate"):
            check_interval(name, getattr(self, name), 0.0, 1.0, open_low=True)
        check_interval("target_false_alarm", self.target_false_alarm, 0.0, 1.0)
        check_interval(
            "learning_rate", self.learning_rate, 0.0, np.inf, open_low=True, open_high=True
        )
        check_interval(
            "validation_fraction", self.validation_fraction, 0.0, 1.0, open_low=True, open_high=True
        )
        check_interval("max_bins", self.max_bins, 2, 65535, integer=True)
        return CascadePlan(
            n_stages=self.n_stages,
            detection_rate=self.detection_rate,
            false_alarm_rate=self.false_alarm_rate,
            target_false_alarm=self.target_false_alarm,
            max_stumps=self.max_stumps,
            learning_rate=self.learning_rate,
            validation_fraction=self.validation_fraction,
            max_bins=self.max_bins,
            seed=draw_seed(self.random_state),
            n_threads=check_n_jobs(self.n_jobs),
        )

    def _check_classes(self, codes: NDArray[np.int64]) -> None:
        k = len(self.classes_)
        if k > 2:
            raise DataError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {k} classes"
            )
        counts = np.bincount(codes, minlength=2)
        if k < 2 or counts.min() < 2:
            raise DataError(
                "CascadeClassifier needs at least 2 rows of each of two classes; y has "
                f"{k} class{'es' if k != 1 else ''}, the smallest with {counts[:k].min()} row(s)"
            )

    def _positive(self, codes: NDArray[np.int64], weight: NDArray[np.float64]) -> int:
        if self.positive is None:
            mass = np.bincount(codes, weight, minlength=2)
            return 0 if mass[0] < mass[1] else 1
        found = [i for i, label in enumerate(self.classes_.tolist()) if label == self.positive]
        if not found:
            raise ParameterError(
                f"positive must be None or one of the classes {self.classes_.tolist()}; "
                f"got {self.positive!r}"
            )
        return found[0]

    def _store(self, stages: Stages) -> None:
        stages.nodes.store_in(self)
        self.stage_start_ = stages.start
        self.stage_threshold_ = stages.threshold
        self.stage_detection_ = stages.detection
        self.stage_false_alarm_ = stages.false_alarm
        self.detection_ = stages.whole_detection
        self.false_alarm_ = stages.whole_false_alarm

    def _run(self, rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the stages passed and the decision; rows leave at the first stage they fail."""
        n_threads = check_n_jobs(self.n_jobs)
        nodes = Nodes.from_state(self)
        last = self.n_stages_ - 1
        passed = np.zeros(len(rows), dtype=np.int64)
        decision = np.empty(len(rows))
        here = np.arange(len(rows))
        for stage, threshold in enumerate(self.stage_threshold_):
            begin, end = self.stage_start_[stage], self.stage_start_[stage + 1]
            part = rows if len(here) == len(rows) else rows[here]
            score = nodes.part(begin, end).predict(part, n_threads, "sum")[:, 0]
            weight = np.abs(self.leaf_value_[2 * begin : 2 * end : 2, 0]).sum()
            goes_on = score >= threshold
            passed[here[goes_on]] += 1
            above = (score - threshold) / max(weight, np.finfo(np.float64).tiny)
            # A row exactly at the threshold passes: its decision has to be positive.
            above[goes_on] = np.maximum(above[goes_on], np.finfo(np.float64).tiny)
            decision[here] = above - np.where(goes_on, 0, 2.0 * (last - stage))
            here = here[goes_on]
        return passed, decision

    @classmethod
    def _examples(cls) -> list[Self]:
        # Pure noise cannot reach the default rates, and fit rightly raises.
        return [cls(false_alarm_rate=1.0, n_stages=3)]

    def _check_more(self) -> None:
        ensure(len(self.classes_) == 2, "classes_ does not hold two classes")
        nodes, starts = Nodes.from_state(self), self.stage_start_
        nodes.check(self.n_features_in_, 1)
        divides = starts[0] == 0 and starts[-1] == nodes.n_trees and (np.diff(starts) >= 1).all()
        ensure(divides, "stage_start_ does not divide the stumps")
        ensure(len(self.leaf_value_) == 2 * nodes.n_trees, "leaf_value_ does not fit the stumps")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
