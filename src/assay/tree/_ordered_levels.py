"""Encode nominal columns as binary columns, in the order of the mean target of the categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

#: With more categories than this, categories share groups, so that a column of names cannot
#: memorise the target.
MAX_GROUPS = 16


def level_groups(codes: Floats, target: Floats, weight: Floats, n_levels: int) -> Ints:
    """Return the group of each category: in the order of mean target, rare ones together.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Category codes; NaN = missing.
    target, weight : ndarray of shape (n_samples,)
        Targets and weights.
    n_levels : int
        Number of categories.

    Returns
    -------
    ndarray of int32 of shape (n_levels,)
        Groups 0, 1, ... with increasing mean target; as many as categories, at most `MAX_GROUPS`.
    """
    known = ~np.isnan(codes)
    level = codes[known].astype(np.int64)
    heavy = np.bincount(level, weight[known], n_levels)
    sums = np.bincount(level, (weight * target)[known], n_levels)
    # A category without weight has no mean; it comes first.
    mean = np.divide(sums, heavy, out=np.full(n_levels, -np.inf), where=heavy > 0)
    order = np.lexsort((np.arange(n_levels), mean))
    group = np.empty(n_levels, dtype=np.int64)
    if n_levels <= MAX_GROUPS:
        group[order] = np.arange(n_levels)
    else:
        before = np.cumsum(heavy[order]) - heavy[order]
        group[order] = (before * MAX_GROUPS / heavy.sum()).astype(np.int64)
        group = np.unique(np.minimum(group, MAX_GROUPS - 1), return_inverse=True)[1]
    return group.astype(np.int32)


def expand(X: Floats, nominal: dict[int, Ints]) -> Floats:
    """Return the table with each nominal column replaced by one column per step between groups.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers and category codes.
    nominal : dict of int to ndarray
        Groups of the categories of each nominal column.

    Returns
    -------
    ndarray of shape (n_samples, n_expanded)
        Step s of a column is 1 if the group of the category is s or later; NaN if the category is
        missing or unseen in fit.
    """
    parts = []
    for j in range(X.shape[1]):
        if j not in nominal:
            parts.append(X[:, [j]])
            continue
        group = nominal[j]
        known = (X[:, j] >= 0) & (X[:, j] < len(group))
        own = np.append(group, -1)[np.where(known, X[:, j], len(group)).astype(np.int64)]
        steps = (own[:, None] >= np.arange(1, n_groups(group))).astype(np.float64)
        steps[~known] = np.nan
        parts.append(steps)
    return np.concatenate(parts, axis=1)


def n_groups(group: Ints) -> int:
    """Return the number of groups."""
    return int(group.max()) + 1 if len(group) else 1
