"""Any table as one matrix: NumPy, pandas, Polars, Arrow (through narwhals)."""

from __future__ import annotations

from typing import Any, NoReturn

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from assay.base._errors import DataError

#: Column types that are read as numbers.
_NUMBERS = (nw.Boolean, nw.Decimal)
#: Column types that are nominal by their dtype alone.
_TEXT = (nw.Categorical, nw.Enum, nw.String)


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a dataframe of any library as a narwhals frame; None when X is none.

    Parameters
    ----------
    X : object
        Anything a user may pass as a table.

    Returns
    -------
    narwhals.DataFrame or None

    Examples
    --------
    >>> import polars as pl
    >>> as_frame(pl.DataFrame({"a": [1.0]})).columns
    ['a']
    >>> as_frame([[1.0]]) is None
    True
    """
    if isinstance(X, np.ndarray):  # the common case needs no further test
        return None
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"X has duplicate column names: {error}") from None
    if isinstance(frame, nw.LazyFrame):
        raise DataError("X is a lazy frame, whose rows are not computed yet; pass X.collect()")
    return frame if isinstance(frame, nw.DataFrame) else None


def as_vector(y: Any) -> Any:
    """Return a series or frame of any library as an array; anything else as it is.

    Parameters
    ----------
    y : object
        Anything a user may pass as a target.

    Returns
    -------
    ndarray or object

    Examples
    --------
    >>> import polars as pl
    >>> as_vector(pl.Series([1.5, 2.5]))
    array([1.5, 2.5])
    """
    if isinstance(y, np.ndarray):
        return y
    column = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(column, (nw.Series, nw.DataFrame)):
        return column.to_numpy()
    return y


def is_missing(item: object) -> bool:
    """Return whether one object of a column stands for a missing value (None, NaN, NA, NaT)."""
    if item is None or (isinstance(item, float) and item != item):
        return True
    return type(item).__name__ in ("NAType", "NaTType")  # pandas' own, without importing pandas


def is_nominal(dtype: nw.dtypes.DType) -> bool:
    """Return whether a column of this dtype is nominal (categorical, enum or text)."""
    return dtype in _TEXT


def float_matrix(frame: nw.DataFrame[Any], skip: frozenset[int], owner: str) -> NDArray[Any]:
    """Return the columns as a C-ordered float matrix, missing values as NaN.

    Parameters
    ----------
    frame : narwhals.DataFrame
        The table.
    skip : frozenset of int
        Columns that the caller fills in itself (nominal ones); left as NaN.
    owner : str
        Class name, for the message.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        float32 when every column is float32, else float64.
    """
    columns = list(frame.iter_columns())  # pandas may name columns by numbers
    small = bool(columns) and not skip and all(column.dtype == nw.Float32 for column in columns)
    kind = nw.Float32() if small else nw.Float64()
    rows = np.full(frame.shape, np.nan, dtype=np.float32 if small else np.float64)
    for j, column in enumerate(columns):
        if j not in skip:
            rows[:, j] = _float_column(column, kind, owner)
    return rows


def check_finite(rows: NDArray[Any], names: Any, owner: str, *, allow_nan: bool) -> None:
    """Raise on infinite values, and on NaN unless allowed, naming column and row.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The matrix.
    names : sequence of str or None
        Column names, for the message.
    owner : str
        Class name, for the message.
    allow_nan : bool
        Whether NaN is allowed, as a missing value.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return  # any NaN or infinity would make the sum not finite
    wrong = np.isinf(rows) if allow_nan else ~np.isfinite(rows)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        where = f"row {row}, column {column if names is None else repr(str(names[column]))}"
        _refuse(rows[row, column], where, owner)


def check_finite_sparse(rows: Any, owner: str, *, allow_nan: bool) -> None:
    """Do the same for the stored values of a CSR matrix."""
    wrong = np.flatnonzero(np.isinf(rows.data) if allow_nan else ~np.isfinite(rows.data))
    if wrong.size:
        at = wrong[0]
        row = np.searchsorted(rows.indptr, at, side="right") - 1
        _refuse(rows.data[at], f"row {row}, column {rows.indices[at]}", owner)


def _refuse(value: np.floating[Any], where: str, owner: str) -> NoReturn:
    if np.isnan(value):
        raise DataError(
            f"X contains NaN in {where}: {owner} takes no missing values; fill them in "
            "(assay.table.Encoder does) or leave these rows out"
        )
    raise DataError(
        f"X contains infinity or a value too large for {value.dtype} in {where}; "
        "correct it or leave the row out"
    )


def _float_column(column: nw.Series[Any], kind: nw.dtypes.DType, owner: str) -> NDArray[Any]:
    dtype = column.dtype
    if dtype.is_numeric() or dtype in _NUMBERS:
        return column.cast(kind).to_numpy()
    if dtype == nw.Object:
        try:
            return np.asarray(column.to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):
            pass
    raise DataError(
        f"column {column.name!r} is of type {dtype}, but {owner} takes numbers only; "
        "turn it into numbers first (assay.table.Encoder does) or leave it out"
    )
