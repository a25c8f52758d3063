"""Choose the rows of a test set: like the others, and sharing no group with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Task, check_interval
from assay.select.plan._blocks import linked, make_blocks
from assay.select.plan._duplicates import are_copies, duplicate_ids

# Shares are made of whole blocks, at most this many.
_MAX_BLOCKS = 20


def set_aside(
    X: NDArray[Any],
    y: NDArray[Any],
    share: float,
    *,
    task: str,
    groups: NDArray[Any] | None = None,
    time: NDArray[Any] | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Choose the rows of a test set.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows; duplicates stay on one side.
    y : ndarray of shape (n_samples,)
        Class codes or numbers; both sides are balanced by class or quantile.
    share : float in [0.05, 0.5]
        Share of the rows in the test set, in steps of a twentieth or coarser.
    task : {"binary", "multiclass", "regression", "rank"}
        What `y` is.
    groups : ndarray of shape (n_samples,), optional
        Whole groups stay on one side.
    time : ndarray of shape (n_samples,), optional
        The last rows in time are the test set.
    seed : int, default=0
        Seed of the draw.

    Returns
    -------
    test, train : ndarray of bool of shape (n_samples,)
        A row may be on neither side: with a time, earlier rows of a group that is tested.

    Examples
    --------
    >>> X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    >>> test, train = set_aside(X, y, 0.2, task="binary", time=np.arange(10))
    >>> np.flatnonzero(test).tolist(), int(train.sum())
    ([8, 9], 8)
    """
    check_interval("share", share, 0.05, 0.5)
    ratio = Fraction(share).limit_denominator(_MAX_BLOCKS)
    of, count = ratio.denominator, ratio.numerator
    if time is not None:
        labels = make_blocks(y, of, task=task, time=time)
        test = labels >= of - count
        train = ~test
        if groups is not None:
            train &= ~np.isin(groups, np.unique(groups[test]))
        return test, train
    ids = duplicate_ids(X)
    together = linked(groups, ids if are_copies(X, ids) else None)
    if together is not None and int(together.max()) + 1 < 2 * of:
        together = linked(groups)
    test = make_blocks(y, of, task=task, groups=together, seed=seed) < count
    if together is None and Task.of(task).has_classes:
        # A class whose only row is set aside could not be learned.
        test &= np.isin(y, y[~test])
    return test, ~test
