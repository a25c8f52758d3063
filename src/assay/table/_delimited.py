"""Strict reader of delimited text (CSV, TSV): every row, or an error that names the line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError
from assay.table._raw import Notes, shown
from assay.table._scan import Scan, blank_records, line_numbers, scan, unify_line_ends
from assay.table._signatures import suffix_of
from assay.table._sniff import any_cell_size, check_delimiter, sniff_delimiter
from assay.table._text_table import TextTable, column_names

_NAMES = {",": "comma", "\t": "tab", " ": "blank"}


def read_delimited(data: bytes, delimiter: str | None, source: str, notes: Notes) -> TextTable:
    """Return the cells of a delimited text, all as text.

    Parameters
    ----------
    data : bytes
        UTF-8 without a byte-order mark.
    delimiter : str or None
        One character; None = detect it.
    source : str
        File name, for messages and for its extension.
    notes : Notes
        Receives the delimiter when it was detected and is not a comma.

    Raises
    ------
    DataError
        For no rows, a row with too few or too many cells, a quote that is not closed, and
        duplicate column names.
    """
    if re.search(rb"\S", data) is None:
        raise DataError(f"{source} is empty: no header and no rows; check how it was written")
    data = unify_line_ends(data)
    if delimiter is None:
        delimiter = sniff_delimiter(data, suffix_of(source))
        if delimiter != ",":
            name = _NAMES.get(delimiter, repr(delimiter))
            notes.add(
                f"cells are separated by {name} (detected); change it with the option delimiter"
            )
    else:
        check_delimiter(delimiter)
    found = scan(data, delimiter)
    if delimiter == " " or found.irregular is not None:
        return _by_record(data, delimiter, source, notes)
    return _by_block(data, delimiter, found, source, notes)


def _by_block(data: bytes, delimiter: str, found: Scan, source: str, notes: Notes) -> TextTable:
    """All cells at once, by Polars; the scan has already checked the width of every record."""
    blank = blank_records(data, found)
    lines = line_numbers(data, found.starts)
    header = int(np.flatnonzero(~blank)[0])
    rows = ~blank
    rows[: header + 1] = False
    first = data[found.starts[header] : found.ends[header]]
    names = column_names(_one_record(first, delimiter), source, int(lines[header]), notes)
    _refuse_ragged(data, found, rows, header, lines, delimiter, source)
    if not rows.any():
        raise _no_rows(source)
    body = _body(data, found, rows, header)
    frame = pl.read_csv(
        body,
        has_header=False,
        separator=delimiter,
        infer_schema=False,
        new_columns=[str(place) for place in range(len(names))],
        # Polars takes the width from the first record, as the scan did.
    )
    if frame.shape != (int(rows.sum()), len(names)):
        raise AssertionError(f"{source}: {frame.shape} cells read, {rows.sum()} rows expected")
    columns = [column.alias(name) for column, name in zip(frame, names, strict=True)]
    return TextTable(columns, int(blank.sum()), lines[rows], delimiter)


def _body(data: bytes, found: Scan, rows: NDArray[np.bool_], header: int) -> bytes:
    """Return the records after the header, without blank ones."""
    kept = np.flatnonzero(rows)
    if len(kept) == len(rows) - header - 1:
        return data[found.starts[kept[0]] :]
    pieces = [data[found.starts[k] : found.ends[k]] for k in kept]
    return b"\n".join(pieces) + b"\n"


def _refuse_ragged(
    data: bytes,
    found: Scan,
    rows: NDArray[np.bool_],
    header: int,
    lines: NDArray[np.int64],
    delimiter: str,
    source: str,
) -> None:
    width = int(found.widths[header])
    wrong = np.flatnonzero(rows & (found.widths != width))
    if len(wrong):
        k = wrong[0]
        record = _one_record(data[found.starts[k] : found.ends[k]], delimiter)
        raise _ragged(
            source, width, int(lines[header]), int(lines[k]), record, found.widths[rows], delimiter
        )


def _by_record(data: bytes, delimiter: str, source: str, notes: Notes) -> TextTable:
    """Record by record, by Python's csv: quotes within cells, runs of blanks."""
    if delimiter == " ":
        data = b"\n".join(line.strip(b" \r") for line in data.split(b"\n"))
    names: list[str] = []
    cells: list[list[str]] = []
    lines: list[int] = []
    widths: list[int] = []
    header, blank, ragged = 0, 0, -1
    with any_cell_size():
        for line, record in _records(data.decode("utf-8"), delimiter, source):
            if not record or (len(record) == 1 and not record[0].strip()):
                blank += 1
            elif not names:
                names, header = column_names(record, source, line, notes), line
            else:
                if len(record) != len(names) and ragged < 0:
                    ragged = len(cells)
                cells.append(record)
                lines.append(line)
                widths.append(len(record))
    if ragged >= 0:
        raise _ragged(
            source, len(names), header, lines[ragged], cells[ragged], np.array(widths), delimiter
        )
    if not cells:
        raise _no_rows(source)
    columns = [
        pl.Series(name, list(values), dtype=pl.String)
        for name, values in zip(names, zip(*cells, strict=True), strict=True)
    ]
    return TextTable(columns, blank, np.array(lines, dtype=np.int64), delimiter)


def _records(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise DataError(
                f"{source}, line {line}: a quoted cell that begins here is not closed, or text "
                "follows its closing quote; close the quote, or write a quote inside a quoted "
                'cell twice ("")'
            ) from None
        yield line, record


def _one_record(record: bytes, delimiter: str) -> list[str]:
    with any_cell_size():
        reader = csv.reader(io.StringIO(record.decode("utf-8"), newline=""), delimiter=delimiter)
        return next(reader, [""])


def _ragged(
    source: str,
    width: int,
    header: int,
    line: int,
    record: list[str],
    widths: NDArray[np.int64],
    delimiter: str,
) -> DataError:
    n_wrong = int((widths != width).sum())
    others = f" ({n_wrong} rows differ from it)" if n_wrong > 1 else ""
    name = _NAMES.get(delimiter, repr(delimiter))
    if width > 1 and (widths == width + 1).all():
        hint = (
            "every row has one cell more than the header: name the first column (it may hold row "
            "names), or take away the delimiter at the end of the rows"
        )
    elif n_wrong == len(widths) and len(widths) > 1 and (widths == widths[-1]).mean() > 0.5:
        hint = (
            f"most rows have {widths[-1]}: remove the lines before the header, or set the "
            f"delimiter if it is not the {name}"
        )
    elif len(record) > width:
        hint = f"quote the cells that contain the {name}, or repair the line"
    else:
        hint = "add the missing cells (empty is enough), or repair the line"
    cells = "1 cell" if len(record) == 1 else f"{len(record)} cells"
    return DataError(
        f"{source}, line {line}: {cells} where the header (line {header}) has {width}{others}; "
        f"the line begins with {shown(record[0])}. What to do: {hint}"
    )


def _no_rows(source: str) -> DataError:
    return DataError(f"{source} has a header but no rows; check how it was written")
