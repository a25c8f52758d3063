"""The kind of a column, found from all of its values by fixed rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.table._numbers import EXACT

#: With fewer rows, a column is not taken for an identifier.
_MIN_ROWS = 10
_MIN_ROWS_CONSECUTIVE = 20
#: A text column is set aside with more categories than max(this, half of its values) ...
FEW_LEVELS = 10
#: ... or than this.
MAX_LEVELS = 1000
_YEARS = (1800, 2200)
_ID_NAME = re.compile(
    r"(?i:^(?:id|uuid|guid|index|row|rownames?|unnamed: 0|column_1)$|[_ .-](?:id|uuid|key)$)"
    r"|[a-z0-9](?:Id|ID)$"
)
#: Pairs of words for no and yes, in that order.
_PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"))


class Kind(StrEnum):
    """The kinds of column."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    IDENTIFIER = "identifier"
    CONSTANT = "constant"


@dataclass(frozen=True)
class Facts:
    """Counts of one column, made once, for kinds and overview.

    Parameters
    ----------
    n_rows, missing, distinct : int
        Number of rows, of rows without a value, and of distinct values.
    ordered : ndarray
        The values of a numeric column in ascending order, without missing and infinite ones.
    infinite : int
        Number of infinite values.
    counts : polars.DataFrame or None
        Categories and their frequencies (columns ``level`` and ``count``), most frequent first;
        only for columns that are not numeric.
    """

    n_rows: int
    missing: int
    distinct: int
    ordered: NDArray[Any] = field(repr=False)
    infinite: int = 0
    counts: pl.DataFrame | None = field(default=None, repr=False)

    @property
    def present(self) -> int:
        """Number of rows with a value."""
        return self.n_rows - self.missing


def facts_of(column: pl.Series) -> Facts:
    """Count the values of a column, with one sort."""
    missing = column.null_count()
    if column.dtype.is_numeric():
        values = column.drop_nulls().to_numpy()
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        ordered = np.sort(finite)
        distinct = int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))
        infinite = len(values) - len(finite)
        distinct += len(np.unique(values[~np.isfinite(values)])) if infinite else 0
        return Facts(len(column), missing, distinct, ordered, infinite)
    counts = (
        column.drop_nulls()
        .alias("level")
        .value_counts(name="count")
        .sort(["count", "level"], descending=[True, False])
    )
    return Facts(len(column), missing, counts.height, np.empty(0), counts=counts)


def infer_kind(column: pl.Series, facts: Facts) -> tuple[Kind, str]:
    """Return the kind of a column, and the reason if it is set aside.

    Parameters
    ----------
    column : polars.Series
        Typed as in a RawTable.
    facts : Facts
        Its counts.

    Returns
    -------
    kind : Kind
    reason : str
        Empty when the column can serve as a feature.

    Notes
    -----
    In this order, with m values of which d are distinct:

    - no value: constant. One value and nothing missing: constant. Both are set aside. (One value
      and missing ones are not constant: what is missing may matter.)
    - dates: datetime. true/false, yes/no, y/n, t/f, on/off: boolean.
    - integers, all different, none missing: identifier when they are consecutive (m >= 20, and not
      all between 1800 and 2200, which may be years), named like one (``id``, ``user_id``,
      ``PassengerId``), or beyond 2^53. Other numbers: numeric.
    - text, all different (m >= 10) or d >= 0.9 m with m >= 50: identifier. Otherwise nominal; set
      aside with more than max(10, m/2) or more than 1000 categories.
    - ordinal only on request.

    Examples
    --------
    >>> import polars as pl
    >>> column = pl.Series("n", range(100))
    >>> infer_kind(column, facts_of(column))
    (<Kind.IDENTIFIER: 'identifier'>, 'consecutive numbers, one per row')
    """
    m, d = facts.present, facts.distinct
    if not m:
        return Kind.CONSTANT, "all values are missing"
    if d == 1 and not facts.missing:
        return Kind.CONSTANT, "has the same value in every row"
    if isinstance(column.dtype, pl.Datetime):
        return Kind.DATETIME, ""
    if column.dtype == pl.Boolean or (d == 2 and yes_no(level_names(facts)) is not None):
        return Kind.BOOLEAN, ""
    if column.dtype.is_numeric():
        reason = _number_identifies(column, facts)
        return (Kind.IDENTIFIER, reason) if reason else (Kind.NUMERIC, "")
    if d == m and m >= _MIN_ROWS:
        return Kind.IDENTIFIER, "a different text in every row"
    if m >= 5 * _MIN_ROWS and d >= 0.9 * m:
        return Kind.IDENTIFIER, f"{d} different texts in {m} rows"
    return Kind.NOMINAL, too_many_levels(facts)


def too_many_levels(facts: Facts) -> str:
    """Return why a nominal column has too many categories to learn from, or an empty text."""
    m, d = facts.present, facts.distinct
    if d > MAX_LEVELS:
        return f"has {d} categories, more than {MAX_LEVELS}"
    if d > max(FEW_LEVELS, m / 2):
        return f"has {d} categories in {m} rows, fewer than two rows per category"
    return ""


def level_names(facts: Facts) -> list[str]:
    """Return the texts of a column that is not numeric, most frequent first."""
    if facts.counts is None or facts.counts["level"].dtype != pl.String:
        return []
    return facts.counts["level"].to_list()


def yes_no(levels: list[str]) -> tuple[str, str] | None:
    """Return the two categories as (no, yes) when they are such a pair."""
    if len(levels) != 2:
        return None
    for no, yes in _PAIRS:
        by_word = {level.casefold(): level for level in levels}
        if by_word.keys() == {no, yes}:
            return by_word[no], by_word[yes]
    return None


def _number_identifies(column: pl.Series, facts: Facts) -> str:
    whole = column.dtype == pl.Int64
    if not whole or facts.missing or facts.distinct < facts.n_rows or facts.n_rows < _MIN_ROWS:
        return ""
    low, high = int(facts.ordered[0]), int(facts.ordered[-1])
    years = _YEARS[0] <= low and high <= _YEARS[1]
    if facts.n_rows >= _MIN_ROWS_CONSECUTIVE and high - low == facts.n_rows - 1 and not years:
        return "consecutive numbers, one per row"
    if max(abs(low), abs(high)) > EXACT:
        return "a different number beyond 2^53 in every row"
    if _ID_NAME.search(column.name):
        return "a different number in every row, and named like an identifier"
    return ""
