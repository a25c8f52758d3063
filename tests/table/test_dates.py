from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.table._dates import find_dates, parse_dates

FORMS = {
    "ymd": "%Y-%m-%d %H:%M:%S.%f",
    "dmy": "%d/%m/%Y %H:%M:%S",
    "mdy": "%m/%d/%Y %I:%M %p",
    "d mon y": "%a, %d %b %Y %H:%M:%S",
    "mon d y": "%B %d, %Y %H:%M",
}
MOMENTS = st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31))


@pytest.mark.parametrize("style", FORMS)
@given(moments=st.lists(MOMENTS, min_size=1, max_size=10))
def test_dates_are_those_of_strptime(style: str, moments: list[dt.datetime]) -> None:
    texts = [moment.strftime(FORMS[style]) for moment in moments]
    expected = [dt.datetime.strptime(text, FORMS[style]) for text in texts]
    assert parse_dates(pl.Series(texts), style)[0].to_list() == expected


@given(st.integers(-50, 3000), st.integers(-1, 14), st.integers(-1, 33), st.integers(-1, 26))
def test_days_that_do_not_exist_are_no_dates(year: int, month: int, day: int, hour: int) -> None:
    text = f"{year:04d}-{month:02d}-{day:02d} {hour:02d}:00"
    try:
        expected = dt.datetime.strptime(text, "%Y-%m-%d %H:%M")
    except ValueError:
        expected = None
    assert parse_dates(pl.Series([text]), "ymd")[0].to_list() == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-05T10:00:00Z", dt.datetime(2024, 1, 5, 10)),
        ("2024-01-05T10:00:00+02:00", dt.datetime(2024, 1, 5, 8)),
        ("2024-01-05 10:00:00 -0530", dt.datetime(2024, 1, 5, 15, 30)),
        ("2024-01-05T00:30:00+01", dt.datetime(2024, 1, 4, 23, 30)),
    ],
)
def test_zones_become_utc(text: str, expected: dt.datetime) -> None:
    found = find_dates(pl.Series([text]), None, False)
    assert found is not None
    assert found.zoned
    assert found.values.to_list() == [expected]


def test_short_years_are_of_this_and_the_last_century() -> None:
    values, _ = parse_dates(pl.Series(["01/02/68", "01/02/69"]), "dmy")
    assert values.dt.year().to_list() == [2068, 1969]


@pytest.mark.parametrize(
    ("texts", "dayfirst", "comma", "style", "ambiguous"),
    [
        (["01/02/2024"], None, False, "mdy", True),
        (["01/02/2024"], None, True, "dmy", True),
        (["01/02/2024"], True, False, "dmy", False),
        (["01/02/2024"], False, True, "mdy", False),
        (["01/13/2024"], True, True, "mdy", False),
        (["13/01/2024"], False, False, "dmy", False),
        (["01.02.2024"], False, False, "dmy", False),
    ],
)
def test_order_of_day_and_month(
    texts: list[str], dayfirst: bool | None, comma: bool, style: str, ambiguous: bool
) -> None:
    found = find_dates(pl.Series(texts), dayfirst, comma)
    assert found is not None
    assert (found.style, found.ambiguous) == (style, ambiguous)


@pytest.mark.parametrize("text", ["", "2024", "5", "12:30", "Jan 2024", "abc", "1-2", "1.2.10"])
def test_other_texts_are_no_dates(text: str) -> None:
    assert find_dates(pl.Series([text]), None, False) is None
