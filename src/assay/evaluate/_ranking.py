"""Metrics of rankings: how well scores order the items of each query.

All metrics take relevances, scores (greater = nearer to the top) and the query of each row, score
each query alone and return the mean over the queries for which they are defined. Each states what
it does with items of equal score; none depends on the order of the rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau

from assay.base import DataError, check_interval, check_option, real_values
from assay.evaluate._ranking_queries import Queries
from assay.evaluate.ranking_costs import Cost, check_omega, cost_of, costs_of_pairs

Floats = NDArray[np.float64]

#: Number of pairs of one query compared at a time.
_BLOCK = 1 << 20


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = 10,
    gain: str = "exponential",
) -> float:
    r"""Return the normalised discounted cumulative gain (NDCG) at k, mean over queries.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevance, not negative.
    scores : array-like of shape (n,)
        Scores to sort the items by, greatest first.
    qid : array-like of shape (n,), optional
        Query of each row; None = all are one query.
    k : int or None, default=10
        Number of top items that count; None = all.
    gain : {'exponential', 'linear'}, default='exponential'
        Gain of an item: :math:`2^y - 1` or y.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError
        If no query has a relevant item.

    Notes
    -----
    .. math:: \mathrm{DCG} = \sum_{p=1}^{k} \frac{g(y_p)}{\log_2(1 + p)}, \qquad
              \mathrm{NDCG} = \mathrm{DCG} / \max \mathrm{DCG}

    Items of equal score share the gains of their positions evenly (the mean over all their orders).
    A query without a relevant item has no NDCG and is skipped.

    Examples
    --------
    >>> round(ndcg([3, 2, 0, 1], [0.9, 0.8, 0.7, 0.1]), 3)
    0.993
    """
    relevance, values, queries = _checked(y, scores, qid)
    check_interval("k", k, 1, integer=True, options=[None])
    check_option("gain", gain, ("exponential", "linear"))
    return _mean(ndcg_by_query(relevance, values, queries, k=k, gain=gain), "a relevant item")


def mean_average_precision(
    y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None, *, threshold: float = 0.0
) -> float:
    r"""Return the average precision, mean over queries (MAP).

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevance; items above `threshold` are relevant.
    scores : array-like of shape (n,)
        Scores to sort the items by, greatest first.
    qid : array-like of shape (n,), optional
        Query of each row; None = all are one query.
    threshold : float, default=0.0
        Items above it are relevant.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError
        If no query has a relevant item.

    Notes
    -----
    .. math:: \mathrm{AP} = \frac{1}{R} \sum_{p:\; y_p \text{ relevant}} \mathrm{precision}(p)

    Items of equal score are taken together: the precision after the last of them counts, as in
    scikit-learn. A query without a relevant item is skipped.

    Examples
    --------
    >>> round(mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1]), 3)
    0.833
    """
    relevance, values, queries = _checked(y, scores, qid)
    found = precision_by_query(relevance > threshold, values, queries)
    return _mean(found, f"an item with y > {threshold:g}")


def mean_auc(
    y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None, *, threshold: float = 0.0
) -> float:
    r"""Return the area under the ROC curve, mean over queries.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevance; items above `threshold` are relevant.
    scores : array-like of shape (n,)
        Scores to sort the items by, greatest first.
    qid : array-like of shape (n,), optional
        Query of each row; None = all are one query.
    threshold : float, default=0.0
        Items above it are relevant.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError
        If no query has both relevant and irrelevant items.

    Notes
    -----
    The share of pairs of a relevant and an irrelevant item that are in the right order, equal
    scores counted half: one minus the error of a bipartite ranking. A query without both kinds of
    item is skipped.

    Examples
    --------
    >>> mean_auc([1, 0, 1, 0], [4, 3, 2, 1])
    0.75
    """
    relevance, values, queries = _checked(y, scores, qid)
    found = auc_by_query(relevance > threshold, values, queries)
    return _mean(found, f"items with y > {threshold:g} and others")


def kendall_tau(y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> float:
    r"""Return Kendall's rank correlation of relevance and score, mean over queries.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevance.
    scores : array-like of shape (n,)
        Scores to sort the items by, greatest first.
    qid : array-like of shape (n,), optional
        Query of each row; None = all are one query.

    Returns
    -------
    float
        In [-1, 1].

    Raises
    ------
    DataError
        If the relevance varies in no query.

    Notes
    -----
    .. math:: \tau_b = \frac{C - D}{\sqrt{(C + D + T_y) (C + D + T_s)}}

    with C pairs in the same and D in the opposite order, T pairs equal in one of the two only.
    Scores that are all equal have a tau of 0, as a random order has on average; a query of constant
    relevance is skipped.

    Examples
    --------
    >>> round(kendall_tau([3, 2, 1, 0], [9, 7, 8, 1]), 3)
    0.667
    """
    relevance, values, queries = _checked(y, scores, qid)
    return _mean(tau_by_query(relevance, values, queries), "two items of different y")


def omega_loss(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    omega: str | Cost = "misordered",
    k: int = 10,
    normalize: bool = False,
) -> float:
    r"""Return the cost of the pairs in the wrong order, mean over queries.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevance; its order is the true ranking.
    scores : array-like of shape (n,)
        Scores to sort the items by, greatest first.
    qid : array-like of shape (n,), optional
        Query of each row; None = all are one query.
    omega : {'misordered', 'distance', 'discount', 'top_k'} or callable, default='misordered'
        Cost of a pair by its true positions, 1 = best; see `assay.ranking.costs`. A function is
        checked for symmetry, monotonicity and the triangle inequality.
    k : int, default=10
        Number of top positions for 'top_k'.
    normalize : bool, default=False
        Whether to divide by the cost of the reversed ranking, so that the loss is in [0, 1].

    Returns
    -------
    float

    Raises
    ------
    DataError
        If no query has two items of different relevance (and of positive cost, if `normalize`).
    ParameterError
        If `omega` breaks its rules.

    Notes
    -----
    .. math:: L = \sum_{u \ne v} [\sigma_u < \sigma_v]\, [\hat\sigma_v < \hat\sigma_u]\,
              \omega(\sigma_u, \sigma_v)

    with the true positions :math:`\sigma` (1 + number of items of higher relevance) and the
    predicted :math:`\hat\sigma`. Pairs of equal relevance cost nothing; pairs of equal score cost
    half. 'misordered' counts Kendall's inversions; for two values of relevance and `normalize` it
    is 1 - AUC. Queries without a pair are skipped. Time is quadratic in the items of a query.

    Examples
    --------
    >>> omega_loss([3, 2, 1, 0], [9, 7, 8, 1])
    1.0
    >>> omega_loss([3, 2, 1, 0], [9, 7, 8, 1], omega="top_k", k=1)
    0.0
    """
    relevance, values, queries = _checked(y, scores, qid)
    cost = cost_of(omega, k)
    check_option("normalize", normalize, (True, False))
    if callable(omega):
        check_omega(omega, int(queries.sizes.max()))
    loss, most = omega_by_query(relevance, values, queries, cost)
    if normalize:
        with np.errstate(invalid="ignore"):
            loss = loss / most
    return _mean(loss, "two items of different y")


def ndcg_by_query(
    relevance: Floats,
    scores: Floats,
    queries: Queries,
    *,
    k: int | None = 10,
    gain: str = "exponential",
) -> Floats:
    """Return the NDCG of each query; NaN without a relevant item."""
    if relevance.min() < 0:
        row = int(np.argmin(relevance))
        raise DataError(f"NDCG needs relevances >= 0; got {relevance[row]:g} in row {row}")
    if gain == "exponential":
        # Beyond, 2^y drowns all smaller gains, and finally overflows.
        if relevance.max() > 60:
            raise DataError(
                f"relevances up to {relevance.max():g} are too large for gains 2^y - 1; use "
                "linear gains, or grades such as 0 to 4"
            )
        gains = np.exp2(relevance) - 1
    else:
        gains = relevance
    place = np.arange(len(scores)) - np.repeat(queries.starts[:-1], queries.sizes)
    weight = 1 / np.log2(place + 2.0)
    if k is not None:
        weight[place >= k] = 0.0
    first = queries.starts[:-1]
    by = np.lexsort((-scores, queries.codes))
    ties = _tie_starts(scores[by], queries.codes[by])
    count = np.diff(np.append(ties, len(by)))
    # Items of equal score share the gains of their positions.
    mean_gain = np.add.reduceat(gains[by], ties) / count
    found = np.add.reduceat(weight * np.repeat(mean_gain, count), first)
    best = np.lexsort((-gains, queries.codes))
    most = np.add.reduceat(weight * gains[best], first)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(most > 0, np.minimum(found / most, 1.0), np.nan)


def precision_by_query(relevant: NDArray[np.bool_], scores: Floats, queries: Queries) -> Floats:
    """Return the average precision of each query; NaN without a relevant item."""
    by = np.lexsort((-scores, queries.codes))
    code = queries.codes[by]
    ties = _tie_starts(scores[by], code)
    ends = np.append(ties[1:], len(by)) - 1
    hits = np.add.reduceat(relevant[by].astype(np.float64), ties)
    before = np.concatenate([[0.0], np.cumsum(relevant[by])])
    query = code[ties]
    start = queries.starts[query]
    precision = (before[ends + 1] - before[start]) / (ends + 1 - start)
    total = np.bincount(query, weights=hits, minlength=len(queries))
    found = np.bincount(query, weights=hits * precision, minlength=len(queries))
    with np.errstate(invalid="ignore"):
        return found / total


def auc_by_query(relevant: NDArray[np.bool_], scores: Floats, queries: Queries) -> Floats:
    """Return the area under the ROC curve of each query; NaN without both kinds of item."""
    by = np.lexsort((scores, queries.codes))
    code = queries.codes[by]
    ties = _tie_starts(scores[by], code)
    count = np.diff(np.append(ties, len(by)))
    rank = np.repeat(ties + (count + 1) / 2, count) - queries.starts[code]
    n_queries = len(queries)
    positive = np.bincount(queries.codes, weights=relevant, minlength=n_queries)
    negative = queries.sizes - positive
    ranks = np.bincount(code, weights=rank * relevant[by], minlength=n_queries)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (ranks - positive * (positive + 1) / 2) / (positive * negative)


def tau_by_query(relevance: Floats, scores: Floats, queries: Queries) -> Floats:
    """Return Kendall's tau-b of each query, 0 for equal scores; NaN for constant relevance."""
    found = np.full(len(queries), np.nan)
    for query in range(len(queries)):
        rows = queries.rows(query)
        truth, score = relevance[rows], scores[rows]
        if np.ptp(truth) > 0:
            found[query] = kendalltau(truth, score).statistic if np.ptp(score) > 0 else 0.0
    return found


def omega_by_query(
    relevance: Floats, scores: Floats, queries: Queries, cost: Cost
) -> tuple[Floats, Floats]:
    """Return loss and largest possible loss of each query; NaN without a pair."""
    loss, most = np.full((2, len(queries)), np.nan)
    positions = queries.positions(relevance)
    for query in range(len(queries)):
        rows = queries.rows(query)
        # Best first: for each item, those of lower relevance come last.
        rows = rows[np.argsort(positions[rows], kind="stable")]
        place, score = positions[rows], scores[rows]
        if place[0] == place[-1]:
            continue
        loss[query] = most[query] = 0.0
        step = max(1, _BLOCK // len(rows))
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            better, worse = np.nonzero(place[block, None] < place[None, :])
            better += start
            price = costs_of_pairs(cost, place[better], place[worse])
            gap = score[better] - score[worse]
            loss[query] += price @ ((gap < 0) + 0.5 * (gap == 0))
            most[query] += price.sum()
    return loss, most


def _checked(
    y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None
) -> tuple[Floats, Floats, Queries]:
    relevance, values = real_values(y), real_values(scores)
    if len(values) != len(relevance):
        raise DataError(f"y has {len(relevance)} rows but scores has {len(values)}")
    return relevance, values, Queries.of(qid, len(relevance))


def _mean(values: Floats, need: str) -> float:
    defined = values[np.isfinite(values)]
    if not len(defined):
        raise DataError(f"none of the {len(values)} queries has {need}: the metric is undefined")
    return float(defined.mean())


def _tie_starts(scores: Floats, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where a new score or a new query begins in sorted rows."""
    new = np.ones(len(scores), dtype=bool)
    new[1:] = (scores[1:] != scores[:-1]) | (codes[1:] != codes[:-1])
    return np.flatnonzero(new)
