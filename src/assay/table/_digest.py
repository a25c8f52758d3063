"""A digest of the content of a table, independent of its file format."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import polars as pl

from assay.table._numbers import EXACT


def content_digest(frame: pl.DataFrame) -> str:
    """Return the SHA-256 of a typed table as a hexadecimal string.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of type Int64, Float64, Boolean, Datetime("us") or String.

    Returns
    -------
    str
        64 hexadecimal digits.

    Notes
    -----
    Hashed are the number of rows, and per column its name, its type of content and its values:
    numbers as float64 (so integers and the same numbers as floats have one digest, and
    -0.0 is 0.0), integers beyond 2^53 as int64, times as microseconds, text as UTF-8 with its
    length. Row and column order count; storage types, file format and file name do not.

    Examples
    --------
    >>> import polars as pl
    >>> content_digest(pl.DataFrame({"a": [1, None]})) == content_digest(
    ...     pl.DataFrame({"a": [1.0, None]}))
    True
    """
    total = hashlib.sha256(b"assay table 1")
    total.update(struct.pack("<QQ", frame.height, frame.width))
    for column in frame:
        name = column.name.encode("utf-8", "surrogatepass")
        total.update(struct.pack("<Q", len(name)) + name)
        _add(total, column)
    return total.hexdigest()


def _add(total: hashlib._Hash, column: pl.Series) -> None:
    if column.null_count() == len(column):
        total.update(b"missing")
    elif column.dtype == pl.String:
        _add_text(total, column)
    elif column.dtype == pl.Boolean:
        total.update(b"boolean")
        total.update(column.cast(pl.Int8).fill_null(-1).to_numpy().tobytes())
    elif isinstance(column.dtype, pl.Datetime):
        total.update(b"time")
        _add_integers(total, column.to_physical())
    elif column.dtype == pl.Int64 and _largest(column) > EXACT:
        total.update(b"integer")
        _add_integers(total, column)
    else:
        total.update(b"number")
        # Adding 0.0 turns -0.0 into 0.0; null and any NaN become one NaN.
        values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy() + 0.0
        values[np.isnan(values)] = np.nan
        total.update(values.astype("<f8", copy=False).data)


def _largest(column: pl.Series) -> int:
    low, high = column.min(), column.max()
    return max(abs(low), abs(high)) if isinstance(low, int) and isinstance(high, int) else 0


def _add_integers(total: hashlib._Hash, column: pl.Series) -> None:
    total.update(np.packbits(column.is_null().to_numpy()).tobytes())
    total.update(column.fill_null(0).to_numpy().astype("<i8", copy=False).tobytes())


def _add_text(total: hashlib._Hash, column: pl.Series) -> None:
    total.update(b"text")
    lengths = column.str.len_bytes().cast(pl.Int64).fill_null(-1)
    total.update(lengths.to_numpy().astype("<i8", copy=False).tobytes())
    step = 1 << 20
    for begin in range(0, len(column), step):
        total.update("".join(column[begin : begin + step].drop_nulls().to_list()).encode())
