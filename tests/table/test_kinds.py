from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

from assay.table import Kind
from assay.table._kinds import facts_of, infer_kind

DAYS = [dt.datetime(2024, 1, 1) + dt.timedelta(days=k) for k in range(30)]
NAMES = [f"person {k}" for k in range(100)]


@pytest.mark.parametrize(
    ("name", "values", "kind", "reason"),
    [
        ("x", [1.5, 2.5, None], Kind.NUMERIC, ""),
        ("x", [0, 1] * 10, Kind.NUMERIC, ""),
        ("x", [None, None], Kind.CONSTANT, "all values are missing"),
        ("x", [7, 7, 7], Kind.CONSTANT, "has the same value in every row"),
        ("x", ["a", "a"], Kind.CONSTANT, "has the same value in every row"),
        ("x", ["a", None, "a"], Kind.NOMINAL, ""),
        ("x", [True, False, None], Kind.BOOLEAN, ""),
        ("x", ["Yes", "no", "Yes"], Kind.BOOLEAN, ""),
        ("x", ["t", "f", "t"], Kind.BOOLEAN, ""),
        ("x", ["male", "female", "male"], Kind.NOMINAL, ""),
        ("x", DAYS, Kind.DATETIME, ""),
        ("x", list(range(5, 30)), Kind.IDENTIFIER, "consecutive numbers, one per row"),
        ("x", list(range(30, 5, -1)), Kind.IDENTIFIER, "consecutive numbers, one per row"),
        ("x", list(range(12)), Kind.NUMERIC, ""),
        ("x", [*range(24), 30], Kind.NUMERIC, ""),
        ("x", [float(k) for k in range(30)], Kind.NUMERIC, ""),
        ("year", list(range(1990, 2020)), Kind.NUMERIC, ""),
        ("user_id", [k * k for k in range(20)], Kind.IDENTIFIER, "a different number in every row"),
        ("PassengerId", [k * k for k in range(20)], Kind.IDENTIFIER, "a different number"),
        ("paid", [k * k for k in range(20)], Kind.NUMERIC, ""),
        ("user_id", [k % 5 for k in range(20)], Kind.NUMERIC, ""),
        ("x", [2**60 + k * k for k in range(20)], Kind.IDENTIFIER, "beyond 2^53"),
        ("x", NAMES, Kind.IDENTIFIER, "a different text in every row"),
        ("x", [*NAMES[:95], *["person 1"] * 5], Kind.IDENTIFIER, "95 different texts in 100 rows"),
        ("x", NAMES[:5], Kind.NOMINAL, ""),
        ("x", NAMES[:50] * 2, Kind.NOMINAL, ""),
        ("x", [*NAMES[:60], *NAMES[:40]], Kind.NOMINAL, "has 60 categories in 100 rows"),
        (
            "x",
            [f"l{k}" for k in range(1001)] * 3,
            Kind.NOMINAL,
            "has 1001 categories, more than 1000",
        ),
        ("x", ["a", "b", "c"] * 4, Kind.NOMINAL, ""),
    ],
)
def test_kind_follows_from_the_values(
    name: str, values: list[Any], kind: Kind, reason: str
) -> None:
    column = pl.Series(name, values, dtype=pl.String if values[0] is None else None)
    found, why = infer_kind(column, facts_of(column))
    assert found == kind
    assert reason in why
    assert bool(reason) == bool(why)


def test_facts_count_what_is_there() -> None:
    facts = facts_of(pl.Series("x", [2.0, None, float("inf"), 1.0, 2.0]))
    assert (facts.n_rows, facts.missing, facts.distinct, facts.infinite) == (5, 1, 3, 1)
    assert facts.ordered.tolist() == [1.0, 2.0, 2.0]
    words = facts_of(pl.Series("x", ["b", "a", "b", None]))
    assert words.counts is not None
    assert words.counts.rows() == [("b", 2), ("a", 1)]
