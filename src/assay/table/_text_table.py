"""A table whose cells are still text: what delimited files and workbooks give."""

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
    """Columns of text, with the blank rows taken out.

    Parameters
    ----------
    columns : list of polars.Series
        All of type String and named.
    blank : int
        Blank rows that were taken out.
    lines : ndarray of int64
        Line of the file in which each row begins.
    delimiter : str or None
        What separates the cells, where something does.
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
        Where it stands.
    notes : Notes
        Takes the columns without a name, which are named by their place.

    Raises
    ------
    DataError
        When two columns have the same name.
    """
    names = [(cell or "").strip() for cell in cells]
    for name, count in Counter(names).items():
        if name and count > 1:
            places = [str(place + 1) for place, other in enumerate(names) if other == name]
            raise DataError(
                f"{source}, line {line}: the column name {shown(name)} stands {count} times "
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
            notes.add("columns without a name are called {}", new)
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
