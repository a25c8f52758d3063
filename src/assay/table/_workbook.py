"""Excel and OpenDocument workbooks: one sheet, its first non-empty row as the header."""

from __future__ import annotations

import fastexcel
import numpy as np
import polars as pl

from assay.base import DataError, did_you_mean
from assay.table._raw import Notes, shown
from assay.table._text_table import TextTable, column_names


def read_workbook(data: bytes, sheet: str | int | None, source: str, notes: Notes) -> TextTable:
    """Return the cells of one sheet as text.

    Parameters
    ----------
    data : bytes
        An .xlsx, .xlsb, .xls or .ods file.
    sheet : str, int or None
        Name or number (from 0) of the sheet; None takes the first.
    source : str
        File name, for messages.
    notes : Notes
        Receives the choice of a sheet when there are several.

    Notes
    -----
    A cell with an error (``#DIV/0!``) is a missing value.
    """
    try:
        book = fastexcel.read_excel(data)
        name = _sheet_name(book.sheet_names, sheet, source, notes)
        # skip_rows=0: otherwise empty rows before the header are dropped and the lines are wrong.
        frame = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        reason = (str(error).splitlines() or [""])[0]
        raise DataError(
            f"{source} is a damaged or protected workbook ({shown(reason, 100)}); save it again "
            "or export the sheet as CSV"
        ) from None
    where = f"{source}, sheet {shown(name)},"
    if not frame.height:
        raise DataError(f"{where} is empty: no header and no rows; name another sheet")
    empty = frame.select(pl.all_horizontal(pl.all().str.strip_chars().fill_null("") == ""))
    rows = (~empty.to_series()).to_numpy().copy()
    if not rows.any():
        raise DataError(f"{where} is empty: no header and no rows; name another sheet")
    header = int(np.flatnonzero(rows)[0])
    blank = int((~rows).sum())
    rows[header] = False
    names = column_names(frame.row(header), where.rstrip(","), header + 1, notes)
    if not rows.any():
        raise DataError(f"{where} has a header but no rows; check how it was written")
    body = frame.filter(pl.Series(rows))
    columns = [column.alias(name) for column, name in zip(body, names, strict=True)]
    return TextTable(columns, blank, np.flatnonzero(rows) + 1)


def _sheet_name(names: list[str], sheet: str | int | None, source: str, notes: Notes) -> str:
    if not names:
        raise DataError(f"{source} is a workbook without sheets; save it again")
    if sheet is None:
        if len(names) > 1:
            others = ", ".join(shown(name) for name in names[1:6])
            notes.add(f"sheet {shown(names[0])} was read (option sheet selects another: {others})")
        return names[0]
    if isinstance(sheet, int):
        if 0 <= sheet < len(names):
            return names[sheet]
        raise DataError(f"{source} has {len(names)} sheets, numbered from 0; there is no {sheet}")
    if sheet not in names:
        raise DataError(
            f"{source} has no sheet {shown(sheet)}; it has "
            f"{', '.join(shown(name) for name in names[:5])}{did_you_mean(sheet, names)}"
        )
    return sheet
