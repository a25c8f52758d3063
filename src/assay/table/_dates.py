"""Dates and times written as text, in the orders people write them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

_TIME = (
    r"(?:(?:T|,? +)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})"
    r"(?:[.,](?P<fraction>\d{1,9}))?)? ?(?P<half>[AaPp]\.?[Mm]\.?)?)?"
    r" ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$"
)
_WEEKDAY = r"^(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? +)?"
_MONTH = r"(?P<month>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[a-z]*\.?"
_YEAR = r"(?P<year>\d{4}|\d{2})"

#: Pattern of each style. One style holds for a whole column.
STYLES: dict[str, str] = {
    "ymd": r"^(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + _TIME,
    "dmy": r"^(?P<day>\d{1,2})[-/.](?P<month>\d{1,2})[-/.]" + _YEAR + _TIME,
    "mdy": r"^(?P<month>\d{1,2})[-/.](?P<day>\d{1,2})[-/.]" + _YEAR + _TIME,
    "d mon y": _WEEKDAY + r"(?P<day>\d{1,2})[-. /]?" + _MONTH + r"[-, /]?" + _YEAR + _TIME,
    "mon d y": _WEEKDAY + _MONTH + r"[- ](?P<day>\d{1,2})(?:st|nd|rd|th)?,?[- ]" + _YEAR + _TIME,
}
#: Version numbers look like this; dates with points and a short year are padded (05.01.24).
_VERSION = r"^(?:\d\.\d{1,2}|\d{2}\.\d)\.\d{2}(?:\s|$)"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PARTS = ("hour", "minute", "second", "fraction", "half", "zone")


@dataclass(frozen=True)
class Dates:
    """A column read as dates.

    Parameters
    ----------
    values : polars.Series
        Of type Datetime("us"), in UTC where the text names a zone.
    style : str
        Key of `STYLES`.
    ambiguous : bool
        Whether day and month could also be swapped.
    zoned : bool
        Whether the text names time zones.
    """

    values: pl.Series
    style: str
    ambiguous: bool
    zoned: bool


def find_dates(text: pl.Series, dayfirst: bool | None, decimal_comma: bool) -> Dates | None:
    """Read a column as dates, or return None when some value is not a date.

    Parameters
    ----------
    text : polars.Series
        Trimmed text; null = missing.
    dayfirst : bool or None
        Whether the day comes first, where the values leave it open.
    decimal_comma : bool
        Whether the table uses decimal commas, which suggests that the day comes first.

    Returns
    -------
    Dates or None

    Examples
    --------
    >>> import polars as pl
    >>> found = find_dates(pl.Series(["31/01/2024", "01/02/2024"]), None, False)
    >>> found.style, found.values.dt.month().to_list()
    ('dmy', [1, 2])
    """
    sample = text.drop_nulls().head(20)
    if not len(sample):
        return None
    for style in ("ymd", "dmy", "d mon y", "mon d y"):
        if not sample.str.contains(STYLES[style]).all():
            continue
        if style != "dmy":
            return _complete(text, style, ambiguous=False)
        if sample.str.contains(_VERSION).any():
            return None
        order, ambiguous = _day_or_month_first(text, dayfirst, decimal_comma)
        return _complete(text, order, ambiguous)
    return None


def parse_dates(text: pl.Series, style: str) -> tuple[pl.Series, bool]:
    """Return the dates of one style, null where a value does not fit, and whether zones occur.

    Notes
    -----
    Years of two digits: 69 to 99 are 19xx, 00 to 68 are 20xx.
    """
    parts = text.str.extract_groups(STYLES[style]).struct.unnest()
    month = parts["month"]
    if style in ("d mon y", "mon d y"):
        numbers = {name: str(k + 1) for k, name in enumerate(_MONTHS)}
        month = month.str.to_lowercase().replace_strict(numbers, default=None)
    frame = pl.DataFrame(
        {
            "year": parts["year"].cast(pl.Int32),
            "short": parts["year"].str.len_bytes() == 2,
            "month": month.cast(pl.Int8),
            "day": parts["day"].cast(pl.Int8),
            **{name: parts[name] for name in _PARTS},
        }
    )
    zoned = parts["zone"].is_not_null().any()
    return frame.select(_moment().alias(text.name)).to_series(), bool(zoned)


def _complete(text: pl.Series, style: str, ambiguous: bool) -> Dates | None:
    values, zoned = parse_dates(text, style)
    if values.null_count() != text.null_count():
        return None
    return Dates(values, style, ambiguous, zoned)


def _day_or_month_first(
    text: pl.Series, dayfirst: bool | None, decimal_comma: bool
) -> tuple[str, bool]:
    parts = text.str.extract_groups(STYLES["dmy"]).struct.unnest()
    first, second = (parts[name].cast(pl.Int8).max() for name in ("day", "month"))
    if isinstance(first, int) and first > 12:
        return "dmy", False
    if isinstance(second, int) and second > 12:
        return "mdy", False
    if text.str.contains(r"^\d{1,2}\.").any():
        return "dmy", False  # nobody writes the month first with points
    if dayfirst is not None:
        return "dmy" if dayfirst else "mdy", False
    return "dmy" if decimal_comma else "mdy", True


def _moment() -> pl.Expr:
    year = pl.col("year")
    year = (
        pl.when("short").then(year + pl.when(year >= 69).then(1900).otherwise(2000)).otherwise(year)
    )
    month, day = pl.col("month"), pl.col("day")
    leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
    length = (
        pl.when(month == 2)
        .then(pl.when(leap).then(29).otherwise(28))
        .when(month.is_in([4, 6, 9, 11]))
        .then(30)
        .otherwise(31)
    )
    half = pl.col("half").str.to_lowercase().str.head(1)
    hour = pl.col("hour").cast(pl.Int8).fill_null(0)
    minute = pl.col("minute").cast(pl.Int8).fill_null(0)
    second = pl.col("second").cast(pl.Int8).fill_null(0)
    clock = (
        pl.when(half == "p").then(hour % 12 + 12).when(half == "a").then(hour % 12).otherwise(hour)
    )
    micro = pl.col("fraction").str.pad_end(6, "0").str.head(6).cast(pl.Int32).fill_null(0)
    valid = (
        month.is_between(1, 12)
        & (day >= 1)
        & (day <= length)
        & (year >= 1)
        & (clock <= 23)
        & (half.is_null() | hour.is_between(1, 12))
        & (minute <= 59)
        & (second <= 59)
    )
    # Only valid parts reach pl.datetime, which stops at the first date that does not exist.
    moment = pl.datetime(
        pl.when(valid).then(year).otherwise(None),
        pl.when(valid).then(month).otherwise(None),
        pl.when(valid).then(day).otherwise(None),
        hour=pl.when(valid).then(clock).otherwise(0),
        minute=pl.when(valid).then(minute).otherwise(0),
        second=pl.when(valid).then(second).otherwise(0),
        microsecond=micro,
    )
    digits = pl.col("zone").str.extract_groups(r"^([+-])(\d{2}):?(\d{2})?$")
    sign = pl.when(digits.struct[0] == "-").then(-1).otherwise(1)
    offset = sign * (
        digits.struct[1].cast(pl.Int32).fill_null(0) * 60
        + digits.struct[2].cast(pl.Int32).fill_null(0)
    )
    return moment - pl.duration(minutes=offset)
