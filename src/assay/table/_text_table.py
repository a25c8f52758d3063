"""A table whose cells are still text, from delimited files and workbooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError
from assay.table._raw import Notes, shown


@dataclass
class TextTable:
    """Columns of text, without the blank rows.

    Parameters
    ----------
    columns : list of polars.Series
        All of type String and named.
    blank : int
        Number of blank rows that were removed.
    lines : ndarray of int64
        Line of the file in which each row begins.
    delimiter : str or None
        The separator of the cells, if there is one.
    """

    columns: list[pl.Series]
    blank: int
    lines: NDArray[np.int64]
    delimiter: str | None = None


def column_names(cells: Sequence[str | None], source: str, line: int, notes: Notes) -> list[str]:
    """Return the header's cells as column names: trimmed, complete and distinct.

    Parameters
    ----------
    cells : sequence of str or None
        The header record.
    source, line : str, int
        Its place, for messages.
    notes : Notes
        Receives the columns without a name, which are named by their position.

    Raises
    ------
    DataError
        If two columns have the same name.
    """
    names = [(cell or "").strip() for cell in cells]
    for name, count in Counter(names).items():
        if name and count > 1:
            places = [str(place + 1) for place, other in enumerate(names) if other == name]
            often = "twice" if count == 2 else f"{count} times"
            raise DataError(
                f"{source}, line {line}: the column name {shown(name)} appears {often} "
                f"(columns {', '.join(places[:5])}); give every column its own name"
            )
    taken = set(names)
    for place, name in enumerate(names):
        if not name:
            new = f"column_{place + 1}"
            while new in taken:
                new += "_"
            taken.add(new)
            names[place] = new
            notes.add("columns without a name were named {}", new)
    if len(names) > 1 and all(_is_number(name) for name in names if name):
        notes.add(
            "the first line holds numbers only: if it is a row and not the header, put a line "
            "with column names before it"
        )
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
