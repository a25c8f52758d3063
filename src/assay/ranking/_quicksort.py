r"""Randomised quicksort with any preference as comparator, in batches.

A random item of every part is its pivot; items preferred to it go before it, the others after it. A
transitive preference is sorted exactly. With a cyclic one, the expected loss of the order is at
most twice the loss of the preference.

Cost    O(m log m) expected comparisons for m items, in O(log m) batches: all open parts of all
queries are compared in one batch.
Source  Ailon and Mohri (2008), An efficient reduction of ranking to classification; Ailon, Charikar
and Newman (2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import DataError, check_interval, draw_seed
from assay.evaluate import Queries

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sorted:
    """An order of items, and the number of comparisons.

    Parameters
    ----------
    order : ndarray of int64 of shape (n,)
        Rows, query after query, from best to worst.
    n_comparisons : int
        Number of pairs compared.
    n_levels : int
        Number of batches of comparisons.
    """

    order: Rows
    n_comparisons: int
    n_levels: int


def preference_sort(
    n_items: int,
    prefer: Callable[[Rows, Rows], ArrayLike],
    *,
    qid: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Sorted:
    """Sort items by comparing pairs of them.

    Parameters
    ----------
    n_items : int
        Number of items, which are numbered from 0.
    prefer : callable
        ``prefer(first, second)`` of two integer arrays returns a number for each pair: positive if
        the first item belongs before the second, negative if after it. Ties (0) keep the order of
        their numbers.
    qid : array-like of shape (n_items,), optional
        Query of each item; only items of one query are compared. None = all are one query.
    random_state : int, RandomState or None, default=None
        Seed of the pivots.

    Returns
    -------
    Sorted
        The order (query after query), and the number of comparisons.

    Examples
    --------
    >>> weight = np.array([3.0, 9.0, 1.0, 5.0])
    >>> found = preference_sort(4, lambda a, b: weight[a] - weight[b], random_state=0)
    >>> found.order.tolist()
    [1, 3, 0, 2]
    """
    check_interval("n_items", n_items, 1, integer=True)
    priority = np.random.default_rng(draw_seed(random_state)).permutation(n_items)
    return quicksort(Queries.of(qid, n_items), priority, prefer)


def quicksort(
    queries: Queries, priority: NDArray[np.generic], prefer: Callable[[Rows, Rows], ArrayLike]
) -> Sorted:
    """Sort the items of every query; the pivot of a part is its item of lowest priority.

    Independent random priorities make every item of a part equally likely to be its pivot, and the
    order of one query does not depend on the others.
    """
    # By priority: the pivot of a part is then always its first item.
    rank = np.empty(len(priority), dtype=np.int64)
    rank[np.lexsort((np.arange(len(priority)), priority))] = np.arange(len(priority))
    items = queries.order[np.lexsort((rank[queries.order], queries.codes[queries.order]))]
    starts = queries.starts[:-1]
    place = np.repeat(starts, queries.sizes)  # where the part of each item begins
    found = np.empty(len(items), dtype=np.int64)
    n_comparisons = n_levels = 0
    while len(items):
        new = np.ones(len(items), dtype=bool)
        new[1:] = place[1:] != place[:-1]
        part = np.cumsum(new) - 1
        pivots = items[new]
        others = ~new
        first, second = items[others], pivots[part[others]]
        before = _before(first, second, prefer)
        n_comparisons += len(first)
        n_levels += bool(len(first))
        ahead = np.bincount(part[others], before, len(pivots)).astype(np.int64)
        found[place[new] + ahead] = pivots
        goes = place[others] + np.where(before, 0, ahead[part[others]] + 1)
        # A stable sort by part keeps priorities ascending inside.
        by = np.argsort(goes, kind="stable")
        items, place = first[by], goes[by]
    return Sorted(found, n_comparisons, n_levels)


def _before(
    first: Rows, second: Rows, prefer: Callable[[Rows, Rows], ArrayLike]
) -> NDArray[np.bool_]:
    if not len(first):
        return np.empty(0, dtype=bool)
    preference = np.asarray(prefer(first, second), dtype=np.float64)
    if preference.shape != first.shape or np.isnan(preference).any():
        raise DataError(
            f"prefer must return one number per pair, shape {first.shape}, none of them NaN; "
            f"got shape {preference.shape}"
        )
    return np.where(preference == 0, first < second, preference > 0)
