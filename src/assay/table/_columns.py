"""One column of a schema: how its values become numbers, in training and new data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError
from assay.table import _numbers as numbers
from assay.table._cells import TextRules, trimmed, without_words
from assay.table._dates import STYLES, find_dates, parse_dates
from assay.table._kinds import Kind
from assay.table._raw import Where, shown
from assay.table._values import PARTS, compact_dates, date_parts, level_text, plain_levels

NOWHERE = Where()
STORAGES = ("number", "text", "boolean", "time")
ROLES = ("feature", "target", "group", "time", "weights", "dropped")
_CODED = (Kind.NOMINAL, Kind.ORDINAL, Kind.BOOLEAN)


@dataclass(frozen=True)
class Feature:
    """One column of the coded matrix.

    Parameters
    ----------
    name : str
        Of the column; for parts of a date, ``name.part``.
    kind : {'numeric', 'ordinal', 'nominal'}
        What the numbers mean.
    levels : tuple of str
        Categories with codes 0, 1, ... of an ordinal or nominal feature.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of the training table.

    Parameters
    ----------
    name : str
        Name in the file.
    kind : Kind
        Kind of the column.
    storage : {'number', 'text', 'boolean', 'time'}
        Type of its values.
    role : {'feature', 'target', 'group', 'time', 'weights', 'dropped'}
        What the column is used for.
    reason : str
        Why it is dropped, if it is.
    levels : tuple of str
        Categories of a nominal, ordinal or boolean column, in the order of their codes.
    style : str
        Notation of numbers or dates, where it is not the usual one.
    parts : tuple of str
        Parts of a date that are features.
    """

    name: str
    kind: Kind
    storage: str
    role: str
    reason: str = ""
    levels: tuple[str, ...] = ()
    style: str = ""
    parts: tuple[str, ...] = ()

    @property
    def used(self) -> bool:
        """Whether the column is a feature."""
        return self.role == "feature"

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns of the coded matrix that come from this column."""
        if not self.used:
            return ()
        if self.kind == Kind.DATETIME:
            return tuple(Feature(f"{self.name}.{part}", "numeric") for part in self.parts)
        if self.kind in _CODED:
            # Two categories have only one order: a boolean needs no one-hot columns.
            kind = "nominal" if self.kind == Kind.NOMINAL else "ordinal"
            return (Feature(self.name, kind, self.levels),)
        return (Feature(self.name, "numeric"),)

    def matrix(
        self, values: pl.Series, rules: TextRules, where: Where = NOWHERE
    ) -> NDArray[np.float64]:
        """Return the features made from values of this column, one matrix column each."""
        if self.kind == Kind.DATETIME:
            return date_parts(self.moments(values, rules, where), self.parts)
        if self.kind in _CODED:
            return self.codes(values, rules, where)[:, None]
        return self.reals(values, rules, where)[:, None]

    def reals(
        self, values: pl.Series, rules: TextRules, where: Where = NOWHERE
    ) -> NDArray[np.float64]:
        """Return values as real numbers; missing and infinite ones as NaN."""
        if values.dtype == pl.String:
            values = self._parsed(values, rules, where)
        elif not (values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null)):
            raise self._wrong(values, "numbers", where)
        real = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
        infinite = np.isinf(real)
        return np.where(infinite, np.nan, real) if infinite.any() else real

    def codes(
        self, values: pl.Series, rules: TextRules, where: Where = NOWHERE
    ) -> NDArray[np.float64]:
        """Return values as category codes 0..L-1, NaN where missing.

        An unknown category is L in a nominal column, and missing in an ordinal or boolean one,
        where it has no place in the order.
        """
        if self.storage == "time":
            values = self.moments(values, rules, where)
        text = level_text(values, self.storage)
        known = {level: float(code) for code, level in enumerate(self.levels)}
        unknown = len(known)
        codes = text.replace_strict(
            list(known), list(known.values()), default=unknown, return_dtype=pl.Float64
        )
        # A known category is never a missing marker, even if it is spelled like one.
        odd = (codes == unknown) & text.is_not_null()
        if odd.any():
            rest = trimmed(text.filter(odd), rules)
            if self.storage != "text":
                rest = without_words(rest, rules)
            if self.storage == "number":
                rest = plain_levels(rest, self.style or rules.decimal or ".")
            again = rest.replace_strict(
                list(known), list(known.values()), default=unknown, return_dtype=pl.Float64
            ).set(rest.is_null(), None)
            codes = codes.scatter(odd.arg_true(), again)
        real = np.array(codes.set(text.is_null(), None).fill_null(np.nan).to_numpy())
        if self.kind != Kind.NOMINAL:
            real[real == unknown] = np.nan
        return real

    def moments(self, values: pl.Series, rules: TextRules, where: Where = NOWHERE) -> pl.Series:
        """Return values as points in time."""
        if isinstance(values.dtype, pl.Datetime):
            return values
        if values.dtype == pl.Date:
            return values.cast(pl.Datetime("us"))
        if values.null_count() == len(values):
            return values.cast(pl.Datetime("us"))
        if values.dtype.is_numeric():
            if self.storage != "number":
                raise self._wrong(values, "dates", where)
            values = level_text(values, "number")
        if values.dtype != pl.String:
            raise self._wrong(values, "dates", where)
        text = without_words(trimmed(values, rules), rules)
        if self.storage == "number":
            return self._all_or_none(text, compact_dates(text), "a date as YYYYMMDD", where)
        found = parse_dates(text, self.style)[0] if self.style in STYLES else None
        if found is None or found.null_count() > text.null_count():
            # Another notation than in training: the order of day and month is kept.
            dayfirst = self.style == "dmy" if self.style in ("dmy", "mdy") else rules.dayfirst
            other = find_dates(text, dayfirst, rules.decimal == ",")
            if other is not None:
                return other.values
        if found is None:
            found = parse_dates(text, "ymd")[0]
        return self._all_or_none(text, found, "a date", where)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON-safe data."""
        return {
            "name": self.name,
            "kind": str(self.kind),
            "storage": self.storage,
            "role": self.role,
            "reason": self.reason,
            "levels": list(self.levels),
            "style": self.style,
            "parts": list(self.parts),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Column:
        """Build a column from the result of `to_dict`, checking everything."""
        texts = ("name", "kind", "storage", "role", "reason", "style")
        if set(data) != {*texts, "levels", "parts"}:
            raise DataError("the schema is damaged: a column has the wrong fields")
        if not all(isinstance(data[field], str) for field in texts):
            raise DataError("the schema is damaged: a field of a column is not text")
        for field in ("levels", "parts"):
            items = data[field]
            if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
                raise DataError(f"the schema is damaged: {field} is not a list of texts")
            if len(set(items)) < len(items):
                raise DataError(f"the schema is damaged: {field} holds a duplicate text")
        closed = (
            ("kind", [str(kind) for kind in Kind]),
            ("storage", STORAGES),
            ("role", ROLES),
            ("style", ("", ".", ",", *STYLES)),
        )
        for field, allowed in closed:
            if data[field] not in allowed:
                raise DataError(f"the schema is damaged: {field} {shown(data[field])} is unknown")
        if not set(data["parts"]) <= set(PARTS):
            raise DataError("the schema is damaged: an unknown part of a date")
        column = cls(
            **{field: data[field] for field in texts if field != "kind"},
            kind=Kind(data["kind"]),
            levels=tuple(data["levels"]),
            parts=tuple(data["parts"]),
        )
        if column.used and column.kind in _CODED and not column.levels:
            raise DataError("the schema is damaged: a nominal feature without categories")
        return column

    def _parsed(self, values: pl.Series, rules: TextRules, where: Where) -> pl.Series:
        text = without_words(trimmed(values, rules), rules)
        signs = dict.fromkeys((rules.decimal or self.style or ".", ".", ","))
        for sign in [rules.decimal] if rules.decimal else signs:
            found = numbers.real_numbers(text) if sign == "." else None
            found = numbers.read_numbers(text, sign) if found is None else found
            if found is not None:
                return found
        return self._all_or_none(text, text.cast(pl.Float64, strict=False), "a number", where)

    def _all_or_none(self, text: pl.Series, found: pl.Series, what: str, where: Where) -> pl.Series:
        odd = (found.is_null() & text.is_not_null()).arg_true()
        if len(odd):
            row = int(odd[0])
            raise DataError(
                f"{where.cell(row, self.name)}: {shown(text[row])} is not {what}; correct it, "
                "leave the cell empty, or name it as a missing marker"
            )
        return found

    def _wrong(self, values: pl.Series, what: str, where: Where) -> DataError:
        return DataError(
            f"{where.source}, column {shown(self.name)}: {what} are needed, but it holds "
            f"{_WORD.get(type(values.dtype), str(values.dtype))}; convert it or give another kind"
        )


_WORD = {pl.String: "text", pl.Boolean: "truth values", pl.Datetime: "dates", pl.Float64: "numbers",
         pl.Int64: "numbers"}  # fmt: skip
