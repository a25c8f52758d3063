"""Text cells -> typed columns: the same rules for every file format.

A column becomes, in this order: truth values, integers, numbers, dates, or it stays text. The
decision is taken on all rows, never on the first ones, so a column that changes its type at row
20,001 is text from row 1; a note reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from assay.base import DataError
from assay.table import _numbers as numbers
from assay.table._dates import STYLES, find_dates, parse_dates
from assay.table._raw import MISSING_MARKERS, WORDS, Notes, shown

_TRUTH = ("true", "false")


@dataclass(frozen=True)
class TextRules:
    """How text cells are read.

    Parameters
    ----------
    missing : tuple of str
        Markers of a missing value.
    decimal : {'.', ','} or None
        The decimal sign; None = detect it.
    dayfirst : bool or None
        Whether the day comes first, where the dates leave it open.
    delimiter : str or None
        Delimiter of the file; settles ``1,234`` when nothing else does.
    exact_integers : bool
        Whether integers beyond 64 bits are kept as text. False for workbooks, whose numbers are
        float64 already.
    """

    missing: tuple[str, ...] = MISSING_MARKERS
    decimal: str | None = None
    dayfirst: bool | None = None
    delimiter: str | None = None
    exact_integers: bool = True

    @property
    def words(self) -> list[str]:
        """Markers that are missing values only in columns of numbers and dates."""
        return sorted(WORDS) if self.missing == MISSING_MARKERS else []

    @property
    def markers(self) -> list[str]:
        """Markers that are missing values in every column."""
        weak = set(self.words)
        return [marker for marker in self.missing if marker and marker not in weak]


@dataclass
class _Column:
    """A column on its way from text to type."""

    text: pl.Series  # trimmed, null where missing in any column
    bare: pl.Series  # the same, null also where missing among numbers
    values: pl.Series | None = None
    style: str = ""
    pointed: bool = False  # has decimal points that cannot be thousands signs
    open: bool = False  # could be read with either decimal sign


def trimmed(text: pl.Series, rules: TextRules) -> pl.Series:
    """Return text without outer blanks, null where it is empty or a marker that always counts."""
    text = text.str.strip_chars()
    gone = text.is_in(["", *rules.markers])
    return text.set(gone, None) if gone.any() else text


def without_words(text: pl.Series, rules: TextRules) -> pl.Series:
    """Return trimmed text, null also at words that mean "missing" among numbers."""
    if not rules.words:
        return text
    gone = text.is_in(rules.words)
    return text.set(gone, None) if gone.any() else text


def type_columns(
    texts: list[pl.Series],
    rules: TextRules,
    place: Callable[[int], str],
    source: str,
    notes: Notes,
) -> tuple[list[pl.Series], dict[str, str]]:
    """Give every column of text its type.

    Parameters
    ----------
    texts : list of polars.Series
        Of type String. Emptied while it is read, so that memory holds no column twice.
    rules : TextRules
        Missing markers and conventions.
    place : callable
        Row number -> its place in the file.
    source : str
        File name, for messages.
    notes : Notes
        Receives every decision that a user may want to know of.

    Returns
    -------
    columns : list of polars.Series
        Int64, Float64, Boolean, Datetime("us") or String.
    styles : dict of str to str
        How numbers and dates were written, for columns where that is not obvious.

    Raises
    ------
    DataError
        For a number too large for float64.
    """
    columns = []
    for k in range(len(texts)):
        columns.append(_first_look(texts[k], rules, place, source, notes))
        texts[k] = _EMPTY
    sign = rules.decimal or _decimal_sign(columns, rules, notes)
    styles = {}
    for column in columns:
        _settle(column, sign, rules, place, notes)
        if column.style:
            styles[column.text.name] = column.style
    return [column.text if column.values is None else column.values for column in columns], styles


_EMPTY = pl.Series("", [], dtype=pl.String)


def _first_look(
    raw: pl.Series, rules: TextRules, place: Callable[[int], str], source: str, notes: Notes
) -> _Column:
    whole = numbers.whole_numbers(raw)
    plain = whole is not None and whole.null_count() < len(whole) and not numbers.are_codes(raw)
    if plain and not set(rules.missing) - set(MISSING_MARKERS):
        return _Column(_EMPTY.alias(raw.name), _EMPTY, whole)
    text = trimmed(raw, rules)
    column = _Column(text, without_words(text, rules))
    bare = column.bare
    if bare.null_count() == len(bare):
        return column
    if _all_in(bare, _TRUTH):
        column.values = bare.str.to_lowercase() == "true"
        return column
    whole = numbers.whole_numbers(bare)
    if whole is not None:
        if numbers.are_codes(bare):
            notes.add("integers with leading zeros are kept as text: {}", shown(text.name))
        else:
            column.values = whole
        return column
    if numbers.are_whole(bare):
        _huge_integers(column, rules, notes)
        return column
    real = numbers.real_numbers(bare)
    if real is not None and rules.decimal == "," and not numbers.may_be_grouped(bare):
        notes.add(
            "numbers with a decimal point are kept as text (decimal is ','): {}", shown(text.name)
        )
    elif real is not None and rules.decimal != ",":
        _check_range(column, real, place, source, notes)
        column.values = real.fill_nan(None)
        column.open = numbers.may_be_grouped(bare)
        column.pointed = not column.open
    return column


def _huge_integers(column: _Column, rules: TextRules, notes: Notes) -> None:
    if not rules.exact_integers:
        column.values = numbers.real_numbers(column.bare)
        return
    notes.add(
        "integers beyond 64 bits are kept as text (kind numeric would round them): {}",
        shown(column.text.name),
    )


def _check_range(
    column: _Column, values: pl.Series, place: Callable[[int], str], source: str, notes: Notes
) -> None:
    name = column.text.name
    row = numbers.overflown(column.bare, values)
    if row is not None:
        raise DataError(
            f"{source}, {place(row)}, column {shown(name)}: {shown(column.bare[row])} is beyond "
            "the largest number (1.8e308); correct it, mark it as missing, or give the column in "
            "other units"
        )
    for count, what in (
        (numbers.n_rounded(column.bare, values), "integers beyond 2^53 are rounded to float64"),
        (numbers.n_vanished(column.bare, values), "numbers below 5e-324 become 0"),
    ):
        if count:
            notes.add(what + ": {}", f"{shown(name)} ({count} values)")


def _decimal_sign(columns: list[_Column], rules: TextRules, notes: Notes) -> str:
    """Find the decimal sign of the table from its unambiguous columns."""
    commas = points = 0
    for column in columns:
        if column.values is not None:
            points += column.pointed
        elif column.bare.null_count() < len(column.bare):
            comma, point = numbers.fits(column.bare, ","), numbers.fits(column.bare, ".")
            commas += comma and not point
            points += point and not comma
            column.open = comma and point and bool(column.bare.str.contains(",").any())
    if commas and not points:
        return ","
    if points or commas:
        return "."
    undecided = [column for column in columns if column.open and column.values is None]
    sign = "," if undecided and rules.delimiter == ";" else "."
    for column in undecided:
        role = "decimal" if sign == "," else "thousands"
        notes.add(
            f"numbers such as 1,234 are read with the comma as {role} sign (change it with "
            "the option decimal): {}",
            shown(column.text.name),
        )
    return sign


def _settle(
    column: _Column,
    sign: str,
    rules: TextRules,
    place: Callable[[int], str],
    notes: Notes,
) -> None:
    """Second look, when the decimal sign of the table is known."""
    name, bare = column.text.name, column.bare
    if column.values is not None:
        if column.open and sign == ",":
            column.values, column.style = numbers.read_numbers(bare, ","), ","
            notes.add(
                "points are thousands signs, since the decimal sign is a comma: {}", shown(name)
            )
        return
    if bare.null_count() == len(bare):
        column.text = bare
        return
    if numbers.are_whole(bare):
        return  # codes, or integers beyond 64 bits: already reported
    others = () if rules.decimal else ("," if sign == "." else ".",)
    for tried in (sign, *others):
        column.values = numbers.read_numbers(bare, tried)
        if column.values is not None:
            column.style = tried
            what = "comma" if tried == "," else "point"
            notes.add(
                f"the decimal sign is a {what}, thousands signs are left out: {{}}", shown(name)
            )
            return
    dates = find_dates(bare, rules.dayfirst, sign == ",")
    if dates is not None:
        column.values, column.style = dates.values, dates.style
        if dates.ambiguous:
            first = "day" if dates.style == "dmy" else "month"
            notes.add(
                f"dates such as 03/04/2024 are read with the {first} first (change it "
                "with the option dayfirst): {}",
                shown(name),
            )
        if dates.zoned:
            notes.add("times with a zone are converted to UTC: {}", shown(name))
        return
    _tell_mixed(column, rules, place, notes)


def _tell_mixed(
    column: _Column, rules: TextRules, place: Callable[[int], str], notes: Notes
) -> None:
    name, text, bare = column.text.name, column.text, column.bare
    present = len(bare) - bare.null_count()
    for fitting, what in _looks(bare):
        count = int(fitting.sum())
        odd = (~fitting & bare.is_not_null()).arg_true()
        if present / 2 < count < present:
            row = int(odd[0])
            notes.add(
                "columns that mix text with numbers or dates are treated as text (if the odd "
                "values mean missing, add them to the option missing): {}",
                f"{shown(name)} ({count} of {present} values are {what}; the first other is "
                f"{shown(bare[row])} in {place(row)})",
            )
            return
    kept = text.is_in(rules.words)
    if kept.any():
        found = text.filter(kept).unique(maintain_order=True).to_list()
        notes.add(
            "read as text, not as missing values (if they mean missing, add them to the option "
            "missing): {}",
            f"{', '.join(map(repr, found))} in {shown(name)}",
        )


def _looks(bare: pl.Series) -> Iterator[tuple[pl.Series, str]]:
    """Masks: which values are numbers, and which are dates in each order of parts."""
    yield bare.cast(pl.Float64, strict=False).is_not_null(), "numbers"
    sample = bare.drop_nulls().head(20)
    for style, pattern in STYLES.items():
        if 2 * sample.str.contains(pattern).sum() > len(sample):
            yield parse_dates(bare, style)[0].is_not_null(), "dates"


def _all_in(text: pl.Series, words: tuple[str, ...]) -> bool:
    first = text.drop_nulls().head(1)
    if not len(first) or first[0].lower() not in words:
        return False
    return bool(text.drop_nulls().str.to_lowercase().is_in(words).all())
