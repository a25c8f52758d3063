"""Common part of both rankers: pairs, the classifier of pairs, scores, order and state."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from assay.base import (
    DataError,
    ParameterError,
    Regressor,
    as_vector,
    check_interval,
    check_option,
    draw_seed,
    seeded,
)
from assay.base.stored import Array, Count, Models, OneOf, declared, each
from assay.evaluate import Queries, omega_loss
from assay.evaluate.ranking_costs import Cost, check_omega, costs_of_pairs
from assay.linear import LogisticRegression
from assay.ranking._features import FEATURES, both_orders
from assay.ranking._pairs import Pairs
from assay.ranking._preference import Preference

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_VOTES = ("soft", "hard")
#: Maximum size of the table of pairs for pairs='auto' (0.5 GB of float64).
_AUTO_CELLS = 1 << 26
#: Number of pairs used to check that a classifier with coefficients is linear.
_PROOF = 100


class Ranker(Regressor):
    """A classifier of pairs, and scores from it."""

    stored = declared(
        features=OneOf(FEATURES),
        vote=OneOf(_VOTES),
        estimator_=Models(single=True, classes=(-1, 1)),
        score_coef_=Array("0 | features"),
        **each("n_queries_ n_pairs_", Count(1)),
        n_idle_queries_=Count(),
    )

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Learn which of two items of a query is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The items: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their relevance, rating or any number; greater is better. Only the order within a query
            matters.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the items; the weight of a pair is their product.
        qid : array-like of shape (n_samples,), default=None
            Query of each item, in any order: only items of one query are compared. None: all items
            are of one query. Queries without two items of different y are skipped;
            `n_idle_queries_` counts them.

        Returns
        -------
        estimator
            The fitted model.

        Raises
        ------
        DataError
            When no query has two items of different y.
        """
        cost = self._checked()
        seed = draw_seed(self.random_state)
        _check_ordered(y)
        rows, levels, weight = self._fit_data(X, y, sample_weight)
        queries = Queries.of(qid, len(rows))
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            rows, levels, weight = rows[kept], levels[kept], weight[kept]
            queries = Queries.of(queries.codes[kept], len(rows))
        better, worse, price = self._pairs(rows, levels, weight, queries, cost, seed)
        self.n_queries_ = len(queries)
        self.n_idle_queries_ = len(queries) - len(np.unique(queries.codes[better]))
        self.n_pairs_ = len(better)
        self._fit_pairs(rows, better, worse, price, seed)
        self._after_fit(seed)
        return self

    def rank(self, X: ArrayLike, qid: ArrayLike | None = None) -> Rows:
        """Return the items in order, best first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The items.
        qid : array-like of shape (n_samples,), default=None
            Query of each item; None: all items are of one query.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            Row numbers from best to worst, query after query in ascending order of `qid`. Items
            of equal score keep the order of the rows.
        """
        scores = self.predict(X, qid)
        return np.lexsort((-scores, Queries.of(qid, len(scores)).codes))

    def score(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """Return the share of correctly ordered pairs of different y, averaged over queries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The items.
        y : array-like of shape (n_samples,)
            Their true relevance.
        qid : array-like of shape (n_samples,), default=None
            Query of each item; None: all items are of one query.

        Returns
        -------
        float
            In [0, 1]; 0.5 is chance level. With two distinct values of y, the area under the ROC
            curve.
        """
        return 1 - omega_loss(y, self.predict(X, qid), qid, normalize=True)

    @abstractmethod
    def predict(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Return a score for each item; greater is better."""

    @abstractmethod
    def _cost(self) -> tuple[Cost | None, bool]:
        """Return the checked cost of a pair (None: equal) and whether the user defined it."""

    def _after_fit(self, seed: int) -> None:
        """Store the additional state of a subclass."""

    def _checked(self) -> tuple[Cost | None, bool]:
        given = self.estimator
        if given is not None and (
            isinstance(given, type) or not hasattr(given, "fit") or not is_classifier(given)
        ):
            raise ParameterError(f"estimator must be None or a classifier; got {given!r}")
        check_option("features", self.features, FEATURES)
        check_option("vote", self.vote, _VOTES)
        check_interval("pairs", self.pairs, 1, integer=True, options=("auto", "all"))
        return self._cost()

    def _pairs(
        self,
        rows: NDArray[Any],
        levels: Floats,
        weight: Floats | None,
        queries: Queries,
        cost: tuple[Cost | None, bool],
        seed: int,
    ) -> tuple[Rows, Rows, Floats | None]:
        """Return the training pairs, better item first, and their weights."""
        function, own = cost
        if function is not None and own:
            check_omega(function, int(queries.sizes.max()))
        pairs = Pairs.of_levels(queries, levels, function)
        most = None if self.pairs == "all" else self.pairs
        if self.pairs == "auto":
            most = max(1, _AUTO_CELLS // (2 * rows.shape[1] * len(queries)))
        better, worse = pairs.drawn(queries, most, seed)
        price = None
        if function is not None:
            place = queries.positions(levels)
            price = costs_of_pairs(function, place[better], place[worse])
            if price.size and not price.all():
                kept = np.flatnonzero(price)
                better, worse, price = better[kept], worse[kept], price[kept]
        if not len(better):
            _refuse_idle(levels, queries)
        if weight is not None:
            product = weight[better] * weight[worse]
            price = product if price is None else price * product
        return better, worse, price

    def _fit_pairs(
        self, rows: NDArray[Any], better: Rows, worse: Rows, price: Floats | None, seed: int
    ) -> None:
        model = seeded(_default() if self.estimator is None else self.estimator, seed)
        # Both orders, so that the position in the pair carries no information.
        table = both_orders(rows, better, worse, self.features)
        labels = np.repeat(np.array([1, -1]), len(better))
        if price is None or price.min() == price.max() == 1:
            self.estimator_ = model.fit(table, labels)
        elif has_fit_parameter(model, "sample_weight"):
            self.estimator_ = model.fit(table, labels, sample_weight=np.tile(price, 2))
        else:
            raise ParameterError(
                "estimator must take sample_weight, since the pairs have different "
                f"weights; got {model!r}"
            )
        self.score_coef_ = _linear_score(self.estimator_, table, self.features)

    def _linear_or_mean(self, rows: NDArray[Any], queries: Queries) -> Floats:
        """Return the scores: linear ones from each row alone, else mean preferences."""
        if len(self.score_coef_):
            scores: Floats = rows @ self.score_coef_
            return scores
        return self._preference().mean(rows, queries)

    def _preference(self) -> Preference:
        return Preference(self.estimator_, self.features, self.vote)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # scores have the order of y, not its scale
        return tags


def _default() -> Any:
    # Linear in differences: the score then depends on the item alone, in one product.
    return LogisticRegression(fit_intercept=False)


def _linear_score(model: Any, pairs: NDArray[Any], features: str) -> Floats:
    """Return w if the classifier decides by w (a - b) + c, else an empty array."""
    coef = np.asarray(getattr(model, "coef_", np.empty(0)), dtype=np.float64)
    nothing = np.empty(0)
    if features != "difference" or coef.shape not in ((1, pairs.shape[1]), (pairs.shape[1],)):
        return nothing
    if not hasattr(model, "decision_function"):
        return nothing
    coef = coef.ravel()
    some = pairs[:: max(1, len(pairs) // _PROOF)]
    offset = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    expected = some @ coef + offset
    scale = np.abs(some) @ np.abs(coef) + abs(offset)
    decided = np.ravel(model.decision_function(some))
    # coef_ may belong to something else, such as transformed columns.
    fits = decided.shape == expected.shape and (np.abs(decided - expected) <= 1e-5 * scale).all()
    return coef if fits else nothing


def _check_ordered(y: object) -> None:
    values = np.asarray(as_vector(y))
    if values.dtype.kind not in "OUS" or values.ndim != 1:
        return
    for row, item in enumerate(values.tolist()):
        if isinstance(item, (str, bytes)):
            raise DataError(
                f"y must hold numbers, greater is better; got {item!r} in row {row}. Text has no "
                "order; turn it into numbers first"
            )


def _refuse_idle(levels: Floats, queries: Queries) -> None:
    if queries.sizes.max() == 1:
        many = f"each of the {len(queries)} queries has one item" if len(queries) > 1 else ""
        raise DataError(
            f"{many or 'the only query has one item (1 sample)'}: nothing can be compared; pass "
            "queries of at least two items"
        )
    if len(np.unique(levels)) == 1:
        raise DataError(f"y is {levels[0]:g} in every row: no item is better than another")
    raise DataError(
        f"no pair to learn from: none of the {len(queries)} queries has two items of different y "
        "whose order has a cost"
    )
