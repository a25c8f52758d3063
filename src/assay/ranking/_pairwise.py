"""Ranking by a classifier of pairs of items."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from assay.evaluate import Queries
from assay.evaluate.ranking_costs import Cost, cost_of
from assay.ranking._ranker import Floats, Ranker


class PairwiseRanker(Ranker):
    r"""Rank items with a classifier that learns which of two items is better.

    Parameters
    ----------
    estimator : classifier, default=None
        A binary classifier, fitted on pairs of items. None = logistic regression without intercept.
    features : {'difference', 'greater'}, default='difference'
        Features of a pair (a, b), column by column: the difference a - b, or 1 where a > b and 0
        elsewhere.
    pairs : {'auto', 'all'} or int, default='auto'
        Training pairs per query: all that differ in y, or at most this many, drawn at random.
        'auto' = all if their table has at most 2^26 numbers (0.5 GB), else an equal share of that
        for each query.
    weights : {'distance', 'discount', 'top_k', 'misordered'}, callable or None, default=None
        Weight of a training pair by the true positions of its items (1 = best): their distance,
        another cost of `assay.ranking.costs`, or a function of two positions. None = equal weights.
        A model with a function cannot be saved.
    k : int, default=10
        Number of positions that count for weights='top_k'.
    vote : {'soft', 'hard'}, default='soft'
        Whether the preference is the classifier's confidence (probability, else decision function),
        or only its prediction.
    random_state : int, RandomState or None, default=None
        Seed of the pairs drawn, and of an estimator without a seed of its own.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on pairs in both orders; class 1 = the first item is better, -1 = the second.
    score_coef_ : ndarray of float64 of shape (n_features_in_,) or (0,)
        The weights of the score, if it is linear in the item; else empty.
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
    With the preference :math:`F(a, b) = (f(a, b) - f(b, a)) / 2` of the classifier f, in [-1, 1] if
    it has probabilities, the score of item i among the m items of its query is

    .. math:: s_i = \frac{1}{m - 1} \sum_{j \ne i} F(x_i, x_j)

    A classifier that is linear in the differences prefers i to j if :math:`w^T x_i > w^T x_j`; then
    :math:`s_i = w^T x_i`, which gives the same order, needs no pairs and does not depend on the
    other items. Otherwise prediction evaluates all pairs of a query, in blocks, and the score of an
    item depends on the others of its query.

    Fitting needs memory for its pairs, prediction for one block. With y in {0, 1} (bipartite
    ranking), the share of misordered pairs is 1 - AUC. Deterministic for a seed.

    See Also
    --------
    OmegaRanker : Minimises a cost of misordered pairs and sorts by the preference itself.

    Examples
    --------
    >>> from assay.ranking import PairwiseRanker
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 9.0], [7.0, 3.0], [8.0, 8.0], [9.0, 5.0]]
    >>> y, query = [0, 0, 1, 0, 2, 1], [1, 1, 1, 2, 2, 2]  # the second column decides
    >>> model = PairwiseRanker().fit(X, y, qid=query)
    >>> model.rank(X, query).tolist()
    [2, 0, 1, 4, 5, 3]
    """

    model_id: ClassVar[int | None] = 210

    def __init__(
        self,
        estimator: Any = None,
        *,
        features: str = "difference",
        pairs: int | str = "auto",
        weights: str | Cost | None = None,
        k: int = 10,
        vote: str = "soft",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.pairs = pairs
        self.weights = weights
        self.k = k
        self.vote = vote
        self.random_state = random_state

    def predict(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Return a score for each item; greater is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The items.
        qid : array-like of shape (n_samples,), default=None
            Query of each item; None: all items are of one query. Has no effect on a linear score.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            Mean preference over the other items of the query (0 for the only item of a query), or
            the linear score.
        """
        rows = self._predict_data(X)
        return self._linear_or_mean(rows, Queries.of(qid, len(rows)))

    def _cost(self) -> tuple[Cost | None, bool]:
        cost = cost_of(
            "misordered" if self.weights is None else self.weights, self.k, name="weights"
        )
        return (None if self.weights is None else cost), callable(self.weights)
