"""Folds: the training rows and the held-out rows of each."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, ParameterError, as_frame, as_vector, check_interval

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


def splits(
    cv: Any,
    X: Any,
    codes: NDArray[np.int64],
    groups: NDArray[np.int64] | None,
    seed: int,
) -> list[Split]:
    """Return training and held-out rows such that every row is held out exactly once.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        Number of folds, a splitter, or the splits themselves.
    X : table
        The rows; only a splitter passed by the user reads more than their number.
    codes : ndarray of int64 of shape (n_rows,)
        Class codes to balance over the folds; zeros for a regression.
    groups : ndarray of int64 of shape (n_rows,) or None
        Rows of one group stay in one fold.
    seed : int
        Seed of the folds when `cv` is a number.

    Returns
    -------
    list of (train, test)
        Row numbers, ascending.
    """
    n = len(codes)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        check_interval("cv", cv, 2, integer=True)
        fold = fold_numbers(int(cv), codes, groups, seed)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(cv))]
    made = _made_by_the_user(cv, X, codes, groups)
    held_out = np.sort(np.concatenate([test for _, test in made])) if made else np.empty(0)
    if not np.array_equal(held_out, np.arange(n)):
        raise ParameterError(
            f"cv must hold out every row exactly once; got {cv!r}, which does not "
            "(repeated and forward splits cannot be stacked)"
        )
    for train, test in made:
        if not len(train) or np.intersect1d(train, test).size:
            raise ParameterError(
                f"cv must train on rows other than those held out; got {cv!r}, which does not"
            )
    return made


def fold_numbers(
    n_folds: int, codes: NDArray[np.int64], groups: NDArray[np.int64] | None, seed: int
) -> NDArray[np.int64]:
    """Assign rows, or whole groups of rows, to folds with balanced classes.

    Parameters
    ----------
    n_folds : int
        At least 2.
    codes : ndarray of int64 of shape (n_rows,)
        Classes.
    groups : ndarray of int64 of shape (n_rows,) or None
        Group numbers 0, 1, ...
    seed : int
        Seed of the order in which rows are assigned.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        The fold of each row. Sizes differ by at most 1 without groups, and so do the numbers of
        rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> fold_numbers(2, np.array([0, 0, 0, 0, 1, 1]), None, seed=0).tolist()
    [0, 1, 1, 0, 1, 0]
    """
    n = len(codes)
    units = n if groups is None else int(groups.max()) + 1
    if units < n_folds:
        what = "rows" if groups is None else "groups"
        raise DataError(
            f"{n_folds} folds need at least {n_folds} {what}; got n_samples={n}"
            + ("" if groups is None else f" in {units} groups")
        )
    shuffled = np.random.default_rng(seed).permutation(units)
    fold = np.empty(units, dtype=np.int64)
    if groups is None:
        by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
        fold[by_class] = np.arange(n) % n_folds
        return fold
    counts = np.zeros((units, int(codes.max()) + 1))
    np.add.at(counts, (groups, codes), 1.0)
    shares = counts / counts.sum(axis=0).clip(min=1.0)
    load = np.zeros((n_folds, counts.shape[1]))
    for group in shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]:
        # The fold that has the smallest number of rows so far of the classes in the group.
        fold[group] = np.lexsort((load.sum(axis=1), load @ shares[group]))[0]
        load[fold[group]] += shares[group]
    return fold[groups]


def group_numbers(groups: Any, X: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Return the group of each row as a number 0, 1, ...; None when there are no groups.

    Parameters
    ----------
    groups : array-like of shape (n_rows,), 'duplicates' or None
        Labels of any kind; 'duplicates' makes a group of rows that are equal in every column.
    X : table
        The rows.
    n_rows : int
        Their number.

    Returns
    -------
    ndarray of int64 or None
    """
    if groups is None:
        return None
    if isinstance(groups, str):
        if groups != "duplicates":
            raise DataError(
                f"groups must be one label per row, 'duplicates' or None; got {groups!r}"
            )
        return _equal_rows(X)
    labels = np.asarray(as_vector(groups))
    if labels.shape != (n_rows,):
        raise DataError(
            f"groups must hold one label per row, shape ({n_rows},); got shape {labels.shape}"
        )
    if labels.dtype.kind == "O":
        labels = np.array([repr(label) for label in labels])
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _equal_rows(X: Any) -> NDArray[np.int64]:
    frame = as_frame(X)
    rows: Iterable[Any]
    if frame is not None:
        rows = map(repr, frame.iter_rows())
    elif hasattr(X, "tocsr"):
        ends = X.indptr
        cells = (slice(ends[i], ends[i + 1]) for i in range(X.shape[0]))
        rows = ((X.indices[s].tobytes(), (X.data[s] + 0.0).tobytes()) for s in cells)
    elif X.dtype.kind in "fiub":
        rows = (row.tobytes() for row in np.ascontiguousarray(X) + 0.0)  # -0.0 becomes 0.0
    else:
        rows = (repr(row.tolist()) for row in X)
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)


def _made_by_the_user(
    cv: Any, X: Any, codes: NDArray[np.int64], groups: NDArray[np.int64] | None
) -> list[Split]:
    wanted = "cv must be an integer >= 2, a splitter with a method split, or (train, test) pairs"
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        hint = "; a fitted model has already seen the rows it would have to predict"
        raise ParameterError(f"{wanted}; got {cv!r}{hint if cv == 'prefit' else ''}")
    pairs = cv.split(X, codes, groups) if hasattr(cv, "split") else cv
    try:
        return [
            (np.sort(np.asarray(train, np.int64)), np.sort(np.asarray(test, np.int64)))
            for train, test in pairs
        ]
    except (TypeError, ValueError):
        raise ParameterError(f"{wanted}; got {cv!r}") from None
