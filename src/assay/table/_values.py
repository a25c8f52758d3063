"""Values of a column as features need them: the text of categories, the parts of dates."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.table._dates import parse_dates

PARTS = ("year", "month", "day", "weekday", "hour", "elapsed")
_DAY = 86_400e6  # microseconds


def storage_of(dtype: pl.DataType) -> str:
    """Return the storage type of these values: 'number', 'text', 'boolean' or 'time'."""
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "boolean"
    return "time" if dtype.is_temporal() else "text"


def level_text(values: pl.Series, storage: str = "text") -> pl.Series:
    """Return values as text of categories: whole numbers without a point, true and false.

    Examples
    --------
    >>> import polars as pl
    >>> level_text(pl.Series([1.0, 2.5, None]), "number").to_list()
    ['1', '2.5', None]
    """
    if values.dtype.is_float():
        values = values.fill_nan(None)
        whole = values.cast(pl.Int64, strict=False)
        exact = (whole.cast(pl.Float64) == values).fill_null(False)
        if exact.all() or values.null_count() + exact.sum() == len(values):
            return whole.cast(pl.String)
        return values.cast(pl.String).zip_with(~exact, whole.cast(pl.String))
    if storage == "boolean" and (values.dtype.is_integer() or values.dtype == pl.String):
        text = values.cast(pl.String).str.to_lowercase()
        return text.replace({"0": "false", "1": "true"})
    if values.dtype == pl.Boolean and storage == "number":
        return values.cast(pl.Int64).cast(pl.String)
    return values.cast(pl.String)


def date_parts(moments: pl.Series, parts: tuple[str, ...]) -> NDArray[np.float64]:
    """Return parts of dates as numbers; ``elapsed`` is days since 1970, fractions included."""
    found = np.empty((len(moments), len(parts)))
    for place, part in enumerate(parts):
        if part == "elapsed":
            values = moments.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / _DAY
        else:
            values = getattr(moments.dt, part)().cast(pl.Float64)
        found[:, place] = values.fill_null(np.nan).to_numpy()
    return found


def varying_parts(moments: pl.Series) -> tuple[str, ...]:
    """Return the parts of dates that vary, and the days elapsed."""
    present = moments.drop_nulls()
    varying = [part for part in PARTS[:-1] if getattr(present.dt, part)().n_unique() > 1]
    return (*varying, "elapsed")


def plain_levels(text: pl.Series, sign: str) -> pl.Series:
    """Return numbers among texts as the text of categories, other texts unchanged."""
    plain = text.str.replace(",", ".", literal=True) if sign == "," else text
    found = level_text(plain.cast(pl.Float64, strict=False), "number")
    return found.zip_with(found.is_not_null(), text)


def compact_dates(text: pl.Series) -> pl.Series:
    """Return dates written as 20240131."""
    parts = text.str.replace(r"^(\d{4})(\d{2})(\d{2})$", "$1-$2-$3")
    return parse_dates(parts, "ymd")[0]
