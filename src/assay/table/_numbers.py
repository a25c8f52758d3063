"""Numbers written as text: decimal signs, thousands separators and values."""

from __future__ import annotations

import polars as pl


def _form(sign: str, group: str) -> str:
    groups = rf"(?:{group}\d{{3}})+|(?:'\d{{3}})+|(?:[ \x{{a0}}\x{{202f}}]\d{{3}})+"
    return rf"^[+-]?(?:\d*|\d{{1,3}}(?:{groups}))(?:{sign}\d*)?(?:[eE][+-]?\d+)?$"


#: By decimal sign: the pattern of a number, thousands separators included.
_FORMS = {".": _form(r"\.", ","), ",": _form(",", r"\.")}
_GROUPED_BY_POINT = r"^[+-]?\d{1,3}(?:\.\d{3})+$"

#: Codes such as ``007``: as numbers they would lose their zeros.
_LEADING_ZERO = r"^[+-]?0\d"
_WHOLE = r"^[+-]?\d+$"
_INFINITE = r"(?i)^[+-]?inf(?:inity)?$"

#: float64 holds every integer up to here.
EXACT = 2**53


def whole_numbers(text: pl.Series) -> pl.Series | None:
    """Return the values as Int64 when every one is an integer of 64 bits, else None."""
    values = text.cast(pl.Int64, strict=False)
    return values if values.null_count() == text.null_count() else None


def real_numbers(text: pl.Series) -> pl.Series | None:
    """Return the values as Float64 when every one is a number with a decimal point, else None."""
    values = text.cast(pl.Float64, strict=False)
    return values if values.null_count() == text.null_count() else None


def are_codes(text: pl.Series) -> bool:
    """Return whether integers have leading zeros, so that they are codes and not numbers."""
    return bool(text.str.contains(_LEADING_ZERO).any())


def are_whole(text: pl.Series) -> bool:
    """Return whether every value is an integer, of any size."""
    return bool(text.str.contains(_WHOLE).all())


def fits(text: pl.Series, sign: str) -> bool:
    """Return whether every value is a number when `sign` is the decimal sign."""
    return bool(text.str.contains(_FORMS[sign]).all()) and read_numbers(text, sign) is not None


def may_be_grouped(text: pl.Series) -> bool:
    """Return whether every point could be a thousands sign (``1.234``), with at least one point."""
    pointed = text.filter(text.str.contains(".", literal=True))
    return bool(len(pointed)) and bool(pointed.str.contains(_GROUPED_BY_POINT).all())


def read_numbers(text: pl.Series, sign: str) -> pl.Series | None:
    """Return numbers with thousands signs as Int64 or Float64, None when one is not a number.

    Examples
    --------
    >>> import polars as pl
    >>> read_numbers(pl.Series(["1.234,5", "7"]), ",").to_list()
    [1234.5, 7.0]
    """
    other = "," if sign == "." else "."
    fitting = text.str.contains(_FORMS[sign])
    if not fitting.all():
        return None
    bare = text.str.replace_all(r"[' \x{a0}\x{202f}]", "").str.replace_all(other, "", literal=True)
    if sign == ",":
        bare = bare.str.replace(",", ".", literal=True)
    values = whole_numbers(bare)
    return real_numbers(bare) if values is None else values


def overflown(text: pl.Series, values: pl.Series) -> int | None:
    """Return the first row whose text is finite but too large for float64."""
    infinite = values.is_infinite().fill_null(False)
    if not infinite.any():
        return None
    rows = (infinite & ~text.str.contains(_INFINITE).fill_null(False)).arg_true()
    return int(rows[0]) if len(rows) else None


def n_rounded(text: pl.Series, values: pl.Series) -> int:
    """Count integers written in full that float64 cannot hold exactly."""
    large = (values.abs() >= EXACT).fill_null(False)  # 2^53 + 1 has become 2^53
    if not large.any():
        return 0
    return int((large & text.str.contains(_WHOLE).fill_null(False)).sum())


def n_vanished(text: pl.Series, values: pl.Series) -> int:
    """Count numbers that are not zero but too small for float64."""
    zero = (values == 0).fill_null(False)
    if not zero.any():
        return 0
    return int((zero & text.str.contains(r"^[^eE]*[1-9]").fill_null(False)).sum())
