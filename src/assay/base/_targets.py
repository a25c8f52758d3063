"""Targets as arrays: class codes or real values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from assay.base._errors import DataError
from assay.base._frames import as_vector, is_missing

#: Labels are counted when they span fewer integers than this.
_MOST_COUNTED = 4096


def class_codes(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, sorted, and each label as its position among them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels: text, integers, booleans or whole numbers.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Text classes as a unicode array, never as objects.
    codes : ndarray of int64 of shape (n_samples,)

    Raises
    ------
    DataError
        For missing labels, for real values, and for more than one column.

    Examples
    --------
    >>> classes, codes = class_codes(["yes", "no", "yes"])
    >>> classes.tolist(), codes.tolist()
    (['no', 'yes'], [1, 0, 1])
    """
    try:
        labels = column_or_1d(as_vector(y), warn=True)
        if labels.dtype.kind == "O":
            labels = _without_objects(labels)
        known = _counted_codes(labels)
        if known is not None:
            return known
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(str(error)) from None
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _counted_codes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Do the same for integers in a narrow range, by counting instead of sorting."""
    if labels.dtype.kind not in "iu" or not len(labels):
        return None
    low, high = int(labels.min()), int(labels.max())
    if high - low >= _MOST_COUNTED or high > np.iinfo(np.int64).max:
        return None
    places = labels.astype(np.int64, copy=False) - low
    counts = np.bincount(places)
    classes = np.flatnonzero(counts)
    if 2 * len(classes) > len(labels):
        return None  # left to the path where scikit-learn warns about the number of classes
    codes = places if len(classes) == len(counts) else (np.cumsum(counts > 0) - 1)[places]
    return (classes + low).astype(labels.dtype), codes.astype(np.int64, copy=False)


def real_values(y: ArrayLike, *, multi_output: bool = False) -> NDArray[np.float64]:
    """Return the targets of a regression as finite float64 values.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    multi_output : bool, default=False
        Whether more than one column is allowed.

    Returns
    -------
    ndarray of float64, C order

    Examples
    --------
    >>> real_values([1, 2])
    array([1., 2.])
    """
    try:
        values = as_vector(y)
        values = check_array(values, dtype=np.float64, order="C", ensure_2d=False, input_name="y")
        if multi_output and values.ndim == 2:
            return values  # type: ignore[no-any-return]
        return np.ascontiguousarray(column_or_1d(values, warn=True))
    except ValueError as error:
        raise DataError(str(error)) from None


def as_unicode(values: NDArray[Any], what: str) -> NDArray[np.str_]:
    """Return an object array of strings as a unicode array of the same strings."""
    if any(item.endswith("\0") for item in values.ravel().tolist()):
        # NumPy strips NUL at the end of a string: two labels could become one.
        raise DataError(f"{what} has a text that ends in a NUL character; clean it first")
    return values.astype(np.str_)


def _without_objects(labels: NDArray[Any]) -> NDArray[Any]:
    items = labels.tolist()
    missing = [row for row, item in enumerate(items) if is_missing(item)]
    if missing:
        raise DataError(
            f"y has no label in {len(missing)} of {len(items)} rows (the first is row "
            f"{missing[0]}); leave these rows out. Input y contains NaN"
        )
    if all(isinstance(item, str) for item in items):
        return as_unicode(labels, "y")
    plain = np.asarray(items)
    return plain if plain.dtype.kind in "biuf" else labels
