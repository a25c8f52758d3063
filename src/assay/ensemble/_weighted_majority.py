"""Prediction with expert advice: the weighted majority algorithm, deterministic and randomised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    Classifier,
    DataError,
    ParameterError,
    as_frame,
    check_interval,
    check_option,
    class_codes,
    draw_seed,
)
from assay.base.stored import Count, Integers, Models, Number, declared, each, ensure
from assay.ensemble._members import Named, NamedMembers, check_members
from assay.ensemble._streams import uniforms

_CELLS = 2**20  # rounds times experts in memory at once


class WeightedMajority(NamedMembers, Classifier):
    r"""Combine expert predictions over time, lowering an expert's weight after each mistake.

    Parameters
    ----------
    experts : list of (str, estimator), default=None
        Fitted classifiers by name, used as they are. None = the columns of X are the experts:
        each holds the labels that one of them predicts.
    beta : float in (0, 1), default=0.5
        Factor on an expert's weight at each mistake. Smaller values react faster.
    randomized : bool, default=False
        Whether to follow one expert, drawn by weight, instead of the weighted majority.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    experts_ : list of estimator
        The experts, if they are estimators.
    expert_mistakes_ : ndarray of int64 of shape (n_experts,)
        Mistakes of each expert so far.
    mistakes_ : int
        Mistakes of the algorithm itself, each prediction made before its outcome was known.
    expected_mistakes_ : float
        Expected mistakes of the randomised algorithm, over its draws.
    n_rounds_ : int
        Number of outcomes so far.
    outcome_counts_ : ndarray of int64 of shape (n_classes,)
        Number of outcomes of each class.
    seed_ : int
        Seed of the draws, together with the number of the round.
    weights_ : ndarray of shape (n_experts,)
        Weights of the experts, summing to 1.
    log_weights_ : ndarray of shape (n_experts,)
        Logarithms of the weights before they are scaled to sum to 1.
    mistake_bound_ : float
        Upper bound on `mistakes_`, or on their expectation if randomised.
    regret_bound_ : float
        Upper bound on the mistakes beyond those of the best expert.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    An expert with :math:`m_i` mistakes has the weight :math:`w_i = \beta^{m_i}`; the prediction is
    the class with the largest sum of weights (ties go to the first), or that of one expert drawn
    with probability :math:`w_i / \sum_j w_j`. For *every* sequence of outcomes, with m the mistakes
    of the best of k experts (Littlestone and Warmuth 1994),

    .. math:: M \le \frac{m \ln(1/\beta) + \ln k}{\ln\frac{2}{1+\beta}}, \qquad
              \operatorname{E} M_{\text{randomised}} \le \frac{m \ln(1/\beta) + \ln k}{1 - \beta}

    The outcomes may depend on all predictions made before (for the expectation: not on the draw
    of the round). Both hold for more than two classes: the predicted class outweighs the true one,
    so at least half of the weight errs in every mistaken round. A value that is not a class counts
    as a mistake.

    Only the numbers of mistakes are kept, and weights are powers relative to the best expert, so
    nothing underflows however long the sequence. `partial_fit` gives the same numbers for any
    division of the sequence into batches. O(rounds · experts).

    `clone` makes experts unfitted, as always; wrap them in ``sklearn.frozen.FrozenEstimator`` to
    keep them fitted. A model file holds the experts, but not that wrapper.

    Examples
    --------
    >>> from assay.ensemble import WeightedMajority
    >>> advice = [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]]
    >>> outcomes = [1, 1, 0, 1]
    >>> model = WeightedMajority().fit(advice, outcomes)
    >>> model.expert_mistakes_.tolist(), model.mistakes_
    ([0, 2, 3], 0)
    >>> model.weights_.round(3).tolist()
    [0.727, 0.182, 0.091]
    >>> round(model.mistake_bound_, 2)
    3.82
    """

    model_id: ClassVar[int | None] = 154
    _member_lists = ("experts",)
    stored = declared(
        experts_=Models("members", optional=True),
        **each("n_rounds_ mistakes_ seed_", Count(0, 2**62 - 1)),
        outcome_counts_=Integers("classes", 0),
        expected_mistakes_=Number(0),
        expert_mistakes_=Integers("members", 0, "n_rounds_"),
    )

    def __init__(
        self,
        experts: Named | None = None,
        *,
        beta: float = 0.5,
        randomized: bool = False,
        random_state: Any = None,
    ) -> None:
        self.experts = experts
        self.beta = beta
        self.randomized = randomized
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Start afresh and process a sequence of outcomes.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rounds, n_features)
            Rows for the experts, or the experts' predictions, in order of time.
        y : array-like of shape (n_rounds,)
            The outcomes.

        Returns
        -------
        Self
        """
        self._begin(X, y, y)
        return self._play(X, y)

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Continue with further outcomes.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rounds, n_features)
            Rows for the experts, or the experts' predictions, in order of time.
        y : array-like of shape (n_rounds,)
            The outcomes.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; needed in the first call only.

        Returns
        -------
        Self
        """
        if not hasattr(self, "n_rounds_"):
            if classes is None:
                raise DataError(
                    "classes must be passed on the first call to partial_fit: all labels that "
                    "may ever come"
                )
            self._begin(X, y, classes)
        elif classes is not None and not np.array_equal(class_codes(classes)[0], self.classes_):
            raise DataError(
                f"classes must be those of the first call to partial_fit, "
                f"{self.classes_.tolist()}; got {np.asarray(classes).tolist()}"
            )
        return self._play(X, y)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that the algorithm predicts with its current weights.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Rows for the experts, or the experts' predictions.

        Returns
        -------
        ndarray of shape (n_samples,)
            If randomised: one draw per row, the same in every call.
        """
        advice = self._advice(X)
        counts = np.broadcast_to(self.expert_mistakes_, advice.shape)
        draws = uniforms(self.seed_, self.n_rounds_, len(advice))
        answers = self._answer(advice, self._shares(counts), draws)
        return self.classes_[answers]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the weight that votes for each class.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Rows for the experts, or the experts' predictions.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Equal shares where no expert predicts a class.
        """
        advice = self._advice(X)
        votes = self._votes(advice, self._shares(self.expert_mistakes_[None]))
        total = votes.sum(axis=1, keepdims=True)
        uniform = np.full_like(votes, 1.0 / len(self.classes_))
        return np.divide(votes, total, out=uniform, where=total > 0)  # type: ignore[no-any-return]

    @property
    def log_weights_(self) -> NDArray[np.float64]:
        """Logarithms of the weights before they are scaled to sum to 1."""
        logs: NDArray[np.float64] = self.expert_mistakes_ * np.float64(math.log(self.beta))
        return logs

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Weights of the experts, summing to 1."""
        return self._shares(self.expert_mistakes_[None])[0]  # type: ignore[no-any-return]

    @property
    def mistake_bound_(self) -> float:
        """Upper bound on the mistakes, or on their expectation if randomised."""
        least = int(self.expert_mistakes_.min())
        loss = least * math.log(1 / self.beta) + math.log(len(self.expert_mistakes_))
        return loss / (1 - self.beta if self.randomized else math.log(2 / (1 + self.beta)))

    @property
    def regret_bound_(self) -> float:
        """Upper bound on the mistakes beyond those of the best expert."""
        return self.mistake_bound_ - int(self.expert_mistakes_.min())

    def _begin(self, X: Any, y: Any, classes: Any) -> None:
        check_interval("beta", self.beta, 0, 1, open_low=True, open_high=True)
        check_option("randomized", self.randomized, (True, False))
        experts = None if self.experts is None else self._fitted_experts()
        if y is None:
            raise DataError("WeightedMajority requires y to be passed, but the target y is None")
        self._table(X, reset=True)
        self.classes_ = class_codes(classes)[0]
        if experts is not None:
            self.experts_ = experts
        elif hasattr(self, "experts_"):
            del self.experts_
        self.seed_ = draw_seed(self.random_state)
        n_experts = self.n_features_in_ if experts is None else len(experts)
        self.expert_mistakes_ = np.zeros(n_experts, dtype=np.int64)
        self.outcome_counts_ = np.zeros(len(self.classes_), dtype=np.int64)
        self.n_rounds_, self.mistakes_, self.expected_mistakes_ = 0, 0, 0.0

    def _fitted_experts(self) -> list[Any]:
        members = check_members("experts", self.experts, "classifier", self.get_params(deep=False))
        experts = []
        for name, member in members:
            inner = member.estimator if isinstance(member, FrozenEstimator) else member
            try:
                check_is_fitted(inner)
            except NotFittedError:
                raise ParameterError(
                    f"experts must be fitted classifiers; got {name!r}, {inner!r}, which is not "
                    "fitted (a clone is not: wrap experts in sklearn.frozen.FrozenEstimator)"
                ) from None
            experts.append(inner)
        return experts

    def _play(self, X: Any, y: Any) -> Self:
        advice, outcomes = self._advice(X), self._outcomes(y)
        if len(advice) != len(outcomes):
            raise DataError(
                f"X has {len(advice)} rows but y has {len(outcomes)}; each row needs one target "
                "(inconsistent numbers of samples)"
            )
        for start, stop in self._chunks(len(advice)):
            self._play_chunk(advice[start:stop], outcomes[start:stop])
        return self

    def _chunks(self, n: int) -> Iterator[tuple[int, int]]:
        size = max(1, _CELLS // len(self.expert_mistakes_))
        return ((start, min(start + size, n)) for start in range(0, n, size))

    def _play_chunk(self, advice: NDArray[np.int64], outcomes: NDArray[np.int64]) -> None:
        wrong = advice != outcomes[:, None]
        after = self.expert_mistakes_ + np.cumsum(wrong, axis=0)
        shares = self._shares(after - wrong)  # by the mistakes before each round
        draws = uniforms(self.seed_, self.n_rounds_, len(advice))
        answers = self._answer(advice, shares, draws)
        losses = np.concatenate([[self.expected_mistakes_], (shares * wrong).sum(axis=1)])
        self.mistakes_ += int((answers != outcomes).sum())
        self.expected_mistakes_ = float(np.cumsum(losses)[-1])  # one by one, for any batches
        self.expert_mistakes_ = after[-1]
        self.outcome_counts_ = self.outcome_counts_ + np.bincount(
            outcomes, minlength=len(self.classes_)
        )
        self.n_rounds_ += len(advice)

    def _shares(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights for numbers of mistakes, each row summing to 1."""
        behind = counts - counts.min(axis=1, keepdims=True)
        weights = np.exp(behind * math.log(self.beta))
        return weights / weights.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def _votes(self, advice: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the weights that vote for each class, one row per round."""
        return np.stack(
            [(shares * (advice == code)).sum(axis=1) for code in range(len(self.classes_))], axis=1
        )

    def _answer(
        self, advice: NDArray[np.int64], shares: NDArray[np.float64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        votes = self._votes(advice, shares)
        if not self.randomized:
            return votes.argmax(axis=1)  # type: ignore[no-any-return]
        ends = np.cumsum(shares, axis=1)
        expert = (ends < (draws * ends[:, -1])[:, None]).sum(axis=1)
        predicted = advice[np.arange(len(advice)), expert]
        # If the drawn expert predicts no class, follow the majority.
        return np.where(predicted >= 0, predicted, votes.argmax(axis=1))  # type: ignore[no-any-return]

    def _advice(self, X: Any) -> NDArray[np.int64]:
        """Return the experts' predictions as class codes, -1 for values that are not a class."""
        X = self._table(X, reset=False)
        if hasattr(self, "experts_"):
            predicted = [self._numbers(np.asarray(expert.predict(X))) for expert in self.experts_]
            return np.stack(predicted, axis=1)
        frame = as_frame(X)
        if frame is not None:
            series = frame.iter_columns()
            return np.stack([self._numbers(column.to_numpy()) for column in series], axis=1)
        return self._numbers(X)

    def _numbers(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise DataError("X contains NaN or infinity, which is not a label")
        if labels.dtype.kind == "O":
            numbers = {label: code for code, label in enumerate(self.classes_.tolist())}
            try:
                codes = [numbers.get(label, -1) for label in labels.ravel().tolist()]
            except TypeError as error:
                raise TypeError(
                    f"a label: argument must be a string or a number; {error}"
                ) from None
            return np.array(codes, dtype=np.int64).reshape(labels.shape)
        if (labels.dtype.kind == "U") != (self.classes_.dtype.kind == "U"):
            return np.full(labels.shape, -1, dtype=np.int64)
        places = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        return np.where(self.classes_[places] == labels, places, -1).astype(np.int64)

    def _outcomes(self, y: Any) -> NDArray[np.int64]:
        labels, codes = class_codes(y)
        numbers = self._numbers(labels)
        if (numbers < 0).any():
            raise DataError(
                f"y has the label {labels[numbers < 0][0].item()!r}, which is not one of the "
                f"classes {self.classes_.tolist()}"
            )
        return numbers[codes]

    def _check_more(self) -> None:
        check_interval("beta", self.beta, 0, 1, open_low=True, open_high=True)
        adds_up = self.outcome_counts_.sum() == self.n_rounds_
        ensure(adds_up, "WeightedMajority.outcome_counts_ does not add up to n_rounds_")
        fits = hasattr(self, "experts_") or len(self.expert_mistakes_) == self.n_features_in_
        ensure(fits, "WeightedMajority.expert_mistakes_ does not have one entry per column")

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(), cls(randomized=True)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # numeric test data are not expert advice
        tags.non_deterministic = self.randomized is True
        return tags
