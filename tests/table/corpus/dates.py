"""Dates in the forms people write them."""

from __future__ import annotations

import datetime as dt

from tests.table.corpus.cases import Good, good, text

JAN5 = dt.datetime(2024, 1, 5)

_FORMS = [
    "2024-01-05", "2024/01/05", "2024.01.05", "2024-1-5", "20240105T", "31/01/2024", "05.01.2024",
    "5 Jan 2024", "05-Jan-24", "January 5, 2024", "Jan 5 2024", "Fri, 05 Jan 2024",
    "2024-01-05 00:00", "2024-01-05T00:00:00", "2024-01-05T00:00:00.000Z",
    "2024-01-05T02:00:00+02:00", "01/13/2024", "05.01.24", "2024-01-05 12:00 AM",
]  # fmt: skip
_MOMENTS = {"31/01/2024": dt.datetime(2024, 1, 31), "01/13/2024": dt.datetime(2024, 1, 13)}
DATES = [
    good(
        f"date {form}",
        f'a,b\n"{form}",1\n"{form}",2\n',
        {"a": [_MOMENTS.get(form, JAN5)] * 2, "b": [1, 2]},
    )
    for form in _FORMS
    if form != "20240105T"
]
DATES += [
    good(
        "time of day",
        "a,b\n2024-01-05 13:45:07.25,1\n2024-01-05 1:45 pm,2\n",
        {
            "a": [dt.datetime(2024, 1, 5, 13, 45, 7, 250_000), dt.datetime(2024, 1, 5, 13, 45)],
            "b": [1, 2],
        },
    ),
    good(
        "day first by the data",
        "a,b\n03/04/2024,1\n13/04/2024,2\n",
        {"a": [dt.datetime(2024, 4, 3), dt.datetime(2024, 4, 13)], "b": [1, 2]},
        quiet=True,
    ),
    good(
        "month first by the data",
        "a,b\n03/04/2024,1\n03/14/2024,2\n",
        {"a": [dt.datetime(2024, 3, 4), dt.datetime(2024, 3, 14)], "b": [1, 2]},
        quiet=True,
    ),
    good(
        "day or month first",
        "a,b\n03/04/2024,1\n05/06/2024,2\n",
        {"a": [dt.datetime(2024, 3, 4), dt.datetime(2024, 5, 6)], "b": [1, 2]},
        notes=["month first", "change it with the option dayfirst"],
    ),
    text(
        "day first on request",
        "a,b\n03/04/2024,1\n",
        Good({"a": [dt.datetime(2024, 4, 3)], "b": [1]}),
        dayfirst=True,
    ),
    good(
        "day first beside decimal commas",
        "a;b\n03/04/2024;1,5\n05/06/2024;2,5\n",
        {"a": [dt.datetime(2024, 4, 3), dt.datetime(2024, 6, 5)], "b": [1.5, 2.5]},
        notes=["day first"],
    ),
    good(
        "both orders in one column",
        "a,b\n13/04/2024,1\n04/13/2024,2\n14/04/2024,3\n",
        {"a": ["13/04/2024", "04/13/2024", "14/04/2024"], "b": [1, 2, 3]},
        notes=["2 of 3 values are dates", "'04/13/2024' in line 3"],
    ),
    good(
        "a day that does not exist",
        "a,b\n2023-02-28,1\n2023-03-01,2\n2023-02-30,3\n",
        {"a": ["2023-02-28", "2023-03-01", "2023-02-30"], "b": [1, 2, 3]},
        notes=["'2023-02-30' in line 4"],
    ),
    good(
        "mixed forms of dates",
        "a,b\n2024-01-05,1\n5 Jan 2024,2\n",
        {"a": ["2024-01-05", "5 Jan 2024"], "b": [1, 2]},
    ),
    good("years are numbers", "a,b\n2023,1\n2024,2\n", {"a": [2023, 2024], "b": [1, 2]}),
    good(
        "compact dates are numbers",
        "a,b\n20240105,1\n20240106,2\n",
        {"a": [20240105, 20240106], "b": [1, 2]},
    ),
    good(
        "dates with gaps", "a,b\n2024-01-05,1\n,2\n-,3\n", {"a": [JAN5, None, None], "b": [1, 2, 3]}
    ),
]
