"""Sets of labels, one set per row, as a matrix of zeros and ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay.base import DataError, as_vector, class_codes

_ALLOWED = (
    "a matrix of 0 and 1 with one column per label, one set of labels per row, or one label per row"
)


def label_matrix(
    Y: Any, classes: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the labels and, for each row and label, whether the row has it.

    Parameters
    ----------
    Y : array-like of shape (n_rows, n_labels), sparse matrix, or sequence of sets
        A matrix of 0 and 1; a sequence of sets, lists or tuples of labels; or one label per row.
    classes : ndarray, optional
        The labels, if already known; other labels raise an error.

    Returns
    -------
    classes : ndarray of shape (n_labels,)
        Column numbers for a matrix, else the labels, sorted.
    matrix : ndarray of int64 of shape (n_rows, n_labels)

    Examples
    --------
    >>> classes, matrix = label_matrix([{"red", "big"}, set(), ["big"]])
    >>> classes.tolist(), matrix.tolist()
    (['big', 'red'], [[1, 1], [0, 0], [1, 0]])
    """
    if issparse(Y):
        return _checked(np.asarray(Y.toarray()), classes)
    given = as_vector(Y)
    if not isinstance(given, np.ndarray):
        if _are_sets(given):
            return _from_sets(list(given), classes)
        try:
            given = np.asarray(given)
        except ValueError:
            raise DataError(f"y must be {_ALLOWED}; got a mixture of kinds") from None
    if given.dtype.kind == "O" and given.ndim == 1 and _are_sets(given.tolist()):
        return _from_sets(given.tolist(), classes)
    if given.ndim == 1 and len(given):
        found, codes = class_codes(given)
        return _from_sets([(found[code],) for code in codes], classes)
    return _checked(given, classes)


def _are_sets(given: Any) -> bool:
    """Return whether rows are sets of labels; equally long lists of 0 and 1 are a matrix."""
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        return False
    rows = list(given)
    if not rows or not all(isinstance(row, (set, frozenset, list, tuple)) for row in rows):
        return False
    if any(isinstance(row, (set, frozenset)) for row in rows):
        return True
    same = len({len(row) for row in rows}) == 1 and len(rows[0]) > 0
    return not (same and all(_is_bit(item) for row in rows for item in row))


def _is_bit(item: Any) -> bool:
    return isinstance(item, (bool, int, float, np.number, np.bool_)) and item in (0, 1)


def _from_sets(
    rows: list[Any], classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    every = [label for row in rows for label in row]
    if not every and classes is None:
        raise DataError("y has no label in any row; at least one is needed")
    known = class_codes(every)[0] if classes is None else classes
    position = {label: at for at, label in enumerate(known.tolist())}
    matrix = np.zeros((len(rows), len(known)), dtype=np.int64)
    for at, row in enumerate(rows):
        for label in row:
            plain = label.item() if isinstance(label, np.generic) else label
            if plain not in position:
                raise DataError(f"y has the label {plain!r} in row {at}, which was not seen in fit")
            matrix[at, position[plain]] = 1
    return known, matrix


def _checked(
    given: NDArray[Any], classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if given.ndim != 2 or given.dtype.kind not in "biuf" or not given.size:
        raise DataError(f"y must be {_ALLOWED}; got shape {given.shape} of {given.dtype}")
    wrong = np.argwhere((given != 0) & (given != 1))
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"y must be {_ALLOWED}; got {given[row, column].item()!r} in row {row}, column {column}"
        )
    if classes is not None and given.shape[1] != len(classes):
        raise DataError(f"y must have {len(classes)} columns, as in fit; got {given.shape[1]}")
    known = np.arange(given.shape[1]) if classes is None else classes
    return known, given.astype(np.int64)
