"""Nominal columns: which they are, and their categories as codes 0..L-1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay._core import levels as kernels
from assay.base._errors import DataError, ParameterError, did_you_mean
from assay.base._frames import is_missing, is_nominal

_ALLOWED = (
    "'from_dtype', None, or an array of column names, column numbers or one boolean per column"
)


def nominal_columns(
    categorical_features: ArrayLike | str | None, n_features: int, frame: nw.DataFrame[Any] | None
) -> NDArray[np.int64]:
    """Resolve the parameter `categorical_features` to sorted column numbers.

    Parameters
    ----------
    categorical_features : {'from_dtype'}, array-like of str, int or bool, or None
        ``'from_dtype'`` takes the categorical, enum and text columns of a dataframe, and none of
        an array.
    n_features : int
        Number of columns.
    frame : narwhals.DataFrame or None
        The table, when it has names and dtypes.

    Returns
    -------
    ndarray of int64
        Distinct column numbers, ascending.

    Examples
    --------
    >>> nominal_columns([True, False, True], 3, None)
    array([0, 2])
    """
    name = "categorical_features"
    if categorical_features is None:
        return np.empty(0, dtype=np.int64)
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ParameterError(f"{name} must be {_ALLOWED}; got {categorical_features!r}")
        dtypes = [] if frame is None else [column.dtype for column in frame.iter_columns()]
        return np.array([j for j, dtype in enumerate(dtypes) if is_nominal(dtype)], dtype=np.int64)
    given = np.asarray(categorical_features)
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.ndim == 1 and given.dtype.kind == "b":
        if given.size != n_features:
            raise ParameterError(
                f"{name} as booleans needs one per column ({n_features}); got {given.size}"
            )
        return np.flatnonzero(given).astype(np.int64)
    if given.ndim == 1 and given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= n_features:
            bad = given[(given < 0) | (given >= n_features)][0]
            raise ParameterError(
                f"{name} as column numbers must be in [0, {n_features - 1}]; got {bad}"
            )
        return np.unique(given).astype(np.int64)
    if given.ndim == 1 and all(isinstance(item, str) for item in given.tolist()):
        return _by_name(given.tolist(), frame)
    raise ParameterError(f"{name} must be {_ALLOWED}; got {categorical_features!r}")


def _by_name(names: list[str], frame: nw.DataFrame[Any] | None) -> NDArray[np.int64]:
    if frame is None:
        raise ParameterError(
            "categorical_features names columns, but X is an array without names; "
            "give column numbers or pass a dataframe"
        )
    position = {column: j for j, column in enumerate(frame.columns)}
    for name in names:
        if name not in position:
            raise ParameterError(
                f"categorical_features names column {name!r}, which X does not have"
                f"{did_you_mean(name, position)}"
            )
    return np.unique([position[name] for name in names]).astype(np.int64)


@dataclass(frozen=True)
class Levels:
    """The categories of all nominal columns of a model, in two flat arrays.

    Parameters
    ----------
    names : ndarray of str
        Categories of the first nominal column, then of the second, and so on. A number that is
        a category is written as text (``1.0`` as ``"1"``).
    offsets : ndarray of int64 of shape (n_nominal + 1,)
        Column c has ``names[offsets[c]:offsets[c + 1]]``.

    Notes
    -----
    A category unseen in `learn` gets code L, one past the last; a missing value gets NaN. Text is
    in alphabetical order, numbers in numeric order, so the codes do not depend on row order.

    Examples
    --------
    >>> import numpy as np
    >>> levels = Levels.learn([np.array(["b", "a", "b"])])
    >>> levels.names.tolist(), levels.codes(0, np.array(["a", "c"])).tolist()
    (['a', 'b'], [0.0, 2.0])
    """

    names: NDArray[np.str_]
    offsets: NDArray[np.int64]

    @classmethod
    def learn(cls, columns: Sequence[NDArray[Any]]) -> Levels:
        """Learn the categories from the columns of a training table."""
        found = [_names(column) for column in columns]
        offsets = np.cumsum([0, *map(len, found)]).astype(np.int64)
        names = np.array([name for level in found for name in level], dtype=np.str_)
        return cls(names, offsets)

    def of(self, column: int) -> NDArray[np.str_]:
        """Return the categories of one nominal column."""
        return self.names[self.offsets[column] : self.offsets[column + 1]]

    def are_codes(self, rows: NDArray[np.float64], columns: Sequence[int]) -> bool:
        """Return whether the nominal columns of a matrix already hold their codes or NaN."""
        counts = [len(self.of(c)) for c in range(len(columns))]
        return all(
            self.of(c).tolist() == _first_numbers(count) for c, count in enumerate(counts)
        ) and kernels.are_codes(
            rows, np.array(columns, dtype=np.int64), np.array(counts, dtype=np.float64)
        )

    def put_codes(self, rows: NDArray[np.float64], columns: Sequence[int]) -> list[int]:
        """Replace numeric categories in a matrix by codes; return which nominal columns are left.

        Left are columns with a category that is not a whole number below 65,536.
        """
        found = {c: self._by_number(c) for c in range(len(columns))}
        tables = {c: table for c, table in found.items() if table is not None}
        kernels.put_codes(
            rows,
            np.array([columns[c] for c in tables], dtype=np.int64),
            np.cumsum([0, *map(len, tables.values())], dtype=np.int64),
            np.concatenate([np.empty(0), *tables.values()]),
            np.array([len(self.of(c)) for c in tables], dtype=np.float64),
        )
        return [c for c in range(len(columns)) if c not in tables]

    def _by_number(self, column: int) -> NDArray[np.float64] | None:
        """Return the codes of categories 0, 1, 2 ...; None if one is another number or text."""
        names = self.of(column).tolist()
        if names == _first_numbers(len(names)):
            return np.arange(len(names), dtype=np.float64)
        numbers = [number for name in names if (number := _whole_number(name)) is not None]
        if len(numbers) < len(names):
            return None
        table = np.full(max(numbers, default=-1) + 1, float(len(names)))
        table[numbers] = np.arange(len(names))
        return table

    def codes(self, column: int, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the values of one nominal column as codes."""
        if values.dtype.kind in "fiu":
            rows = values.astype(np.float64)[:, None]
            alone = Levels(self.of(column), np.array([0, len(self.of(column))]))
            if not alone.put_codes(rows, [0]):
                return rows[:, 0]
        known = {name: code for code, name in enumerate(self.of(column).tolist())}
        names, inverse = _distinct(values)
        table = np.array([*(known.get(name, len(known)) for name in names), np.nan])
        return table[inverse]


#: Whole numbers below this are looked up in a table; others by binary search.
_MOST_PLACES = 1 << 16


def _names(values: NDArray[Any]) -> list[str]:
    """Distinct values as text, in order."""
    if (whole := _whole_numbers(values)) is None:
        return _distinct(values)[0]
    numbers, missing = whole
    if missing.any():
        numbers = numbers[~missing]
    return [str(number) for number in np.flatnonzero(np.bincount(numbers)).tolist()]


def _distinct(values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Distinct values as text, and for each value its position; -1 where it is missing."""
    if values.dtype.kind in "OU":
        missing = np.array([is_missing(item) for item in values.tolist()], dtype=bool)
    else:
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    inverse = np.full(len(values), -1, dtype=np.intp)
    present = values[~missing]
    if present.dtype.kind == "O" and not all(isinstance(item, str) for item in present):
        try:
            present = present.astype(np.float64)
        except (TypeError, ValueError):
            present = present.astype(np.str_)
    distinct, inverse[~missing] = _unique(present)
    return [_text(item) for item in distinct.tolist()], inverse


def _unique(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return distinct values, ascending, and their positions; codes are counted, not sorted."""
    if (whole := _whole_numbers(values)) is not None:
        seen = np.bincount(whole[0]) > 0
        return np.flatnonzero(seen).astype(values.dtype), (np.cumsum(seen) - 1)[whole[0]]
    return np.unique(values, return_inverse=True)


def _whole_numbers(values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]] | None:
    """Return values as integers, 0 where missing, and the missing mask; None if not possible.

    Possible where all are whole and small enough to index a table.
    """
    if values.dtype.kind not in "fiu" or not len(values):
        return None
    values = np.ascontiguousarray(values)
    missing = values != values
    if missing.any():
        values = np.where(missing, 0, values)
    if not (values.min() >= 0 and float(values.max()) < _MOST_PLACES):
        return None
    numbers = values.astype(np.intp)
    return (numbers, missing) if (numbers == values).all() else None


@lru_cache(maxsize=16)
def _first_numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def _whole_number(name: str) -> int | None:
    """Return the number that `_text` wrote as `name`, if it can index a table."""
    if not name.isdecimal() or len(name) > len(str(_MOST_PLACES)) or name != str(int(name)):
        return None
    return number if (number := int(name)) < _MOST_PLACES else None


def _text(level: str | float | bool) -> str:
    if isinstance(level, str):
        if level.endswith("\0"):
            raise DataError(f"category {level!r} ends in a NUL character; clean the column first")
        return level
    return str(int(level)) if level == level // 1 else repr(level)
