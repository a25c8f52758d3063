"""Strict reading of tables: every row, or one error that states where and why not."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError, check_option, did_you_mean
from assay.table._cells import TextRules, trimmed, type_columns
from assay.table._columnar import five_types, from_dataframe, read_arrow, read_parquet
from assay.table._delimited import read_delimited
from assay.table._digest import content_digest
from assay.table._encoding import to_utf8
from assay.table._kinds import Kind
from assay.table._ndjson import looks_like_json, read_json
from assay.table._raw import MISSING_MARKERS, Notes, RawTable, Where, place_of
from assay.table._schema import Schema
from assay.table._signatures import binary_format, suffix_of
from assay.table._workbook import read_workbook

Source = str | os.PathLike[str] | IO[bytes] | Any


def read(
    source: Source,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    missing: Sequence[str] | None = None,
    dayfirst: bool | None = None,
    like: Schema | None = None,
) -> RawTable:
    r"""Read a table: every row of it, or an error that names file, line and column.

    Parameters
    ----------
    source : path, '-', binary file object, or dataframe
        A CSV, TSV or other delimited file, Parquet, Arrow (Feather), NDJSON or Excel; ``"-"`` is
        standard input. The format is found from the content, not from the name. Or a pandas,
        Polars or Arrow table.
    delimiter : str, optional
        One character between the cells. Detected by default.
    decimal : {'.', ','}, optional
        Decimal sign. Detected by default.
    encoding : str, optional
        Text encoding. By default the byte-order mark, UTF-8, or a guess that a note reports.
    sheet : str or int, optional
        Sheet of a workbook; by default the first.
    missing : sequence of str, optional
        Texts that mean "missing", besides the empty cell. Default `MISSING_MARKERS`, of which
        ``None``, ``-`` and ``.`` count only in columns of numbers or dates. Markers given here
        count in every column.
    dayfirst : bool, optional
        Whether 03/04/2024 is 3 April, where no other date of the column decides it.
    like : Schema, optional
        Schema of a training table: text is read with its types, notations and missing markers.
        Without it, a column of few rows may look like another type, and 03/04/2024 like another
        day.

    Returns
    -------
    RawTable

    Raises
    ------
    DataError
        If the content cannot be read completely.
    OSError
        If the file does not exist or may not be read.

    Notes
    -----
    The first record is the header. Blank lines are counted, not read. Text columns are typed by
    all of their values: truth values (true, false), integers, numbers, dates, or text. Integers
    with leading zeros or beyond 64 bits stay text; a number beyond 1.8e308 is an error. Columns of
    mixed values stay text. Declared types (Parquet, dataframes) are kept; plain text columns there
    follow the same rules as in CSV, categorical columns keep their categories.

    Examples
    --------
    >>> import io
    >>> table = read(io.BytesIO(b"size;kind\n1,5;a\n2,5;b\n"))
    >>> table.frame.rows()
    [(1.5, 'a'), (2.5, 'b')]
    """
    if decimal is not None:
        check_option("decimal", decimal, (".", ","))
    if missing is None:
        missing = MISSING_MARKERS if like is None else like.missing
    elif isinstance(missing, str):
        missing = (missing,)
    rules = TextRules(tuple(missing), decimal, dayfirst)
    notes = Notes()
    if _is_dataframe(source):
        frame = from_dataframe(source)
        return _typed(frame, "<dataframe>", "dataframe", rules, notes, like)
    data, name = _bytes_of(source)
    kind = binary_format(data, name)
    if kind == "parquet":
        return _typed(read_parquet(data, name), name, "parquet", rules, notes, like)
    if kind in ("arrow", "arrow-stream"):
        frame = read_arrow(data, name, stream=kind == "arrow-stream")
        return _typed(frame, name, "arrow", rules, notes, like)
    if kind == "excel":
        table = read_workbook(data, sheet, name, notes)
        rules = TextRules(rules.missing, decimal or ".", dayfirst, None, exact_integers=False)
        return _finished(
            table.columns,
            table.columns,
            name,
            "excel",
            rules,
            notes,
            like,
            table.lines,
            table.blank,
        )
    if not data:
        raise DataError(f"{name} is empty (0 bytes); check how it was written")
    data = to_utf8(data, encoding, name, notes)
    if looks_like_json(data) or suffix_of(name) in (".ndjson", ".jsonl", ".json"):
        frame, lines, blank = read_json(data, name, notes)
        return _typed(frame, name, "ndjson", rules, notes, like, lines, blank)
    if suffix_of(name) in (".parquet", ".feather", ".arrow", ".xlsx", ".xls"):
        notes.add(f"the file is named {suffix_of(name)} but holds text, which was read")
    table = read_delimited(data, delimiter, name, notes)
    del data
    rules = TextRules(rules.missing, decimal, dayfirst, table.delimiter)
    return _finished(
        table.columns, table.columns, name, "csv", rules, notes, like, table.lines, table.blank
    )


def _typed(
    frame: pl.DataFrame,
    name: str,
    form: str,
    rules: TextRules,
    notes: Notes,
    like: Schema | None,
    lines: NDArray[np.int64] | None = None,
    blank: int = 0,
) -> RawTable:
    columns, places = five_types(frame, name, notes)
    texts = [columns[place] for place in places]
    return _finished(columns, texts, name, form, rules, notes, like, lines, blank, places)


def _finished(
    columns: list[pl.Series],
    texts: list[pl.Series],
    name: str,
    form: str,
    rules: TextRules,
    notes: Notes,
    like: Schema | None,
    lines: NDArray[np.int64] | None,
    blank: int,
    places: list[int] | None = None,
) -> RawTable:
    places = list(range(len(texts))) if places is None else places
    styles: dict[str, str] = {}
    if like is None:
        names = [text.name for text in texts]
        values, styles = type_columns(texts, rules, place_of(lines), name, notes)
        values = [value.alias(label) for value, label in zip(values, names, strict=True)]
    else:
        values = [
            _as_in_training(text, like, rules, Where(name, place_of(lines))) for text in texts
        ]
    for place, value in zip(places, values, strict=True):
        columns[place] = value
    columns = [_without_markers(column, rules) for column in columns]
    frame = pl.DataFrame(columns)
    return RawTable(
        frame=frame,
        source=name,
        format=form,
        rows=frame.height + blank,
        digest=content_digest(frame),
        notes=notes.sentences(),
        blank=blank,
        missing=rules.missing,
        styles=styles,
        lines=lines,
    )


def _as_in_training(text: pl.Series, like: Schema, rules: TextRules, where: Where) -> pl.Series:
    column = next((c for c in like.columns if c.used and c.name == text.name), None)
    if column is not None and column.kind == Kind.NUMERIC:
        return pl.Series(text.name, column.reals(text, rules, where)).fill_nan(None)
    if column is not None and column.kind == Kind.DATETIME:
        return column.moments(text, rules, where)
    return trimmed(text, rules)


def _without_markers(column: pl.Series, rules: TextRules) -> pl.Series:
    """Markers that are numbers, such as -999, also apply in columns of numbers."""
    if not column.dtype.is_numeric():
        return column
    for marker in rules.missing:
        try:
            number = float(marker)
        except ValueError:
            continue
        if number == number:
            gone = (column == number).fill_null(False)
            column = column.set(gone, None) if gone.any() else column
    return column


def _is_dataframe(source: object) -> bool:
    return not isinstance(source, (str, bytes, os.PathLike)) and not hasattr(source, "read")


def _bytes_of(source: Any) -> tuple[bytes, str]:
    if hasattr(source, "read"):
        content = source.read()
        name = getattr(source, "name", None)
        label = Path(name).name if isinstance(name, str) and name else "<file>"
        return content.encode() if isinstance(content, str) else bytes(content), label
    if isinstance(source, bytes):
        raise DataError(
            "source is a bytes object; wrap its content in io.BytesIO, or give a path as str"
        )
    if source == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    path = Path(source)
    try:
        return path.read_bytes(), path.name
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT, f"there is no such file{_nearest_file(path)}", str(source)
        ) from None
    except IsADirectoryError:
        raise IsADirectoryError(
            errno.EISDIR, "is a folder; name a file inside it", str(source)
        ) from None
    except PermissionError:
        raise PermissionError(
            errno.EACCES, "may not be read by this user; change its permissions", str(source)
        ) from None


def _nearest_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f" (nor a folder {path.parent.name!r})"
    return did_you_mean(path.name, names).removesuffix("?")
