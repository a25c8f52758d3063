"""Tables that come with types: Parquet, Arrow and dataframes -> the five types of a RawTable."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import narwhals as nw
import polars as pl

from assay.base import DataError
from assay.table._dates import STYLES, parse_dates
from assay.table._panics import without_panic_reports
from assay.table._raw import Notes, shown

#: What Polars raises for bytes it cannot read; its panic is a BaseException.
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)

_LIMIT = 2**63


def read_parquet(data: bytes, source: str) -> pl.DataFrame:
    """Return the table of a Parquet file, with its own types."""
    if len(data) < 12 or not data.endswith(b"PAR1"):
        raise DataError(
            f"{source} is a Parquet file that is cut short (its end is missing); get it again"
        )
    return _read(lambda: pl.read_parquet(io.BytesIO(data)), "Parquet", source)


def read_arrow(data: bytes, source: str, *, stream: bool) -> pl.DataFrame:
    """Return the table of an Arrow (Feather) file or stream, with its own types."""
    if stream:
        return _read(lambda: pl.read_ipc_stream(io.BytesIO(data)), "Arrow", source)
    return _read(lambda: pl.read_ipc(io.BytesIO(data)), "Arrow", source)


def from_dataframe(table: Any) -> pl.DataFrame:
    """Return a pandas, Polars or Arrow table as a Polars frame."""
    try:
        frame = nw.from_native(table, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if not isinstance(frame, nw.DataFrame):
            raise TypeError
        if len(set(map(str, frame.columns))) < len(frame.columns):
            raise nw.exceptions.DuplicateError
    except nw.exceptions.DuplicateError:
        raise DataError(
            "<dataframe> has duplicate column names; give every column its own name"
        ) from None
    except TypeError:
        raise DataError(
            "source must be a path, '-' for standard input, an open binary file, or a pandas, "
            f"Polars or Arrow table; got {type(table).__name__}"
        ) from None
    if not frame.implementation.is_pandas_like():
        return frame.to_polars()
    return pl.DataFrame([_from_pandas(column) for column in frame.iter_columns()])


def five_types(frame: pl.DataFrame, source: str, notes: Notes) -> tuple[list[pl.Series], list[int]]:
    """Reduce every column to Int64, Float64, Boolean, Datetime("us") or String.

    Parameters
    ----------
    frame : polars.DataFrame
        Of any types.
    source : str
        For messages.
    notes : Notes
        Receives the columns whose values were converted.

    Returns
    -------
    columns : list of polars.Series
    texts : list of int
        The columns that were declared as plain text, so that text rules apply to them.
        Categorical columns are not among them: they are declared as categories.

    Raises
    ------
    DataError
        When there are no columns or no rows.
    """
    if not frame.width or not frame.height:
        what = "no columns" if not frame.width else "columns but no rows"
        raise DataError(f"{source} has {what}; check how it was written")
    columns, texts = [], []
    for place, column in enumerate(frame):
        if column.dtype == pl.String:
            texts.append(place)
        columns.append(reduced(column, notes))
    return columns, texts


def from_objects(name: str, items: list[Any]) -> pl.Series:
    """Return Python objects as one column; objects without a common type become text."""
    present = [item for item in items if not _is_missing(item)]
    kinds = {type(item) for item in present}
    values = [None if _is_missing(item) else item for item in items]
    if kinds <= {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds <= {int} and all(-_LIMIT <= item < _LIMIT for item in present):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float} and all(isinstance(i, float) or abs(i) <= 2**53 for i in present):
        floats = [None if item is None else float(item) for item in values]
        return pl.Series(name, floats, dtype=pl.Float64)
    if kinds and all(hasattr(item, "isoformat") for item in present):
        try:
            return pl.Series(name, values)
        except (TypeError, pl.exceptions.PolarsError):
            pass
    texts = [None if item is None else _text(item) for item in values]
    return pl.Series(name, texts, dtype=pl.String)


def _read(call: Callable[[], pl.DataFrame], what: str, source: str) -> pl.DataFrame:
    try:
        with without_panic_reports():
            return call()
    except pl.exceptions.DuplicateError:
        raise DataError(
            f"{source} has duplicate column names; give every column its own name"
        ) from None
    except _UNREADABLE as error:
        reason = (str(error).splitlines() or [""])[0]
        raise DataError(
            f"{source} is a damaged {what} file ({shown(reason, 100)}); write it again"
        ) from None


def reduced(column: pl.Series, notes: Notes) -> pl.Series:
    """Return a column of any type as one of the five types."""
    dtype, name = column.dtype, shown(column.name)
    if dtype in (pl.Int64, pl.Boolean, pl.String):
        return column
    if dtype.is_float():
        return column.cast(pl.Float64).fill_nan(None)
    if dtype.is_integer():
        return _integers(column, notes)
    if isinstance(dtype, (pl.Categorical, pl.Enum, pl.Null)):
        return _dates_or_levels(column.cast(pl.String), notes)
    if isinstance(dtype, pl.Decimal):
        if not dtype.scale:
            return _integers(column.cast(pl.Int128), notes)
        return column.cast(pl.Float64)
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None:
            notes.add("times with a zone are converted to UTC: {}", name)
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.cast(pl.Datetime("us"))
    if dtype == pl.Date:
        return column.cast(pl.Datetime("us"))
    if dtype == pl.Time:
        column, dtype = column.cast(pl.Duration("ns")), pl.Duration("ns")
    if isinstance(dtype, pl.Duration):
        notes.add("times of day and durations are given in seconds: {}", name)
        return column.cast(pl.Duration("us")).to_physical().cast(pl.Float64) / 1e6
    notes.add("lists, records and bytes are kept as text: {}", name)
    texts = [None if item is None else _text(item) for item in column.to_list()]
    return pl.Series(column.name, texts, dtype=pl.String)


def _dates_or_levels(column: pl.Series, notes: Notes) -> pl.Series:
    """Return categories unchanged, unless every one is a date of the form 2024-01-31."""
    sample = column.drop_nulls().head(20)
    if not len(sample) or not sample.str.contains(STYLES["ymd"]).all():
        return column
    moments, _ = parse_dates(column, "ymd")
    if moments.null_count() > column.null_count():
        return column
    notes.add("categories that are dates are read as dates: {}", shown(column.name))
    return moments


def _integers(column: pl.Series, notes: Notes) -> pl.Series:
    low, high = column.min(), column.max()
    bounds = [bound for bound in (low, high) if isinstance(bound, int)]
    if all(-_LIMIT <= bound < _LIMIT for bound in bounds):
        return column.cast(pl.Int64)
    notes.add(
        "integers beyond 64 bits are kept as text (kind numeric would round them): {}",
        shown(column.name),
    )
    return column.cast(pl.String)


def _from_pandas(column: nw.Series[Any]) -> pl.Series:
    """One pandas column, without the conversion to Arrow that Polars would use."""
    dtype, name = column.dtype, str(column.name)
    if dtype.is_numeric() and not column.null_count():
        return pl.Series(name, column.to_numpy())
    if dtype.is_float():
        return pl.Series(name, column.to_numpy().astype("float64")).fill_nan(None)
    if isinstance(dtype, nw.Datetime):
        if dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return pl.Series(name, column.to_numpy().astype("datetime64[us]"))
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        # pandas 2 would make the text "nan" of a missing category.
        texts = zip(column.cast(nw.String()).to_list(), column.is_null().to_list(), strict=True)
        labels = [None if is_null else text for text, is_null in texts]
        return from_objects(name, labels).cast(pl.Categorical)
    return from_objects(name, column.to_list())


def _is_missing(item: object) -> bool:
    if item is None or (isinstance(item, float) and item != item):
        return True
    return type(item).__name__ in ("NAType", "NaTType")  # pandas' own, without importing pandas


def _text(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return item.hex()
    if isinstance(item, pl.Series):
        item = item.to_list()
    return json.dumps(item, default=str, ensure_ascii=False)
