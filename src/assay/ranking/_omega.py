"""Ranking that minimises a cost of misordered pairs, sorting by a learned preference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from assay.base import check_option
from assay.base.stored import Count, OneOf, declared
from assay.evaluate import Queries
from assay.evaluate.ranking_costs import Cost, cost_of
from assay.ranking._quicksort import Sorted, quicksort
from assay.ranking._ranker import Floats, Ranker
from assay.ranking._seed import row_priorities

_WAYS = ("quicksort", "scores")


class OmegaRanker(Ranker):
    r"""Rank items by sorting with a learned preference that minimises the cost of misordered pairs.

    Parameters
    ----------
    estimator : classifier, default=None
        A binary classifier, fitted on pairs of items. None = logistic regression without intercept.
    omega : {'misordered', 'top_k', 'discount', 'distance'} or callable, default='misordered'
        Cost of putting two items in the wrong order, by their true positions (1 = best); see
        `assay.ranking.costs`. A function of two positions is checked for symmetry, monotonicity and
        the triangle inequality; a model with such a function cannot be saved.
    k : int, default=10
        Number of positions that count for omega='top_k'.
    by : {'quicksort', 'scores'}, default='quicksort'
        How items are ordered: by randomised quicksort with the preference as comparator, or by the
        mean preference over all other items (see `PairwiseRanker`).
    features : {'difference', 'greater'}, default='difference'
        Features of a pair (a, b), column by column: the difference a - b, or 1 where a > b and 0
        elsewhere.
    pairs : {'auto', 'all'} or int, default='auto'
        Training pairs per query: all that differ in y, or at most this many, drawn at random.
        'auto' = all if their table has at most 2^26 numbers (0.5 GB), else an equal share of that
        for each query.
    vote : {'soft', 'hard'}, default='soft'
        Whether the preference is the classifier's confidence (probability, else decision function),
        or only its prediction. Sorting uses the sign only.
    random_state : int, RandomState or None, default=None
        Seed of the pairs drawn, of the pivots, and of an estimator without a seed of its own.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on pairs in both orders; class 1 = the first item is better, -1 = the second.
    score_coef_ : ndarray of float64 of shape (n_features_in_,) or (0,)
        The weights of the preference, if it is linear in the items; else empty.
    pivot_seed_ : int
        Seed of the pivots.
    n_pairs_ : int
        Number of training pairs.
    n_queries_ : int
        Number of queries.
    n_idle_queries_ : int
        Number of queries without two items of different y, which were not used.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With the true positions :math:`\sigma` of the items of a query, the classifier learns the
    triplets

    .. math:: (x_{uv},\; \mathrm{sign}(\sigma_v - \sigma_u),\; \omega(\sigma_u, \sigma_v))

    of features, class and weight for all pairs u, v, to minimise

    .. math:: E \sum_{u \ne v} [\sigma_u < \sigma_v]\, [\hat\sigma_v < \hat\sigma_u]\,
              \omega(\sigma_u, \sigma_v)

    A learned preference may be cyclic. Randomised quicksort turns it into an order with O(m log m)
    comparisons for m items, with an expected loss of at most twice that of the preference. Pivots
    and ties are decided by the seed and the values of the rows, so the order of a query depends
    neither on the order of its rows nor on other queries. Source: Ailon and Mohri (2008).

    See Also
    --------
    PairwiseRanker : Scores instead of an order.
    preference_sort : The sort alone, with any comparator.

    Examples
    --------
    >>> from assay.ranking import OmegaRanker
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 9.0], [7.0, 3.0], [8.0, 8.0], [9.0, 5.0]]
    >>> y, query = [0, 0, 1, 0, 2, 1], [1, 1, 1, 2, 2, 2]  # the second column decides
    >>> model = OmegaRanker(omega="top_k", k=1, random_state=0).fit(X, y, qid=query)
    >>> found = model.sort(X, query)
    >>> found.order.tolist(), found.n_comparisons
    ([2, 0, 1, 4, 5, 3], 5)
    """

    model_id: ClassVar[int | None] = 211
    expected_failures: ClassVar[Mapping[str, str]] = {
        "check_methods_subset_invariance": (
            "scores are positions within a query, so they depend on the other rows"
        ),
    }
    stored = declared(by=OneOf(_WAYS), pivot_seed_=Count(0, 2**31 - 1))

    def __init__(
        self,
        estimator: Any = None,
        *,
        omega: str | Cost = "misordered",
        k: int = 10,
        by: str = "quicksort",
        features: str = "difference",
        pairs: int | str = "auto",
        vote: str = "soft",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.omega = omega
        self.k = k
        self.by = by
        self.features = features
        self.pairs = pairs
        self.vote = vote
        self.random_state = random_state

    def predict(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Return a score for each item; greater is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The items.
        qid : array-like of shape (n_samples,), default=None
            Query of each item; None: all items are of one query.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            From 1 for the first of its query to -1 for the last, evenly spaced, and 0 for the only
            item of a query; with by='scores' as in `PairwiseRanker`.
        """
        rows = self._predict_data(X)
        queries = Queries.of(qid, len(rows))
        if self.by == "scores":
            return self._linear_or_mean(rows, queries)
        scores = np.empty(len(rows))
        size = np.repeat(queries.sizes, queries.sizes)
        place = np.arange(len(rows)) - np.repeat(queries.starts[:-1], queries.sizes)
        scores[self._sorted(rows, queries).order] = (size - 1 - 2 * place) / np.maximum(size - 1, 1)
        return scores

    def sort(self, X: ArrayLike, qid: ArrayLike | None = None) -> Sorted:
        """Sort the items by quicksort, and count the comparisons.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The items.
        qid : array-like of shape (n_samples,), default=None
            Query of each item; None: all items are of one query.

        Returns
        -------
        Sorted
            With `order` (as from `rank`), `n_comparisons` and `n_levels`.
        """
        rows = self._predict_data(X)
        return self._sorted(rows, Queries.of(qid, len(rows)))

    def _after_fit(self, seed: int) -> None:
        self.pivot_seed_ = seed

    def _sorted(self, rows: Any, queries: Queries) -> Sorted:
        # Ties are broken at random, but in the same way for any order of the rows.
        chance = np.unique(row_priorities(rows, self.pivot_seed_ + 1), return_inverse=True)[1]

        value = rows @ self.score_coef_ if len(self.score_coef_) else None
        preference = self._preference()

        def prefer(first: Any, second: Any) -> Floats:
            if value is None:
                margin = preference.of(rows, first, second)
            else:
                margin = value[first] - value[second]
            return np.where(margin == 0, chance[first] - chance[second], margin)

        return quicksort(queries, row_priorities(rows, self.pivot_seed_), prefer)

    def _cost(self) -> tuple[Cost | None, bool]:
        check_option("by", self.by, _WAYS)
        cost = cost_of(self.omega, self.k)
        return (None if self.omega == "misordered" else cost), callable(self.omega)
