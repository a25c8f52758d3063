"""A table as it was read: every value typed, every row accounted for, none left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

#: Texts that mean a missing value, in addition to the empty cell.
MISSING_MARKERS: tuple[str, ...] = (
    "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?", "None", "-", ".",
)  # fmt: skip

#: Of these, the ones that are also ordinary words: among numbers or dates they mean "missing",
#: among other texts they are a category (the restaurant table has Patrons = None).
WORDS = frozenset({"None", "-", "."})


@dataclass(frozen=True)
class RawTable:
    """A table as it was read.

    Parameters
    ----------
    frame : polars.DataFrame
        One column per column of the file, of type Int64, Float64, Boolean, String or
        Datetime("us"); missing values are null.
    source : str
        File name without folders, ``"<stdin>"``, ``"<file>"`` or ``"<dataframe>"``.
    format : str
        ``"csv"``, ``"parquet"``, ``"arrow"``, ``"ndjson"``, ``"excel"`` or ``"dataframe"``.
    rows : int
        Rows in the file: those of `frame` and the blank ones.
    digest : str
        SHA-256 of the content, independent of the file format.
    notes : tuple of str
        Decisions made while reading, as sentences.
    blank : int, default=0
        Number of blank lines.
    missing : tuple of str
        The missing-value markers that were used.
    styles : mapping of str to str
        Notation of numbers (decimal sign) and dates (order of parts), by column.
    lines : ndarray of int64, optional
        Line of the file in which each row begins; None where the format has no lines.
    """

    frame: pl.DataFrame
    source: str
    format: str
    rows: int
    digest: str
    notes: tuple[str, ...] = ()
    blank: int = 0
    missing: tuple[str, ...] = MISSING_MARKERS
    styles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    lines: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.rows != self.frame.height + self.blank:
            raise AssertionError(
                f"{self.rows} rows in {self.source} are not {self.frame.height} read and "
                f"{self.blank} blank: a row was lost"
            )

    def place(self, row: int) -> str:
        """Return the place of a row of `frame`: ``"line 12"`` or ``"row 11"``."""
        return place_of(self.lines)(row)

    @property
    def where(self) -> Where:
        """Names places of this table in messages."""
        return Where(self.source, self.place)


def place_of(lines: NDArray[np.int64] | None) -> Callable[[int], str]:
    """Return the function that gives the place of a row in its file, counted from 1."""
    if lines is None:
        return lambda row: f"row {row + 1}"
    return lambda row: f"line {lines[row]}"


@dataclass(frozen=True)
class Where:
    """Names places in a table, for messages.

    Parameters
    ----------
    source : str
        The table.
    place : callable
        Row number, from 0 -> its place in the file.
    """

    source: str = "the table"
    place: Callable[[int], str] = field(default_factory=lambda: place_of(None))

    def cell(self, row: int, column: str) -> str:
        """Return the name of one cell."""
        return f"{self.source}, {self.place(row)}, column {shown(column)}"


def shown(text: object, limit: int = 40) -> str:
    """Return a value quoted for a message, cut when it is long.

    Examples
    --------
    >>> shown("x" * 100, limit=8)
    "'xxxxxxxx...'"
    """
    words = str(text)
    return repr(words if len(words) <= limit else words[:limit] + "...")


class Notes:
    """Collects notes for the user: one sentence per finding, shared by several columns."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = {}

    def add(self, sentence: str, item: str = "") -> None:
        """Add a finding; `item` (a column, with details) takes the place of ``{}``."""
        items = self._found.setdefault(sentence, [])
        if item:
            items.append(item)

    def sentences(self) -> tuple[str, ...]:
        """Return the sentences, each naming at most five items."""
        return tuple(
            sentence.format(_listed(items)) if items else sentence
            for sentence, items in self._found.items()
        )


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - 5} more" if len(items) > 5 else ""
    return ", ".join(items[:5]) + more
